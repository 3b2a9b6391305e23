"""The terminal as a twin of the page: the same session, live, in another process."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from core.commands import Commands
from core.conversation.store import SessionInfo
from core.events import ApprovalAsked, CommandAnswered, Reply, TurnFinished
from core.feature import name_of
from core.session_choice import SessionChoice
from core.tool_spec import ToolSpec
from modules.cli.attach.given_pictures import given, is_command
from modules.cli.attach.http import Packet, ServerLink, event_of, new_id
from modules.cli.attach.listener import EventListener
from modules.cli.attach.packet_reader import commands, last_turn
from modules.cli.attach.remote_approvals import Questions, RemoteApprover
from modules.cli.attach.unsent import Unsent
from modules.cli.input.keyboard import TypedAhead, quiet
from modules.cli.input.startup_questions import somebody_is_there
from modules.cli.input.typeahead import TypeAheadListener
from modules.cli.render.call_titles import CallTitles
from modules.cli.render.screen import CliScreen
from modules.cli.render.theme import make_console
from modules.translator import Translator
from utils.i18n import UserError, phrase
from utils.system.interrupts import stopping
from utils.text.clean import clean
from utils.text.codec import from_plain, to_plain
from utils.waiting import Stop

if TYPE_CHECKING:
    from modules.cli.attach.attached_prompt import AttachedPrompt

LEAVING = ("exit", "quit", name_of(Commands.exit))
_ENDS = (CommandAnswered.__name__, TurnFinished.__name__)


def attach(data: Path, port: int, words: Translator, *, session: str | None = None) -> int:
    """Join a session of the server on *port*; return the exit code. Raises `UserError`.

    *session* is the beginning of its id; "" or None is the one used last.
    """
    link = ServerLink(data / f"server-{port}.json", port)
    twin = AttachClient(link, _chosen(link, session or ""), words)
    try:
        return twin.run()
    except KeyboardInterrupt:
        return 130
    finally:
        twin.close()


def _chosen(link: ServerLink, start: str) -> str:
    rows = link.ask("GET", "/api/sessions")["sessions"]
    found = [row["id"] for row in rows if row["id"].startswith(start)]
    if start and not found:
        raise UserError(phrase("There is no session {start!r} there.", start=start))
    return found[0] if found else _new(link)


def _new(link: ServerLink) -> str:
    session: str = link.ask("POST", "/api/sessions")["id"]
    return session


class AttachClient:
    """Shows what happens in *session*, and sends what is typed."""

    def __init__(self, link: ServerLink, session: str, words: Translator) -> None:
        self._link = link
        self._session = session
        self._words = words
        self._state: Packet = {"running": False, "asked": []}
        self._expected = ""
        self._is_lost = self._was_lost = False
        self._is_deleted, self._is_empty = False, True
        self._questions = Questions()
        self._unsent = Unsent()
        self._choice = SessionChoice()
        self._unshown: list[Packet] = []
        self._ends_heard = self._ends_shown = 0
        self._is_terminal = somebody_is_there()
        self._ahead = ahead = TypedAhead()
        answered = self._questions.answered
        hand = RemoteApprover(answered, words, ahead, self._stop) if self._is_terminal else None
        self._screen = CliScreen(
            make_console(),
            words,
            _titles(link),
            asker=hand,
            is_practice=lambda: self._state["practice"],
        )
        ahead.away, ahead.show_all = self._screen.away, self._screen.show_all
        self._line = _line(link, words, ahead, lambda: self._state) if hand else None
        self._listener = self._listen()

    def close(self) -> None:
        """Hear nothing more of the session."""
        self._listener.close()

    def run(self) -> int:
        """Show and send until the person leaves; return the exit code. Raises `UserError`."""
        with ExitStack() as stack:
            if self._is_terminal:
                stack.enter_context(quiet(sys.stdin.fileno(), self._ahead))
            self._arrive()
            return self._talk()

    def _talk(self) -> int:
        while True:
            self._tell_connection()
            if self._is_deleted:
                self._start_anew()
            if self._is_happening or self._expected:
                self._follow()
                continue
            self._restore_unsent()
            text = self._read()
            if text is None or text.strip() in LEAVING:
                return 0
            if text.strip():
                self._put(text)

    def _put(self, text: str) -> None:
        """Send *text*; a person who says `/resume` alone chooses here."""
        name, _, rest = text.strip().partition(" ")
        if name != name_of(Commands.resume) or not self._is_terminal:
            self._send(text)
            return
        try:
            if rest.strip():
                self._send(f"{name} {self._choice.id_of(rest.strip())}")
                return
            rows = self._link.ask("GET", "/api/sessions")["sessions"]
            found = [from_plain(SessionInfo, row) for row in rows]
            self._screen.show(CommandAnswered(name, self._choice.offer(found, self._session)))
        except UserError as problem:
            self._screen.say(problem.what, "red")
        self._unsent.take()  # nothing was sent: what waits is to stand in the line again

    # --- out -------------------------------------------------------------------------------------

    def _read(self) -> str | None:
        """Return the next line; "" when a turn begins that another screen asked for."""
        if self._line is None:
            line = sys.stdin.readline()
            return line.rstrip("\n") if line else None
        return self._line.read_until(
            lambda: (
                self._is_happening
                or self._is_deleted
                or self._is_lost != self._was_lost
                or self._unsent.differs(self._state)
            )
        )

    def _restore_unsent(self) -> None:
        """Put what waits on the server before the person: whatever they send, it goes with it."""
        if self._line and self._unsent.differs(self._state):
            state = self._state
            self._line.draft = self._unsent.put_into(self._line.draft, state)
            if state["queue"]:
                self._ahead.hold()  # nothing of it is sent behind what waits
                self._line.draft += "\n" * bool(self._ahead.entries)
                self._say_unsent()

    def _say_unsent(self) -> None:
        waiting = phrase("Typed while a task ran, and never sent: Enter sends it now.")
        self._screen.say(waiting, "yellow")

    def _tell_connection(self) -> None:
        """Say that the server went, or that it is back, once each."""
        if self._is_lost == self._was_lost:
            return
        self._was_lost = self._is_lost
        if self._is_lost:
            self._screen.say(phrase("The connection broke; trying again."), "yellow")
        else:
            self._screen.say(phrase("Connected again."), "dim")

    def _send(self, text: str) -> None:
        """Send *text* in the place of what stood in the line unsent."""
        command = new_id()
        waiting = self._unsent.take()
        told = {"text": text, "cmd": command, "stream": False, "instead": waiting}
        try:
            pictures = self._unsent.pictures if waiting else []
            answer = self._ask_with_pictures(told, pictures)
        except UserError as problem:
            self._screen.say(problem.what, "red")
            if self._line:
                self._line.draft = text
                self._unsent.keep(waiting, text)
            return
        if session := answer.get("open"):
            self._move(session)
            self._tell_move(text)
        else:
            self._expected = command

    def _ask_with_pictures(self, message: Packet, pictures: Sequence[str] = ()) -> Packet:
        """Send *message* with *pictures* and with those that its text names."""
        if is_command(text := message["text"]):
            return self._link.ask("POST", self._address("messages"), **message)
        named = given(self._link, self._session, text)
        if found := list(dict.fromkeys([*pictures, *named])):
            message = {**message, "pictures": found}
        return self._link.ask("POST", self._address("messages"), **message)

    def _tell_move(self, text: str) -> None:
        """Say where the command *text* has led."""
        if text.split()[0] == name_of(Commands.new):
            self._screen.say(phrase("A new session."), "bold")
        else:
            turns = self._state["turn"]
            said = phrase("Session {id} goes on, turns: {n}.", id=self._session, n=turns)
            self._screen.say(said, "bold")

    def _address(self, what: str) -> str:
        return f"/api/sessions/{self._session}/{what}"

    def _stop(self) -> None:
        with suppress(UserError):
            self._link.ask("POST", self._address("stop"))

    # --- in --------------------------------------------------------------------------------------

    def _listen(self) -> EventListener:
        return EventListener(self._link, self._session, tell=self._hear, tell_lost=self._set_lost)

    def _move(self, session: str) -> None:
        """Follow *session* from now on in the place of the other."""
        self.close()
        self._session = session
        self._is_deleted, self._is_empty = False, True
        self._ends_heard = self._ends_shown = 0
        self._listener = self._listen()
        self._arrive()

    def _start_anew(self) -> None:
        """Leave a session that is there no more; one without a word in it ends with its server."""
        if not (self._is_empty and self._is_lost):
            raise _deleted()
        self._move(_new(self._link))

    def _arrive(self) -> None:
        """Show where the session stands."""
        name, arrival = self._listener.heard.get()
        if name == "deleted":
            raise _deleted()
        if name != "attached":
            raise UserError(phrase("The server does not answer."))
        last = last_turn(arrival["events"])
        self._is_empty = self._is_empty and not last
        if arrival["state"]["running"]:  # what has begun is shown as it would have been
            self._unshown = last
            for packet in last:
                self._count(packet)
        else:
            self._screen.recall(map(event_of, last))

    def _hear(self, name: str, packet: Packet) -> None:
        """Take note of what happens; from the listening thread."""
        match name:
            case "restarted":
                if self._expected not in commands(packet):  # it went with the old server
                    self._expected = ""
                self._questions.restarted()
            case "ev":
                self._is_empty = False
                self._count(packet)
            case "deleted":
                self._is_deleted = True
                self._interrupt()
            case _:
                self._note(packet)

    def _set_lost(self, is_lost: bool) -> None:
        if self._is_lost != is_lost:
            self._is_lost = is_lost
            self._interrupt()

    def _interrupt(self) -> None:
        """Have the person's line give way; from any thread."""
        if self._line:
            self._line.interrupt()

    def _count(self, event: Packet) -> None:
        """Note what is over: it may be before anybody sees it run."""
        self._ends_heard += event["type"] in _ENDS

    @property
    def _is_happening(self) -> bool:
        return bool(self._state["running"]) or self._ends_heard > self._ends_shown

    def _note(self, state: Packet) -> None:
        """Take note of what is true now."""
        self._state = state
        self._questions.note(state)
        if self._line:
            self._line.refresh()
            if state["running"] or self._unsent.differs(state):
                self._line.interrupt()

    def _follow(self) -> None:
        """Show what happens until nothing runs."""
        stop = Stop()
        with ExitStack() as stack:
            # Who goes in another way than by Ctrl-C leaves the turn alone: the server has it.
            stack.enter_context(stopping(stop.set, ("SIGINT",)))
            stack.enter_context(stop.calling(self._stop))
            stack.enter_context(stop.calling(self._screen.stopping))
            if self._ahead.was_interrupted():
                stop.set()
            stack.enter_context(self._screen.turn())
            if self._is_terminal:
                stack.enter_context(self._beside().listening())
            while self._unshown:
                self._show(self._unshown.pop(0))
            while True:
                name, packet = self._listener.heard.get()
                self._tell_connection()
                if name == "deleted":
                    return
                if name == "ev":
                    self._show(packet)
                elif self._is_over(name, packet):
                    break
        if stop.is_set() and self._ahead.hold():
            self._say_unsent()

    def _is_over(self, name: str, packet: Packet) -> bool:
        """Return whether it tells that nothing runs, nor will: what waits then may do so long."""
        if name not in ("attached", "state"):
            return False
        state = packet["state"] if name == "attached" else packet
        if not state["running"] and self._expected in (item["id"] for item in state["queue"]):
            self._expected = ""
        return not (state["running"] or self._expected or self._is_happening)

    def _beside(self) -> TypeAheadListener:
        """Return what sends the lines that are typed meanwhile: the server runs or queues them."""
        return TypeAheadListener(
            sys.stdin.fileno(),
            self._ahead,
            may_listen=lambda: not self._screen.is_asking,
            is_wanted=lambda line: bool(line) and line not in LEAVING,
            run=self._send_meanwhile,
            show=self._screen.typing,
        )

    def _send_meanwhile(self, line: str) -> None:
        try:
            told = {"text": line, "cmd": new_id(), "stream": False}
            answer = self._ask_with_pictures(told)
        except UserError as problem:
            self._screen.say(problem.what, "red")
            return
        self._screen.beside(line)
        if answer["queued"]:
            self._screen.say(phrase("It waits until the task is over."), "dim")

    def _show(self, packet: Packet) -> None:
        self._ends_shown += packet["type"] in _ENDS
        if packet.get("cmd") == self._expected:
            self._expected = ""
        elif packet["type"] == "TurnStarted":
            self._screen.say(f"› {clean(packet['text'])}", "bold")
        event = event_of(packet)
        if isinstance(event, ApprovalAsked):
            self._questions.ask(event, self._screen, self._reply)
        else:
            self._screen.show(event)

    def _reply(self, call_id: str, reply: Reply) -> bool:
        """Send *reply*; return whether the question is over, for whatever reason."""
        try:
            answer = self._link.ask(
                "POST", self._address("confirm"), call_id=call_id, **to_plain(reply)
            )
        except UserError as problem:
            self._screen.say(problem.what, "red")
            return False
        if not answer["won"]:
            self._screen.say(phrase("It was answered on another screen first."), "dim")
        return True


def _titles(link: ServerLink) -> CallTitles:
    tools = link.ask("GET", "/api/status").get("tools", {})  # an older server tells of none
    return CallTitles(from_plain(Mapping[str, ToolSpec], tools))


def _line(
    link: ServerLink, words: Translator, ahead: TypedAhead, state: Callable[[], Packet]
) -> AttachedPrompt:
    from modules.cli.attach.attached_prompt import AttachedPrompt

    return AttachedPrompt(link, words, ahead, state)


def _deleted() -> UserError:
    return UserError(phrase("This session was deleted."))
