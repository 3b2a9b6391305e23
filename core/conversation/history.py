"""The conversation kept whole: what was said, what it makes as a request, what is still open.

The rule that must always hold: every call of a reply has exactly one answer, right behind the
reply, before anything else. `mended` makes it so for records of any origin; `History.append`
keeps it so. Only a call that the person was asked about, and never answered, waits for its answer
as long as nothing else is said (`History.asked`). The log is never rewritten: going back in it is
one more record, and so is taking that back (`standing`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from core.conversation.messages import (
    Assistant,
    Context,
    Record,
    StateRecord,
    ToolCall,
    ToolResult,
    User,
    Wire,
)
from utils.llm.completion import Usage
from utils.text.codec import from_plain, to_plain

Keep = Callable[[int, Record], None]
TurnRecord = tuple[int, Record]
"""A record and the turn it belongs to; turns count from 1."""

REWOUND = "rewound"
"""The `StateRecord` that takes back the turns from its "to" on; "key" is what gives them back."""
GIVEN_BACK = "given_back"
"""The `StateRecord` that takes back the newest rewinding of the key that is its value."""
INCIDENT = "incident"
"""The `StateRecord` that tells of a repair: {"lost": …, "mended": …}, counts of records."""
DIGEST = "digest"
"""The `StateRecord` that lets a "text" stand for all "before" a turn, in requests."""
SHORTENED = "shortened"
"""The `StateRecord` that cuts, in requests, the first so many answers of those sent by then."""
SPENT = "spent"
"""The `StateRecord` that tells of a model call beside the talk: its usage."""
ASKED = "asked"
"""The `StateRecord` that names the call that the person is asked about; "": not any more."""
QUEUE = "queue"
"""The `StateRecord` of the messages that wait; see `core.conversation.message_queue`."""
SENT = "sent"
"""The `StateRecord` of the ids under which messages were lately sent."""
BOOK = frozenset({REWOUND, GIVEN_BACK, INCIDENT, SPENT, ASKED})
TIMELESS = BOOK | {"mode", "model", "approval", QUEUE, SENT}
"""What no rewinding takes back: settings, what is still to be done, and the book of it all."""

LOST = "The answer of this call was lost: Onefold ended while it ran. Look at the state first."

BROKEN_OFF = "No answer: Onefold broke off before or while this ran. Look at the state first."
NOT_RUN = "Not run: the person was asked about it and said something else instead."

LEFT_OUT = (
    "The turns before number {turn} of this session are left out here: they no longer fit. "
    'Reading "@history" lists them. Ask the person when something you need is missing.'
)


_KEPT_OF_ANSWER = 300
"""Characters of an answer that is cut."""


class History:
    """The records of one session, each durable (by *keep*) before it counts."""

    def __init__(self, keep: Keep) -> None:
        self._keep = keep
        self._lock = threading.RLock()
        self.turn = 0
        self.log: list[TurnRecord] = []
        self.usage = Usage()
        self._forget()

    def _forget(self) -> None:
        """Begin to count from nothing; the log and what was spent stay."""
        self.records: list[TurnRecord] = []
        self.told: dict[str, str] = {}
        self.state: dict[str, Any] = {}
        self._open: dict[str, ToolCall] = {}
        self._open_turn = 0
        self._asked = ""
        self.sent: list[TurnRecord] = []
        """What goes into a request."""
        self._wire: list[Wire] = []
        self._cut: set[str] = set()

    def append(self, record: Record) -> None:
        """Keep *record*, then count it in; calls that it would part from their answers get some.

        From any thread: what waits is kept beside a turn.
        """
        with self._lock:
            if _parts(record):
                text = NOT_RUN if self.asked else LOST
                for call in list(self._open.values()):
                    self._put(self._open_turn, lost(call, text))
            self._put(self.turn, record)

    def _put(self, turn: int, record: Record) -> None:
        self._keep(turn, record)
        self._add(turn, record)

    def replay(self, records: Iterable[TurnRecord]) -> None:
        """Count in what was kept before, keeping whatever had to be mended at its end.

        A repair is kept as an incident, the same one once. A question that was never answered is
        none: its call, and those behind it, are as open as they were.
        """
        known = list(records)
        whole = mended(known)
        added = added_at_end(known, whole)
        kept = whole[: len(whole) - len(added)]
        for turn, record in kept:
            self.turn = turn
            self._log(turn, record)
        self._count_anew()
        if self.asked:
            added = ()
        for turn, record in added:
            self._put(turn, record)
        inside = _repairs(known, kept)
        if added or inside > max((i.get("mended", 0) for i in self.incidents), default=0):
            self.append(StateRecord(INCIDENT, {"lost": len(added), "mended": inside}))

    @property
    def incidents(self) -> list[dict[str, int]]:
        """What had to be repaired in this session, oldest first."""
        return [r.value for _, r in self.log if isinstance(r, StateRecord) and r.name == INCIDENT]

    @property
    def asked(self) -> Sequence[ToolCall]:
        """The call that the person is asked about and those behind it; () without a question."""
        calls = tuple(self._open.values())
        return calls if calls and calls[0].id == self._asked else ()

    @property
    def begun(self) -> frozenset[str]:
        """The ids of the lines that waited once and were said, be it in a turn taken back."""
        said = (record.queued for _, record in self.log if isinstance(record, User))
        return frozenset(one for queued in said for one in queued)

    @property
    def turns(self) -> list[int]:
        """The turns that stand, oldest first."""
        return [turn for turn, record in self.records if isinstance(record, User)]

    def rewind(self, turn: int, key: int) -> None:
        """Take back *turn* and all after it, until *key* is given back."""
        self.append(StateRecord(REWOUND, {"to": turn, "key": key}))

    def was_rewound(self, key: int) -> bool:
        """Return whether there ever was the rewinding *key*."""
        shifts = (record for _, record in self.log if isinstance(record, StateRecord))
        return any(one.name == REWOUND and one.value["key"] == key for one in shifts)

    def give_back(self, key: int) -> bool:
        """Take back the rewinding *key*; return whether there was one to take back."""
        if key not in {known for _, known in _rewindings(self.log).values()}:
            return False
        self.append(StateRecord(GIVEN_BACK, key))
        return True

    def wire(self) -> list[Wire]:
        """Return the messages of a request, oldest first: a new list of shared dicts."""
        return list(self._wire)

    def _add(self, turn: int, record: Record) -> None:
        self._log(turn, record)
        if isinstance(record, StateRecord) and record.name in (REWOUND, GIVEN_BACK):
            self._count_anew()
        else:
            self._count(turn, record)

    def _log(self, turn: int, record: Record) -> None:
        self.log.append((turn, record))
        match record:
            case Assistant(usage=Usage() as usage):
                self.usage += usage
            case StateRecord("spent", value):
                self.usage += from_plain(Usage, value)

    def _count_anew(self) -> None:
        self._forget()
        for turn, record in standing(self.log):
            self._count(turn, record)

    def _leave_out_before(self, turn: int, text: str) -> None:
        """Send only *turn* and later from now on, and *text* instead of what was before."""
        kept = [(number, record) for number, record in self.records if number >= turn]
        told = [Context(text, {name: text}) for name, text in self.told.items()]
        self.sent = [(turn, Context(text)), *((turn, one) for one in told)]
        self.sent += [
            (number, self._as_sent(one)) for number, one in kept if not isinstance(one, StateRecord)
        ]
        self._wire = [_wire(one) for _, one in self.sent if not isinstance(one, StateRecord)]

    @property
    def long_answers(self) -> Sequence[ToolResult]:
        """The answers that are sent and may be cut, oldest first."""
        answers = (record for _, record in self.sent if isinstance(record, ToolResult))
        return [answer for answer in answers if len(answer.text) > 2 * _KEPT_OF_ANSWER]

    def _change_sent(self, name: str, value: Any) -> None:
        """Send something else from now on, if the `StateRecord` *name* says so."""
        if name == "left_out_before":
            self._leave_out_before(value, LEFT_OUT.format(turn=value))
        elif name == SHORTENED:
            self._shorten(value)
        elif name == DIGEST:
            self._leave_out_before(value["before"], value["text"])

    def _shorten(self, count: int) -> None:
        self._cut |= {answer.call_id for answer in self.long_answers[:count]}
        self.sent = [(turn, self._as_sent(record)) for turn, record in self.sent]
        self._wire = [_wire(one) for _, one in self.sent if not isinstance(one, StateRecord)]

    def _as_sent(self, record: Record) -> Record:
        if not isinstance(record, ToolResult) or record.call_id not in self._cut:
            return record
        told = f"{record.text[:_KEPT_OF_ANSWER]}\n… (cut to make room; call again for the rest)"
        return replace(record, text=min(record.text, told, key=len))

    def _count(self, turn: int, record: Record) -> None:
        self.records.append((turn, record))
        match record:
            case Assistant(calls=calls):
                self._open, self._open_turn = {call.id: call for call in calls}, turn
                self._asked = ""
            case ToolResult(call_id=call_id):
                self._open.pop(call_id, None)
            case StateRecord("asked", str(call_id)):
                self._asked = call_id
            case StateRecord(name, value) if name not in BOOK:
                self.state[name] = value
                self._change_sent(name, value)
            case Context(_, sections):
                self.told.update({name: text for name, text in sections.items() if text})
                for name in [name for name, text in sections.items() if not text]:
                    self.told.pop(name, None)
        if not isinstance(record, StateRecord):
            self.sent.append((turn, record))
            self._wire.append(_wire(record))


def spending(usage: Usage) -> StateRecord:
    """Return the record of what was spent on a call of which nothing else is kept."""
    return StateRecord(SPENT, to_plain(usage))


def _wire(record: User | Assistant | ToolResult | Context) -> Wire:
    return record.to_wire()


def standing(log: Sequence[TurnRecord]) -> list[TurnRecord]:
    """Return what of *log* counts now: without what a rewinding took back that was not undone."""
    rewindings = _rewindings(log)
    kept: list[TurnRecord] = []
    for position, (turn, record) in enumerate(log):
        if position in rewindings:
            first, _ = rewindings[position]
            kept = [one for one in kept if one[0] < first or is_timeless(one[1])]
        kept.append((turn, record))
    return kept


def _rewindings(log: Sequence[TurnRecord]) -> dict[int, tuple[int, int]]:
    """Return (first turn taken back, key) of each rewinding that stands, by its place in *log*."""
    found: dict[int, tuple[int, int]] = {}
    by_key: dict[int, list[int]] = {}
    for position, (_, record) in enumerate(log):
        match record:
            case StateRecord("rewound", {"to": int(turn), "key": int(key)}):
                found[position] = turn, key
                by_key.setdefault(key, []).append(position)
            case StateRecord("given_back", int(key)) if by_key.get(key):
                del found[by_key[key].pop()]
    return found


def is_timeless(record: Record) -> bool:
    return isinstance(record, StateRecord) and record.name in TIMELESS


def _repairs(known: Sequence[TurnRecord], whole: Sequence[TurnRecord]) -> int:
    """Return how many records mending dropped, moved or put in."""
    before, after = [id(record) for _, record in known], [id(record) for _, record in whole]
    if before == after:
        return 0
    same = sum(1 for one, other in zip(before, after, strict=False) if one == other)
    return max(len(before), len(after)) - same


def mended(records: Sequence[TurnRecord]) -> list[TurnRecord]:
    """Return *records* with every call answered exactly once, right behind its reply.

    Answers that belong to no call are dropped, repeated ones too; missing ones say that they were
    lost; what was said between a reply and its answers comes after them.
    """
    whole: list[TurnRecord] = []
    waiting: list[TurnRecord] = []
    open_calls: dict[str, ToolCall] = {}
    open_turn = 0

    def close() -> None:
        whole.extend((open_turn, lost(call)) for call in open_calls.values())
        open_calls.clear()
        whole.extend(waiting)
        waiting.clear()

    for turn, record in records:
        match record:
            case ToolResult(call_id=call_id):
                if open_calls.pop(call_id, None):
                    whole.append((turn, record))
            case StateRecord() if not _parts(record):
                whole.append((turn, record))
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


def _parts(record: Record) -> bool:
    """Return whether *record* would part calls from their answers, or take back but the former."""
    match record:
        case StateRecord(name, _):
            return name in (REWOUND, GIVEN_BACK)
        case _:
            return not isinstance(record, ToolResult)


def lost(call: ToolCall, text: str = LOST) -> ToolResult:
    return ToolResult(call.id, call.name, text, "stopped")


def added_at_end(known: Sequence[TurnRecord], whole: Sequence[TurnRecord]) -> Sequence[TurnRecord]:
    """Return the records that mending put behind all the *known* ones."""
    last = known[-1] if known else None
    for position in range(len(whole) - 1, -1, -1):
        if last and whole[position][1] is last[1]:
            return whole[position + 1 :]
    return ()
