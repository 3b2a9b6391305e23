"""Readers of a session's packets: its turns, its calls, who sent what."""

from __future__ import annotations

from collections.abc import Sequence

from core.events import ToolFinished, ToolStarted, TurnFinished, TurnStarted
from modules.cli.attach.http import Packet


def command_ids(arrival: Packet) -> set[str]:
    """Return the ids of what was sent to the server of *arrival*."""
    seen = {event["cmd"] for event in arrival["events"] if "cmd" in event}
    return seen | {item["id"] for item in arrival["state"]["queue"]}


def last_turn(events: list[Packet]) -> list[Packet]:
    """Return the packets of the newest turn."""
    starts = [n for n, packet in enumerate(events) if packet["type"] == TurnStarted.__name__]
    return events[starts[-1] :] if starts else events


def newest_turn(events: Sequence[Packet]) -> int:
    """Return the highest number of a turn that begins in *events*; 0 when none does."""
    turns = (event["turn"] for event in events if event["type"] == TurnStarted.__name__)
    return max(turns, default=0)


def events_since(events: Sequence[Packet], turn: int) -> Sequence[Packet]:
    """Return *events* from the first that is not of an earlier server, nor of a turn up to *turn*.

    What a server only read again bears no id of a command.
    """
    for position, event in enumerate(events):
        if "cmd" in event or newest_turn([event]) > turn:
            return events[position:]
    return ()


def open_call_events(events: Sequence[Packet]) -> Sequence[Packet]:
    """Return what *events* tell of the call at their end that is not over, if there is one."""
    types = [event["type"] for event in events]
    starts = [position for position, kind in enumerate(types) if kind == ToolStarted.__name__]
    is_open = starts and {ToolFinished.__name__, TurnFinished.__name__}.isdisjoint(
        types[starts[-1] :]
    )
    return events[starts[-1] :] if is_open else ()
