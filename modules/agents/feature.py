"""`/agents`: lists what works in the project, starts a task, answers what asks, and stops."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from core.cards import Card, TextCard
from core.conversation.history import TurnRecord
from core.conversation.store import Store
from core.events import CommandAnswered
from core.feature import Feature, SessionHandle, command, name_of
from core.hooks import (
    BeginsWithTurns,
    BindsToSession,
    HoldsResources,
    ProvidesNews,
    RestsAfterTurns,
)
from utils.frozen import frozen
from utils.i18n import Phrase, UserError, phrase
from utils.text.clean import visible
from utils.text.lines import cut_middle

if TYPE_CHECKING:
    from core.events import Reply
    from core.loop.current_question import AskedNow
    from modules.agents.holder_link import HolderLink
    from modules.agents.session_socket import SessionSocket
    from modules.agents.started_tasks import StartedTasks
    from modules.agents.work import Work, WorkSource

_MAX_TITLE = 60  # characters


@frozen
class BegunTask:
    """A task that is to be started: its *session*, and the *command* that does it there."""

    session: str
    command: Sequence[str]


class Agents(
    Feature, BindsToSession, HoldsResources, ProvidesNews, BeginsWithTurns, RestsAfterTurns
):
    """The board of the project whose sessions *store* has; *sources* tell what works in them.

    `begin_task` makes a session for a task, where one can be started. While a turn runs, other
    processes of the person reach this session by a socket.
    """

    def __init__(
        self,
        store: Store,
        sources: Sequence[WorkSource],
        stop: Callable[[], None],
        sockets: Path,
    ) -> None:
        """*stop* stops the turn of this session; *sockets* is a private folder."""
        self._store = store
        self._sources = sources
        self.stop_turn: Callable[[], object] = stop
        self._sockets = sockets
        self._socket: SessionSocket | None = None
        self._shown: dict[str, AskedNow] = {}  # by what work asked it
        self._session_handle: SessionHandle | None = None
        self._started: StartedTasks | None = None
        self._untold: list[Phrase] = []
        self.begin_task: Callable[[str], BegunTask] | None = None

    def bind(self, session_handle: SessionHandle) -> None:
        self._session_handle = session_handle

    @command(
        "/agents [start TASK|answer ID|stop ID]",
        "List the sessions, helpers and races at work in this project; start, answer or stop one.",
        is_concurrent=True,
        is_of_project=True,
    )
    def agents(self, argument: str) -> Card | CommandAnswered:
        match argument.split():
            case []:
                return CommandAnswered(name_of(self.agents), self._board(), effect="agents")
            case ["stop", work]:
                return self._stopped(work)
            case ["start", _, *_]:
                return self._start(argument.split(maxsplit=1)[1])
            case ["answer", work, *words]:
                said = argument.split(maxsplit=2)[2].strip() if words else ""
                return self._answered(work, said) if said else self._asked(work)
        raise UserError(
            phrase("Usage: /agents, /agents start TASK, /agents answer ID or /agents stop ID.")
        )

    def work(self, working: Collection[str] = ()) -> list[Work]:
        """Return all that works in the project, each behind what it is part of.

        *working* are sessions that are known to work: the records of one whose turn is just ending
        do not tell that.
        """
        opened = {session: self._store.load(session) for session in self._store.claimed()}
        inside = [work for source in self._sources for work in source.running_work(opened)]
        races = [one for one in inside if one.kind == "race"]
        found: list[Work] = []
        for one in [*self._sessions(opened, working), *races]:
            if all(one.id != other.id for other in found):
                found += _with_parts(one, inside)
        return found

    def _sessions(
        self, opened: Mapping[str, Sequence[TurnRecord]], working: Collection[str]
    ) -> Iterator[Work]:
        """Yield the sessions that are *opened*, with their records; *working* are known to work."""
        from modules.agents.session_work import doing_in  # for who asks
        from modules.agents.work import Work

        for session, records in opened.items():
            info = self._store.info(session)
            doing = doing_in(records)
            title = cut_middle(visible(info.title) or doing.task, _MAX_TITLE)
            is_ending = doing.state == "idle" and (session in working or self._is_in_turn(session))
            state = "working" if is_ending else doing.state
            call = doing.now or (doing.task if state != "idle" else "")
            yield Work(session, "session", title, state, doing=call, cost_usd=info.cost_usd)

    def _is_in_turn(self, session: str) -> bool:
        handle = self._session_handle
        return handle is not None and handle.session == session and handle.is_in_turn

    def _board(self) -> Card:
        work = self.work()
        if not work:
            return TextCard(phrase("Nothing is at work in this project."))
        from modules.agents.board_card import board_card

        return board_card(work, self._session_handle.session if self._session_handle else "")

    def _start(self, task: str) -> Card:
        """Begin *task* in a session of its own. Raises `UserError`."""
        if self.begin_task is None:
            raise UserError(phrase("Start it in a new session, or on the page in the board."))
        from modules.agents.started_tasks import StartedTasks  # for who starts one

        self._started = self._started or StartedTasks(self._on_task_ended)
        begun = self.begin_task(task)
        try:
            self._started.start(begun.session, begun.command)
        except OSError as error:
            why = error.strerror or str(error)
            raise UserError(phrase("The task could not be started: {why}.", why=why)) from None
        return TextCard(
            phrase("Started session {id}; /agents tells how it goes.", id=begun.session),
            phrase("No one is asked there: what would be asked is refused."),
        )

    def _on_task_ended(self, what: Phrase) -> None:
        if self._session_handle is None or not self._session_handle.announce(what):
            self._untold.append(what)

    def news(self) -> Sequence[Phrase]:
        told, self._untold = self._untold, []
        return told

    # --- a question of any session ---------------------------------------------------------------

    def _asked(self, work: str) -> Card:
        """Show what *work* asks: no other question can be answered by what is said then."""
        from modules.agents.question_card import question_card  # for who answers

        session = self._session_with(work)
        asked = self.question(session)
        self._shown[session] = asked
        return question_card(work, asked, name_of(self.agents))

    def _answered(self, work: str, said: str) -> Card:
        from modules.agents.question_card import reply_to

        session = self._session_with(work)
        asked = self._shown.get(session)
        if asked is None:
            raise UserError(
                phrase(
                    "See first what is asked: {line}", line=f"{name_of(self.agents)} answer {work}"
                )
            )
        reply = reply_to(asked.event, said)
        del self._shown[session]
        self.answer(session, asked.key, reply)
        return TextCard(phrase("Answered {id}.", id=work))

    def question(self, session: str) -> AskedNow:
        """Return what *session* asks, wherever it works. Raises `UserError` for nothing."""
        asked = self._link().question(session)
        if asked is None:
            raise UserError(phrase("{id} asks nothing that can be answered from here.", id=session))
        return asked

    def answer(self, session: str, key: str, reply: Reply) -> None:
        """Answer the question *key* of *session*, and no other. Raises `UserError`."""
        if not self._link().answer(session, key, reply):
            raise UserError(phrase("That question is over, or was answered on another screen."))

    def _session_with(self, work: str) -> str:
        """Return the session that *work* is, or is part of. Raises `UserError` for no work."""
        from modules.agents.work import session_of

        return session_of(self._known(work), self.work())

    def _known(self, work: str) -> Work:
        known = next((one for one in self.work() if one.id == work), None)
        if known is None:
            raise UserError(phrase("Nothing with the ID {id} is at work.", id=work))
        return known

    def _link(self) -> HolderLink:
        from modules.agents.holder_link import HolderLink  # for who answers or stops elsewhere

        return HolderLink(self._store, self._sockets)

    # --- this session, for other processes -------------------------------------------------------

    def on_turn_begun(self) -> None:
        handle = self._session_handle
        if handle is None or not handle.session or self._socket:
            return
        from modules.agents.held_session import HeldSession  # once a turn runs

        self._socket = HeldSession(handle, self._stop_here).open(self._sockets)

    def on_turn_end(self) -> None:
        if self._socket:
            self._socket.close()
            self._socket = None

    def close(self) -> None:
        self.on_turn_end()
        if self._started:
            self._started.close()

    def _stopped(self, work: str) -> Card:
        self.stop(work)
        return TextCard(phrase("Stopping {id}.", id=work))

    def stop(self, work: str) -> None:
        """Stop the work of that id, in whichever process. Raises `UserError`."""
        from modules.agents.work import session_of

        known = self._known(work)
        if known.state == "waiting":
            raise UserError(
                phrase("{id} waits for a choice: /race take shows its results and asks.", id=work)
            )
        if self._started and self._started.stop(work):
            return
        if known.state == "idle" and known.kind == "session":
            raise UserError(phrase("{id} is idle: nothing to stop.", id=work))
        session = session_of(known, self.work())
        if not self._is_here(session):
            self._link().stop(session, work)
        elif not self._has_stopped(known):
            raise UserError(phrase("Nothing with the ID {id} is at work.", id=work))

    def _is_here(self, session: str) -> bool:
        handle = self._session_handle
        return handle is not None and handle.session == session and handle.locked_by is None

    def _stop_here(self, work: str) -> None:
        """Stop *work* of this session for another process. Raises `UserError`."""
        if not self._has_stopped(self._known(work)):
            raise UserError(phrase("Nothing with the ID {id} is at work.", id=work))

    def _has_stopped(self, known: Work) -> bool:
        """Stop what is *known* to work in this session; return False where it does not."""
        turn_of = known.parent if known.kind == "race" else known.id  # a race is all of a turn
        if self._session_handle and turn_of == self._session_handle.session:
            self.stop_turn()
            return True
        return any(source.stop_work(known.id) for source in self._sources)


def _with_parts(work: Work, inside: Sequence[Work]) -> list[Work]:
    """Return *work*, and behind it what of *inside* is part of it, in which it may ask."""
    parts = [one for one in inside if one.parent == work.id]
    found = [one for part in parts for one in _with_parts(part, inside)]
    if work.state == "working" and any(one.state == "asking" for one in found):
        work = replace(work, state="asking")
    return [work, *found]
