"""The files as the page's tree shows them: a window of one folder at a time."""

from __future__ import annotations

import stat
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any, TypeVar

from core.tools import ToolError
from modules.annotations import Annotations
from modules.files.project import DirectoryItem, Project
from modules.web.files.file_index import FileIndex, FileIndexer
from modules.web.files.stat_cache import Stamp, StatCache, stamp_of
from modules.web.http.errors import explained
from utils.text.clean import visible

GLOW = 10.0
"""Seconds for which a file counts as just written by the agent."""
MOST = 200_000
"""Files in the flat list."""
WINDOW = 1_000
"""Entries of a folder in one answer unless others are asked for."""
WIDEST = 5_000
_LARGE = 1_000
"""Entries from which on a folder is kept in order for the next window."""
_KEPT = 8
_LOOKED = 200
"""Folders that are looked into for a file before one counts as holding some."""


Value = TypeVar("Value")


def _put(kept: OrderedDict[str, Value], path: str, value: Value, most: int) -> None:
    """Keep *value*, and of all only the *most* that were put there last."""
    kept[path] = value
    kept.move_to_end(path)
    while len(kept) > most:
        kept.popitem(last=False)


@dataclass(frozen=True)
class Ordered:
    """The names in a folder as they are shown, the *folders* first; those *shown* without hidden.

    *stamp* says of which state of the folder, *survey* by what *ignored* ones were judged. It
    holds strings alone: of other things a hundred thousand would burden every garbage collection.
    """

    stamp: Stamp
    survey: FileIndex
    names: Sequence[str]
    folders: frozenset[str]
    shown: Sequence[str]
    ignored: frozenset[str]

    @cached_property
    def marks(self) -> tuple[str, str]:
        """What tells one order of names from another: of all of them, and of those shown."""
        return _mark(self.names), _mark(self.shown)


class TreeListing:
    """Lists the folders of *project*. May be used from any thread; may block.

    *changed* is called when what was told before turns out to be no longer true, and *failed* with
    an error that nobody waits for.
    """

    def __init__(
        self,
        project: Project,
        notes: Annotations,
        changed: Callable[[], None] = lambda: None,
        failed: Callable[[BaseException], object] = lambda _: None,
        stamps: StatCache | None = None,
    ) -> None:
        self._project = project
        self._notes = notes
        self._surveyor = FileIndexer(project, changed, failed)
        self._ordered: OrderedDict[str, Ordered] = OrderedDict()
        self._lock = threading.Lock()
        self._written: dict[str, float] = {}
        self.stamps = stamps or StatCache()

    def outdated(self) -> None:
        """Take note that something changed."""
        self._surveyor.outdated()

    def notes(self) -> Mapping[str, str]:
        """Return the notes by path, as they are told with the files."""
        return self._notes.all_notes()

    def close(self) -> None:
        self._surveyor.close()

    def written(self, paths: Iterable[str]) -> None:
        """Take note that the agent just wrote *paths*; their notes go, or come back, with them."""
        self._notes.sync()
        now = time.monotonic()
        self._written = {p: at for p, at in self._written.items() if now - at < GLOW}
        self._written |= dict.fromkeys(paths, now)

    def files(self) -> tuple[list[str], int]:
        """Return the paths of all files that no rule ignores, and how many were left out."""
        with explained():
            files = self._surveyor.now().files
        return [visible(path) for path in files[:MOST]], max(len(files) - MOST, 0)

    def folder(
        self,
        path: str,
        focus: Iterable[str] = (),
        *,
        start: int = 0,
        count: int = WINDOW,
        hidden: bool = True,
        around: str = "",
    ) -> dict[str, Any]:
        """Return *count* entries of the folder *path* from *start* on, and how many there are.

        Without *hidden* those with a dot in front and the ignored ones are not there at all. With
        *around*, a name, *start* is the multiple of *count* that has it. Raises `Refused`.
        """
        with explained():
            path = self._project.normal(path)
            ordered = self._order(path)
            names = ordered.names if hidden else ordered.shown
            count = max(1, min(count, WIDEST))
            start = _place(names, around) // count * count if around else max(start, 0)
            told = _Told(path, ordered, self.notes(), frozenset(focus), self._written)
            items = (self._item(path, name) for name in names[start : start + count])
            entries = [told.entry(item) for item in items if item]
        about = {"path": visible(path), "start": start, "total": len(names)}
        return {**about, "order": ordered.marks[not hidden], "entries": entries}

    def _item(self, folder: str, name: str) -> DirectoryItem | None:
        """Return *name* as it is now, None if it is gone."""
        found = self._project.stat(_joined(folder, name))
        if found is None:
            return None
        return DirectoryItem(name, found.st_mode, found.st_size, found.st_mtime_ns)

    def _order(self, path: str) -> Ordered:
        """Return the folder *path* in order, from memory if nothing changed."""
        stamp = stamp_of(self._project.stat(path))
        is_settled = self.stamps.tell(path, stamp)
        survey = self._surveyor.now(max(stamp[1], self._rules_changed(path)))
        with self._lock:
            kept = self._ordered.get(path)
        if kept and kept.stamp == stamp and kept.survey is survey:
            return kept
        same = kept if kept and kept.stamp == stamp else None
        names, folders = (same.names, same.folders) if same else self._sorted(path)
        ordered = self._judged(path, Ordered(stamp, survey, names, folders, (), frozenset()))
        if len(names) >= _LARGE and is_settled:
            with self._lock:
                _put(self._ordered, path, ordered, _KEPT)
        return ordered

    def _sorted(self, path: str) -> tuple[list[str], frozenset[str]]:
        """Return the names in *path* as people expect them, capitals or not, and its folders."""
        found = [one for one in self._project.names(path) if not self._project.is_protected(one[0])]
        # One string a name: comparing tuples of very many would hold up every other thread.
        keys = sorted(f"{'10'[is_folder]}{name.casefold()}\0{name}" for name, is_folder in found)
        names = [key.rpartition("\0")[2] for key in keys]
        return names, frozenset(name for name, is_folder in found if is_folder)

    def _rules_changed(self, path: str) -> int:
        """Return when a .gitignore of *path* or above was last written, in nanoseconds."""
        folders = [""]
        for part in path.split("/") if path else ():
            folders.append(_joined(folders[-1], part))
        found = [self._project.stat(_joined(folder, ".gitignore")) for folder in folders]
        return max((each.st_mtime_ns for each in found if each), default=0)

    def _judged(self, path: str, ordered: Ordered) -> Ordered:
        """Return *ordered* with what the rules say of it, by a newer survey if need be."""
        survey = ordered.survey
        ignored, change = self._ignored(path, ordered, survey)
        if survey.is_before(change):
            survey = self._surveyor.now(change)
            ignored, _ = self._ignored(path, ordered, survey)
        shown = [n for n in ordered.names if n not in ignored and not n.startswith(".")]
        return replace(ordered, survey=survey, shown=shown, ignored=ignored)

    def _ignored(
        self, path: str, ordered: Ordered, survey: FileIndex
    ) -> tuple[frozenset[str], int]:
        """Return the names that a rule ignores, and when that may last have become another."""
        base = f"{path}/" if path else ""
        unknown = [n for n in ordered.names if base + n not in survey.known]
        ignored, newest = {name for name in unknown if name not in ordered.folders}, 0
        empty: list[str] = []
        for name in unknown:
            if name in ordered.folders and base + name not in survey.folders:
                holds, change = self._holds_files(base + name)
                newest = max(newest, change)
                (ignored.add if holds else empty.append)(name)
        if empty:
            ignored |= self._project.ignored_folders(path, empty)
        return frozenset(ignored), newest

    def _holds_files(self, path: str) -> tuple[bool, int]:
        """Return whether a file is below *path*, and the newest time of the folders looked into.

        Where there is one that the survey does not know, a rule ignores the folder.
        """
        ahead, newest = [path], 0
        for _ in range(_LOOKED):
            if not ahead:
                return False, newest
            folder = ahead.pop()
            try:
                found, items = self._project.stat(folder), self._project.entries(folder)
            except ToolError:  # unreadable, or gone
                continue
            newest = max(newest, found.st_mtime_ns if found else 0)
            if any(not item.is_folder for item in items):
                return True, newest
            ahead += [_joined(folder, item.name) for item in items]
        return True, newest


@dataclass(frozen=True)
class _Told:
    """What there is to tell about the entries of the folder *path*."""

    path: str
    ordered: Ordered
    notes: Mapping[str, str]
    focus: frozenset[str]
    written: Mapping[str, float]

    def entry(self, item: DirectoryItem) -> dict[str, Any]:
        path = _joined(self.path, item.name)
        written = self.written.get(path)
        return {
            "name": visible(item.name),
            "kind": _kind(item.mode),
            "size": item.size,
            "modified": item.modified / 1e9,
            "ignored": item.name in self.ordered.ignored,
            "git": self._letter(path, is_folder=item.is_folder),
            "note": self.notes.get(path, ""),
            "focus": path in self.focus,
            "written": None if written is None else round(time.monotonic() - written, 1),
        }

    def _letter(self, path: str, *, is_folder: bool) -> str:
        survey = self.ordered.survey
        return (survey.folder_letters if is_folder else survey.letters).get(path, "")


def _mark(names: Sequence[str]) -> str:
    return blake2b("\0".join(names).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _place(names: Sequence[str], wanted: str) -> int:
    """Return where the one that shows as *wanted* stands, 0 if none does."""
    found = (index for index, name in enumerate(names) if wanted in (name, visible(name)))
    return next(found, 0)


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _kind(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "folder"
    if stat.S_ISREG(mode):
        return "file"
    return "link" if stat.S_ISLNK(mode) else "other"
