"""One open session: its terminal, its queue of messages, and the thread that runs them."""

from __future__ import annotations

import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Literal

from core.cards import TextCard
from core.commands import Commands, must_wait_message
from core.conversation.message_queue import MessageQueue, QueuedMessage
from core.conversation.transcript import Packet
from core.events import CommandAnswered, Reply
from core.feature import name_of
from core.web_terminal import TurnSuspended, WebTerminal
from modules.agents.feature import Agents
from modules.jobs.feature import Jobs
from modules.web.http.errors import ApiError, as_api_errors, bad_request
from modules.web.http.idempotency import IdempotencyCache
from modules.web.sessions.follow_external import ExternalFollower
from modules.web.sessions.notifier import Notifier, OnError, Publish
from modules.web.sessions.page_redaction import PageRedactor
from modules.web.sessions.run_state import RunEvent, RunState, after
from modules.web.sessions.snapshot import SessionSnapshot
from utils.error_codes import ErrorCode
from utils.i18n import Phrase, UserError, phrase
from utils.pictures import Picture as GivenPicture
from utils.text.codec import to_plain

Emit = Callable[[Packet], None]
TerminalFactory = Callable[[Emit], WebTerminal]
"""Makes a terminal without a session, which hands its packets to the given function."""

QueueOperation = Literal["drop", "move", "now"]
"""Operation on a queued message."""

MAX_MESSAGE_LENGTH = 1_000_000
"""Characters of one message."""


class SessionRunner:
    """Runner of an open session. Any thread may call any method; none waits for a turn.

    What needs the session for itself waits for the rest of a turn whose end is told of.
    """

    def __init__(
        self,
        make_terminal: TerminalFactory,
        publish: Publish,
        load_row: Callable[[str], Packet],
        on_error: OnError,
        redactor: PageRedactor,
        *,
        on_worked: Callable[[str], None],
    ) -> None:
        self.terminal = make_terminal(self._emit)
        self.snapshot = SessionSnapshot(self.terminal, redactor, self._run_state)
        self.last_used = time.monotonic()
        self.notifier = Notifier(self.terminal, self.snapshot, publish, load_row)
        self.terminal.on_question_changed = self.notifier.send_question_change
        self.terminal.on_state_changed = self.notifier.send_state
        if agents := self.terminal.features.find(Agents):
            agents.stop_turn = self.stop
        self._on_error = on_error
        self._on_worked = on_worked
        self._lock = threading.Lock()
        self._left = threading.Condition(self._lock)
        self._queue = MessageQueue(self.terminal)
        self._state = RunState.IDLE
        self._dropped_ids: deque[str] = deque(maxlen=64)
        self._current_command = ""
        self._last_end_reason = "done"
        self._is_ending = False
        self._is_closing = False
        self._external = ExternalFollower(self.terminal)
        self.idempotency = IdempotencyCache()

    def resume(self, session: str) -> None:
        """Resume *session*. Raises `UserError` when another process runs it."""
        self.snapshot.before_resume()
        self.terminal.resume(session)
        self._load_queue()
        self._begin_if_asking()
        with suppress(UserError, ApiError):
            self.notifier.refresh_row()

    def resume_turn(self) -> None:
        """Resume the turn that was left at a question, or ask that anew; to follow `resume`."""
        if self.is_working:
            self._start_thread(self._resume_and_process_queue)
        elif line := self.terminal.line_to_ask_again:
            self.send(uuid.uuid4().hex, line)

    def _begin_if_asking(self) -> bool:
        """Be at work where the session was left at a question; return whether that is so."""
        has_begun = self.terminal.has_open_turn and not self.is_working
        if has_begun:
            self._change(RunEvent.BEGIN)
        return has_begun

    def _change(self, event: RunEvent) -> None:
        self._state = after(self._state, event)
        if not self._state.is_stopping:
            self._is_ending = False

    def _load_queue(self) -> None:
        """Load the queue of the session and the ids that were sent to it."""
        self.idempotency.mark_done(self._queue.enter(), {"queued": False})

    def close(self) -> None:
        self.terminal.close()

    # --- what there is ---------------------------------------------------------------------------

    @property
    def session(self) -> str:
        return self.terminal.session

    @property
    def is_working(self) -> bool:
        return self._state.is_busy

    @property
    def has_jobs(self) -> bool:
        """Whether something runs in the background, which would end with the session."""
        jobs = self.terminal.features.find(Jobs)
        return jobs is not None and bool(jobs.running_names())

    @property
    def queue_length(self) -> int:
        return len(self._queue)

    def attach(self, boot: str, after: int, turns: int) -> Packet:
        """Return the events after *after* in the run *boot*, or a snapshot, with the state."""
        self.last_used = time.monotonic()
        self.refresh_external()
        return self.snapshot.attach(boot, after, turns)

    def refresh_external(self, *, is_forced: bool = False, takes_over: bool = True) -> None:
        """Reload a session that another Onefold runs, if it changed there or *is_forced*.

        Where nobody runs it any more, it is ours then if that *takes_over*.
        """
        with self._lock:
            if self._external.refresh(is_forced=is_forced, takes_over=takes_over):
                self._load_queue()
                if takes_over and self._begin_if_asking():
                    self.resume_turn()

    def _run_state(self) -> Packet:
        return {
            "title": self.notifier.title,
            "running": self.is_working,
            "stopping": self._state.is_stopping,
            "queue": [item.as_json for item in self._queue.items],
            "paused": bool(self._queue) and not self.is_working,
        }

    # --- what a person does ----------------------------------------------------------------------

    def send(
        self,
        command: str,
        text: str,
        *,
        now: bool = False,
        replaces: Sequence[str] = (),
        pictures: tuple[GivenPicture, ...] = (),
    ) -> Packet:
        """Run *text*, or queue it behind the turn; with *now* stop that and go on with this.

        It replaces those with the ids *replaces*. With *pictures* it is a message,
        whatever it begins with.
        """
        if not (text.strip() or pictures) or len(text) > MAX_MESSAGE_LENGTH:
            raise bad_request(f"a message has 1 to {MAX_MESSAGE_LENGTH:,} characters")
        if not pictures:
            text = self.terminal.expand(text)
        name = text.split(maxsplit=1)[0] if text.startswith("/") and not pictures else ""
        if name == name_of(Commands.stop) and self.is_working:
            self.stop()
            return {"queued": False}
        if self.is_working and self._is_concurrent(name):
            self.terminal.run_immediately(text, command)
            return {"queued": False}
        self.refresh_external(is_forced=True)
        if self.terminal.locked_by and self._is_of_project(name):
            self.terminal.run_immediately(text, command)
            return {"queued": False}
        if self.terminal.locked_by:
            raise ApiError("held", self.terminal.locked_by)
        with self._lock, as_api_errors():
            is_queued = self.is_working
            goes_first = now or self._state.is_stopping
            self._queue.add(
                QueuedMessage(command, text, pictures), is_next=goes_first, instead=replaces
            )
            self._dropped_ids.extend(replaces)
            if goes_first:
                self._request_stop(RunEvent.SWITCH)
        if is_queued:
            self.notifier.send_state()
        self._start_worker()
        return {"queued": is_queued}

    def is_pending(self, command: str) -> bool:
        """Return whether the message sent as *command* is yet to be run, or runs."""
        with self._lock:
            return command == self._current_command or command in self._queue

    def is_current(self, command: str) -> bool:
        """Return whether the message sent as *command* runs, or is just over; never waits.

        When it is not any more, nothing is refused because of it.
        """
        return command == self._current_command

    def was_dropped(self, command: str) -> bool:
        """Return whether the message sent as *command* was lately dropped from the queue."""
        return command in self._dropped_ids

    def answer(self, call_id: str, reply: Reply, key: str = "") -> bool:
        """Answer a question; return whether this was the first answer. Raises `ApiError`."""
        with as_api_errors():
            return self.terminal.answer_question(call_id, reply, key)

    def stop(self) -> bool:
        """Stop the turn and return whether there was one; what is queued waits."""
        with self._lock:
            is_stopped = self._request_stop(RunEvent.STOP)
        if is_stopped:
            self.notifier.send_state()
        return is_stopped

    def _request_stop(self, how: Literal[RunEvent.STOP, RunEvent.SWITCH]) -> bool:
        """Stop what runs, and return whether something does; for who holds the lock.

        Any later, the stop might hit the turn after the one that it is meant for.
        """
        if self.is_working:
            self._change(how)
            self.terminal.stop.set()
        return self.is_working

    def suspend(self) -> None:
        """Stop the turn; one that waits for the person is left so that it can resume later."""
        with self._left:
            self._is_closing = True
            self._left.notify_all()
        if not self.terminal.suspend():
            self.stop()

    def rearrange(self, operation: QueueOperation, item_id: str, to: int) -> QueuedMessage:
        """Drop, move or bring forward what is queued, and return it."""
        with self._lock:
            if operation == "drop":
                item = self._queue.drop(item_id)
            else:
                item = self._queue.move(item_id, 0 if operation == "now" else to)
            if item is None:
                raise ApiError("not_found", phrase("That message is no longer queued."))
            if operation == "drop":
                self._dropped_ids.append(item_id)
            if operation == "now":
                self._request_stop(RunEvent.SWITCH)
        self.notifier.send_state()
        if operation == "now":
            self._start_worker()
        return item

    def run_command(self, line: str) -> Packet:
        """Run a slash command outside of any turn and return its answer, which is not logged."""
        name = line.split(maxsplit=1)[0] if line.strip() else ""
        if not name.startswith("/"):
            raise bad_request("a command begins with /")
        if self._leads_elsewhere(name):
            raise bad_request(f"{name} leads to another session; send it as a message")
        if not self._is_concurrent(name):
            self._require_idle(must_wait_message(name))
        answer_json: Packet = to_plain(self._beside(line))
        answer_json["done"] = answer_json.pop("ok")
        return answer_json

    def _is_concurrent(self, name: str) -> bool:
        command = self.terminal.commands.get(name)
        return command is not None and command.spec.is_concurrent

    def _is_of_project(self, name: str) -> bool:
        command = self.terminal.commands.get(name)
        return command is not None and command.spec.is_of_project

    def _leads_elsewhere(self, name: str) -> bool:
        command = self.terminal.commands.get(name)
        return command is not None and bool(command.spec.leads_to)

    def do(self, line: str) -> None:
        """Run a slash command that must not run beside a turn. Raises `ApiError` if it fails."""
        self._require_idle(must_wait_message(line.split()[0]))
        answer = self._beside(line)
        if not answer.ok and isinstance(answer.card, TextCard):
            raise ApiError("failed", answer.card.title)

    def _beside(self, line: str) -> CommandAnswered:
        answer = self.terminal.run_immediately(line, is_logged=False)
        self.notifier.send_state()
        return answer

    def run_exclusively(
        self, work: Callable[[], CommandAnswered], command: str, *, is_logged: bool = True
    ) -> CommandAnswered:
        """Run *work* while no turn runs; where it *is_logged* every screen hears of it.

        Raises `ApiError` while one does, and when the work could not be done; then nobody hears.
        """
        with self._lock:
            self._wait_until_idle(phrase("A task is running. Wait for it, or stop it."))
            self._change(RunEvent.BEGIN)
            queue_length = len(self._queue)
        try:
            answer = work()
            if not answer.ok and isinstance(answer.card, TextCard):
                raise ApiError("failed", answer.card.title)
            if is_logged:
                self.terminal.log(answer, command)
        finally:
            with self._lock:
                self._change(RunEvent.END)
                has_more = len(self._queue) > queue_length
            if has_more:
                self._start_worker()
            self.notifier.send_state()
        return answer

    def _require_idle(self, refusal: Phrase) -> None:
        with self._lock:
            self._wait_until_idle(refusal)

    def _wait_until_idle(self, refusal: Phrase) -> None:
        """Wait for the rest of a turn whose end is shown; for who holds the lock.

        Raises `ApiError` with *refusal* where a turn still runs, or another follows.
        """
        while self._is_ending and not self._has_next and not self._is_closing:
            self._left.wait()
        if self.is_working:
            raise ApiError("busy", refusal)

    def on_renamed(self) -> None:
        self.notifier.refresh_row()
        self.notifier.send_state()

    # --- the thread that works -------------------------------------------------------------------

    def _start_worker(self) -> None:
        """Start the worker thread unless one runs or the queue is empty."""
        with self._lock:
            if self.is_working or not self._queue:
                return
            self._change(RunEvent.BEGIN)
        self._start_thread(self._process_queue)

    def _start_thread(self, work: Callable[[], None]) -> None:
        # No daemon: the interpreter would cut a turn off between a call and its answer.
        threading.Thread(target=work, name=f"turn {self.session}").start()

    def _resume_and_process_queue(self) -> None:
        self._run_turn(self.terminal.stream_resumed_turn)
        self._process_queue()

    def _process_queue(self) -> None:
        while (item := self._next_message()) is not None:
            self._run_turn(
                partial(self.terminal.handle, item.text, item.id, pictures=item.pictures), item
            )
        self.last_used = time.monotonic()
        self.notifier.send_state()
        self._on_worked(self.session)
        self.notifier.send_row()

    @property
    def _has_next(self) -> bool:
        """Whether a message follows what runs, if that ended as was told last."""
        is_done = self._last_end_reason == "done" and not self._state.is_stopping
        return bool(self._queue) and (is_done or self._state is RunState.SWITCHING)

    def _next_message(self) -> QueuedMessage | None:
        with self._left:
            self._left.notify_all()
            if not self._has_next:
                self._change(RunEvent.END)
                self._current_command, self._last_end_reason = "", "done"
                return None
            item = self._queue.take()
            self._current_command = item.id if item else ""
            self._change(RunEvent.NEXT)
        self.notifier.send_state()
        return item

    def _run_turn(self, turn: Callable[[], None], item: QueuedMessage | None = None) -> None:
        self._last_end_reason = "done"
        try:
            turn()
        except TurnSuspended:
            self._last_end_reason = "stopped"  # and what waits is not begun
        except UserError as problem:
            self._fail_turn(item, problem.message, problem.code)
        except Exception as error:  # noqa: BLE001 - the one place where our failures in a turn end
            self._fail_turn(item, self._on_error(error), "internal")
        else:
            self._queue.begun()

    def _fail_turn(self, item: QueuedMessage | None, reason: Phrase, code: ErrorCode) -> None:
        """End the turn with *reason*; a message that the history does not have yet waits again."""
        if item and item.text.startswith("/") and not item.pictures:  # nobody knows how far it came
            self._queue.begun()
        else:
            self._queue.put_back()
        self.terminal.report_failure(reason, code)

    # --- what is told ----------------------------------------------------------------------------

    def _emit(self, packet: Packet) -> None:
        """Pass on a packet of the terminal, which holds its lock meanwhile."""
        self._note_end(packet)
        self.notifier.send_event(packet)
        if self._state.is_stopping and not self.terminal.stop.is_set():
            self.terminal.stop.set()  # it was asked for before there was a turn to stop
        match packet["type"]:
            case "TurnStarted":
                self._queue.begun()
            case "CommandAnswered" if packet.get("cmd") == self._current_command:
                self._queue.begun()
        self.notifier.after_event(packet)

    def _note_end(self, packet: Packet) -> None:
        """Note that what runs is over but for its rest, before anybody can act on that.

        The lock is not taken: its holder may wait for that of the terminal, which is held here.
        """
        match packet["type"]:
            case "TurnFinished":
                self._last_end_reason = packet["why"]
                self._is_ending = True
            case "CommandAnswered" if packet.get("cmd") == self._current_command:
                self._is_ending = True
