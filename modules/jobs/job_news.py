"""News of jobs: what the model and the person are still to be told of them."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence

from core.feature import SessionHandle
from utils.i18n import Phrase

_MAX_NOTICES = 12


class JobNews:
    """What is to be told of the jobs of a session, in *section* of the context and to the person.

    Threads may share it.
    """

    def __init__(self, section: str) -> None:
        self.notice = ""
        """Lines that the model has in its context, or gets with its next request."""
        self._section = section
        self._lock = threading.Lock()
        self._untold: list[tuple[int, str]] = []  # to the model, each of a job
        self._news: list[Phrase] = []
        self._session_handle: SessionHandle | None = None

    def bind(self, session_handle: SessionHandle) -> None:
        self._session_handle = session_handle

    def clear(self) -> None:
        with self._lock:
            self._untold, self._news, self.notice = [], [], ""

    def tell_model(self, number: int, line: str) -> None:
        """Tell the model *line* of the job *number* with its next request."""
        with self._lock:
            self._untold.append((number, line))

    def replace_for_model(self, lines: Iterable[tuple[int, str]]) -> None:
        """Tell the model *lines*, each of a job, in place of all that it was to be told."""
        with self._lock:
            self._untold = list(lines)

    def is_told(self, number: int) -> None:
        """Take note that the model has just seen how the job *number* is."""
        with self._lock:
            self._untold = [(one, line) for one, line in self._untold if one != number]

    def tell_person(self, what: Phrase) -> None:
        """Tell the person at once where the screen can, else with the next event of a turn."""
        if self._session_handle is None or not self._session_handle.announce(what):
            self.tell_person_later(what)

    def tell_person_later(self, what: Phrase) -> None:
        """Tell the person with the next event of a turn."""
        with self._lock:
            self._news.append(what)

    def refresh(self) -> None:
        """Have the screen show anew what runs."""
        if self._session_handle is not None:
            self._session_handle.refresh()

    def take_for_person(self) -> Sequence[Phrase]:
        """Return what the person is to be told now; it is news no more."""
        with self._lock:
            news, self._news = self._news, []
        return news

    def take_for_model(self) -> str:
        """Return the notice for the model's next request."""
        with self._lock:
            new_lines, self._untold = [line for _, line in self._untold], []
        if new_lines:
            sent = None
            if self._session_handle is not None:
                sent = self._session_handle.history.context_sent.get(self._section)
            unsent = self.notice.split("\n") if self.notice not in ("", sent) else []
            self.notice = "\n".join([*unsent, *new_lines][-_MAX_NOTICES:])
        return self.notice
