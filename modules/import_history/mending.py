"""Messages of an old conversation, whatever they lack, as records that any request may begin with.

Nothing that was said is dropped: what belongs nowhere becomes a note to the model. Every call has
one answer, right behind its reply.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.conversation.history import INCIDENT, TurnRecord
from core.conversation.messages import Assistant, Context, StateRecord, ToolCall, ToolResult, User
from core.loop.response import tool_call
from modules.import_history.matching import match
from modules.import_history.message_reader import MessageReader
from modules.import_history.old_messages import (
    Entry,
    Note,
    OldAnswer,
    OldCall,
    OldReply,
    Repair,
    Said,
)
from utils.llm.completion import RawCall
from utils.text.lines import without_halves

BEGINNING = "(The beginning of this conversation is missing.)"
UNANSWERED = "No answer of this call was kept in the conversation that was brought in."


@dataclass(frozen=True)
class Mended:
    """The records, and for each repair the numbers of the messages that needed it, from 1."""

    records: Sequence[TurnRecord]
    repairs: Mapping[Repair, Sequence[int]]


def mend(messages: Sequence[Any]) -> Mended:
    """Return *messages*, in the form of the chat-completions API or near it, as records."""
    repairs: dict[Repair, list[int]] = {}

    def note(repair: Repair, number: int) -> None:
        repairs.setdefault(repair, []).append(number)

    entries = list(MessageReader(note).entries(messages))
    orphans = match(entries, note)
    records = _with_turns(_recorded(entries, orphans, note), note)
    if repairs:
        lost = len(repairs.get(Repair.UNANSWERED, ()))
        rest = sum(map(len, repairs.values())) - lost
        incident = StateRecord(INCIDENT, {"lost": lost, "mended": rest})
        records.append((records[-1][0] if records else 0, incident))
    return Mended(records, repairs)


def _recorded(
    entries: Sequence[Entry], orphans: set[int], note: Note
) -> Iterator[User | Assistant | Context | ToolResult]:
    """Yield the records of *entries*, the answers right behind their replies."""
    taken: set[str] = set()
    for entry in entries:
        match entry:
            case Said(record=record):
                yield record
            case OldAnswer(number=number, name=name, text=text) if number in orphans:
                yield Context(f"Result of an earlier call{f' of {name}' if name else ''}: {text}")
            case OldReply():
                whole = [(call, _whole(call, taken, note)) for call in entry.calls]
                yield Assistant(entry.text, entry.thinking, tuple(one for _, one in whole))
                for call, one in whole:
                    yield _answered(call, one, note)


def _whole(call: OldCall, taken: set[str], note: Note) -> ToolCall:
    """Return *call* with an id that none in *taken* is equal to, and a name that can be sent."""
    name = call.raw.name or (call.answer.name if call.answer else "")
    call_id = call.id
    if call_id is None or call_id in taken:
        note(Repair.CALL_ID, call.number)
        call_id = next(
            f"call_{n}" for n in range(len(taken) + 1, 10**9) if f"call_{n}" not in taken
        )
    taken.add(call_id)
    whole = tool_call(RawCall(without_halves(call_id), name, call.raw.arguments))
    if whole.name != call.raw.name:
        note(Repair.CALL_NAME, call.number)
    return whole


def _answered(call: OldCall, whole: ToolCall, note: Note) -> ToolResult:
    if call.answer is None:
        note(Repair.UNANSWERED, call.number)
        return ToolResult(whole.id, whole.name, UNANSWERED, "failed")
    return ToolResult(whole.id, whole.name, call.answer.text)


def _with_turns(
    records: Iterator[User | Assistant | Context | ToolResult],
    note: Note,
) -> list[TurnRecord]:
    """Number *records* by turns; notes right before a message of the person belong to its turn."""
    numbered: list[TurnRecord] = []
    waiting: list[Context] = []
    turn = 0
    for record in records:
        if isinstance(record, Context):
            waiting.append(record)
            continue
        if isinstance(record, User):
            turn += 1
        elif not turn:
            note(Repair.BEGINNING, 1)
            turn = 1
            numbered.append((turn, User(BEGINNING)))
        numbered += [(turn, one) for one in waiting]
        waiting.clear()
        numbered.append((turn, record))
    return numbered + [(turn, one) for one in waiting]
