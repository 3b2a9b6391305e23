"""Index of all files at once: which of them no rule ignores, and git's status of each.

That takes a moment for a hundred thousand files. So an index is kept; where it takes long, an old
one does until the next, made in the background, is there. It is never believed about what changed
after it was begun.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from modules.files.project import Project
from modules.web.files.git_status import git_statuses
from modules.web.files.stat_cache import MTIME_GRAIN_NS

FRESH_SECONDS = 2.0
"""Seconds for which an index is taken to be true of what nobody has seen change."""
QUICK_SECONDS = 0.25
"""Seconds for which a listing waits for a new index, judged by what the last one took."""


@dataclass(frozen=True)
class FileIndex:
    """*files* in order; *started_ns* is in nanoseconds since the epoch, *seconds* what it took."""

    files: tuple[str, ...] = ()
    file_set: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()
    statuses: Mapping[str, str] = field(default_factory=dict)
    folder_statuses: Mapping[str, str] = field(default_factory=dict)
    started_ns: int = 0
    seconds: float = 0.0

    @classmethod
    def build(cls, project: Project) -> FileIndex:
        started_ns, started = time.time_ns(), time.monotonic()
        files = project.files()
        statuses = git_statuses(project.root)
        file_set, folders = frozenset(files), _parent_folders(files)
        folder_statuses = _folder_statuses(files, statuses) if statuses else {}
        elapsed = time.monotonic() - started
        return cls(tuple(files), file_set, folders, statuses, folder_statuses, started_ns, elapsed)

    def may_miss(self, changed_ns: int) -> bool:
        """Return whether a *changed_ns*, in nanoseconds since the epoch, may be missing in it.

        What bears a time yet to come says nothing.
        """
        return self.started_ns - MTIME_GRAIN_NS < changed_ns <= time.time_ns()

    def has_same_content(self, other: FileIndex) -> bool:
        return self.files == other.files and self.statuses == other.statuses


def _folder_statuses(files: Iterable[str], statuses: Mapping[str, str]) -> dict[str, str]:
    """Return "?" for every folder with nothing in it but what is new, M for others with changes."""
    is_new = {"?", "A"}.__contains__
    folders_with_changes = _parent_folders(
        path for path in files if not is_new(statuses.get(path, ""))
    )
    folders_with_changes |= _parent_folders(
        path for path, letter in statuses.items() if not is_new(letter)
    )
    return {
        folder: "M" if folder in folders_with_changes else "?"
        for folder in _parent_folders(statuses)
    }


def _parent_folders(paths: Iterable[str]) -> frozenset[str]:
    """Return every folder that one of *paths* is in."""
    folders: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(folders)


class FileIndexer:
    """Keeps the index of *project*; calls *on_change* when one made in the background differs.

    An error in the background is given to *on_error*, and the old one stays. May be used from
    any thread.
    """

    def __init__(
        self,
        project: Project,
        on_change: Callable[[], None],
        on_error: Callable[[BaseException], object],
    ) -> None:
        self._project = project
        self._on_change = on_change
        self._on_error = on_error
        self._index = FileIndex()
        self._build_lock = threading.Lock()
        self._thread_lock = threading.Lock()
        self._is_stale = False
        self._background: threading.Thread | None = None
        self._is_closed = False

    def mark_stale(self) -> None:
        """Take note that something changed."""
        self._is_stale = True

    def current(self, changed_ns: int = 0) -> FileIndex:
        """Return the index; what changed at *changed_ns*, in nanoseconds, is surely in it."""
        index = self._index
        if not index.started_ns or index.may_miss(changed_ns):
            return self._rebuild(index)
        if self._is_stale or time.time_ns() - index.started_ns > FRESH_SECONDS * 1e9:
            if index.seconds < QUICK_SECONDS:
                return self._rebuild(index)
            self._rebuild_in_background()
        return index

    def close(self) -> None:
        """Wait for what is under way in the background."""
        with self._thread_lock:
            self._is_closed = True
        if thread := self._background:
            thread.join()

    def _rebuild(self, old: FileIndex) -> FileIndex:
        """Return an index whose making began after *old* was found to be too old."""
        asked_ns = time.time_ns()
        with self._build_lock:
            if self._index is old or self._index.started_ns < asked_ns:
                self._is_stale = False
                self._index = FileIndex.build(self._project)
            return self._index

    def _rebuild_in_background(self) -> None:
        with self._thread_lock:  # a second one at once would be forgotten, and not waited for
            if self._is_closed or (self._background and self._background.is_alive()):
                return
            self._background = threading.Thread(
                target=self._run_background, name="survey", daemon=True
            )
            self._background.start()

    def _run_background(self) -> None:
        old = self._index
        try:
            new = self._rebuild(old)
        except Exception as error:  # noqa: BLE001 - nobody waits for it; the next one who asks may
            self._on_error(error)
            return
        if not new.has_same_content(old):
            self._on_change()
