"""The lines that wait in a session: each is kept with it until what came of it is kept."""

from __future__ import annotations

import threading
from collections.abc import Container
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from core.conversation.messages import StateRecord
from core.web_terminal import WebTerminal
from utils.i18n import UserError
from utils.pictures import Picture
from utils.text.codec import from_plain, to_plain

SENT = 8
"""Ids of messages that are kept with the session, so that none is taken twice."""


@dataclass(frozen=True, slots=True)
class QueuedMessage:
    """A line that waits; *id* is that of the command it was sent with."""

    id: str
    text: str
    pictures: tuple[Picture, ...] = ()

    @property
    def plain(self) -> dict[str, Any]:
        """Return it as JSON, without pictures where there are none."""
        plain = {"id": self.id, "text": self.text}
        return {**plain, "pictures": to_plain(self.pictures)} if self.pictures else plain


class SessionQueue:
    """What waits in the session of *terminal*. May be used from several threads.

    What `take` gives stays kept until `begun`: after a crash it waits again, in sight. Nothing here
    asks for a lock of the terminal or the seat, so it may be called while one is held.
    """

    def __init__(self, terminal: WebTerminal) -> None:
        self._terminal = terminal
        self._lock = threading.Lock()
        self._items: list[QueuedMessage] = []
        self._taken: QueuedMessage | None = None

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, item_id: str) -> bool:
        return any(item.id == item_id for item in self.items)

    @property
    def items(self) -> list[QueuedMessage]:
        """What waits and was not taken yet, the next first."""
        return list(self._items)

    def enter(self) -> list[str]:
        """Read what the session keeps; return the ids that were sent to it, the oldest first."""
        history = self._terminal.history
        with self._lock:
            begun = history.begun  # a crash may have come before they were kept no longer
            self._taken = None
            self._items = [item for item in self._kept() if item.id not in begun]
            return [*history.state.get("sent", []), *begun, *(item.id for item in self._items)]

    def add(self, item: QueuedMessage, *, is_next: bool, instead: Container[str] = ()) -> None:
        """Let *item* wait, those with the ids *instead* no longer; both at once.

        That is on disk on return. Raises `UserError`, and then all is as it was.

        That its id was sent is kept after the item itself: a crash between the two loses nothing,
        as a waiting id is a known one too.
        """
        with self._lock:
            before = self._items
            self._items = [one for one in before if one.id not in instead]
            place = 0 if is_next or len(self._items) < len(before) else len(self._items)
            self._items.insert(place, item)
            try:
                self._keep()
            except UserError:
                self._items = before
                raise
            with suppress(UserError):  # it waits, and so nothing may say that it was not taken
                sent = [*self._terminal.history.state.get("sent", []), item.id]
                self._terminal.record(StateRecord("sent", sent[-SENT:]))

    def take(self) -> QueuedMessage | None:
        """Return what is next, which `begun` or `put_back` must follow; None if nothing waits."""
        with self._lock:
            self._taken = self._items.pop(0) if self._items else None
            return self._taken

    def begun(self) -> None:
        """Keep what was taken no longer: what came of it is kept."""
        with self._lock:
            self._taken = None
            with suppress(UserError):  # a full disk is told of by the turn
                self._keep()

    def put_back(self) -> None:
        """Let what was taken wait again, unless it has begun."""
        with self._lock:
            taken, self._taken = self._taken, None
            if taken:
                self._items.insert(0, taken)

    def drop(self, item_id: str) -> QueuedMessage | None:
        """Let the item *item_id* wait no longer and return it; None if it does not wait."""
        return self._rearrange(item_id, None)

    def move(self, item_id: str, to: int) -> QueuedMessage | None:
        """Put the item *item_id* at the place *to* and return it; None if it does not wait."""
        return self._rearrange(item_id, max(to, 0))

    def _rearrange(self, item_id: str, to: int | None) -> QueuedMessage | None:
        with self._lock:
            item = next((item for item in self._items if item.id == item_id), None)
            if item is not None:
                self._items.remove(item)
                if to is not None:
                    self._items.insert(to, item)
                with suppress(UserError):  # a full disk is told of by the turn
                    self._keep()
            return item

    def _keep(self) -> None:
        """Keep what waits and what was taken, if that is another than was kept."""
        items = [*([self._taken] if self._taken else []), *self._items]
        if [item.id for item in items] != [item.id for item in self._kept()]:
            session = self._terminal.session
            self._terminal.record(
                StateRecord("queue", [{**item.plain, "session": session} for item in items])
            )

    def _kept(self) -> list[QueuedMessage]:
        """Return what the session keeps; a fork does not own what waited where it comes from."""
        session = self._terminal.session
        kept: list[dict[str, Any]] = self._terminal.history.state.get("queue", [])
        own = (item for item in kept if item.get("session", session) == session)
        return [
            QueuedMessage(
                item["id"], item["text"], from_plain(tuple[Picture], item.get("pictures", []))
            )
            for item in own
        ]
