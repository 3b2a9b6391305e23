"""Records of helpers: turns that ran inside a call, kept in the log of the session that made it.

Each record of a helper is the value of one `StateRecord`, with the id of the call that is its turn.
So it is durable when it counts, in one log with everything else, and no part of any request.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeGuard

from core.conversation.messages import (
    Assistant,
    Record,
    ShellResult,
    StateRecord,
    ToolCall,
    ToolResult,
)
from utils.frozen import frozen
from utils.llm.completion import Usage
from utils.text.codec import from_plain, to_plain

HELPER = "helper"
"""The `StateRecord` of a helper's record: {"call": the id of the call, "record": …}."""
HELPER_TURN = 1
"""The number of the one turn that a helper has."""


def helper_record(call_id: str, record: Record) -> StateRecord:
    """Return the record of *record* of the helper that is the call *call_id*."""
    return StateRecord(HELPER, {"call": call_id, "record": to_plain(record)})


def is_helpers(record: Record) -> TypeGuard[StateRecord]:
    return isinstance(record, StateRecord) and record.name == HELPER


def unwrapped(value: Any) -> Record:
    """Return the record that the value of such a record holds."""
    record: Record = from_plain(Record, value["record"])
    return record


@frozen
class HelperRecords:
    """The *records* of the helper that is the call *call_id* of *turn*, as of a turn of its own."""

    turn: int
    call_id: str
    records: list[tuple[int, Record]]


def helpers_in(log: Iterable[tuple[int, Record]]) -> list[HelperRecords]:
    """Return the helpers of *log* in the order in which they began."""
    found: list[HelperRecords] = []
    working: dict[str, HelperRecords] = {}
    for turn, record in log:
        if is_helpers(record):
            call_id = record.value["call"]
            if call_id not in working or working[call_id].turn != turn:
                working[call_id] = HelperRecords(turn, call_id, [])
                found.append(working[call_id])
            working[call_id].records.append((HELPER_TURN, unwrapped(record.value)))
        elif isinstance(record, ToolResult | ShellResult):  # a later call may have its id
            working.pop(record.call_id, None)
    return found


def nested_call_id(helper: str, call_id: str) -> str:
    """Return the id, in the session, of the call *call_id* of the helper that is *helper*."""
    return f"{helper}/{call_id}"


def with_helpers_calls(log: Iterable[tuple[int, Record]]) -> Iterator[tuple[int, Record]]:
    """Yield *log*, in the place of what helpers keep their replies and answers, as if of the
    session: their calls by `nested_call_id`."""
    for turn, record in log:
        if not is_helpers(record):
            yield turn, record
            continue
        nested = partial(nested_call_id, record.value["call"])
        match unwrapped(record.value):
            case Assistant(calls=calls) as reply:
                own = tuple(replace(call, id=nested(call.id)) for call in calls)
                yield turn, replace(reply, calls=own)
            case ToolResult(call_id=call_id) as result:
                yield turn, replace(result, call_id=nested(call_id))


def records_of_open_helper(
    log: Sequence[tuple[int, Record]], turn: int, call_id: str
) -> list[tuple[int, Record]]:
    """Return the records of the helper that is the call *call_id* of *turn*, not yet answered."""
    records: list[tuple[int, Record]] = []
    for number, record in reversed(log):
        is_answer = isinstance(record, ToolResult | ShellResult) and record.call_id == call_id
        if number != turn or is_answer:
            break
        if is_helpers(record) and record.value["call"] == call_id:
            records.append((HELPER_TURN, unwrapped(record.value)))
    return records[::-1]


def reply_usage(record: StateRecord) -> Usage | None:
    """Return what the reply of a helper used that *record* is of, None where it is of none."""
    plain = record.value["record"]
    if plain.get("kind") != "assistant":
        return None
    usage: Usage = from_plain(Usage, plain.get("usage") or {})
    return usage


def open_calls(records: Iterable[tuple[int, Record]]) -> Sequence[ToolCall]:
    """Return the calls of a helper's *records* that have no answer."""
    calls: dict[str, ToolCall] = {}
    for _, record in records:
        match record:
            case Assistant():
                calls = {call.id: call for call in record.calls}
            case ToolResult(call_id=call_id):
                calls.pop(call_id, None)
    return tuple(calls.values())
