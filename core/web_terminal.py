"""The terminal behind a browser: the same turns, numbered and streamed."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from core.cards import Change
from core.conversation.deltas import Deltas, is_delta, length
from core.conversation.event_log import EventLog, LogTruncated
from core.conversation.messages import Context
from core.conversation.transcript import Packet, Transcript
from core.events import (
    ApprovalAsked,
    CommandAnswered,
    Event,
    Reply,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    to_json,
)
from core.loop.approval_flow import agreed
from core.loop.turn import drive
from core.loop.turn_context import Turn
from core.main_terminal import MainTerminal
from utils.i18n import Phrase
from utils.pictures import Picture
from utils.text.clean import visible

__all__ = ["Busy", "LogTruncated", "Leaving", "Packet", "WebTerminal"]


_BEARERS = (TurnStarted, CommandAnswered, TurnFinished)
"""What may be the first that comes of a line: a turn that cannot begin has an end only."""


class Busy(Exception):
    """A turn is already running."""


class Leaving(Exception):
    """The turn was left at its question, which is asked again when the session goes on."""


def _nothing() -> None:
    pass


@dataclass(kw_only=True)
class WebTerminal(MainTerminal):
    """Runs one turn at a time and hands every event to *emit* with a sequence number.

    *emit* is called in the order of the numbers, one call at a time, and must not block. Deltas
    that follow each other closely are joined first. The numbers let any browser that joins late,
    or comes back, ask for what it missed with `since`; *boot* says of which run of numbers they
    are, and `snapshot` has the whole picture. *changed* is called after a question was asked or
    answered. No socket is known here: *emit* is whatever carries packets away.
    """

    emit: Callable[[Packet], None]
    changed: Callable[[], None] = _nothing
    boot: str = field(default_factory=lambda: secrets.token_hex(8))
    _log: EventLog = field(default_factory=EventLog)
    _command: str = ""
    _transcript: Transcript = field(default_factory=Transcript)
    _running: threading.Lock = field(default_factory=threading.Lock)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _asked: dict[str, Reply | None] = field(default_factory=dict)
    _call: ToolStarted | None = None
    _deltas: Deltas = field(default_factory=Deltas)
    _by_hand: list[Change] = field(default_factory=list)
    _has_asked: bool = False
    _is_leaving: bool = False

    # --- in --------------------------------------------------------------------------------------

    def handle(self, line: str, command: str = "", pictures: Sequence[Picture] = ()) -> None:
        """Run a whole turn, streaming it. Raises `Busy` rather than run two at once.

        *command* is the id under which a browser sent the line; the first packet bears it.
        Raises `Leaving` after `leave`.
        """
        queued = [command] if command else []
        self._stream(partial(self.ask, line, pictures, queued), command)

    def take_up(self) -> None:
        """Go on, as `handle` does, with the turn that was left at a question (`is_asking`)."""
        self._stream(self.go_on)

    def _stream(self, begin: Callable[[], Turn], command: str = "") -> None:
        if not self._running.acquire(blocking=False):
            raise Busy
        self._command = command
        try:
            if self._is_leaving:
                raise Leaving
            with self.stop.calling(self._wake), self._joining():
                drive(begin(), self._show)
        finally:
            self._running.release()

    def leave(self) -> bool:
        """Let a turn end that waits at the question about a call; return whether one does.

        The question stays: it is asked again when the session goes on. Nothing answers it here.
        One that was left before, and is not asked again yet, stays as well.
        """
        with self._changed:
            is_asked = None in self._asked.values() or not self._has_asked
            is_open = is_asked and bool(self.history.asked)
            self._is_leaving = self._is_leaving or is_open
            self._changed.notify_all()
            return is_open

    def aside(self, line: str, command: str = "", *, is_logged: bool = True) -> CommandAnswered:
        """Run a slash command beside whatever runs; only for those that do not touch the talk."""
        answer = self._run_command(line)
        if is_logged:
            self.log(answer, command)
        return answer

    def log(self, answer: CommandAnswered, command: str = "") -> None:
        """Let every screen know of what was done beside the talk."""
        self._command = command
        self._show(answer)

    def give_up(self, why: Phrase) -> None:
        """Tell that the turn ended by a failure of our own, after `handle` raised."""
        with self._changed:
            self._send(TurnFinished("error", why))

    def answer(self, call_id: str, reply: Reply) -> bool:
        """Answer the question of *call_id*; return False when nobody (any longer) asks it.

        Of several answers to one question the first wins. Raises `ToolError` or `Problem` for one
        that cannot be (`core.loop.approval_flow.agreed`); the question then stays.
        """
        with self._changed:
            if call_id not in self.asked or self._is_leaving:
                return False
            if self._call and self._call.call_id == call_id and reply.yes:
                agreed(reply, self.tools.find(self._call.name), self._call.arguments)
            self._asked[call_id] = reply
            self._changed.notify_all()
        self.changed()
        return True

    def changed_by_hand(self, changes: Iterable[Change]) -> None:
        """Let the model know, before its next step, what the person did to files."""
        with self._changed:
            self._by_hand += changes

    def on_history_replaced(self) -> None:
        """Begin another run of numbers: the talk is another one now."""
        with self._changed:
            self._transcript = self._kept_talk()
            self.boot = secrets.token_hex(8)
            self._log.forget()

    # --- what there is ---------------------------------------------------------------------------

    @property
    def is_running(self) -> bool:
        return self._running.locked()

    @property
    def head(self) -> int:
        """The number of the newest packet; 0 before the first."""
        return self._log.head

    @property
    def asked(self) -> tuple[str, ...]:
        """The calls that wait for an answer."""
        with self._changed:
            return tuple(call_id for call_id, reply in self._asked.items() if reply is None)

    def since(self, number: int) -> list[Packet]:
        """Return the packets after *number*, oldest first.

        Raises `LogTruncated` when some of them are not kept any more, or *number* is yet to come.
        """
        with self._changed:
            return self._log.since(number)

    def since_command(self, command: str) -> list[Packet]:
        """Return the packets from the one on that bears *command*; [] when that is not kept."""
        with self._changed:
            return self._log.since_command(command)

    def snapshot(self, turns: int) -> tuple[int, int, list[Packet]]:
        """Return `head`, and the first turn and the events that `Transcript.tail` gives of it."""
        with self._changed:
            return self._log.head, *self._transcript.tail(turns)

    def earlier(self, before: int, turns: int) -> tuple[int, list[Packet]]:
        """Return the first turn and the events of the last *turns* before turn *before*."""
        with self._changed:
            return self._transcript.tail(turns, before)

    # --- out -------------------------------------------------------------------------------------

    def _show(self, event: Event) -> Reply | None:
        with self._changed:
            if self._hold(event):
                return None
            self._flush()
            if isinstance(event, ToolStarted):
                self._call = event
            if isinstance(event, ApprovalAsked):
                self._asked[event.call_id], self._has_asked = None, True
            self._send(event)
        return self._wait(event.call_id) if isinstance(event, ApprovalAsked) else None

    def _send(self, event: Event) -> None:
        """Number *event* and let it go."""
        packet = {"seq": self._log.next(), **to_json(event)}
        if isinstance(event, _BEARERS) and self._command:
            packet["cmd"], self._command = self._command, ""
        if isinstance(event, CommandAnswered) and event.effect == "session":
            self._transcript = self._kept_talk()
        self._transcript.add(packet)
        self._log.add(packet, _size(event, packet))
        self.emit(packet)

    def _kept_talk(self) -> Transcript:
        seconds = self.store.seconds(self.session) if self.session else {}
        return Transcript(self.history.records, seconds, is_open=self.is_asking)

    def _hold(self, event: Event) -> bool:
        """Take *event* in if it is a delta that may wait for more of its kind."""
        if not is_delta(event):
            return False
        if not self._deltas.join(event):
            self._flush()
            self._deltas.join(event)
        if self._deltas.left <= 0:
            self._flush()
        else:
            self._changed.notify_all()
        return True

    def _flush(self) -> None:
        held = self._deltas.take()
        if held is not None:
            self._send(held)

    @contextmanager
    def _joining(self) -> Iterator[None]:
        """Let a thread send what is held back when its frame is over; all is sent at the end."""
        over = threading.Event()
        thread = threading.Thread(target=self._flush_in_time, args=(over,), name="deltas")
        thread.start()
        try:
            yield
        finally:
            with self._changed:
                self._flush()
                over.set()
                self._changed.notify_all()
            thread.join()

    def _flush_in_time(self, over: threading.Event) -> None:
        with self._changed:
            while not over.is_set():
                if self._deltas.held is None:
                    self._changed.wait()
                elif (left := self._deltas.left) > 0:
                    self._changed.wait(left)
                else:
                    self._flush()

    # --- waiting for the person ------------------------------------------------------------------

    def _wait(self, call_id: str) -> Reply | None:
        """Wait for the person; a stop is no answer."""
        self.changed()
        with self._changed:
            while self._asked[call_id] is None and not (self.stop.is_set() or self._is_leaving):
                self._changed.wait()
            reply = self._asked.pop(call_id)
            if self._is_leaving:
                raise Leaving
        if reply is None:
            self.changed()
        return reply

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

    # --- what the model is told ------------------------------------------------------------------

    def _tell(self) -> None:
        super()._tell()
        with self._changed:
            changes, self._by_hand = self._by_hand, []
        if changes:
            told = "; ".join(dict.fromkeys(map(_told, changes)))
            self.record(Context(f"The person changed files by hand: {told}."))


def _told(change: Change) -> str:
    new_path = f" to {visible(change.new_path)}" if change.new_path else ""
    return f"{change.kind} {visible(change.path)}{new_path}"


def _size(event: Event, packet: Packet) -> int:
    """Return about how many bytes *packet* takes as JSON."""
    return 2 * length(event) + 100 if length(event) else len(json.dumps(packet))
