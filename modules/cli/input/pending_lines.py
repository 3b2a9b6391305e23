"""The lines entered while a turn runs: in the queue of the session until they are sent."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from contextlib import suppress

from core.conversation.message_queue import Conversation, MessageQueue, QueuedMessage
from modules.cli.input.keyboard import as_paste
from utils.i18n import UserError


class PendingLines:
    """The lines that wait in *conversation* and stand before the person, or will.

    Where one cannot be kept, because the disk is full, the turn tells of it, and the keyboard
    holds the line as ever.
    """

    def __init__(self, conversation: Conversation) -> None:
        self._queue = MessageQueue(conversation)
        self._is_restored = False

    @property
    def texts(self) -> list[str]:
        return [item.text for item in self._queue.items]

    def enter(self) -> None:
        """Take note that the conversation is in another session now."""
        self._queue.enter()

    def add(self, line: str) -> None:
        """Keep *line*, which was entered and waits; it is durable on return."""
        if line:
            with suppress(UserError):
                self._queue.add(QueuedMessage(uuid.uuid4().hex, line))

    def restored(self) -> bytes:
        """Return what puts the lines of an earlier start into the prompt, b"" for none."""
        self.seen()
        return as_paste("\n".join(self.texts).encode()) if self.texts else b""

    def seen(self) -> None:
        """Take note that the person has the lines before them again."""
        self._is_restored = bool(self.texts)

    def sent(self, line: str) -> None:
        """Take note that *line* is on disk as a message, or was run."""
        ids = self.ids_of(line)
        self._is_restored = False
        self._queue.drop_all(ids)

    def ids_of(self, line: str) -> Sequence[str]:
        """Return the ids of what waits no longer once *line* is said."""
        if self._is_restored:  # the person has seen the lines and sends what they want of them
            return [item.id for item in self._queue.items]
        return [item.id for item in self._queue.items if item.text == line][:1]
