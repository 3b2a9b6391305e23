"""The events of a session for programs, as they come: all of them, or those of one command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

from core.web_terminal import Packet
from modules.web.sessions.event_bus import Message, Subscriber
from modules.web.sessions.session_runner import SessionRunner

Item = tuple[str, int | None, dict[str, Any]]
"""The name, number and content of an event; instead of one, None keeps a connection alive."""


def following(listener: Subscriber, arrival: Packet, kept: ExitStack) -> Iterator[Item | None]:
    """Yield what leads to the picture of now, then what happens; *kept* is let go at the end."""
    with kept:
        yield "attached", None, arrival
        for message in listener.messages():
            if message is None:
                yield None
            elif message[0] != "ev":
                yield message[0], None, message[1]
            elif message[1]["seq"] > arrival["head"]:
                yield "ev", message[1]["seq"], message[1]


def turn_of(
    command: str, seat: SessionRunner, listener: Subscriber, kept: ExitStack, told: Sequence[Packet]
) -> Iterator[Item | None]:
    """Yield the events of the turn that *command* began, once it has begun, to its end.

    *told* are those that are over. The last one comes when *seat* is free for something else.
    """
    messages = listener.messages()
    with kept:
        for packet in _begun(command, seat, messages, to_the_end(told, command)):
            if packet is None:
                yield None
                continue
            if is_end := _is_end(packet, command):
                yield from _until_free(seat, command, messages)
            yield from with_numbers([packet])
            if is_end:
                return


def _begun(
    command: str, seat: SessionRunner, messages: Iterator[Message | None], told: Sequence[Packet]
) -> Iterator[Packet | None]:
    """Yield what *command* began, *told* first, and all that follows; nothing if it never will."""
    yield from told
    has_begun, head = bool(told), max((packet["seq"] for packet in told), default=0)
    for message in messages:
        if message is None:
            yield None
        elif message[0] == "state" and not has_begun:
            # No other state says that it will not begin: one may be older than the sending.
            if seat.has_taken_back(command):
                return
        elif message[0] == "ev" and message[1]["seq"] > head:
            has_begun = has_begun or message[1].get("cmd") == command
            if has_begun:
                yield message[1]


def _until_free(
    seat: SessionRunner, command: str, messages: Iterator[Message | None]
) -> Iterator[Item | None]:
    """Let the *messages* go by that come until *seat* has left what *command* began."""
    while seat.is_at(command):
        try:
            message = next(messages)
        except StopIteration:
            return
        if message is None:
            yield None


def to_the_end(packets: Sequence[Packet], command: str) -> Sequence[Packet]:
    """Return the *packets* up to the last of what *command* began."""
    ends = (place for place, packet in enumerate(packets, 1) if _is_end(packet, command))
    return packets[: next(ends, len(packets))]


def with_numbers(packets: Sequence[Packet]) -> Iterator[Item]:
    for packet in packets:
        yield "ev", packet["seq"], packet


def _is_end(packet: Packet, command: str) -> bool:
    """Return whether *packet* is the last of what *command* began."""
    is_answer = packet["type"] == "CommandAnswered" and packet.get("cmd") == command
    return is_answer or packet["type"] == "TurnFinished"
