"""The terminal behind a browser: the same turns, numbered and streamed."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from core.events import ApprovalAsked, Event, Reply, to_json
from core.main_terminal import MainTerminal
from core.turn import drive

Packet = dict[str, Any]
KEPT = 2_048
"""Packets remembered for browsers that reconnect."""


class Busy(Exception):
    """A turn is already running."""


class Gone(Exception):
    """The packets asked for are no longer kept, or are not of this run: take a snapshot."""


@dataclass(kw_only=True)
class WebTerminal(MainTerminal):
    """Runs one turn at a time and hands every event to *emit* with a sequence number.

    *emit* is called in the order of the numbers, one call at a time, and must not block. The
    numbers let any browser that joins late, or comes back, ask for what it missed with `since`.
    No socket is known here: *emit* is whatever carries packets away.
    """

    emit: Callable[[Packet], None]
    _log: deque[Packet] = field(default_factory=lambda: deque(maxlen=KEPT))
    _count: int = 0
    _running: threading.Lock = field(default_factory=threading.Lock)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _asked: dict[str, Reply | None] = field(default_factory=dict)

    def handle(self, line: str) -> None:
        """Run a whole turn, streaming it. Raises `Busy` rather than run two at once."""
        if not self._running.acquire(blocking=False):
            raise Busy
        try:
            with self.stop.calling(self._wake):
                drive(self.ask(line), self._show)
        finally:
            self._running.release()

    @property
    def is_running(self) -> bool:
        return self._running.locked()

    @property
    def head(self) -> int:
        """The number of the newest packet; 0 before the first."""
        return self._count

    def answer(self, call_id: str, reply: Reply) -> bool:
        """Answer the question of *call_id*; return False when nobody (any longer) asks it.

        Of several answers to one question the first wins.
        """
        with self._changed:
            if call_id not in self._asked or self._asked[call_id] is not None:
                return False
            self._asked[call_id] = reply
            self._changed.notify_all()
            return True

    def since(self, number: int) -> list[Packet]:
        """Return the packets after *number*, oldest first.

        Raises `Gone` when some of them are not kept any more, or *number* is yet to come.
        """
        with self._changed:
            oldest = self._log[0]["seq"] if self._log else self._count + 1
            if not oldest - 1 <= number <= self._count:
                raise Gone
            return [packet for packet in self._log if packet["seq"] > number]

    def _show(self, event: Event) -> Reply | None:
        with self._changed:
            self._count += 1
            packet = {"seq": self._count, **to_json(event)}
            self._log.append(packet)
            if isinstance(event, ApprovalAsked):
                self._asked[event.call_id] = None
            self.emit(packet)
        return self._wait(event.call_id) if isinstance(event, ApprovalAsked) else None

    def _wait(self, call_id: str) -> Reply | None:
        """Wait for the person; a stop is no answer."""
        with self._changed:
            while self._asked[call_id] is None and not self.stop.is_set():
                self._changed.wait()
            return self._asked.pop(call_id)

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()
