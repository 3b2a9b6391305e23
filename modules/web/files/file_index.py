"""What is known of all files at once: which of them no rule ignores, and git's letters.

That takes a moment for a hundred thousand files. So a survey is kept; where it takes long, an old
one does until the next, made in the background, is there. It is never believed about what changed
after it was begun.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from modules.files.project import Project
from modules.web.files.git_status import badges
from modules.web.files.stat_cache import GRAIN

FRESH = 2.0
"""Seconds for which a survey is taken to be true of what nobody has seen change."""
QUICK = 0.25
"""Seconds for which a listing waits for a new survey, judged by what the last one took."""


@dataclass(frozen=True)
class FileIndex:
    """*files* in order; *began* is in nanoseconds since the epoch, *seconds* what it took."""

    files: tuple[str, ...] = ()
    known: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()
    letters: Mapping[str, str] = field(default_factory=dict)
    folder_letters: Mapping[str, str] = field(default_factory=dict)
    began: int = 0
    seconds: float = 0.0

    @classmethod
    def of(cls, project: Project) -> FileIndex:
        began, clock = time.time_ns(), time.monotonic()
        files = project.files()
        letters = badges(project.root)
        known, folders = frozenset(files), _above(files)
        marked = _folder_letters(files, letters) if letters else {}
        seconds = time.monotonic() - clock
        return cls(tuple(files), known, folders, letters, marked, began, seconds)

    def is_before(self, change: int) -> bool:
        """Return whether a *change*, in nanoseconds since the epoch, may be missing in it.

        What bears a time yet to come says nothing.
        """
        return self.began - GRAIN < change <= time.time_ns()

    def tells_the_same_as(self, other: FileIndex) -> bool:
        return self.files == other.files and self.letters == other.letters


def _folder_letters(files: Iterable[str], letters: Mapping[str, str]) -> dict[str, str]:
    """Return "?" for every folder with nothing in it but what is new, M for others with changes."""
    is_new = {"?", "A"}.__contains__
    old = _above(path for path in files if not is_new(letters.get(path, "")))
    old |= _above(path for path, letter in letters.items() if not is_new(letter))
    return {folder: "M" if folder in old else "?" for folder in _above(letters)}


def _above(paths: Iterable[str]) -> frozenset[str]:
    """Return every folder that one of *paths* is in."""
    found: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(found)


class FileIndexer:
    """Keeps the survey of *project*; calls *changed* when one made in the background differs.

    One that fails in the background is given to *failed*, and the old one stays. May be used from
    any thread.
    """

    def __init__(
        self,
        project: Project,
        changed: Callable[[], None],
        failed: Callable[[BaseException], object],
    ) -> None:
        self._project = project
        self._changed = changed
        self._failed = failed
        self._survey = FileIndex()
        self._taking = threading.Lock()
        self._beginning = threading.Lock()
        self._is_outdated = False
        self._background: threading.Thread | None = None
        self._is_closed = False

    def outdated(self) -> None:
        """Take note that something changed."""
        self._is_outdated = True

    def now(self, change: int = 0) -> FileIndex:
        """Return what is known; what changed at *change*, in nanoseconds, is surely in it."""
        survey = self._survey
        if not survey.began or survey.is_before(change):
            return self._taken(survey)
        if self._is_outdated or time.time_ns() - survey.began > FRESH * 1e9:
            if survey.seconds < QUICK:
                return self._taken(survey)
            self._take_soon()
        return survey

    def close(self) -> None:
        """Wait for what is under way in the background."""
        with self._beginning:
            self._is_closed = True
        if thread := self._background:
            thread.join()

    def _taken(self, old: FileIndex) -> FileIndex:
        """Return a survey that was begun after *old* was found wanting."""
        asked = time.time_ns()
        with self._taking:
            if self._survey is old or self._survey.began < asked:
                self._is_outdated = False
                self._survey = FileIndex.of(self._project)
            return self._survey

    def _take_soon(self) -> None:
        with self._beginning:  # a second one at once would be forgotten, and not waited for
            if self._is_closed or (self._background and self._background.is_alive()):
                return
            self._background = threading.Thread(target=self._take, name="survey", daemon=True)
            self._background.start()

    def _take(self) -> None:
        old = self._survey
        try:
            new = self._taken(old)
        except Exception as error:  # noqa: BLE001 - nobody waits for it; the next one who asks may
            self._failed(error)
            return
        if not new.tells_the_same_as(old):
            self._changed()
