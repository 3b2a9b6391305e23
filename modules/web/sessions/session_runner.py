"""One open session: its terminal, the lines that wait for it, and the thread that runs them."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Literal

from core.cards import TextCard
from core.commands import Commands, has_to_wait
from core.conversation.message_queue import MessageQueue, QueuedMessage
from core.events import CommandAnswered, Reply
from core.feature import name_of
from core.web_terminal import Leaving, Packet, WebTerminal
from modules.web.http.errors import ApiError, bad, explained
from modules.web.http.idempotency import IdempotencyCache
from modules.web.sessions.follow_external import ReadAlong
from modules.web.sessions.notifier import Failed, Notifier, Tell
from modules.web.sessions.page_redaction import PageRedactor
from modules.web.sessions.run_state import RunEvent, RunState, after
from modules.web.sessions.snapshot import SessionSnapshot
from utils.i18n import Phrase, UserError, phrase
from utils.pictures import Picture as GivenPicture
from utils.text.codec import to_plain

Emit = Callable[[Packet], None]
Opener = Callable[[Emit], WebTerminal]
"""Makes a terminal that is on no session yet and hands its packets to the function given."""

Operation = Literal["drop", "move", "now"]
"""What can be done with a line that waits."""

LONGEST = 1_000_000
"""Characters of one message."""


class SessionRunner:
    """A session in use. Every method may be called from any thread; none waits for a turn."""

    def __init__(
        self,
        opener: Opener,
        tell: Tell,
        row: Callable[[str], Packet],
        failed: Failed,
        veil: PageRedactor,
    ) -> None:
        self.terminal = opener(self._emit)
        self.picture = SessionSnapshot(self.terminal, veil, self._standing)
        self.used = time.monotonic()
        self.telling = Notifier(self.terminal, self.picture, tell, row)
        self.terminal.changed = self.telling.asked
        self._failed = failed
        self._lock = threading.Lock()
        self._queue = MessageQueue(self.terminal)
        self._state = RunState.IDLE
        self._taken_back: deque[str] = deque(maxlen=64)
        self._current = ""
        self._last_end = "done"
        self._along = ReadAlong(self.terminal)
        self.once = IdempotencyCache()

    def enter(self, session: str) -> None:
        """Take *session* up where it was left. Raises `UserError` when somebody else runs it."""
        self.picture.begin()
        self.terminal.resume(session)
        self._take_note()
        self._begin_if_asking()
        with suppress(UserError, ApiError):
            self.telling.look()

    def take_up(self) -> None:
        """Ask again what was asked when the session was left; to follow `enter`."""
        if self.is_working:
            self._start(self._work_off_left)

    def _begin_if_asking(self) -> bool:
        """Be at work where the session was left at a question; return whether that is so."""
        has_begun = self.terminal.is_asking and not self.is_working
        if has_begun:
            self._change(RunEvent.BEGIN)
        return has_begun

    def _change(self, event: RunEvent) -> None:
        self._state = after(self._state, event)

    def _take_note(self) -> None:
        """Read what waits in the session and what was sent to it."""
        self.once.learn(self._queue.enter(), {"queued": False})

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
    def queued(self) -> int:
        return len(self._queue)

    def arrive(self, boot: str, after: int, turns: int) -> Packet:
        """Return what leads from *after* in the run *boot* to the picture of now."""
        self.used = time.monotonic()
        self._look_again()
        return self.picture.arrive(boot, after, turns)

    def _look_again(self, *, is_needed: bool = False) -> None:
        """Read anew what another Onefold runs, if it went on there or *is_needed*."""
        with self._lock:
            if self._along.look(is_needed=is_needed):
                self._take_note()
                if self._begin_if_asking():
                    self.take_up()

    def _standing(self) -> Packet:
        return {
            "title": self.telling.title,
            "running": self.is_working,
            "stopping": self._state.is_stopping,
            "queue": [item.plain for item in self._queue.items],
            "paused": bool(self._queue) and not self.is_working,
        }

    # --- what a person does ----------------------------------------------------------------------

    def send(
        self,
        command: str,
        text: str,
        *,
        now: bool = False,
        instead: Sequence[str] = (),
        pictures: tuple[GivenPicture, ...] = (),
    ) -> Packet:
        """Run *text*, or queue it behind what runs; with *now* stop that and go on with this.

        It comes in the place of what waits with the ids *instead*. With *pictures* it is a message,
        whatever it begins with.
        """
        if not (text.strip() or pictures) or len(text) > LONGEST:
            raise bad(f"a message has 1 to {LONGEST:,} characters")
        name = text.split(maxsplit=1)[0] if text.startswith("/") and not pictures else ""
        if name == name_of(Commands.stop) and self.is_working:
            self.stop()
            return {"queued": False}
        if self.is_working and self._is_concurrent(name):
            self.terminal.aside(text, command)
            return {"queued": False}
        self._look_again(is_needed=True)
        if self.terminal.held:
            raise ApiError("held", self.terminal.held)
        with self._lock, explained():
            is_queued = self.is_working
            is_next = now or self._state.is_stopping
            self._queue.add(
                QueuedMessage(command, text, pictures), is_next=is_next, instead=instead
            )
            self._taken_back.extend(instead)
            if is_next:
                self._break_off(RunEvent.SWITCH)
        if is_queued:
            self.telling.state()
        self._work()
        return {"queued": is_queued}

    def is_awaited(self, command: str) -> bool:
        """Return whether the line sent as *command* is yet to be run, or runs."""
        with self._lock:
            return command == self._current or command in self._queue

    def is_at(self, command: str) -> bool:
        """Return whether the line sent as *command* is what runs, or is just over; never waits.

        When it is not any more, nothing is refused because of it.
        """
        return command == self._current

    def has_taken_back(self, command: str) -> bool:
        """Return whether the line sent as *command* was lately taken out of the queue unrun."""
        return command in self._taken_back

    def answer(self, call_id: str, reply: Reply) -> bool:
        """Answer a question; return whether this was the first answer. Raises `ApiError`."""
        with explained():
            return self.terminal.answer(call_id, reply)

    def stop(self) -> bool:
        """Stop the turn and return whether there was one; what is queued waits."""
        with self._lock:
            is_stopped = self._break_off(RunEvent.STOP)
        if is_stopped:
            self.telling.state()
        return is_stopped

    def _break_off(self, how: Literal[RunEvent.STOP, RunEvent.SWITCH]) -> bool:
        """Stop what runs, and return whether something does; for who holds the lock.

        Any later, the stop might hit the turn after the one that it is meant for.
        """
        if self.is_working:
            self._change(how)
            self.terminal.stop.set()
        return self.is_working

    def leave(self) -> None:
        """Stop the turn; one that waits for the person is left so that it can go on later."""
        if not self.terminal.leave():
            self.stop()

    def rearrange(self, operation: Operation, item_id: str, to: int) -> QueuedMessage:
        """Drop, move or bring forward what is queued, and return it."""
        with self._lock:
            if operation == "drop":
                item = self._queue.drop(item_id)
            else:
                item = self._queue.move(item_id, 0 if operation == "now" else to)
            if item is None:
                raise ApiError("not_found", phrase("That message is no longer queued."))
            if operation == "drop":
                self._taken_back.append(item_id)
            if operation == "now":
                self._break_off(RunEvent.SWITCH)
        self.telling.state()
        if operation == "now":
            self._work()
        return item

    def command(self, line: str) -> Packet:
        """Run a slash command beside the talk and return its answer, which is not logged."""
        name = line.split(maxsplit=1)[0] if line.strip() else ""
        if not name.startswith("/"):
            raise bad("a command begins with /")
        if self._leads_elsewhere(name):
            raise bad(f"{name} leads to another session; send it as a message")
        if self.is_working and not self._is_concurrent(name):
            raise ApiError("busy", has_to_wait(name))
        plain: Packet = to_plain(self._beside(line))
        plain["done"] = plain.pop("ok")
        return plain

    def _is_concurrent(self, name: str) -> bool:
        command = self.terminal.commands.get(name)
        return command is not None and command.spec.is_concurrent

    def _leads_elsewhere(self, name: str) -> bool:
        command = self.terminal.commands.get(name)
        return command is not None and bool(command.spec.leads_to)

    def do(self, line: str) -> None:
        """Run a slash command that must not run beside a turn. Raises `ApiError` if it fails."""
        if self.is_working:
            raise ApiError("busy", has_to_wait(line.split()[0]))
        answer = self._beside(line)
        if not answer.ok and isinstance(answer.card, TextCard):
            raise ApiError("failed", answer.card.title)

    def _beside(self, line: str) -> CommandAnswered:
        answer = self.terminal.aside(line, is_logged=False)
        self.telling.state()
        return answer

    def alone(self, work: Callable[[], CommandAnswered], command: str) -> CommandAnswered:
        """Do *work*, which changes files, while no turn runs; every screen hears of it.

        Raises `ApiError` while one does, and when the work could not be done; then nobody hears.
        """
        with self._lock:
            if self.is_working:
                raise ApiError("busy", phrase("A task runs; wait for it, or stop it."))
            self._change(RunEvent.BEGIN)
            waiting = len(self._queue)
        try:
            answer = work()
            if not answer.ok and isinstance(answer.card, TextCard):
                raise ApiError("failed", answer.card.title)
            self.terminal.log(answer, command)
        finally:
            with self._lock:
                self._change(RunEvent.END)
                has_more = len(self._queue) > waiting
            if has_more:
                self._work()
            self.telling.state()
        return answer

    def renamed(self) -> None:
        self.telling.look()
        self.telling.state()

    # --- the thread that works -------------------------------------------------------------------

    def _work(self) -> None:
        """See to it that what is queued gets done."""
        with self._lock:
            if self.is_working or not self._queue:
                return
            self._change(RunEvent.BEGIN)
        self._start(self._work_off)

    def _start(self, work: Callable[[], None]) -> None:
        # No daemon: the interpreter would cut a turn off between a call and its answer.
        threading.Thread(target=work, name=f"turn {self.session}").start()

    def _work_off_left(self) -> None:
        self._run(self.terminal.take_up)
        self._work_off()

    def _work_off(self) -> None:
        while (item := self._next()) is not None:
            self._run(
                partial(self.terminal.handle, item.text, item.id, pictures=item.pictures), item
            )
        self.used = time.monotonic()
        self.telling.state()
        self.telling.row()

    def _next(self) -> QueuedMessage | None:
        with self._lock:
            is_done = self._last_end == "done" and not self._state.is_stopping
            may_go_on = is_done or self._state is RunState.SWITCHING
            if not self._queue or not may_go_on:
                self._change(RunEvent.END)
                self._current, self._last_end = "", "done"
                return None
            item = self._queue.take()
            self._current = item.id if item else ""
            self._change(RunEvent.NEXT)
        self.telling.state()
        return item

    def _run(self, turn: Callable[[], None], item: QueuedMessage | None = None) -> None:
        self._last_end = "done"
        try:
            turn()
        except Leaving:
            self._last_end = "stopped"  # and what waits is not begun
        except UserError as problem:
            self._give_up(item, problem.what)
        except Exception as error:  # noqa: BLE001 - the one place where our failures in a turn end
            self._give_up(item, self._failed(error))
        else:
            self._queue.begun()

    def _give_up(self, item: QueuedMessage | None, why: Phrase) -> None:
        """Tell *why*; a message that the talk does not have yet waits again."""
        if item and item.text.startswith("/") and not item.pictures:  # nobody knows how far it came
            self._queue.begun()
        else:
            self._queue.put_back()
        self.terminal.give_up(why)

    # --- what is told ----------------------------------------------------------------------------

    def _emit(self, packet: Packet) -> None:
        """Pass on a packet of the terminal, which holds its lock meanwhile."""
        self.telling.event(packet)
        if self._state.is_stopping and not self.terminal.stop.is_set():
            self.terminal.stop.set()  # it was asked for before there was a turn to stop
        match packet["type"]:
            case "TurnStarted":
                self._queue.begun()
            case "CommandAnswered" if packet.get("cmd") == self._current:
                self._queue.begun()
            case "TurnFinished":
                self._last_end = packet["why"]
        self.telling.what_follows(packet)
