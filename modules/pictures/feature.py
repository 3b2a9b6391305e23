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
    from modules.pictures.normalization import NormalizedPicture


class Pictures(Feature, BindsToSession, FollowsSession, FollowsForks):
    """The pictures of the session, kept in *store*."""

    def __init__(self, store: PictureStore) -> None:
        self._store = store
        self._session = ""
        self._session_handle: SessionHandle | None = None
        self._pending: dict[str, tuple[Picture, bytes]] = {}
        """Pictures of the message that will create the session."""

    def bind(self, session_handle: SessionHandle) -> None:
        self._session_handle = session_handle
        session_handle.model.set_picture_reader(self.read)

    def on_session_changed(self, session: str) -> None:
        self._session = session
        if session:
            pending, self._pending = self._pending, {}
            for picture, data in pending.values():
                self._store.put(session, picture, data)

    def on_fork(self, session: str, new_session: str, turn: int) -> None:  # noqa: ARG002
        self._store.copy(session, self._store, new_session)

    def add(self, data: bytes, name: str) -> Picture:
        """Add *data*, the content of a file called *name*, to the session.

        Where there is none yet, it is kept when one begins. Raises `UserError`.
        """
        from modules.pictures.normalization import normalize  # most sessions have no picture

        name = visible(" ".join(name.split()))[:200] or "picture"
        return self._add_normalized(normalize(data, name), name)

    def _add_normalized(self, normalized: NormalizedPicture, name: str) -> Picture:
        if self._session:
            return self._store.add(self._session, normalized, name)
        picture = normalized.to_picture(name)
        self._pending[picture.digest] = picture, normalized.data
        return picture

    def read(self, digest: str) -> bytes:
        """Return the bytes of a picture. Raises `PictureGone`."""
        return self._store.read(self._session, digest)

    def find(self, digest: str) -> Picture:
        """Return a picture of the session. Raises `PictureGone`."""
        return self._store.find(self._session, digest)

    def read_outcome(self, path: str, data: bytes) -> Outcome | None:
        """Return the outcome of a call that reads the picture *path*; None where it is no picture.

        Raises `ToolError` for one that cannot be used.
        """
        if format_of(data) is None:
            return None
        try:
            picture = self.add(data, path)
        except UserError as problem:
            raise ToolError(problem.message) from None
        card = TextCard(phrase("Read {path}", path=picture.name), picture.details)
        text = f"{picture.name} is a picture: {picture.details}."
        return Outcome(text, card, pictures=(picture,))
