"""A session on a server as far as it is known here: what it told, and what was sent to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from core.events import CommandAnswered, TurnFinished
from modules.cli.attach.connection_state import (
    CONNECTION_TRANSITIONS,
    ConnectionEvent,
    ConnectionState,
)
from modules.cli.attach.http import Packet
from modules.cli.attach.packet_reader import command_ids

_END_TYPES = (CommandAnswered.__name__, TurnFinished.__name__)


@dataclass
class FollowedSession:
    """The session *id*; its *state* is the newest that was told, from the listening thread."""

    id: str
    state: Packet = field(default_factory=lambda: {"running": False, "asked": []})
    connection: ConnectionState = ConnectionState.CONNECTED
    is_empty: bool = True
    """Whether nobody has said anything in it."""
    expected_command: str = ""
    """The id of what was sent last, until something is told of it."""
    has_passed_checks: bool = False
    """Whether checks passed in the last turn that ended."""
    _ends_received: int = 0
    _ends_shown: int = 0

    def address(self, what: str) -> str:
        """Return the path of *what* of this session on the server."""
        return f"/api/sessions/{self.id}/{what}"

    @property
    def is_busy(self) -> bool:
        """Whether something runs, or is over and was not shown yet."""
        return bool(self.state["running"]) or self._ends_received > self._ends_shown

    @property
    def is_awaited(self) -> bool:
        """Whether there is something to show, now or soon."""
        return self.is_busy or bool(self.expected_command)

    def on_connection(self, event: ConnectionEvent) -> bool:
        """Take note of *event*; return whether that changes anything."""
        before = self.connection
        self.connection = CONNECTION_TRANSITIONS[before, event]
        return self.connection is not before

    def on_restart(self, arrival: Packet) -> None:
        """Take note that there is another server; what was not sent to it went with the old one."""
        if self.expected_command not in command_ids(arrival):
            self.expected_command = ""

    def on_events(self, packets: Sequence[Packet]) -> None:
        """Take note of what is over: it may be before anybody sees it run."""
        self.is_empty = self.is_empty and not packets
        self._ends_received += sum(packet["type"] in _END_TYPES for packet in packets)
        self.note_checks(packets)

    def note_checks(self, packets: Sequence[Packet]) -> None:
        """Take note of the checks of the turns that end in *packets*."""
        for packet in packets:
            if receipts := packet.get("receipts"):
                self.has_passed_checks = any(
                    one["is_check"] and one["state"] == "green" for one in receipts
                )

    def on_shown(self, packet: Packet) -> bool:
        """Take note that *packet* is shown; return whether it tells of what was sent here."""
        self._ends_shown += packet["type"] in _END_TYPES
        is_ours: bool = packet.get("cmd") == self.expected_command
        if is_ours:
            self.expected_command = ""
        return is_ours

    def is_idle_by(self, name: str, packet: Packet) -> bool:
        """Return whether *packet* tells that nothing runs, nor will: what waits may do so long."""
        if name not in ("attached", "state"):
            return False
        state = packet["state"] if name == "attached" else packet
        if not state["running"] and self.expected_command in (
            item["id"] for item in state["queue"]
        ):
            self.expected_command = ""
        return not (state["running"] or self.is_awaited)
