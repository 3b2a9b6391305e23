"""Event streams of a session for programs: all events, or those of one command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

from core.conversation.transcript import Packet
from modules.web.sessions.event_bus import Message, Subscriber
from modules.web.sessions.session_runner import SessionRunner

StreamItem = tuple[str, int | None, dict[str, Any]]
"""The name, number and content of an event; instead of one, None keeps a connection alive."""


def session_stream(
    subscriber: Subscriber, attached: Packet, resources: ExitStack
) -> Iterator[StreamItem | None]:
    """Yield the answer to `attach`, then events as they come; *resources* are closed at the end."""
    with resources:
        yield "attached", None, attached
        for message in subscriber.messages():
            if message is None:
                yield None
            elif message[0] != "ev":
                yield message[0], None, message[1]
            elif message[1]["seq"] > attached["head"]:
                yield "ev", message[1]["seq"], message[1]


def turn_stream(
    command: str,
    runner: SessionRunner,
    subscriber: Subscriber,
    resources: ExitStack,
    past_events: Sequence[Packet],
) -> Iterator[StreamItem | None]:
    """Yield the events of the turn that *command* began, once it has begun, to its end.

    *past_events* come first. The last event comes when *runner* is free for something else.
    """
    messages = subscriber.messages()
    with resources:
        for packet in _from_start(command, runner, messages, until_end(past_events, command)):
            if packet is None:
                yield None
                continue
            if is_end := _is_end(packet, command):
                yield from _skip_until_idle(runner, command, messages)
            yield from with_event_ids([packet])
            if is_end:
                return


def _from_start(
    command: str,
    runner: SessionRunner,
    messages: Iterator[Message | None],
    past_events: Sequence[Packet],
) -> Iterator[Packet | None]:
    """Yield the events from those of *command* on; nothing if it will never run."""
    yield from past_events
    has_begun, head = bool(past_events), max((packet["seq"] for packet in past_events), default=0)
    for message in messages:
        if message is None:
            yield None
        elif message[0] == "state" and not has_begun:
            # No other state says that it will not begin: one may be older than the sending.
            if runner.was_dropped(command):
                return
        elif message[0] == "ev" and message[1]["seq"] > head:
            has_begun = has_begun or message[1].get("cmd") == command
            if has_begun:
                yield message[1]


def _skip_until_idle(
    runner: SessionRunner, command: str, messages: Iterator[Message | None]
) -> Iterator[StreamItem | None]:
    """Skip *messages* until *runner* is done with *command*."""
    while runner.is_current(command):
        try:
            message = next(messages)
        except StopIteration:
            return
        if message is None:
            yield None


def until_end(packets: Sequence[Packet], command: str) -> Sequence[Packet]:
    """Return the *packets* up to the last of what *command* began."""
    ends = (count for count, packet in enumerate(packets, 1) if _is_end(packet, command))
    return packets[: next(ends, len(packets))]


def with_event_ids(packets: Sequence[Packet]) -> Iterator[StreamItem]:
    for packet in packets:
        yield "ev", packet["seq"], packet


def _is_end(packet: Packet, command: str) -> bool:
    """Return whether *packet* is the last of what *command* began."""
    is_answer = packet["type"] == "CommandAnswered" and packet.get("cmd") == command
    return is_answer or packet["type"] == "TurnFinished"
