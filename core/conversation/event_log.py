"""The newest packets of a session, for browsers that come back."""

from __future__ import annotations

from collections import deque

from core.conversation.transcript import Packet

MAX_PACKETS = 2_048
"""Packets remembered."""
MAX_BYTES = 16 * 2**20
"""Bytes they may take, roughly, as JSON."""


class LogTruncated(Exception):
    """The packets asked for are no longer kept, or are not of this run: take a snapshot."""


class EventLog:
    """Numbers packets from 1 on and keeps the newest. Not safe to use from several threads."""

    def __init__(self) -> None:
        self.head = 0
        self._packets: deque[Packet] = deque()
        self._sizes: deque[int] = deque()
        self._bytes = 0

    def next_number(self) -> int:
        """Return the number of the packet that `add` gets next."""
        self.head += 1
        return self.head

    def add(self, packet: Packet, size: int) -> None:
        """Keep *packet*, which takes about *size* bytes, and forget the oldest for it."""
        self._packets.append(packet)
        self._sizes.append(size)
        self._bytes += size
        while len(self._packets) > MAX_PACKETS or (
            self._bytes > MAX_BYTES and len(self._packets) > 1
        ):
            self._packets.popleft()
            self._bytes -= self._sizes.popleft()

    def clear(self) -> None:
        """Keep none of the packets; the numbers go on."""
        self._packets.clear()
        self._sizes.clear()
        self._bytes = 0

    def since(self, number: int) -> list[Packet]:
        """Return the packets after *number*, oldest first.

        Raises `LogTruncated` when some of them are not kept any more, or *number* is yet to come.
        """
        oldest = self._packets[0]["seq"] if self._packets else self.head + 1
        if not oldest - 1 <= number <= self.head:
            raise LogTruncated
        return [packet for packet in self._packets if packet["seq"] > number]

    def since_command(self, command: str) -> list[Packet]:
        """Return the packets from the one on that bears *command*; [] when that is not kept."""
        packets = list(self._packets)
        first = (
            position for position, packet in enumerate(packets) if packet.get("cmd") == command
        )
        return packets[next(first, len(packets)) :]
