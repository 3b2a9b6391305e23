"""All sessions of the project: which are open, and what can be done with those that are not."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from core.cards import Change
from core.conversation.message_queue import NOTHING_WAITS
from core.conversation.store import SessionInfo, SessionMatch
from core.web_terminal import Packet
from modules.pictures.picture_store import PictureStore
from modules.sessions import Sessions
from modules.web.http.errors import ApiError, explained
from modules.web.sessions.notifier import Failed, Tell
from modules.web.sessions.page_redaction import PageRedactor
from modules.web.sessions.session_runner import Opener, SessionRunner
from utils.i18n import UserError, phrase
from utils.pictures import ReadPicture
from utils.text.codec import to_plain

IDLE = 600.0
"""Seconds after which a session that nobody uses or watches is closed."""
_GRACE = 5.0
"""Seconds that a stopped turn has to end when the server does."""


class SessionRegistry:
    """Opens sessions on demand, a `SessionRunner` each. Any thread may use it; it may block."""

    def __init__(
        self,
        store: Sessions,
        opener: Opener,
        tell: Tell,
        failed: Failed,
        veil: PageRedactor,
        *,
        is_watched: Callable[[str], bool] = lambda _: False,
        pictures: PictureStore,
    ) -> None:
        self.store = store
        self._opener = opener
        self._tell = tell
        self._failed = failed
        self._veil = veil
        self._is_watched = is_watched
        self._pictures = pictures
        self._seats: dict[str, SessionRunner] = {}
        self._lock = threading.Lock()
        self._table = threading.Lock()  # held for a moment only, over what is in `_seats`

    @property
    def open_seats(self) -> Sequence[SessionRunner]:
        return list(self._seats.values())

    def open(self, session: str) -> SessionRunner:
        """Return the seat of *session*. Raises `ApiError` if there is none or it cannot be had."""
        if seat := self._taken(session):
            return seat
        with self._lock:
            if seat := self._taken(session):
                return seat
            self.info(session)
            self._close_idle()
            seat = self._new_seat()
            try:
                seat.enter(session)
            except UserError as problem:
                seat.close()
                raise ApiError("held", problem.what) from None
            self._seats[session] = seat
            seat.take_up()
            return seat

    def create(self, *, like: SessionRunner | None = None) -> SessionRunner:
        """Begin a session, with the settings of *like*; it is kept with the first thing said."""
        with self._lock, explained():
            self._close_idle()
            seat = self._new_seat()
            seat.enter(self.store.create(model=seat.terminal.model.model))
            if like:
                seat.terminal.take_settings_of(like.terminal)
            self._seats[seat.session] = seat
            return seat

    def fork(self, session: str, turn: int) -> str:
        """Begin a session with all up to the end of *turn*; return its id."""
        seat = self.open(session)
        if seat.is_working and turn >= seat.terminal.history.turn:
            raise ApiError("busy", phrase("That turn still runs."))
        with explained():
            if turn and turn not in seat.terminal.history.turns:
                raise UserError(phrase("There is no turn {turn} to go on from.", turn=turn))
            copy = seat.terminal.fork(turn)
            if turn > 0:
                self.store.append(copy, turn, NOTHING_WAITS)
        self._tell("session", copy, self.row(copy))
        return copy

    def find(self, start: str) -> str:
        """Return the session whose id begins with *start*; "" is the newest."""
        with explained():
            return self.store.find(start)

    def rename(self, session: str, title: str) -> None:
        self.info(session)
        with explained():
            self.store.rename(session, title)
        if seat := self._seats.get(session):
            seat.renamed()
        self._tell("session", session, self.row(session))

    def archive(self, session: str, archived: bool) -> None:
        self.info(session)
        with explained():
            self.store.archive(session, archived)
        self._tell("session", session, self.row(session))

    def delete(self, session: str) -> None:
        self.info(session)
        with self._lock:
            seat = self._seats.get(session)
            if seat and seat.is_working:
                raise ApiError("busy", phrase("The session is running; stop it first."))
            with explained():
                if not seat or seat.terminal.held:
                    self.store.claim(session)
                if seat:
                    del self._seats[session]
                    seat.close()
                self.store.delete(session)
                self._pictures.forget(session)
        self._tell("session", session, {"id": session, "deleted": True})

    def rows(self, *, archived: bool, limit: int) -> list[Packet]:
        with explained():
            infos = self.store.archived(limit) if archived else self.store.sessions(limit)
        self._veil.glance()
        return [self._row(info) for info in infos]

    def row(self, session: str) -> Packet:
        """Return *session* as a row of the list. Raises `ApiError` if there is no such session."""
        return self._row(self.info(session))

    def info(self, session: str) -> SessionInfo:
        """Return what is kept of *session*. Raises `ApiError` if there is no such session."""
        try:
            return self.store.info(session)
        except UserError as problem:
            raise ApiError("unknown_session", problem.what) from None

    def pictures_of(self, session: str) -> ReadPicture:
        """Return what gives the pictures of *session*."""
        return partial(self._pictures.read, session)

    def search(self, text: str, limit: int) -> Sequence[SessionMatch]:
        with explained():
            return self.store.search(text, limit)

    def changed_by_hand(self, changes: Iterable[Change]) -> None:
        """Let the model of every open session know what the person did to files."""
        told = list(changes)
        for seat in self.open_seats:
            seat.terminal.changed_by_hand(told)

    def close(self) -> None:
        """Stop what runs and give every session free; an open question stays one."""
        for seat in self.open_seats:
            seat.leave()
        deadline = time.monotonic() + _GRACE
        while any(seat.is_working for seat in self.open_seats) and time.monotonic() < deadline:
            time.sleep(0.02)
        with self._lock:
            for seat in self.open_seats:
                seat.close()
            self._seats.clear()

    def _new_seat(self) -> SessionRunner:
        with explained():
            return SessionRunner(self._opener, self._tell, self.row, self._failed, self._veil)

    def _close_idle(self) -> None:
        with self._table:
            idle = [seat for seat in self._seats.values() if self._is_idle(seat)]
            for seat in idle:
                del self._seats[seat.session]
        for seat in idle:
            seat.close()

    def _is_idle(self, seat: SessionRunner) -> bool:
        is_used = seat.is_working or self._is_watched(seat.session)
        return not is_used and time.monotonic() - seat.used >= IDLE

    def _taken(self, session: str) -> SessionRunner | None:
        """Return the seat of *session* if there is one; it does not count as idle from now on."""
        with self._table:
            if seat := self._seats.get(session):
                seat.used = time.monotonic()
            return seat

    def _row(self, info: SessionInfo) -> Packet:
        seat = self._seats.get(info.id)
        return {
            **to_plain(info),
            "title": self._veil.hidden(info.title),
            "running": bool(seat and seat.is_working),
            "asking": bool(seat and seat.terminal.asked),
            "queued": seat.queued if seat else 0,
        }
