"""The terminal behind a browser: the same turns, numbered and streamed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from core.cards import Change
from core.conversation.delivery import Delivery
from core.conversation.messages import Context
from core.conversation.transcript import Packet, Transcript
from core.conversation.turn_progress import is_turn_over, newest_turn
from core.events import (
    ApprovalAsked,
    CommandAnswered,
    Event,
    HelperEvent,
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


@dataclass
class _Asked:
    """A question about the call *call_id* that waits for its *reply*."""

    call_id: str
    reply: Reply | None = None


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
    _questions: dict[str, _Asked] = field(default_factory=dict)
    _current_call: ToolStarted | None = None
    _manual_changes: list[Change] = field(default_factory=list)
    _has_asked: bool = False
    _is_suspending: bool = False

    def __post_init__(self, feature_list: Sequence[Feature]) -> None:
        self.delivery = Delivery(self.emit, self._stored_transcript)
        self._condition = self.delivery.lock  # a question is open before anybody is shown it
        super().__post_init__(feature_list)
        self.question.take_answers_by(self._answer)

    # --- in --------------------------------------------------------------------------------------

    def handle(self, line: str, command_id: str = "", pictures: Sequence[Picture] = ()) -> None:
        """Run a whole turn, streaming it. Raises `Busy` rather than run two at once.

        *command_id* is the id under which a browser sent the line; the first packet bears it.
        Raises `TurnSuspended` after `suspend`.
        """
        queued = [command_id] if command_id else []
        self._stream(partial(self.run_line, line, pictures, queued), command_id)

    def stream_resumed_turn(self) -> None:
        """Resume, like `handle`, the turn that was left at a question (`has_open_turn`)."""
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
            is_asked = bool(self._open_questions) or not self._has_asked
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

    def answer_question(self, call_id: str, reply: Reply, key: str = "") -> bool:
        """Answer the question of *call_id*; return False when nobody (any longer) asks it.

        With its *key* it is that question and no later one about the same call; without, whichever
        is asked. Of several answers to one question the first wins. Raises `ToolError` or
        `UserError` for one that cannot be (`core.loop.approval_flow.resolve_approval`); the
        question then stays.
        """
        with self._condition:
            asked_keys = (k for k, one in self._open_questions.items() if one.call_id == call_id)
            asked_key = next(asked_keys, None)
            if asked_key is None or key not in ("", asked_key):
                return False
            return self._answer(asked_key, reply)

    def _answer(self, key: str, reply: Reply) -> bool:
        with self._condition:
            asked = self._open_questions.get(key)
            if asked is None or self._is_suspending:
                return False
            call, call_id = self._current_call, asked.call_id
            if call and call.call_id == call_id and call.name in self.tools.specs and reply.yes:
                resolve_approval(reply, self.tools.find_installed(call.name), call.arguments)
            asked.reply = reply
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
            return tuple(asked.call_id for asked in self._open_questions.values())

    @property
    def open_question_keys(self) -> tuple[str, ...]:
        """The keys of the questions that wait for an answer."""
        with self._condition:
            return tuple(self._open_questions)

    @property
    def _open_questions(self) -> dict[str, _Asked]:
        return {key: asked for key, asked in self._questions.items() if asked.reply is None}

    # --- out -------------------------------------------------------------------------------------

    def _show(self, event: Event) -> Reply | None:
        with self._condition:
            if isinstance(event, ToolStarted):
                self._current_call = event
            elif isinstance(event, HelperEvent) and isinstance(event.event, ToolStarted):
                # A question of the helper's is about its call, by the id of its own.
                self._current_call = replace(event.event, call_id=event.parent)
            if isinstance(event, ApprovalAsked):
                self._questions[event.key], self._has_asked = _Asked(event.call_id), True
            self.delivery.add(event)
        return self._wait_for_reply(event.key) if isinstance(event, ApprovalAsked) else None

    def _stored_transcript(self) -> Transcript:
        seconds = self.store.seconds(self.session) if self.session else {}
        return Transcript(self.history.records, seconds, is_open=self._has_turn_at_work)

    @property
    def _has_turn_at_work(self) -> bool:
        """Whether the last turn goes on, here or in the process that runs the session."""
        if self.locked_by is None:
            return self.has_open_turn
        return not is_turn_over(newest_turn(self.history.records))

    # --- waiting for the person ------------------------------------------------------------------

    def _wait_for_reply(self, key: str) -> Reply | None:
        """Wait for the person; a stop is no answer."""
        self.on_question_changed()
        with self._condition:
            asked = self._questions[key]
            while asked.reply is None and not (self.stop.is_set() or self._is_suspending):
                self._condition.wait()
            reply = self._questions.pop(key).reply
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
