"""The terminal behind a browser: the same turns, numbered and streamed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from core.cards import Change
from core.conversation.delivery import Delivery
from core.conversation.messages import Context
from core.conversation.transcript import Packet, Transcript
from core.events import (
    ApprovalAsked,
    CommandAnswered,
    Event,
    Informed,
    Reply,
    ToolStarted,
    TurnFinished,
)
from core.feature import Feature
from core.loop.approval_flow import resolve_approval
from core.loop.turn import drive
from core.loop.turn_context import Turn
from core.main_terminal import MainTerminal
from core.redaction import map_strings
from utils.error_codes import ErrorCode
from utils.i18n import Phrase
from utils.pictures import Picture
from utils.text.clean import visible


class Busy(Exception):
    """A turn is already running."""


class TurnSuspended(Exception):
    """The turn was left at its question, which is asked again when the session goes on."""


def _do_nothing() -> None:
    pass


@dataclass(kw_only=True)
class WebTerminal(MainTerminal):
    """Runs one turn at a time and has `delivery` hand every event to *emit*.

    The numbers of the packets let any browser that joins late, or comes back, ask for what it
    missed. *on_question_changed* is called after a question was asked or answered. No socket is
    known here: *emit* is whatever carries packets away.
    """

    emit: Callable[[Packet], None]
    runs_shell_escapes: bool = True
    on_question_changed: Callable[[], None] = _do_nothing
    delivery: Delivery = field(init=False)
    _turn_lock: threading.Lock = field(default_factory=threading.Lock)
    _replies: dict[str, Reply | None] = field(default_factory=dict)
    _current_call: ToolStarted | None = None
    _manual_changes: list[Change] = field(default_factory=list)
    _has_asked: bool = False
    _is_suspending: bool = False

    def __post_init__(self, feature_list: Sequence[Feature]) -> None:
        self.delivery = Delivery(self.emit, self._stored_transcript)
        self._condition = self.delivery.lock  # a question is open before anybody is shown it
        super().__post_init__(feature_list)

    # --- in --------------------------------------------------------------------------------------

    def handle(self, line: str, command_id: str = "", pictures: Sequence[Picture] = ()) -> None:
        """Run a whole turn, streaming it. Raises `Busy` rather than run two at once.

        *command_id* is the id under which a browser sent the line; the first packet bears it.
        Raises `TurnSuspended` after `suspend`.
        """
        queued = [command_id] if command_id else []
        self._stream(partial(self.run_line, line, pictures, queued), command_id)

    def stream_resumed_turn(self) -> None:
        """Resume, like `handle`, the turn that was left at a question (`has_open_question`)."""
        self._stream(self.resume_turn)

    def _stream(self, start_turn: Callable[[], Turn], command_id: str = "") -> None:
        if not self._turn_lock.acquire(blocking=False):
            raise Busy
        self.delivery.expect_first(command_id)
        try:
            if self._is_suspending:
                raise TurnSuspended
            with self.stop.on_stop(self._wake), self.delivery.flushing():
                drive(start_turn(), self._show)
        finally:
            self._turn_lock.release()

    def suspend(self) -> bool:
        """Let a turn end that waits at the question about a call; return whether one does.

        The question stays: it is asked again when the session goes on. Nothing answers it here.
        One that was left before, and is not asked again yet, stays as well.
        """
        with self._condition:
            is_asked = None in self._replies.values() or not self._has_asked
            is_open = is_asked and bool(self.history.unanswered_calls)
            self._is_suspending = self._is_suspending or is_open
            self._condition.notify_all()
            return is_open

    def run_immediately(
        self, line: str, command_id: str = "", *, is_logged: bool = True
    ) -> CommandAnswered:
        """Run a slash command while something runs; only for `CONCURRENT_COMMANDS`."""
        answer = self._run_command(line)
        if is_logged:
            self.log(answer, command_id)
        return answer

    def log(self, answer: CommandAnswered, command_id: str = "") -> None:
        """Let every screen know of what was done beside the conversation."""
        self.delivery.expect_first(command_id)
        self.delivery.add(answer)

    def report_failure(self, why: Phrase, code: ErrorCode) -> None:
        """Tell that the turn ended by a failure of our own, after `handle` raised."""
        self.delivery.send(TurnFinished("error", why, error_code=code))

    def answer_question(self, call_id: str, reply: Reply) -> bool:
        """Answer the question of *call_id*; return False when nobody (any longer) asks it.

        Of several answers to one question the first wins. Raises `ToolError` or `UserError` for one
        that cannot be (`core.loop.approval_flow.resolve_approval`); the question then stays.
        """
        with self._condition:
            if call_id not in self.open_questions or self._is_suspending:
                return False
            call = self._current_call
            if call and call.call_id == call_id and call.name in self.tools.specs and reply.yes:
                resolve_approval(reply, self.tools.find_installed(call.name), call.arguments)
            self._replies[call_id] = reply
            self._condition.notify_all()
        self.on_question_changed()
        return True

    def announce(self, what: Phrase) -> bool:
        """Let every screen know what happened beside the conversation."""
        self._show(map_strings(Informed(what), self.features.redact))
        return True

    def note_manual_changes(self, changes: Iterable[Change]) -> None:
        """Let the model know, before its next step, what the person did to files."""
        with self._condition:
            self._manual_changes += changes

    def on_history_replaced(self) -> None:
        """Begin another run of numbers: the conversation is another one now."""
        self.delivery.restart()

    # --- what there is ---------------------------------------------------------------------------

    @property
    def is_running(self) -> bool:
        return self._turn_lock.locked()

    @property
    def open_questions(self) -> tuple[str, ...]:
        """The calls that wait for an answer."""
        with self._condition:
            return tuple(call_id for call_id, reply in self._replies.items() if reply is None)

    # --- out -------------------------------------------------------------------------------------

    def _show(self, event: Event) -> Reply | None:
        with self._condition:
            if isinstance(event, ToolStarted):
                self._current_call = event
            if isinstance(event, ApprovalAsked):
                self._replies[event.call_id], self._has_asked = None, True
            self.delivery.add(event)
        return self._wait_for_reply(event.call_id) if isinstance(event, ApprovalAsked) else None

    def _stored_transcript(self) -> Transcript:
        seconds = self.store.seconds(self.session) if self.session else {}
        return Transcript(self.history.records, seconds, is_open=self.has_open_question)

    # --- waiting for the person ------------------------------------------------------------------

    def _wait_for_reply(self, call_id: str) -> Reply | None:
        """Wait for the person; a stop is no answer."""
        self.on_question_changed()
        with self._condition:
            while self._replies[call_id] is None and not (
                self.stop.is_set() or self._is_suspending
            ):
                self._condition.wait()
            reply = self._replies.pop(call_id)
            if self._is_suspending:
                raise TurnSuspended
        if reply is None:
            self.on_question_changed()
        return reply

    def _wake(self) -> None:
        with self._condition:
            self._condition.notify_all()

    # --- context for the model -----------------------------------------------------------------

    def _record_context_updates(self) -> None:
        super()._record_context_updates()
        with self._condition:
            changes, self._manual_changes = self._manual_changes, []
        if changes:
            described = "; ".join(dict.fromkeys(map(_describe_change, changes)))
            self.record(Context(f"The person changed files by hand: {described}."))


def _describe_change(change: Change) -> str:
    new_path = f" to {visible(change.new_path)}" if change.new_path else ""
    return f"{change.kind} {visible(change.path)}{new_path}"
