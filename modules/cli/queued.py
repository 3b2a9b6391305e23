"""The lines entered while a turn runs: on disk with the session until they are sent."""

from __future__ import annotations

import uuid
from contextlib import suppress

from core.main_terminal import MainTerminal
from core.messages import Shift
from modules.cli.keyboard import pasted
from utils.phrases import Problem

_QUEUE = "queue"
"""The state that the browser keeps its queue in as well: a list of {"id", "text"}."""


class Queued:
    """The queue of the session of *terminal*.

    Where it cannot be written, because the disk is full, the turn tells of it, and the lines wait
    in memory as ever.
    """

    def __init__(self, terminal: MainTerminal) -> None:
        self._terminal = terminal
        self._is_restored = False

    @property
    def texts(self) -> list[str]:
        return [item["text"] for item in self._items()]

    def add(self, line: str) -> None:
        """Keep *line*, which was entered and waits; it is durable on return."""
        if line:
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
        items = self._items()
        if self._is_restored:  # the person has seen the lines and sent what they wanted of them
            self._is_restored = False
            items = []
        places = [place for place, item in enumerate(items) if item["text"] == line]
        self._set([item for place, item in enumerate(items) if place not in places[:1]])

    def _items(self) -> list[dict[str, str]]:
        return list(self._terminal.history.state.get(_QUEUE, []))

    def _set(self, items: list[dict[str, str]]) -> None:
        if items != self._items():
            with suppress(Problem):
                self._terminal.record(Shift(_QUEUE, items))
