"""Limits of one reply of a server, at which it is aborted, and the counter of it."""

from __future__ import annotations

from typing import Literal

from utils.frozen import frozen

LimitKind = Literal["size", "seconds", "progress"]


@frozen
class ReplyLimits:
    """Far beyond what a model makes of the largest `max_tokens`, at the pace of a slow computer.

    Seconds are those of waiting for the server, so that being stopped or slow ourselves costs none.
    """

    bytes: int = 512 << 20
    """Bytes on the wire: a token takes up to a thousand of them in some servers' streams."""
    event_bytes: int = 16 << 20
    """Bytes from one event to the next; and of a reply that is not streamed."""
    characters: int = 16 << 20
    """Characters of text, thinking and arguments."""
    calls: int = 128
    seconds: float = 4 * 3600.0
    progress_seconds: float = 900.0
    """How long the next `progress_characters` may take, and the beginning of the reply. DeepSeek
    keeps who waits in line for ten minutes, and a slow computer thinks for long before the first.
    """
    progress_characters: int = 100
    error_bytes: int = 65_536
    """What is read of an answer that is no reply."""
    error_seconds: float = 10.0


class LimitExceeded(Exception):
    """A reply exceeded the limit of this *kind*."""

    def __init__(self, measure: LimitKind) -> None:
        super().__init__(measure)
        self.kind = measure


class ReplyWatch:
    """Counts the bytes and the time of one reply. Raises `LimitExceeded`."""

    def __init__(self, limits: ReplyLimits) -> None:
        self.limits = limits
        self.has_timed_out = False
        """Whether the beginning of the reply has taken too long."""
        self._bytes = 0
        self._seconds = 0.0
        self._seconds_since_progress = 0.0
        self._total_characters = 0
        self._new_characters = 0

    def record_received(self, count: int, seconds: float) -> None:
        """Record *count* bytes that were waited for so many *seconds*."""
        self._bytes += count
        self._seconds += seconds
        self._seconds_since_progress += seconds
        if self._bytes > self.limits.bytes:
            raise LimitExceeded("size")
        if self._seconds > self.limits.seconds:
            raise LimitExceeded("seconds")
        if self._seconds_since_progress > self.limits.progress_seconds:
            raise LimitExceeded("progress")

    def record_progress(self, characters: int) -> None:
        """Record *characters* that the reply has grown by."""
        self._total_characters += characters
        self._new_characters += characters
        if self._total_characters > self.limits.characters:
            raise LimitExceeded("size")
        if self._new_characters >= self.limits.progress_characters:
            self._new_characters, self._seconds_since_progress = 0, 0.0
