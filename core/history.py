"""The conversation kept whole: what was said, what it makes as a request, what is still open.

The rule that must always hold: every call of a reply has exactly one answer, right behind the
reply, before anything else. `mended` makes it so for records of any origin; `History.append`
keeps it so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from core.messages import Assistant, Context, Record, Shift, ToolAnswer, ToolCall, User, Wire
from utils.completion import Usage

Keep = Callable[[int, Record], None]
Numbered = tuple[int, Record]
"""A record and the turn it belongs to; turns count from 1."""

LOST = "The answer of this call was lost: Onefold ended while it ran. Look at the state first."


class History:
    """The records of one session, each durable (by *keep*) before it counts."""

    def __init__(self, keep: Keep) -> None:
        self._keep = keep
        self.turn = 0
        self.records: list[Numbered] = []
        self.told: dict[str, str] = {}
        self.state: dict[str, Any] = {}
        self.usage = Usage()
        self._wire: list[Wire] = []

    def append(self, record: Record) -> None:
        """Keep *record*, then count it in."""
        self._keep(self.turn, record)
        self._count(self.turn, record)

    def replay(self, records: Iterable[Numbered]) -> None:
        """Count in what was kept before, keeping whatever had to be mended at its end."""
        known = list(records)
        whole = mended(known)
        for turn, record in whole:
            self.turn = turn
            self._count(turn, record)
        for _, record in added_at_end(known, whole):
            self._keep(self.turn, record)

    def wire(self) -> list[Wire]:
        """Return the messages of a request, oldest first: a new list of shared dicts."""
        return list(self._wire)

    def _leave_out_before(self, turn: int) -> None:
        """Send only *turn* and later from now on, with a word about what was left out."""
        note = Context(
            f"The turns before number {turn} of this session are left out here: they no longer "
            "fit. Ask the person when something you need is missing."
        )
        kept = [record for number, record in self.records if number >= turn]
        told = [Context(text, {name: text}) for name, text in self.told.items()]
        self._wire = [_wire(r) for r in [note, *told, *kept] if not isinstance(r, Shift)]

    def _count(self, turn: int, record: Record) -> None:
        self.records.append((turn, record))
        match record:
            case Shift(name, value):
                self.state[name] = value
                if name == "left_out_before":
                    self._leave_out_before(value)
            case Context(_, sections):
                self.told.update({name: text for name, text in sections.items() if text})
                for name in [name for name, text in sections.items() if not text]:
                    self.told.pop(name, None)
            case Assistant():
                self.usage += record.usage or Usage()
        if not isinstance(record, Shift):
            self._wire.append(_wire(record))


def _wire(record: User | Assistant | ToolAnswer | Context) -> Wire:
    return record.to_wire()


def mended(records: Sequence[Numbered]) -> list[Numbered]:
    """Return *records* with every call answered exactly once, right behind its reply.

    Answers that belong to no call are dropped, repeated ones too; missing ones say that they were
    lost; what stood between a reply and its answers comes after them.
    """
    whole: list[Numbered] = []
    waiting: list[Numbered] = []
    open_calls: dict[str, ToolCall] = {}
    open_turn = 0

    def close() -> None:
        whole.extend((open_turn, lost(call)) for call in open_calls.values())
        open_calls.clear()
        whole.extend(waiting)
        waiting.clear()

    for turn, record in records:
        match record:
            case ToolAnswer(call_id=call_id):
                if open_calls.pop(call_id, None):
                    whole.append((turn, record))
            case Shift():
                (waiting if open_calls else whole).append((turn, record))
            case Assistant():
                close()
                whole.append((turn, record))
                open_calls, open_turn = {call.id: call for call in record.calls}, turn
            case Context() if open_calls:
                waiting.append((turn, record))
            case _:
                close()
                whole.append((turn, record))
        if not open_calls and waiting:
            close()
    close()
    return whole


def lost(call: ToolCall) -> ToolAnswer:
    return ToolAnswer(call.id, call.name, LOST, "stopped")


def added_at_end(known: Sequence[Numbered], whole: Sequence[Numbered]) -> Sequence[Numbered]:
    """Return the records that mending put behind all the *known* ones."""
    last = known[-1] if known else None
    for position in range(len(whole) - 1, -1, -1):
        if last and whole[position][1] is last[1]:
            return whole[position + 1 :]
    return ()
