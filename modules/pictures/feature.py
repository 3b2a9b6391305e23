"""The pictures of the session: kept with it, found again, and handed to the model's client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.cards import TextCard
from core.feature import Feature, SessionHandle
from core.hooks import BindsToSession, FollowsForks, FollowsSession
from core.tools import Outcome, ToolError
from modules.pictures.formats import format_of
from modules.pictures.picture_store import PictureStore
from utils.i18n import UserError, phrase
from utils.pictures import Picture
from utils.text.clean import visible

if TYPE_CHECKING:
    from modules.pictures.intake import Taken


class Pictures(Feature, BindsToSession, FollowsSession, FollowsForks):
    """What *store* keeps for the session that this is of."""

    def __init__(self, store: PictureStore) -> None:
        self._store = store
        self._session = ""
        self._talk: SessionHandle | None = None
        self._waiting: dict[str, tuple[Picture, bytes]] = {}
        """Given with the message that is to begin a session."""

    def meet(self, talk: SessionHandle) -> None:
        self._talk = talk
        talk.model.take_pictures_from(self.read)

    def enter(self, session: str) -> None:
        self._session = session
        if session:
            waiting, self._waiting = self._waiting, {}
            for picture, data in waiting.values():
                self._store.put(session, picture, data)

    def forked(self, session: str, copy: str, turn: int) -> None:  # noqa: ARG002
        self._store.copy(session, self._store, copy)

    def keep(self, data: bytes, name: str) -> Picture:
        """Take *data*, the content of a file called *name*, in; keep it with the session.

        Where there is none yet, it is kept when one begins. Raises `UserError`.
        """
        from modules.pictures.intake import take_in  # most sessions have no picture

        name = visible(" ".join(name.split()))[:200] or "picture"
        return self._kept(take_in(data, name), name)

    def _kept(self, taken: Taken, name: str) -> Picture:
        if self._session:
            return self._store.keep(self._session, taken, name)
        picture = taken.named(name)
        self._waiting[picture.digest] = picture, taken.data
        return picture

    def read(self, digest: str) -> bytes:
        """Return the bytes of a picture. Raises `PictureGone`."""
        return self._store.read(self._session, digest)

    def find(self, digest: str) -> Picture:
        """Return a picture of the session. Raises `PictureGone`."""
        return self._store.find(self._session, digest)

    def show(self, path: str, data: bytes) -> Outcome | None:
        """Return what a call answers that reads the file *path*; None where it is no picture.

        Raises `ToolError` for one that cannot be used.
        """
        if format_of(data) is None:
            return None
        try:
            picture = self.keep(data, path)
        except UserError as problem:
            raise ToolError(problem.what) from None
        card = TextCard(phrase("Read {path}", path=picture.name), picture.measures)
        told = f"{picture.name} is a picture: {picture.measures}."
        return Outcome(told, card, pictures=(picture,))
