"""The conversation kept whole: what was said, what it makes as a request, what is still open.

The rule that must always hold: every call of a reply has exactly one answer, right behind the
reply, before anything else. `repaired` makes it so for records of any origin; `History.append`
keeps it so. Only a call that the person was asked about, and never answered, or in which a helper
was at work, waits for its answer as long as nothing else is said (`History.unanswered_calls`). The
log is never rewritten: going back in it is one more record, and so is taking that back
(`effective_records`).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeGuard

from core.conversation.helper_records import (
    HELPER,
    helper_record,
    is_helpers,
    open_calls,
    records_of_open_helper,
    reply_usage,
    unwrapped,
)
from core.conversation.messages import (
    Assistant,
    Context,
    Message,
    Record,
    ShellResult,
    StateRecord,
    ToolCall,
    ToolResult,
    User,
    Wire,
    is_for_model,
)
from core.conversation.request_prefix import PREFIX_BREAK, RewriteReason
from core.conversation.result_texts import LOST_TEXT, SUPERSEDED_TEXT
from utils.i18n import Phrase
from utils.llm.completion import Usage
from utils.text.codec import from_plain, to_plain

TurnRecord = tuple[int, Record]
"""A record and the turn it belongs to; turns count from 1."""

REWOUND = "rewound"
"""The `StateRecord` that takes back the turns from its "to" on; "key" is what gives them back."""
REWIND_UNDONE = "given_back"
"""The `StateRecord` that takes back the newest rewinding of the key that is its value."""
INCIDENT = "incident"
"""The `StateRecord` that tells of a repair: {"lost": …, "mended": …}, counts of records."""
SUMMARY = "digest"
"""The `StateRecord` that lets a "text" stand for all "before" a turn, in requests."""
RESULTS_TRUNCATED = "shortened"
"""The `StateRecord` that cuts, in requests, the first so many answers of those sent by then."""
MASKED = "masked"
"""The `StateRecord` that has a note sent in the place of answers: a list of {"turn", "call",
"address"}, where the whole of each can be read."""
INTERRUPTED = "interrupted"
"""The `StateRecord` that tells that Onefold did not outlive the turn: its session was resumed."""
SPENT = "spent"
"""The `StateRecord` of the `Usage` of a model call of which nothing else is kept."""
ASKED = "asked"
"""The `StateRecord` that names the call that the person is asked about; "": not any more."""
QUESTION = "question"
"""The `StateRecord` of what the person is asked, be it about a call or not: the `Phrase` of it,
plain; "": nothing any more. No call is left open for it, as it is for `ASKED`."""
CHECKING = "checking"
"""The `StateRecord` of the project's checks at the end of a task: the command of the one that runs,
"…" for what is looked at before; "": none runs any more."""
QUEUE = "queue"
"""The `StateRecord` of the messages that wait; see `core.conversation.message_queue`."""
MAX_SENT_IDS = "sent"
"""The `StateRecord` of the ids under which messages were lately sent."""
NATIVE_FAILURES = "native_failures"
"""The `StateRecord` that counts the replies of a session that failed to call natively."""
BOOKKEEPING = frozenset(
    {
        *(REWOUND, REWIND_UNDONE, INCIDENT, INTERRUPTED, SPENT),
        *(ASKED, QUESTION, CHECKING, PREFIX_BREAK),
    }
)
_NO_STATE = BOOKKEEPING | {HELPER}
"""Names of what is no state of the session."""
SURVIVES_REWIND = BOOKKEEPING | {
    *("mode", "model", "approval"),
    *(QUEUE, MAX_SENT_IDS, NATIVE_FAILURES),
}
"""Names that no rewinding takes back: settings, what is still to be done, and the bookkeeping."""

OMISSION_NOTE = (
    "The turns before number {turn} of this session are left out here: they no longer fit. "
    'Reading "@history" lists them. Ask the person when something you need is missing.'
)


_TRUNCATED_LENGTH = 300
"""Characters of an answer that is cut."""
_MASKED_LENGTH = 200
"""Characters of an answer in the place of which a note is sent."""
MASK_NOTE = '{start}\n… (left out here to save tokens; all of this answer: read "{address}")'


def check_in(records: Sequence[TurnRecord]) -> str:
    """Return the check that *records* tell is running, "" for none; see `CHECKING`."""
    return str(_last_told(records, CHECKING))


def question_in(records: Sequence[TurnRecord]) -> Phrase | None:
    """Return the question that *records* tell is open, None for none; see `QUESTION`."""
    plain = _last_told(records, QUESTION)
    question: Phrase | None = from_plain(Phrase, plain) if plain else None
    return question


def _last_told(records: Sequence[TurnRecord], name: str) -> Any:
    told = (one for _, one in reversed(records) if isinstance(one, StateRecord))
    return next((one.value for one in told if one.name == name), "")


class Persist(Protocol):
    """Keeps *records* of *turn*, all or none; they are durable on return."""

    def __call__(self, turn: int, *records: Record) -> None: ...


class History:
    """The records of one session, each durable (by *persist*) before it counts."""

    def __init__(self, persist: Persist) -> None:
        self._persist = persist
        self._lock = threading.RLock()
        self.turn = 0
        self._reply_turn = self._reply_count = 0
        self._helper_turn = self._helper_steps = 0
        self._helper_usage = Usage()
        self._rewrite: RewriteReason = ""
        self.log: list[TurnRecord] = []
        self.usage = Usage()
        self._reset()

    def _reset(self) -> None:
        """Begin to count from nothing; the log and what was spent stay."""
        self.records: list[TurnRecord] = []
        self.context_sent: dict[str, str] = {}
        self.state: dict[str, Any] = {}
        self._open_calls: dict[str, ToolCall] = {}
        self._open_turn = 0
        self._asked_call_id = ""
        self._was_helper_at_work = False
        self.sent: list[TurnRecord] = []
        """The records that go into a request."""
        self._messages: list[Wire] = []
        self._truncated_ids: set[str] = set()
        self._masked: dict[tuple[int, str], str] = {}
        """The addresses of answers that are masked, by their turn and call."""

    def append(self, *records: Record) -> None:
        """Keep *records*, then count them in; calls they would part from answers get some.

        From any thread: what waits is kept beside a turn.
        """
        with self._lock:
            if any(map(_separates_calls, records)):
                text = SUPERSEDED_TEXT if self.asked_call_id else LOST_TEXT
                for call in list(self._open_calls.values()):
                    self._answer_helper_calls(self._open_turn, call.id)
                    self._persist_and_add(self._open_turn, lost_result(call, text))
            self._persist_and_add(self.turn, *records)

    def _persist_and_add(self, turn: int, *records: Record) -> None:
        self._persist(turn, *records)
        for record in records:
            self._add(turn, record)

    def replay(self, records: Iterable[TurnRecord]) -> None:
        """Count in what was kept before, keeping whatever had to be mended at its end.

        A repair is kept as an incident, the same one once. A question that was never answered is
        none, and neither is a helper that was at work: its call, and those behind it, are as open
        as they were.
        """
        stored = list(records)
        complete = repaired(stored)
        added = appended_repairs(stored, complete)
        unchanged = complete[: len(complete) - len(added)]
        for turn, record in unchanged:
            self.turn = turn
            self._append_to_log(turn, record)
        self._rebuild()
        self._was_helper_at_work = any(
            records_of_open_helper(self.log, self._open_turn, call_id)
            for call_id in self._open_calls
        )
        if self.unanswered_calls:
            added = ()
        for turn, record in added:
            if isinstance(record, ToolResult):
                self._answer_helper_calls(turn, record.call_id)
            self._persist_and_add(turn, record)
        repair_count = _count_repairs(stored, unchanged)
        if added or repair_count > max((i.get("mended", 0) for i in self.incidents), default=0):
            self.append(StateRecord(INCIDENT, {"lost": len(added), "mended": repair_count}))
        for name in (CHECKING, QUESTION):
            if _last_told(stored, name):  # we were killed meanwhile
                self.append(StateRecord(name, ""))

    def _answer_helper_calls(self, turn: int, call_id: str) -> None:
        """Where the call *call_id*, which is about to be answered, was a helper's turn, answer what
        that left open."""
        for call in open_calls(records_of_open_helper(self.log, turn, call_id)):
            self._persist_and_add(turn, helper_record(call_id, lost_result(call)))

    @property
    def incidents(self) -> list[dict[str, int]]:
        """Every repair that this session needed, oldest first."""
        return [r.value for _, r in self.log if isinstance(r, StateRecord) and r.name == INCIDENT]

    @property
    def unanswered_calls(self) -> Sequence[ToolCall]:
        """The calls without an answer that wait for it: the person is asked about one of them, or
        the session was left while a helper was at work in one. Else ()."""
        is_waiting = self.asked_call_id or self._was_helper_at_work
        return tuple(self._open_calls.values()) if is_waiting else ()

    @property
    def asked_call_id(self) -> str:
        """The id of the call that the person is asked about; "" for none."""
        return self._asked_call_id if self._asked_call_id in self._open_calls else ""

    @property
    def open_call_id(self) -> str:
        """The id of the model's call that is run now, or waits to be; "" for none."""
        return next(iter(self._open_calls), "")

    @property
    def sent_queue_ids(self) -> frozenset[str]:
        """The ids of the lines that waited once and were said, be it in a turn taken back."""
        queued_ids = (record.queued for _, record in self.log if isinstance(record, User))
        return frozenset(queue_id for queued in queued_ids for queue_id in queued)

    @property
    def turns(self) -> list[int]:
        """The turns that stand, oldest first."""
        return [turn for turn, record in self.records if isinstance(record, User)]

    @property
    def reply_count(self) -> int:
        """How many replies the turn of now has had so far."""
        return self._reply_count if self._reply_turn == self.turn else 0

    def rewind(self, turn: int, key: int) -> None:
        """Take back *turn* and all after it, until *key* is given back."""
        self.append(StateRecord(REWOUND, {"to": turn, "key": key}))

    def was_rewound(self, key: int) -> bool:
        """Return whether there ever was the rewinding *key*."""
        states = (record for _, record in self.log if isinstance(record, StateRecord))
        return any(one.name == REWOUND and one.value["key"] == key for one in states)

    def undo_rewind(self, key: int) -> bool:
        """Take back the rewinding *key*; return whether there was one to take back."""
        if key not in {active_key for _, active_key in _rewindings(self.log).values()}:
            return False
        self.append(StateRecord(REWIND_UNDONE, key))
        return True

    def take_rewrite(self) -> RewriteReason:
        """Return what was done to messages since this was last asked, "" where they only grew."""
        rewrite, self._rewrite = self._rewrite, ""
        return rewrite

    def messages(self) -> list[Wire]:
        """Return the messages of a request, oldest first: a new list of shared dicts."""
        return list(self._messages)

    def _add(self, turn: int, record: Record) -> None:
        self._append_to_log(turn, record)
        if isinstance(record, StateRecord) and record.name in (REWOUND, REWIND_UNDONE):
            self._rebuild()
            self._rewrite = "rewind"
        else:
            self._apply(turn, record)

    def _append_to_log(self, turn: int, record: Record) -> None:
        self.log.append((turn, record))
        if isinstance(record, Assistant):
            self._reply_count = self._reply_count + 1 if turn == self._reply_turn else 1
            self._reply_turn = turn
        usage = usage_in(record)
        if usage:
            self.usage += usage
        if is_helpers(record):
            self._count_helper(turn, usage or Usage(), is_reply=reply_usage(record) is not None)

    def _count_helper(self, turn: int, usage: Usage, *, is_reply: bool) -> None:
        if turn != self._helper_turn:
            self._helper_turn, self._helper_steps, self._helper_usage = turn, 0, Usage()
        self._helper_steps += is_reply
        self._helper_usage += usage

    @property
    def helper_steps(self) -> int:
        """How many replies helpers have had in the turn of now."""
        return self._helper_steps if self._helper_turn == self.turn else 0

    @property
    def helper_usage(self) -> Usage:
        """What helpers have used in the turn of now."""
        return self._helper_usage if self._helper_turn == self.turn else Usage()

    def _rebuild(self) -> None:
        self._reset()
        for turn, record in effective_records(self.log):
            self._apply(turn, record)

    def _leave_out_before(self, turn: int, text: str) -> None:
        """Send only *turn* and later from now on, and *text* instead of what was before."""
        later_records = [(number, record) for number, record in self.records if number >= turn]
        # Later changes are told, or made by calls, in what is kept: they build on what was then.
        sections = sections_of(record for number, record in self.records if number < turn)
        context = [Context(text, {name: text}) for name, text in sections.items()]
        self.sent = [(turn, Context(text)), *((turn, one) for one in context)]
        self.sent += [
            (number, self._as_sent(number, one))
            for number, one in later_records
            if is_for_model(one)
        ]
        self._build_messages()

    @property
    def long_results(self) -> Sequence[ToolResult | ShellResult]:
        """The answers that are sent and may be cut, oldest first."""
        results = (record for _, record in self.sent if _is_answer(record))
        return [result for result in results if len(result.text) > 2 * _TRUNCATED_LENGTH]

    def _apply_to_request(self, name: str, value: Any) -> None:
        """Send something else from now on, if the `StateRecord` *name* says so."""
        if name == "left_out_before":
            self._rewrite = "left_out"
            self._leave_out_before(value, OMISSION_NOTE.format(turn=value))
        elif name == RESULTS_TRUNCATED:
            self._rewrite = "results_cut"
            self._truncate_results(value)
        elif name == SUMMARY:
            self._rewrite = "compaction"
            self._leave_out_before(value["before"], value["text"])
        elif name == MASKED:
            self._rewrite = "masked"
            self._masked |= {(one["turn"], one["call"]): one["address"] for one in value}
            self._rewrite_sent()

    def _truncate_results(self, count: int) -> None:
        self._truncated_ids |= {result.call_id for result in self.long_results[:count]}
        self._rewrite_sent()

    def _rewrite_sent(self) -> None:
        self.sent = [(turn, self._as_sent(turn, record)) for turn, record in self.sent]
        self._build_messages()

    def _build_messages(self) -> None:
        self._messages = [
            _message_of(one) for _, one in self.sent if not isinstance(one, StateRecord)
        ]

    def _as_sent(self, turn: int, record: Record) -> Record:
        if not _is_answer(record):
            return record
        if address := self._masked.get((turn, record.call_id)):
            note = MASK_NOTE.format(start=record.text[:_MASKED_LENGTH], address=address)
            return replace(record, text=min(record.text, note, key=len))
        if record.call_id not in self._truncated_ids:
            return record
        shortened = (
            f"{record.text[:_TRUNCATED_LENGTH]}\n… (cut to make room; call again for the rest)"
        )
        return replace(record, text=min(record.text, shortened, key=len))

    def _apply(self, turn: int, record: Record) -> None:
        self.records.append((turn, record))
        match record:
            case Assistant(calls=calls):
                self._open_calls, self._open_turn = {call.id: call for call in calls}, turn
                self._asked_call_id, self._was_helper_at_work = "", False
            case ToolResult(call_id=call_id):
                self._open_calls.pop(call_id, None)
            case StateRecord("asked", str(call_id)):
                self._asked_call_id = call_id
            case StateRecord(name, value) if name not in _NO_STATE:
                self.state[name] = value
                self._apply_to_request(name, value)
            case Context():
                _count_in(self.context_sent, record)
        if is_for_model(record) and not isinstance(record, StateRecord):
            self.sent.append((turn, record))
            self._messages.append(_message_of(record))


def _is_answer(record: Record) -> TypeGuard[ToolResult | ShellResult]:
    """Return whether *record* is what a tool answered that may be called again."""
    return isinstance(record, ToolResult) or (
        isinstance(record, ShellResult) and record.read is not None
    )


def sections_of(records: Iterable[Record]) -> dict[str, str]:
    """Return the sections of context that stand after *records*, by name."""
    sections: dict[str, str] = {}
    for record in records:
        if isinstance(record, Context):
            _count_in(sections, record)
    return sections


def _count_in(sections: dict[str, str], update: Context) -> None:
    for name, text in update.sections.items():
        if text:
            sections[name] = text
        else:
            sections.pop(name, None)


def usage_record(usage: Usage) -> StateRecord:
    """Return the record of what was spent on a call of which nothing else is kept."""
    return StateRecord(SPENT, to_plain(usage))


def usage_in(record: Record) -> Usage | None:
    """Return what *record* keeps of tokens and money spent, None where it keeps nothing of that."""
    match record:
        case Assistant(usage=usage):
            return usage
        case StateRecord("spent", value):
            kept: Usage = from_plain(Usage, value)
            return kept
        case StateRecord("helper", value):
            return usage_in(unwrapped(value))
    return None


def _message_of(record: Message) -> Wire:
    return record.to_wire()


def effective_records(log: Sequence[TurnRecord]) -> list[TurnRecord]:
    """Return what of *log* counts now: without what a rewinding took back that was not undone."""
    rewindings = _rewindings(log)
    effective: list[TurnRecord] = []
    for position, (turn, record) in enumerate(log):
        if position in rewindings:
            first, _ = rewindings[position]
            effective = [one for one in effective if one[0] < first or survives_rewind(one[1])]
        effective.append((turn, record))
    return effective


def _rewindings(log: Sequence[TurnRecord]) -> dict[int, tuple[int, int]]:
    """Return (first turn taken back, key) of each rewinding that stands, by its place in *log*."""
    rewindings: dict[int, tuple[int, int]] = {}
    by_key: dict[int, list[int]] = {}
    for position, (_, record) in enumerate(log):
        match record:
            case StateRecord("rewound", {"to": int(turn), "key": int(key)}):
                rewindings[position] = turn, key
                by_key.setdefault(key, []).append(position)
            case StateRecord("given_back", int(key)) if by_key.get(key):
                del rewindings[by_key[key].pop()]
    return rewindings


def survives_rewind(record: Record) -> bool:
    return isinstance(record, StateRecord) and record.name in SURVIVES_REWIND


def _count_repairs(stored: Sequence[TurnRecord], complete: Sequence[TurnRecord]) -> int:
    """Return how many records mending dropped, moved or put in."""
    before, after = [id(record) for _, record in stored], [id(record) for _, record in complete]
    if before == after:
        return 0
    same_count = sum(1 for one, other in zip(before, after, strict=False) if one == other)
    return max(len(before), len(after)) - same_count


def repaired(records: Sequence[TurnRecord]) -> list[TurnRecord]:
    """Return *records* with every call answered exactly once, right behind its reply.

    Answers that belong to no call are dropped, repeated ones too; missing ones say that they were
    lost; what was said between a reply and its answers comes after them.
    """
    complete: list[TurnRecord] = []
    delayed: list[TurnRecord] = []
    open_calls: dict[str, ToolCall] = {}
    open_turn = 0

    def close_reply() -> None:
        complete.extend((open_turn, lost_result(call)) for call in open_calls.values())
        open_calls.clear()
        complete.extend(delayed)
        delayed.clear()

    for turn, record in records:
        match record:
            case ToolResult(call_id=call_id):
                if open_calls.pop(call_id, None):
                    complete.append((turn, record))
            case StateRecord() if not _separates_calls(record):
                complete.append((turn, record))
            case Assistant():
                close_reply()
                complete.append((turn, record))
                open_calls, open_turn = {call.id: call for call in record.calls}, turn
            case Context() if open_calls:
                delayed.append((turn, record))
            case _:
                close_reply()
                complete.append((turn, record))
        if not open_calls and delayed:
            close_reply()
    close_reply()
    return complete


def _separates_calls(record: Record) -> bool:
    """Return whether *record* would part calls from their answers, or take back but the former."""
    match record:
        case StateRecord(name, _):
            return name in (REWOUND, REWIND_UNDONE)
        case _:
            return not isinstance(record, ToolResult)


def lost_result(call: ToolCall, text: str = LOST_TEXT) -> ToolResult:
    return ToolResult(call.id, call.name, text, "stopped")


def appended_repairs(
    stored: Sequence[TurnRecord], complete: Sequence[TurnRecord]
) -> Sequence[TurnRecord]:
    """Return the records that mending put behind all the *stored* ones."""
    last = stored[-1] if stored else None
    for position in range(len(complete) - 1, -1, -1):
        if last and complete[position][1] is last[1]:
            return complete[position + 1 :]
    return ()
