"""Repair of an old conversation's messages into records that any request may begin with.

Nothing that was said is dropped: what belongs nowhere becomes a note to the model. Every call has
one answer, right behind its reply.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from core.conversation.history import INCIDENT, TurnRecord
from core.conversation.messages import Assistant, Context, StateRecord, ToolCall, ToolResult, User
from core.loop.response import to_tool_call
from modules.import_history.matching import match
from modules.import_history.message_reader import MessageReader
from modules.import_history.old_messages import (
    Entry,
    OldCall,
    OldMessage,
    OldReply,
    OldToolResult,
    OnRepair,
    Repair,
)
from utils.llm.completion import RawCall
from utils.text.lines import replace_lone_surrogates

MISSING_BEGINNING = "(The beginning of this conversation is missing.)"
MISSING_ANSWER = "No answer of this call was kept in the conversation that was brought in."


@dataclass(frozen=True)
class RepairedHistory:
    """The records, and for each repair the numbers of the messages that needed it, from 1."""

    records: Sequence[TurnRecord]
    repairs: Mapping[Repair, Sequence[int]]


def repair_messages(messages: Sequence[Any]) -> RepairedHistory:
    """Return *messages*, in the form of the chat-completions API or near it, as records."""
    repairs: dict[Repair, list[int]] = {}

    def on_repair(repair: Repair, number: int) -> None:
        repairs.setdefault(repair, []).append(number)

    entries = list(MessageReader(on_repair).entries(messages))
    orphans = match(entries, on_repair)
    records = _numbered_by_turn(_to_records(entries, orphans, on_repair), on_repair)
    if repairs:
        lost_count = len(repairs.get(Repair.UNANSWERED, ()))
        repaired = sum(map(len, repairs.values())) - lost_count
        incident = StateRecord(INCIDENT, {"lost": lost_count, "mended": repaired})
        records.append((records[-1][0] if records else 0, incident))
    return RepairedHistory(records, repairs)


def _to_records(
    entries: Sequence[Entry], orphans: set[int], on_repair: OnRepair
) -> Iterator[User | Assistant | Context | ToolResult]:
    """Yield the records of *entries*, the answers right behind their replies."""
    old_ids = {call.id for entry in entries if isinstance(entry, OldReply) for call in entry.calls}
    new_ids = (f"call_{n}" for n in count(1) if f"call_{n}" not in old_ids)
    used_ids: set[str] = set()
    for entry in entries:
        match entry:
            case OldMessage(record=record):
                yield record
            case OldToolResult(number=number, name=name, text=text) if number in orphans:
                yield Context(f"Result of an earlier call{f' of {name}' if name else ''}: {text}")
            case OldReply():
                pairs = [
                    (call, _valid_call(call, used_ids, new_ids, on_repair)) for call in entry.calls
                ]
                yield Assistant(
                    entry.text, entry.thinking, tuple(valid_call for _, valid_call in pairs)
                )
                for call, valid_call in pairs:
                    yield _to_tool_result(call, valid_call, on_repair)


def _valid_call(
    call: OldCall, used_ids: set[str], new_ids: Iterator[str], on_repair: OnRepair
) -> ToolCall:
    """Return *call* with an id that none in *used_ids* is equal to, and a name that can be sent.

    Where it has none of its own, it gets the next of *new_ids*.
    """
    name = call.raw.name or (call.answer.name if call.answer else "")
    call_id = call.id
    if call_id is None or call_id in used_ids:
        on_repair(Repair.CALL_ID, call.number)
        call_id = next(new_ids)
    used_ids.add(call_id)
    valid_call = to_tool_call(RawCall(replace_lone_surrogates(call_id), name, call.raw.arguments))
    if valid_call.name != call.raw.name:
        on_repair(Repair.CALL_NAME, call.number)
    return valid_call


def _to_tool_result(call: OldCall, valid_call: ToolCall, on_repair: OnRepair) -> ToolResult:
    if call.answer is None:
        on_repair(Repair.UNANSWERED, call.number)
        return ToolResult(valid_call.id, valid_call.name, MISSING_ANSWER, "failed")
    return ToolResult(valid_call.id, valid_call.name, call.answer.text)


def _numbered_by_turn(
    records: Iterator[User | Assistant | Context | ToolResult],
    on_repair: OnRepair,
) -> list[TurnRecord]:
    """Number *records* by turns; notes right before a message of the person belong to its turn."""
    numbered: list[TurnRecord] = []
    pending: list[Context] = []
    turn = 0
    for record in records:
        if isinstance(record, Context):
            pending.append(record)
            continue
        if isinstance(record, User):
            turn += 1
        elif not turn:
            on_repair(Repair.BEGINNING, 1)
            turn = 1
            numbered.append((turn, User(MISSING_BEGINNING)))
        numbered += [(turn, context) for context in pending]
        pending.clear()
        numbered.append((turn, record))
    return numbered + [(turn, context) for context in pending]
