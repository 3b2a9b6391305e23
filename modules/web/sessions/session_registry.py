"""Registry of the project's sessions: those that are open, and access to all others."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from core.cards import Change
from core.conversation.message_queue import NOTHING_WAITS
from core.conversation.store import SessionInfo, SessionMatch
from core.conversation.transcript import Packet
from modules.pictures.picture_store import PictureStore
from modules.plans import forget_plan
from modules.sent_requests.request_log import RequestLog
from modules.sessions.store import Sessions
from modules.web.http.errors import ApiError, as_api_errors
from modules.web.sessions.notifier import OnError, Publish
from modules.web.sessions.page_redaction import PageRedactor
from modules.web.sessions.session_runner import SessionRunner, TerminalFactory
from utils.i18n import UserError, phrase
from utils.pictures import ReadPicture
from utils.text.codec import to_plain

IDLE_SECONDS = 600.0
"""Seconds after which a session that nobody uses or watches is closed."""
_SHUTDOWN_SECONDS = 5.0
"""Seconds that a stopped turn has to end when the server does."""


class SessionRegistry:
    """Opens sessions on demand, a `SessionRunner` each. Any thread may use it; it may block."""

    def __init__(
        self,
        store: Sessions,
        make_terminal: TerminalFactory,
        publish: Publish,
        on_error: OnError,
        redactor: PageRedactor,
        *,
        is_watched: Callable[[str], bool] = lambda _: False,
        pictures: PictureStore,
        requests: RequestLog,
        plans: Path,
    ) -> None:
        self.store = store
        self._make_terminal = make_terminal
        self._publish = publish
        self._on_error = on_error
        self._redactor = redactor
        self._is_watched = is_watched
        self._pictures = pictures
        self.requests = requests
        self._plans = plans
        self._runners: dict[str, SessionRunner] = {}
        self._lock = threading.Lock()
        self._runners_lock = threading.Lock()  # held for a moment only, over what is in `_runners`

    @property
    def open_runners(self) -> Sequence[SessionRunner]:
        return list(self._runners.values())

    def open(self, session: str) -> SessionRunner:
        """Return the runner of *session*. Raises `ApiError` if it cannot be opened."""
        if runner := self._touched(session):
            return runner
        with self._lock:
            if runner := self._touched(session):
                return runner
            self.info(session)
            self._close_idle()
            runner = self._new_runner()
            try:
                runner.resume(session)
            except UserError as problem:
                runner.close()
                raise ApiError("held", problem.message) from None
            self._runners[session] = runner
            runner.resume_turn()
            return runner

    def create(self, *, settings_of: SessionRunner | None = None) -> SessionRunner:
        """Create a session, set up as *settings_of*; it is stored with its first message."""
        with self._lock, as_api_errors():
            self._close_idle()
            runner = self._new_runner()
            runner.resume(self.store.create(model=runner.terminal.model.model))
            if settings_of:
                runner.terminal.take_settings_of(settings_of.terminal)
            self._runners[runner.session] = runner
            return runner

    def fork(self, session: str, turn: int) -> str:
        """Begin a session with all up to the end of *turn*; return its id."""
        runner = self.open(session)
        if runner.is_working and turn >= runner.terminal.history.turn:
            raise ApiError("busy", phrase("That turn is still running."))
        with as_api_errors():
            if turn and turn not in runner.terminal.history.turns:
                raise UserError(phrase("No turn {turn} to fork from.", turn=turn))
            copy = runner.terminal.fork(turn)
            if turn > 0:
                self.store.append(copy, turn, NOTHING_WAITS)
        self._publish("session", copy, self.row(copy))
        return copy

    def find(self, start: str) -> str:
        """Return the session whose id begins with *start*; "" is the newest."""
        with as_api_errors():
            return self.store.find(start)

    def rename(self, session: str, title: str) -> None:
        self.info(session)
        with as_api_errors():
            self.store.rename(session, title)
        if runner := self._runners.get(session):
            runner.on_renamed()
        self._publish("session", session, self.row(session))

    def archive(self, session: str, archived: bool) -> None:
        self.info(session)
        with as_api_errors():
            self.store.archive(session, archived)
        self._publish("session", session, self.row(session))

    def pin(self, session: str, pinned: bool) -> None:
        self.info(session)
        with as_api_errors():
            self.store.pin(session, pinned)
        self._publish("session", session, self.row(session))

    def tag(self, session: str, tags: Iterable[str]) -> None:
        self.info(session)
        with as_api_errors():
            self.store.tag(session, tags)
        self._publish("session", session, self.row(session))

    def on_looked_at(self, session: str) -> None:
        """Note that somebody looks at *session*: what ended there is read."""
        with suppress(UserError):  # where nothing can be written it stays unread
            if self.store.info(session).unread:
                self.store.mark_unread(session, False)
                self._publish("session", session, self.row(session))

    def _on_worked(self, session: str) -> None:
        """Note that a turn ended in *session*, which is news to who does not look at it."""
        if self._is_watched(session):
            return
        with suppress(UserError):  # as above
            self.store.mark_unread(session, True)
        if self._is_watched(session):  # somebody came meanwhile
            self.on_looked_at(session)

    def delete(self, session: str) -> None:
        self.info(session)
        with self._lock:
            runner = self._runners.get(session)
            if runner and runner.is_working:
                raise ApiError("busy", phrase("The session is running; stop it first."))
            with as_api_errors():
                if not runner or runner.terminal.locked_by:
                    self.store.claim(session)
                if runner:
                    del self._runners[session]
                    runner.close()
                self.store.delete(session)
                self._pictures.forget(session)
                self.requests.forget(session)
                forget_plan(self._plans, session)
        self._publish("session", session, {"id": session, "deleted": True})

    def rows(self, *, archived: bool, limit: int) -> list[Packet]:
        with as_api_errors():
            infos = [*(self.store.archived(limit) if archived else self.store.sessions(limit))]
            if not archived:  # those that are pinned are listed, however old they are
                infos += [info for info in self.store.pinned() if info not in infos]
        self._redactor.refresh_if_stale()
        return self._rows(infos)

    def row(self, session: str) -> Packet:
        """Return *session* as a row of the list. Raises `ApiError` if there is no such session."""
        return self._rows([self.info(session)])[0]

    def info(self, session: str) -> SessionInfo:
        """Return what is kept of *session*. Raises `ApiError` if there is no such session."""
        try:
            return self.store.info(session)
        except UserError as problem:
            raise ApiError("unknown_session", problem.message) from None

    def pictures_of(self, session: str) -> ReadPicture:
        """Return a reader of the pictures of *session*."""
        return partial(self._pictures.read, session)

    def search(self, text: str, limit: int) -> Sequence[SessionMatch]:
        with as_api_errors():
            return self.store.search(text, limit)

    def note_manual_changes(self, changes: Iterable[Change]) -> None:
        """Let the model of every open session know what the person did to files."""
        change_list = list(changes)
        for runner in self.open_runners:
            runner.terminal.note_manual_changes(change_list)

    def close(self) -> None:
        """Stop all turns and release every session; an open question stays one."""
        for runner in self.open_runners:
            runner.suspend()
        deadline = time.monotonic() + _SHUTDOWN_SECONDS
        while (
            any(runner.is_working for runner in self.open_runners) and time.monotonic() < deadline
        ):
            time.sleep(0.02)
        with self._lock:
            for runner in self.open_runners:
                runner.close()
            self._runners.clear()

    def _new_runner(self) -> SessionRunner:
        with as_api_errors():
            return SessionRunner(
                *(self._make_terminal, self._publish, self.row, self._on_error, self._redactor),
                on_worked=self._on_worked,
            )

    def _close_idle(self) -> None:
        with self._runners_lock:
            idle = [runner for runner in self._runners.values() if self._is_idle(runner)]
            for runner in idle:
                del self._runners[runner.session]
        for runner in idle:
            runner.close()

    def _is_idle(self, runner: SessionRunner) -> bool:
        is_active = runner.is_working or runner.has_jobs or self._is_watched(runner.session)
        return not is_active and time.monotonic() - runner.last_used >= IDLE_SECONDS

    def _touched(self, session: str) -> SessionRunner | None:
        """Return the runner of *session* if there is one, and reset its idle time."""
        with self._runners_lock:
            if runner := self._runners.get(session):
                runner.last_used = time.monotonic()
            return runner

    def _rows(self, infos: Sequence[SessionInfo]) -> list[Packet]:
        with as_api_errors():
            last_words = self.store.last_words(info.id for info in infos)
        return [self._row(info, last_words[info.id]) for info in infos]

    def _row(self, info: SessionInfo, last_words: str) -> Packet:
        runner = self._runners.get(info.id)
        return {
            **to_plain(info),
            "title": self._redactor.redact(info.title),
            "last": self._redactor.redact(last_words),
            "running": bool(runner and runner.is_working),
            "asking": bool(runner and runner.terminal.open_questions),
            "queued": runner.queue_length if runner else 0,
        }
