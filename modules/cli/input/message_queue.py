"""The lines entered while a turn runs: on disk with the session until they are sent."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Sequence
from contextlib import suppress

from core.conversation.messages import StateRecord
from core.main_terminal import MainTerminal
from modules.cli.input.keyboard import pasted
from utils.i18n import UserError

_QUEUE = "queue"
"""The state that the browser keeps its queue in as well: a list of {"id", "text"}."""


class MessageQueue:
    """The queue of the session of *terminal*.

    Where it cannot be written, because the disk is full, the turn tells of it, and the lines wait
    in memory as ever.
    """

    def __init__(self, terminal: MainTerminal) -> None:
        self._terminal = terminal
        self._lock = threading.Lock()
        self._is_restored = False

    @property
    def texts(self) -> list[str]:
        return [item["text"] for item in self._items()]

    def add(self, line: str) -> None:
        """Keep *line*, which was entered and waits; it is durable on return."""
        if line:
            with self._lock:
                self._set([*self._items(), {"id": uuid.uuid4().hex, "text": line}])

    def restored(self) -> bytes:
        """Return what puts the lines of an earlier start into the prompt, b"" for none."""
        self.seen()
        return pasted("\n".join(self.texts).encode()) if self.texts else b""

    def seen(self) -> None:
        """Take note that the person has the lines before them again."""
        self._is_restored = bool(self.texts)

    def sent(self, line: str) -> None:
        """Take note that *line* is on disk as a message, or was run."""
        with self._lock:
            ids = self._ids_of(line)
            self._is_restored = False
            self._set([item for item in self._items() if item["id"] not in ids])

    def ids_of(self, line: str) -> Sequence[str]:
        """Return the ids of what waits no longer once *line* is said."""
        with self._lock:
            return self._ids_of(line)

    def _ids_of(self, line: str) -> list[str]:
        if self._is_restored:  # the person has seen the lines and sends what they want of them
            return [item["id"] for item in self._items()]
        return [item["id"] for item in self._items() if item["text"] == line][:1]

    def _items(self) -> list[dict[str, str]]:
        """Return what waits; what was said does not, be a crash between that and its record."""
        history = self._terminal.history
        kept: list[dict[str, str]] = history.state.get(_QUEUE, [])
        begun = history.begun if kept else ()
        return [item for item in kept if item["id"] not in begun]

    def _set(self, items: list[dict[str, str]]) -> None:
        if items != self._terminal.history.state.get(_QUEUE, []):
            with suppress(UserError):
                self._terminal.record(StateRecord(_QUEUE, items))
