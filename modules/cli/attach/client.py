"""A terminal that joins a running server: the page's session, in its own process."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from core.cards import TextCard
from core.commands import Commands
from core.conversation.messages import as_message
from core.events import ApprovalAsked, CommandAnswered, Reply, TurnStarted
from core.feature import name_of
from core.session_choice import SessionChoice, turn_count
from core.tool_spec import ToolSpec
from modules.cli.attach.connection_state import ConnectionEvent, ConnectionState
from modules.cli.attach.followed_session import FollowedSession
from modules.cli.attach.http import Packet, ServerLink, new_id, to_event
from modules.cli.attach.listener import EventListener
from modules.cli.attach.packet_reader import last_turn
from modules.cli.attach.remote_approvals import RemoteApprover, RemoteQuestions
from modules.cli.attach.remote_checks import RemoteChecks
from modules.cli.attach.remote_choice import chosen_line, theme_of
from modules.cli.attach.sent_messages import send_message
from modules.cli.attach.server_sessions import create_session, find_session, sessions_of
from modules.cli.attach.unsent import Unsent
from modules.cli.input.keyboard import TypedAhead, no_echo
from modules.cli.input.startup_questions import is_interactive
from modules.cli.input.typeahead import TypeAheadListener
from modules.cli.render.cards.call_titles import CallTitles
from modules.cli.render.screen import CliScreen
from modules.cli.render.theme import make_console
from modules.cli.screen_settings import ScreenSettings
from modules.translator import Translator
from utils.i18n import UserError, phrase
from utils.system.interrupts import stopping_on_signals
from utils.text.clean import clean
from utils.text.codec import from_plain, to_plain
from utils.waiting import Stop

if TYPE_CHECKING:
    from modules.cli.attach.attached_prompt import AttachedPrompt

EXIT_WORDS = ("exit", "quit", name_of(Commands.exit), name_of(Commands.quit))


def attach(
    data: Path,
    port: int,
    translator: Translator,
    *,
    session: str | None = None,
    settings: ScreenSettings | None = None,
) -> int:
    """Join a session of the server on *port*; return the exit code. Raises `UserError`.

    *session* is the beginning of its id; "" or None is the one used last.
    """
    link = ServerLink(data / f"server-{port}.json", port)
    found = find_session(link, session or "")
    client = AttachClient(link, found, translator, settings=settings)
    try:
        return client.run()
    except KeyboardInterrupt:
        return 130
    finally:
        client.close()


class AttachClient:
    """Shows what happens in *session*, and sends what is typed."""

    def __init__(
        self,
        link: ServerLink,
        session: str,
        translator: Translator,
        *,
        settings: ScreenSettings | None = None,
    ) -> None:
        self._link = link
        self._settings = settings = settings or ScreenSettings()
        self._translator = translator
        self._is_lost_told = False
        self._questions = RemoteQuestions()
        self._unsent = Unsent()
        self._choice = SessionChoice()
        self._unshown: list[Packet] = []
        self._is_terminal = is_interactive()
        self._typed_ahead = typed_ahead = TypedAhead()
        self._prompt: AttachedPrompt | None = None
        approver = None
        if self._is_terminal:
            from modules.cli.attach.attached_prompt import AttachedPrompt

            answered = self._questions.answered
            approver = RemoteApprover(answered, translator, typed_ahead, self._stop)
            self._prompt = AttachedPrompt(
                *(link, translator, typed_ahead, lambda: self._session.state),
                settings=settings,
            )
        self._screen = CliScreen(
            make_console(colors=settings.colors),
            translator,
            _titles(link),
            approver=approver,
            is_practice=lambda: self._session.state["practice"],
            yuan=lambda: self._session.state.get("yuan", 0.0),
            settings=settings,
        )
        typed_ahead.keys = lambda: settings.typed_keys
        typed_ahead.leave_screen, typed_ahead.show_all = (
            self._screen.without_live_lines,
            self._screen.show_all,
        )
        self._follow(session)

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
            if self._session.connection.is_over:
                self._replace_session()
            if self._session.is_awaited:
                self._show_until_idle()
                continue
            self._restore_unsent()
            text = self._read()
            if text is None or text.strip() in EXIT_WORDS:
                return 0
            if text.strip():
                self._send_or_choose(text)

    def _send_or_choose(self, text: str) -> None:
        """Send *text*; a person who says a command alone that offers a list chooses here."""
        name, _, argument = text.strip().partition(" ")
        if not self._is_terminal:
            self._send(text)
            return
        try:
            if name != name_of(Commands.resume):
                line = chosen_line(
                    *(self._link, self._session, self._translator, self._settings.colors), text
                )
            elif argument.strip():
                line = f"{name} {self._choice.id_of(argument.strip())}"
            else:
                line = None
                offer = self._choice.offer(sessions_of(self._link), self._session.id)
                self._screen.show(CommandAnswered(name, offer))
            if line is not None:
                self._send(line)
                return
        except UserError as error:
            self._screen.say(error.message, "red")
        self._unsent.take()  # nothing was sent: what waits is to stand in the line again

    # --- out -------------------------------------------------------------------------------------

    def _read(self) -> str | None:
        """Return the next line; "" when a turn begins that another screen asked for."""
        if self._prompt is None:
            line = sys.stdin.readline()
            return as_message(line.rstrip("\n")) if line else None
        with self._checks.watched(self._prompt.tell):
            return self._prompt.read_until(
                lambda: (
                    self._session.is_busy
                    or self._session.connection.is_over
                    or self._session.connection.is_lost is not self._is_lost_told
                    or self._unsent.differs(self._session.state)
                )
            )

    def _restore_unsent(self) -> None:
        """Put what waits on the server before the person: whatever they send, it goes with it."""
        state = self._session.state
        if self._prompt and self._unsent.differs(state):
            self._prompt.draft = self._unsent.insert_into(self._prompt.draft, state)
            if state["queue"]:
                self._typed_ahead.return_to_draft()  # nothing of it is sent behind what waits
                self._prompt.draft += "\n" * bool(self._typed_ahead.entries)
                self._say_unsent()

    def _say_unsent(self) -> None:
        notice = phrase("Not sent yet. Press Enter to send.")
        self._screen.say(notice, "yellow")

    def _say_connection(self) -> None:
        """Say that the server went, or that it is back, once each."""
        if self._session.connection.is_lost is self._is_lost_told:
            return
        self._is_lost_told = not self._is_lost_told
        if self._is_lost_told:
            self._screen.say(phrase("Connection lost. Reconnecting."), "yellow")
        else:
            self._screen.say(phrase("Reconnected."), "dim")

    def _send(self, text: str) -> None:
        """Send *text* in the place of what stood in the line unsent."""
        command_id = new_id()
        unsent_ids = self._unsent.take()
        told = {"text": text, "cmd": command_id, "stream": False, "instead": unsent_ids}
        try:
            pictures = self._unsent.pictures if unsent_ids else []
            response = send_message(self._link, self._session, told, pictures)
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
            self._session.expected_command = command_id

    def _say_switched(self, text: str) -> None:
        """Say where the command *text* has led."""
        name = text.split()[0]
        if name in (name_of(Commands.new), name_of(Commands.clear)):
            self._screen.show(CommandAnswered(name, TextCard(phrase("New session started."))))
        else:
            turns = turn_count(self._session.state["turn"])
            notice = phrase("Resumed session {id} ({turns}).", id=self._session.id, turns=turns)
            self._screen.say(notice, "bold")

    def _stop(self) -> None:
        with suppress(UserError):
            self._link.request("POST", self._session.address("stop"))

    # --- in --------------------------------------------------------------------------------------

    def _follow(self, session: str) -> None:
        """Hear of *session* from now on."""
        self._session = FollowedSession(session)
        self._checks = RemoteChecks(self._link, self._session)
        self._listener = EventListener(
            self._link,
            session,
            on_packet=self._on_packet,
            on_connection_change=self._on_connection_change,
        )

    def _switch_session(self, session: str) -> None:
        """Follow *session* from now on in the place of the other."""
        self.close()
        self._follow(session)
        self._show_arrival()

    def _replace_session(self) -> None:
        """Leave a session that is there no more; one without a word in it ends with its server."""
        is_gone = self._session.connection is ConnectionState.GONE
        if not (is_gone and self._session.is_empty):
            raise _deleted_error()
        self._switch_session(create_session(self._link))

    def _show_arrival(self) -> None:
        """Show where the session stands."""
        name, arrival = self._listener.packets.get()
        if name == "deleted":
            raise _deleted_error()
        if name != "attached":
            raise UserError(phrase("The server does not answer."))
        last = last_turn(arrival["events"])
        if arrival["state"]["running"]:  # what has begun is shown as it would have been
            self._unshown = last
            self._session.on_events(last)
        else:
            self._session.is_empty &= not last
            self._session.note_checks(last)
            self._screen.replay(map(to_event, last))

    def _on_packet(self, name: str, packet: Packet) -> None:
        """Take note of what happens; from the listening thread."""
        match name:
            case "restarted":
                self._session.on_restart(packet)
                self._questions.on_server_restart()
            case "ev":
                self._session.on_events([packet])
            case "deleted":
                self._on_connection(ConnectionEvent.DELETE)
            case _:
                self._set_state(packet)

    def _on_connection_change(self, is_lost: bool) -> None:
        self._on_connection(ConnectionEvent.BREAK if is_lost else ConnectionEvent.HEAR)

    def _on_connection(self, event: ConnectionEvent) -> None:
        if self._session.on_connection(event) and self._prompt:
            self._prompt.interrupt()

    def _set_state(self, state: Packet) -> None:
        """Take note of what is true now."""
        self._session.state = state
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
                stack.enter_context(self._typeahead_listener(stop).listening())
            while self._unshown:
                self._show(self._unshown.pop(0))
            while True:
                name, packet = self._listener.packets.get()
                self._say_connection()
                if name == "deleted":
                    return
                if name == "ev":
                    self._show(packet)
                elif self._session.is_idle_by(name, packet):
                    break
        if stop.is_set() and self._typed_ahead.return_to_draft():
            self._say_unsent()

    def _typeahead_listener(self, stop: Stop) -> TypeAheadListener:
        """Return what sends the lines that are typed meanwhile: the server runs or queues them."""
        return TypeAheadListener(
            sys.stdin.fileno(),
            self._typed_ahead,
            may_listen=lambda: not self._screen.is_asking,
            is_wanted=lambda line: bool(line) and line not in EXIT_WORDS,
            run=self._send_meanwhile,
            show=self._screen.show_typed,
            stop=stop.set,
        )

    def _send_meanwhile(self, line: str) -> None:
        try:
            told = {"text": line, "cmd": new_id(), "stream": False}
            response = send_message(self._link, self._session, told)
        except UserError as error:
            self._screen.say(error.message, "red")
            return
        self._screen.show_meanwhile(line)
        if response["queued"]:
            self._screen.say(phrase("Waiting for the task to finish."), "dim")

    def _show(self, packet: Packet) -> None:
        if not self._session.on_shown(packet) and packet["type"] == TurnStarted.__name__:
            self._screen.say(f"› {clean(packet['text'])}", "bold")
        event = to_event(packet)
        if isinstance(event, CommandAnswered) and event.effect == "theme":
            self._settings.colors.theme = theme_of(self._link)
        if isinstance(event, ApprovalAsked):
            self._questions.ask(event, self._screen, self._reply)
        else:
            self._screen.show(event)

    def _reply(self, question: ApprovalAsked, reply: Reply) -> bool:
        """Send *reply*; return whether the question is over, for whatever reason."""
        key = {"key": question.key} if question.key else {}  # an older server gives none
        said = {"call_id": question.call_id, **key, **to_plain(reply)}
        try:
            response = self._link.request("POST", self._session.address("confirm"), **said)
        except UserError as error:
            self._screen.say(error.message, "red")
            return False
        if not response["won"]:
            self._screen.say(phrase("Already answered on another screen."), "dim")
        return True


def _titles(link: ServerLink) -> CallTitles:
    tools = link.request("GET", "/api/status").get("tools", {})  # an older server tells of none
    return CallTitles(from_plain(Mapping[str, ToolSpec], tools))


def _deleted_error() -> UserError:
    return UserError(phrase("This session was deleted."))
