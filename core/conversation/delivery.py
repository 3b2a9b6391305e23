"""Delivery of events to screens that are elsewhere: numbered, in order, kept for who comes late."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from core.conversation.deltas import DeltaBuffer, is_delta, text_length
from core.conversation.event_log import EventLog
from core.conversation.transcript import Packet, Transcript
from core.events import CommandAnswered, Event, TurnFinished, TurnStarted, to_json

_FIRST_EVENTS = (TurnStarted, CommandAnswered, TurnFinished)
"""Events that may be the first of a line: a turn that cannot begin has an end only."""


class Delivery:
    """Hands every event to *emit* as a packet with a sequence number; from any thread.

    *emit* is called in the order of the numbers, one call at a time, and must not block. Deltas
    that follow each other closely are joined first. *stored_transcript* returns the transcript of
    the session that the terminal is in. Whoever holds `lock` decides what else holds when a packet
    goes out.
    """

    def __init__(
        self, emit: Callable[[Packet], None], stored_transcript: Callable[[], Transcript]
    ) -> None:
        self.lock = threading.Condition()
        self.boot = secrets.token_hex(8)
        """Which run of numbers they are of."""
        self._emit = emit
        self._stored_transcript = stored_transcript
        self._transcript = Transcript()
        self._log = EventLog()
        self._deltas = DeltaBuffer()
        self._command_id = ""

    # --- in --------------------------------------------------------------------------------------

    def expect_first(self, command_id: str) -> None:
        """Have the first packet of the line to come bear *command_id*, if it is not ""."""
        self._command_id = command_id

    def add(self, event: Event) -> None:
        """Let *event* go behind all that was held back, or hold it back if it is a delta."""
        with self.lock:
            if not self._buffer(event):
                self._flush()
                self.send(event)

    def send(self, event: Event) -> None:
        """Number *event* and let it go."""
        with self.lock:
            packet = {"seq": self._log.next_number(), **to_json(event)}
            if isinstance(event, _FIRST_EVENTS) and self._command_id:
                packet["cmd"], self._command_id = self._command_id, ""
            if isinstance(event, CommandAnswered) and event.effect == "session":
                self._transcript = self._stored_transcript()
            self._transcript.add(packet)
            self._log.add(packet, _estimated_bytes(event, packet))
            self._emit(packet)

    def restart(self) -> None:
        """Begin another run of numbers: the conversation is another one now."""
        with self.lock:
            self._transcript = self._stored_transcript()
            self.boot = secrets.token_hex(8)
            self._log.clear()

    @contextmanager
    def flushing(self) -> Iterator[None]:
        """Let a thread send what is held back when its frame is over; all is sent at the end."""
        finished = threading.Event()
        thread = threading.Thread(target=self._flush_when_due, args=(finished,), name="deltas")
        thread.start()
        try:
            yield
        finally:
            with self.lock:
                self._flush()
                finished.set()
                self.lock.notify_all()
            thread.join()

    def _flush_when_due(self, finished: threading.Event) -> None:
        with self.lock:
            while not finished.is_set():
                if self._deltas.pending is None:
                    self.lock.wait()
                elif (seconds_left := self._deltas.seconds_left) > 0:
                    self.lock.wait(seconds_left)
                else:
                    self._flush()

    def _buffer(self, event: Event) -> bool:
        """Take *event* in if it is a delta that may wait for more of its kind."""
        if not is_delta(event):
            return False
        if not self._deltas.join(event):
            self._flush()
            self._deltas.join(event)
        if self._deltas.seconds_left <= 0:
            self._flush()
        else:
            self.lock.notify_all()
        return True

    def _flush(self) -> None:
        delta = self._deltas.take()
        if delta is not None:
            self.send(delta)

    # --- what there is ---------------------------------------------------------------------------

    @property
    def head(self) -> int:
        """The number of the newest packet; 0 before the first."""
        return self._log.head

    def since(self, number: int) -> list[Packet]:
        """Return the packets after *number*, oldest first.

        Raises `LogTruncated` when some of them are not kept any more, or *number* is yet to come.
        """
        with self.lock:
            return self._log.since(number)

    def since_command(self, command_id: str) -> list[Packet]:
        """Return the packets from the one on that bears *command_id*; [] when that is not kept."""
        with self.lock:
            return self._log.since_command(command_id)

    def snapshot(self, turns: int) -> tuple[int, int, list[Packet]]:
        """Return `head`, and the first turn and the events that `Transcript.tail` gives of it."""
        with self.lock:
            return self._log.head, *self._transcript.tail(turns)

    def earlier(self, before: int, turns: int) -> tuple[int, list[Packet]]:
        """Return the first turn and the events of the last *turns* before turn *before*."""
        with self.lock:
            return self._transcript.tail(turns, before)


def _estimated_bytes(event: Event, packet: Packet) -> int:
    """Return about how many bytes *packet* takes as JSON."""
    return 2 * text_length(event) + 100 if text_length(event) else len(json.dumps(packet))
