"""A terminal that joins a running server: the page's session, in its own process."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from core.commands import Commands
from core.conversation.messages import as_message
from core.conversation.store import SessionInfo
from core.events import ApprovalAsked, CommandAnswered, Reply, TurnFinished
from core.feature import name_of
from core.session_choice import SessionChoice
from core.tool_spec import ToolSpec
from modules.cli.attach.given_pictures import given, is_command
from modules.cli.attach.http import Packet, ServerLink, new_id, to_event
from modules.cli.attach.listener import EventListener
from modules.cli.attach.packet_reader import command_ids, last_turn
from modules.cli.attach.remote_approvals import RemoteApprover, RemoteQuestions
from modules.cli.attach.unsent import Unsent
from modules.cli.input.keyboard import TypedAhead, no_echo
from modules.cli.input.startup_questions import is_interactive
from modules.cli.input.typeahead import TypeAheadListener
from modules.cli.render.call_titles import CallTitles
from modules.cli.render.screen import CliScreen
from modules.cli.render.theme import make_console
from modules.translator import Translator
from utils.i18n import UserError, phrase
from utils.system.interrupts import stopping_on_signals
from utils.text.clean import clean
from utils.text.codec import from_plain, to_plain
from utils.waiting import Stop

if TYPE_CHECKING:
    from modules.cli.attach.attached_prompt import AttachedPrompt

EXIT_WORDS = ("exit", "quit", name_of(Commands.exit))
_END_TYPES = (CommandAnswered.__name__, TurnFinished.__name__)


def attach(data: Path, port: int, translator: Translator, *, session: str | None = None) -> int:
    """Join a session of the server on *port*; return the exit code. Raises `UserError`.

    *session* is the beginning of its id; "" or None is the one used last.
    """
    link = ServerLink(data / f"server-{port}.json", port)
    client = AttachClient(link, _find_session(link, session or ""), translator)
    try:
        return client.run()
    except KeyboardInterrupt:
        return 130
    finally:
        client.close()


def _find_session(link: ServerLink, id_prefix: str) -> str:
    rows = link.request("GET", "/api/sessions")["sessions"]
    matches = [row["id"] for row in rows if row["id"].startswith(id_prefix)]
    if id_prefix and not matches:
        raise UserError(phrase("There is no session {start!r} there.", start=id_prefix))
    return matches[0] if matches else _create_session(link)


def _create_session(link: ServerLink) -> str:
    session: str = link.request("POST", "/api/sessions")["id"]
    return session


class AttachClient:
    """Shows what happens in *session*, and sends what is typed."""

    def __init__(self, link: ServerLink, session: str, translator: Translator) -> None:
        self._link = link
        self._session = session
        self._translator = translator
        self._state: Packet = {"running": False, "asked": []}
        self._expected_command = ""
        self._is_disconnected = self._was_disconnected = False
        self._is_deleted, self._is_empty = False, True
        self._questions = RemoteQuestions()
        self._unsent = Unsent()
        self._choice = SessionChoice()
        self._unshown: list[Packet] = []
        self._ends_received = self._ends_shown = 0
        self._is_terminal = is_interactive()
        self._typed_ahead = typed_ahead = TypedAhead()
        answered = self._questions.answered
        approver = (
            RemoteApprover(answered, translator, typed_ahead, self._stop)
            if self._is_terminal
            else None
        )
        self._screen = CliScreen(
            make_console(),
            translator,
            _titles(link),
            approver=approver,
            is_practice=lambda: self._state["practice"],
        )
        typed_ahead.leave_screen, typed_ahead.show_all = (
            self._screen.without_live_lines,
            self._screen.show_all,
        )
        self._prompt = (
            _create_prompt(link, translator, typed_ahead, lambda: self._state) if approver else None
        )
        self._listener = self._listen()

    def close(self) -> None:
        """Hear nothing more of the session."""
        self._listener.close()

    def run(self) -> int:
        """Show and send until the person leaves; return the exit code. Raises `UserError`."""
        with ExitStack() as stack:
            if self._is_terminal:
                stack.enter_context(no_echo(sys.stdin.fileno(), self._typed_ahead))
            self._show_arrival()
            return self._run_loop()

    def _run_loop(self) -> int:
        while True:
            self._say_connection()
            if self._is_deleted:
                self._replace_deleted()
            if self._is_busy or self._expected_command:
                self._show_until_idle()
                continue
            self._restore_unsent()
            text = self._read()
            if text is None or text.strip() in EXIT_WORDS:
                return 0
            if text.strip():
                self._send_or_choose(text)

    def _send_or_choose(self, text: str) -> None:
        """Send *text*; a person who says `/resume` alone chooses here."""
        name, _, argument = text.strip().partition(" ")
        if name != name_of(Commands.resume) or not self._is_terminal:
            self._send(text)
            return
        try:
            if argument.strip():
                self._send(f"{name} {self._choice.id_of(argument.strip())}")
                return
            rows = self._link.request("GET", "/api/sessions")["sessions"]
            sessions = [from_plain(SessionInfo, row) for row in rows]
            self._screen.show(CommandAnswered(name, self._choice.offer(sessions, self._session)))
        except UserError as error:
            self._screen.say(error.message, "red")
        self._unsent.take()  # nothing was sent: what waits is to stand in the line again

    # --- out -------------------------------------------------------------------------------------

    def _read(self) -> str | None:
        """Return the next line; "" when a turn begins that another screen asked for."""
        if self._prompt is None:
            line = sys.stdin.readline()
            return as_message(line.rstrip("\n")) if line else None
        return self._prompt.read_until(
            lambda: (
                self._is_busy
                or self._is_deleted
                or self._is_disconnected != self._was_disconnected
                or self._unsent.differs(self._state)
            )
        )

    def _restore_unsent(self) -> None:
        """Put what waits on the server before the person: whatever they send, it goes with it."""
        if self._prompt and self._unsent.differs(self._state):
            state = self._state
            self._prompt.draft = self._unsent.insert_into(self._prompt.draft, state)
            if state["queue"]:
                self._typed_ahead.return_to_draft()  # nothing of it is sent behind what waits
                self._prompt.draft += "\n" * bool(self._typed_ahead.entries)
                self._say_unsent()

    def _say_unsent(self) -> None:
        notice = phrase("Typed while a task ran, and never sent: Enter sends it now.")
        self._screen.say(notice, "yellow")

    def _say_connection(self) -> None:
        """Say that the server went, or that it is back, once each."""
        if self._is_disconnected == self._was_disconnected:
            return
        self._was_disconnected = self._is_disconnected
        if self._is_disconnected:
            self._screen.say(phrase("The connection broke; trying again."), "yellow")
        else:
            self._screen.say(phrase("Connected again."), "dim")

    def _send(self, text: str) -> None:
        """Send *text* in the place of what stood in the line unsent."""
        command_id = new_id()
        unsent_ids = self._unsent.take()
        told = {"text": text, "cmd": command_id, "stream": False, "instead": unsent_ids}
        try:
            pictures = self._unsent.pictures if unsent_ids else []
            response = self._ask_with_pictures(told, pictures)
        except UserError as error:
            self._screen.say(error.message, "red")
            if self._prompt:
                self._prompt.draft = text
                self._unsent.keep(unsent_ids, text)
            return
        if session := response.get("open"):
            self._switch_session(session)
            self._say_switched(text)
        else:
            self._expected_command = command_id

    def _ask_with_pictures(self, message: Packet, pictures: Sequence[str] = ()) -> Packet:
        """Send *message* with *pictures* and with those that its text names."""
        if is_command(text := message["text"]):
            return self._link.request("POST", self._address("messages"), **message)
        named = given(self._link, self._session, text)
        if found := list(dict.fromkeys([*pictures, *named])):
            message = {**message, "pictures": found}
        return self._link.request("POST", self._address("messages"), **message)

    def _say_switched(self, text: str) -> None:
        """Say where the command *text* has led."""
        if text.split()[0] == name_of(Commands.new):
            self._screen.say(phrase("A new session."), "bold")
        else:
            turns = self._state["turn"]
            notice = phrase("Session {id} goes on, turns: {n}.", id=self._session, n=turns)
            self._screen.say(notice, "bold")

    def _address(self, what: str) -> str:
        return f"/api/sessions/{self._session}/{what}"

    def _stop(self) -> None:
        with suppress(UserError):
            self._link.request("POST", self._address("stop"))

    # --- in --------------------------------------------------------------------------------------

    def _listen(self) -> EventListener:
        return EventListener(
            self._link,
            self._session,
            on_packet=self._on_packet,
            on_connection_change=self._set_disconnected,
        )

    def _switch_session(self, session: str) -> None:
        """Follow *session* from now on in the place of the other."""
        self.close()
        self._session = session
        self._is_deleted, self._is_empty = False, True
        self._ends_received = self._ends_shown = 0
        self._listener = self._listen()
        self._show_arrival()

    def _replace_deleted(self) -> None:
        """Leave a session that is there no more; one without a word in it ends with its server."""
        if not (self._is_empty and self._is_disconnected):
            raise _deleted_error()
        self._switch_session(_create_session(self._link))

    def _show_arrival(self) -> None:
        """Show where the session stands."""
        name, arrival = self._listener.packets.get()
        if name == "deleted":
            raise _deleted_error()
        if name != "attached":
            raise UserError(phrase("The server does not answer."))
        last = last_turn(arrival["events"])
        self._is_empty = self._is_empty and not last
        if arrival["state"]["running"]:  # what has begun is shown as it would have been
            self._unshown = last
            for packet in last:
                self._count(packet)
        else:
            self._screen.replay(map(to_event, last))

    def _on_packet(self, name: str, packet: Packet) -> None:
        """Take note of what happens; from the listening thread."""
        match name:
            case "restarted":
                if self._expected_command not in command_ids(packet):  # it went with the old server
                    self._expected_command = ""
                self._questions.on_server_restart()
            case "ev":
                self._is_empty = False
                self._count(packet)
            case "deleted":
                self._is_deleted = True
                self._interrupt()
            case _:
                self._set_state(packet)

    def _set_disconnected(self, is_disconnected: bool) -> None:
        if self._is_disconnected != is_disconnected:
            self._is_disconnected = is_disconnected
            self._interrupt()

    def _interrupt(self) -> None:
        """Have the person's line give way; from any thread."""
        if self._prompt:
            self._prompt.interrupt()

    def _count(self, event: Packet) -> None:
        """Note what is over: it may be before anybody sees it run."""
        self._ends_received += event["type"] in _END_TYPES

    @property
    def _is_busy(self) -> bool:
        return bool(self._state["running"]) or self._ends_received > self._ends_shown

    def _set_state(self, state: Packet) -> None:
        """Take note of what is true now."""
        self._state = state
        self._questions.update(state)
        if self._prompt:
            self._prompt.refresh()
            if state["running"] or self._unsent.differs(state):
                self._prompt.interrupt()

    def _show_until_idle(self) -> None:
        """Show what happens until nothing runs."""
        stop = Stop()
        with ExitStack() as stack:
            # Who goes in another way than by Ctrl-C leaves the turn alone: the server has it.
            stack.enter_context(stopping_on_signals(stop.set, ("SIGINT",)))
            stack.enter_context(stop.on_stop(self._stop))
            stack.enter_context(stop.on_stop(self._screen.show_stopping))
            if self._typed_ahead.take_interrupt():
                stop.set()
            stack.enter_context(self._screen.turn())
            if self._is_terminal:
                stack.enter_context(self._typeahead_listener().listening())
            while self._unshown:
                self._show(self._unshown.pop(0))
            while True:
                name, packet = self._listener.packets.get()
                self._say_connection()
                if name == "deleted":
                    return
                if name == "ev":
                    self._show(packet)
                elif self._is_over(name, packet):
                    break
        if stop.is_set() and self._typed_ahead.return_to_draft():
            self._say_unsent()

    def _is_over(self, name: str, packet: Packet) -> bool:
        """Return whether it tells that nothing runs, nor will: what waits then may do so long."""
        if name not in ("attached", "state"):
            return False
        state = packet["state"] if name == "attached" else packet
        if not state["running"] and self._expected_command in (
            item["id"] for item in state["queue"]
        ):
            self._expected_command = ""
        return not (state["running"] or self._expected_command or self._is_busy)

    def _typeahead_listener(self) -> TypeAheadListener:
        """Return what sends the lines that are typed meanwhile: the server runs or queues them."""
        return TypeAheadListener(
            sys.stdin.fileno(),
            self._typed_ahead,
            may_listen=lambda: not self._screen.is_asking,
            is_wanted=lambda line: bool(line) and line not in EXIT_WORDS,
            run=self._send_meanwhile,
            show=self._screen.show_typed,
        )

    def _send_meanwhile(self, line: str) -> None:
        try:
            told = {"text": line, "cmd": new_id(), "stream": False}
            response = self._ask_with_pictures(told)
        except UserError as error:
            self._screen.say(error.message, "red")
            return
        self._screen.show_meanwhile(line)
        if response["queued"]:
            self._screen.say(phrase("It waits until the task is over."), "dim")

    def _show(self, packet: Packet) -> None:
        self._ends_shown += packet["type"] in _END_TYPES
        if packet.get("cmd") == self._expected_command:
            self._expected_command = ""
        elif packet["type"] == "TurnStarted":
            self._screen.say(f"› {clean(packet['text'])}", "bold")
        event = to_event(packet)
        if isinstance(event, ApprovalAsked):
            self._questions.ask(event, self._screen, self._reply)
        else:
            self._screen.show(event)

    def _reply(self, call_id: str, reply: Reply) -> bool:
        """Send *reply*; return whether the question is over, for whatever reason."""
        try:
            response = self._link.request(
                "POST", self._address("confirm"), call_id=call_id, **to_plain(reply)
            )
        except UserError as error:
            self._screen.say(error.message, "red")
            return False
        if not response["won"]:
            self._screen.say(phrase("It was answered on another screen first."), "dim")
        return True


def _titles(link: ServerLink) -> CallTitles:
    tools = link.request("GET", "/api/status").get("tools", {})  # an older server tells of none
    return CallTitles(from_plain(Mapping[str, ToolSpec], tools))


def _create_prompt(
    link: ServerLink, translator: Translator, typed_ahead: TypedAhead, state: Callable[[], Packet]
) -> AttachedPrompt:
    from modules.cli.attach.attached_prompt import AttachedPrompt

    return AttachedPrompt(link, translator, typed_ahead, state)


def _deleted_error() -> UserError:
    return UserError(phrase("This session was deleted."))
