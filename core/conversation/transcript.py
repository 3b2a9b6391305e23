"""A session as the fewest events that lead to its picture, for screens that come late."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from core.cards import OUTSIDE_PLACE, RunCard, TextCard
from core.conversation.citations import citations_of
from core.conversation.helper_records import HELPER, unwrapped
from core.conversation.history import TurnRecord
from core.conversation.messages import (
    Assistant,
    Context,
    Record,
    ShellResult,
    StateRecord,
    ToolCall,
    ToolResult,
    User,
    shell_escape_name,
)
from core.conversation.proof import NO_PROOF, PROOF, Proof, proof_in
from core.events import (
    EndReason,
    Event,
    HelperEvent,
    HelperStep,
    StepFinished,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ThinkingFinished,
    ThoughtKept,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    to_json,
)
from core.loop.thinking import conclusion_in
from utils.error_codes import ErrorCode
from utils.i18n import Phrase
from utils.llm.completion import Usage
from utils.text.codec import from_plain, to_plain

Packet = dict[str, Any]
"""An event as a JSON object."""

TURN_END = "ended"
"""The `StateRecord` that keeps how a turn ended, where that was not with the model's last word."""

MAX_LIVE_OUTPUT = 200_000
"""Characters kept of the output of a call that still runs."""


def turn_end_record(turn: int, event: TurnFinished) -> StateRecord:
    """Return the record of how *turn* ended."""
    fields = {"turn": turn, "why": event.why, "seconds": event.seconds}
    told = {"detail": to_plain(event.detail), "error_code": event.error_code}
    return StateRecord(TURN_END, fields | told)


def turn_end_in(record: StateRecord) -> TurnFinished:
    """Return the end of a turn that such a record keeps."""
    kept = record.value
    detail = kept["detail"] and from_plain(Phrase, kept["detail"])
    return TurnFinished(
        kept["why"], detail, seconds=kept["seconds"], error_code=kept.get("error_code")
    )


def is_turn_end(record: Record) -> TypeGuard[StateRecord]:
    """Return whether *record* keeps how a turn ended: one without the model's last word."""
    return isinstance(record, StateRecord) and record.name == TURN_END


class Transcript:
    """The events of a session, folded as they come: applied in order to an empty picture, they
    lead to the same one as all events that ever were. Not safe to use from several threads."""

    def __init__(
        self,
        records: Sequence[TurnRecord] = (),
        seconds: Mapping[int, float] | None = None,
        *,
        is_open: bool = False,
    ) -> None:
        """Begin with what `replay_events` makes of these."""
        self._turns: list[tuple[int, list[Packet]]] = [(0, [])]
        for event in replay_events(records, seconds, is_open=is_open):
            self.add(to_json(event))

    def add(self, packet: Mapping[str, Any]) -> None:  # noqa: C901 - one case for each event
        """Fold in the next event; its number is left out."""
        event = {name: value for name, value in packet.items() if name != "seq"}
        if event["type"] == "TurnStarted":
            self._turns.append((event["turn"], []))
        events = self._turns[-1][1]
        if events and events[-1]["type"] in ("CallDrafted", "Waiting"):
            events.pop()
        match event["type"]:
            case "ThinkingDelta" | "TextDelta" | "ToolOutput" if events and _continues(
                events, event
            ):
                events[-1]["text"] += event["text"]
                if event["type"] == "ToolOutput" and len(events[-1]["text"]) > 2 * MAX_LIVE_OUTPUT:
                    events[-1]["text"] = events[-1]["text"][-MAX_LIVE_OUTPUT:]
                return
            case "Retrying":
                _drop_reply(events)
            case "ToolStarted" if event.get("is_revised"):
                _drop_events(events, "ToolStarted", event["call_id"])
                _drop_call_output(events, event["call_id"])
            case "ApprovalAsked":
                _drop_events(events, "ApprovalAsked", event["call_id"])
            case "ToolFinished":
                _drop_call_output(events, event["call_id"])
            case "HelperEvent":
                _drop_passing(events, event["parent"])
            case "StepStarted" | "TurnFinished":
                # A question about the task itself comes after its call is over.
                events[:] = [one for one in events if one["type"] != "ApprovalAsked"]
        events.append(event)

    def tail(self, turns: int, before: int | None = None) -> tuple[int, list[Packet]]:
        """Return the number of the first turn of the last *turns*, and their events.

        With *before* only turns below that number count. What stands before all turns comes with
        the first of them; its number is 1 then.
        """
        turns_before = [turn for turn in self._turns if before is None or turn[0] < before]
        chosen = turns_before[-turns:]
        if chosen[:1] == turns_before[1:2]:
            chosen = turns_before
        first = max(chosen[0][0], 1) if chosen else 1
        return first, [dict(event) for _, events in chosen for event in events]


def _continues(events: list[Packet], event: Packet) -> bool:
    last = events[-1]
    return last["type"] == event["type"] and last.get("call_id") == event.get("call_id")


def _drop_reply(events: list[Packet]) -> None:
    """Drop what came since the step began: it no longer counts."""
    while events and events[-1]["type"] not in ("StepStarted", "TurnStarted"):
        events.pop()


def _drop_call_output(events: list[Packet], call_id: str) -> None:
    """Drop the live output and the question of a call that is over."""
    _drop_events(events, "ToolOutput", call_id)
    _drop_events(events, "ApprovalAsked", call_id)


def _drop_passing(events: list[Packet], parent: str) -> None:
    """Drop what a helper waited for, a reply too: something else happens in it now."""
    _drop_events(events, "ApprovalAsked", parent)
    last: Packet = events[-1] if events else {"type": ""}
    is_same = last["type"] == HelperEvent.__name__ and last["parent"] == parent
    if is_same and last["event"]["type"] in ("Waiting", "Retrying"):
        events.pop()


def _drop_events(events: list[Packet], kind: str, call_id: str) -> None:
    events[:] = [one for one in events if one["type"] != kind or one["call_id"] != call_id]


@dataclass
class _TurnReplay:
    """A kept turn while its events are made again."""

    number: int
    steps: int = 0
    usage: Usage = field(default_factory=Usage)
    calls: dict[str, ToolCall] = field(default_factory=dict)
    why: EndReason = "interrupted"
    detail: Phrase | None = None
    seconds: float = 0.0
    error_code: ErrorCode | None = None
    records: list[Record] = field(default_factory=list)
    proof: Proof = NO_PROOF
    helpers: dict[str, list[TurnRecord]] = field(default_factory=dict)
    """The records of each helper, by the call that it is."""

    def events_of(self, record: Record) -> Iterator[Event]:
        self.records.append(record)
        match record:
            case Assistant():
                yield from self._reply_events(record)
            case ToolResult(state=state):
                yield from self._call_events(record)
                self.why = "stopped" if state == "stopped" and not record.is_lost else "interrupted"
            case ShellResult(check=check) if check:
                tier = record.card.tier if isinstance(record.card, RunCard) else ""
                yield ToolStarted(record.call_id, check, {"command": record.command}, tier=tier)
                yield ToolFinished(
                    *(record.call_id, check, record.state, record.card, record.seconds),
                    error_code=record.error_code,
                )
            case ShellResult(read=ToolCall() as read, state=state):
                given = json.loads(read.arguments)
                tier = record.card.tier if isinstance(record.card, RunCard) else ""
                yield ToolStarted(record.call_id, read.name, given, tier=tier)
                yield ToolFinished(
                    *(record.call_id, read.name, state, record.card, record.seconds),
                    error_code=record.error_code,
                )
                self.why = "stopped" if state == "stopped" else "interrupted"
            case StateRecord(name, value) if name == HELPER:
                self.helpers.setdefault(value["call"], []).append((0, unwrapped(value)))
            case StateRecord(name, value) if name == PROOF:
                self.proof = proof_in(value)
            case ShellResult():
                name = shell_escape_name(is_private=record.is_private)
                given = {"command": record.command}
                yield ToolStarted(record.call_id, name, given, tier=OUTSIDE_PLACE)
                yield ToolFinished(
                    *(record.call_id, name, record.state, record.card, record.seconds),
                    error_code=record.error_code,
                )
                self.why = "stopped" if record.state == "stopped" else "done"
                self.seconds = record.seconds
            case Context(text) if conclusion := conclusion_in(text):
                yield ThoughtKept(conclusion)
            case StateRecord(name, value) if name == TURN_END and value.get("turn") == self.number:
                end = turn_end_in(record)
                self.why, self.seconds = end.why, end.seconds
                self.detail, self.error_code = end.detail, end.error_code

    def _reply_events(self, reply: Assistant) -> Iterator[Event]:
        self.steps += 1
        yield StepStarted(self.steps, bool(reply.thinking))
        if reply.thinking:
            yield ThinkingDelta(reply.thinking)
            yield ThinkingFinished(reply.seconds)
        if reply.text:
            yield TextDelta(reply.text)
        yield StepFinished(self.steps, reply.usage or Usage())
        self.usage += reply.usage or Usage()
        self.calls = {call.id: call for call in reply.calls}
        self.why = "interrupted" if reply.calls else "done"

    def _call_events(self, result: ToolResult) -> Iterator[Event]:
        call = self.calls.get(result.call_id)
        arguments = result.revised
        if arguments is None:
            arguments = json.loads(call.arguments) if call else {}
        is_revised = result.revised is not None
        tier = result.card.tier if isinstance(result.card, RunCard) else ""
        yield ToolStarted(result.call_id, result.name, arguments, is_revised, tier)
        yield from replay_helper(self.helpers.pop(result.call_id, ()), result.call_id)
        card = result.card or TextCard(result.name, result.text[:2_000])
        yield ToolFinished(
            *(result.call_id, result.name, result.state, card, result.seconds),
            error_code=result.error_code,
        )

    def end(self) -> TurnFinished:
        cited = citations_of(self.records)
        return TurnFinished(
            *(self.why, self.detail, self.usage, self.seconds),
            error_code=self.error_code,
            citations=cited.sources,
            unknown_citations=cited.unknown,
            receipts=self.proof.receipts,
            checks=self.proof.checks,
            claims=self.proof.claims,
        )


def replay_events(
    records: Iterable[TurnRecord],
    seconds: Mapping[int, float] | None = None,
    *,
    is_open: bool = False,
) -> Iterator[Event]:
    """Yield the events that kept *records* tell of, each turn with its end.

    *seconds* is how long turns took whose records do not tell it. The last turn has no end if it
    *is_open* and goes on from here.
    """
    durations = seconds or {}
    turn: _TurnReplay | None = None
    for number, record in records:
        if isinstance(record, User):
            if turn:
                yield turn.end()
            turn = _TurnReplay(number, seconds=durations.get(number, 0.0))
            yield TurnStarted(record.typed or record.text, number, record.pictures)
        elif turn:
            yield from turn.events_of(record)
    if turn and not is_open:
        yield turn.end()


def replay_helper(records: Iterable[TurnRecord], call_id: str) -> Iterator[HelperEvent]:
    """Yield the events that the *records* of the helper tell of that is the call *call_id*."""
    for event in replay_events(records, is_open=True):
        if isinstance(event, HelperStep):
            yield HelperEvent(call_id, event)
