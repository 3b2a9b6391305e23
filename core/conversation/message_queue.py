"""The messages that wait in a session: each is kept with it until what came of it is kept."""

from __future__ import annotations

import threading
from collections.abc import Container, Iterable
from contextlib import suppress
from typing import Any, Protocol

from core.conversation.history import MAX_SENT_IDS, QUEUE, History
from core.conversation.messages import Record, StateRecord
from utils.frozen import frozen
from utils.i18n import UserError
from utils.pictures import Picture
from utils.text.codec import from_plain, to_plain

REMEMBERED_IDS = 8
"""Ids of messages that are kept with the session, so that none is taken twice."""
NOTHING_WAITS = StateRecord(QUEUE, [])
"""Ends the waiting of all that waits in a session."""


class Conversation(Protocol):
    """The conversation whose messages wait."""

    @property
    def session(self) -> str: ...

    @property
    def history(self) -> History: ...

    def record(self, record: Record) -> None: ...


@frozen
class QueuedMessage:
    """A message that waits; *id* is that of the command it was sent with."""

    id: str
    text: str
    pictures: tuple[Picture, ...] = ()

    @property
    def as_json(self) -> dict[str, Any]:
        """Return it as JSON, without pictures where there are none."""
        plain = {"id": self.id, "text": self.text}
        return {**plain, "pictures": to_plain(self.pictures)} if self.pictures else plain


class MessageQueue:
    """The queue of the session that *conversation* is in. May be used from several threads.

    A terminal and a browser keep it in the same way, so that each finds what the other left. What
    `take` gives stays kept until `begun`: after a crash it waits again, in sight. No lock is asked
    for here but the history's, so it may be called while one of the caller is held.
    """

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._lock = threading.Lock()
        self._items: list[QueuedMessage] = []
        self._taken: QueuedMessage | None = None
        self._read()

    def __len__(self) -> int:
        return len(self.items)

    def __contains__(self, item_id: str) -> bool:
        return any(item.id == item_id for item in self.items)

    @property
    def items(self) -> list[QueuedMessage]:
        """Messages that wait and were not taken yet, the next first."""
        if self._is_elsewhere:
            with self._lock:
                self._follow()
        return list(self._items)

    def enter(self) -> list[str]:
        """Read what the session keeps; return the ids that were sent to it, the oldest first."""
        with self._lock:
            self._read()
            state, begun = self._history.state, self._history.sent_queue_ids
            return [*state.get(MAX_SENT_IDS, []), *begun, *(item.id for item in self._items)]

    def add(
        self, item: QueuedMessage, *, is_next: bool = False, instead: Container[str] = ()
    ) -> None:
        """Let *item* wait, those with the ids *instead* no longer; both at once.

        That is on disk on return. Raises `UserError`, and then all is as it was.

        That its id was sent is kept after the item itself: a crash between the two loses nothing,
        as a waiting id is a known one too.
        """
        with self._lock:
            self._follow()
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
                sent = [*self._history.state.get(MAX_SENT_IDS, []), item.id]
                self._conversation.record(StateRecord(MAX_SENT_IDS, sent[-REMEMBERED_IDS:]))

    def take(self) -> QueuedMessage | None:
        """Return what is next, which `begun` or `put_back` must follow; None if nothing waits."""
        with self._lock:
            self._follow()
            self._taken = self._items.pop(0) if self._items else None
            return self._taken

    def begun(self) -> None:
        """Keep what was taken no longer: what came of it is kept."""
        with self._lock:
            self._follow()
            self._taken = None
            self._keep_if_possible()

    def put_back(self) -> None:
        """Let what was taken wait again, unless it has begun."""
        with self._lock:
            self._follow()
            taken, self._taken = self._taken, None
            if taken:
                self._items.insert(0, taken)

    def drop(self, item_id: str) -> QueuedMessage | None:
        """Let the item *item_id* wait no longer and return it; None if it does not wait."""
        return self._rearrange(item_id, None)

    def drop_all(self, item_ids: Iterable[str]) -> None:
        """Let those of *item_ids* that wait do so no longer, all at once."""
        dropped = frozenset(item_ids)
        with self._lock:
            self._follow()
            self._items = [item for item in self._items if item.id not in dropped]
            self._keep_if_possible()

    def move(self, item_id: str, to: int) -> QueuedMessage | None:
        """Put the item *item_id* at the place *to* and return it; None if it does not wait."""
        return self._rearrange(item_id, max(to, 0))

    def _rearrange(self, item_id: str, to: int | None) -> QueuedMessage | None:
        with self._lock:
            self._follow()
            item = next((item for item in self._items if item.id == item_id), None)
            if item is not None:
                self._items.remove(item)
                if to is not None:
                    self._items.insert(to, item)
                self._keep_if_possible()
            return item

    # --- on disk ---------------------------------------------------------------------------------

    def _keep_if_possible(self) -> None:
        with suppress(UserError):  # a full disk is told of by the turn
            self._keep()

    def _keep(self) -> None:
        """Keep what waits and what was taken, if that is another than was kept."""
        items = [*([self._taken] if self._taken else []), *self._items]
        if [item.id for item in items] != [item.id for item in self._kept()]:
            # Before anything is said there is no session that it could be owned by.
            owner = {"session": session} if (session := self._conversation.session) else {}
            self._conversation.record(
                StateRecord(QUEUE, [{**item.as_json, **owner} for item in items])
            )

    @property
    def _is_elsewhere(self) -> bool:
        """Whether the conversation went on in another session, or read its own anew."""
        return self._history is not self._conversation.history

    def _follow(self) -> None:
        if self._is_elsewhere:
            self._read()

    def _read(self) -> None:
        self._history = self._conversation.history
        kept = self._kept()
        begun = (
            self._history.sent_queue_ids if kept else ()
        )  # a crash came before it was kept no longer
        self._taken = None
        self._items = [item for item in kept if item.id not in begun]

    def _kept(self) -> list[QueuedMessage]:
        """Return what the session keeps; a fork does not own what waited where it comes from."""
        session = self._conversation.session
        kept: list[dict[str, Any]] = self._history.state.get(QUEUE, [])
        own = (item for item in kept if item.get("session", session) == session)
        return [
            QueuedMessage(
                item["id"], item["text"], from_plain(tuple[Picture], item.get("pictures", []))
            )
            for item in own
        ]
