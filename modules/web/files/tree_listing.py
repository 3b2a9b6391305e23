"""Listing of files for the page's tree: a window of one folder at a time."""

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
from modules.web.http.errors import as_api_errors
from utils.text.clean import visible

RECENT_SECONDS = 10.0
"""Seconds for which a file counts as just written by the agent."""
MAX_FILES = 200_000
"""Files in the flat list."""
DEFAULT_COUNT = 1_000
"""Entries of a folder in one answer unless others are asked for."""
MAX_COUNT = 5_000
_MIN_CACHED_NAMES = 1_000
"""Entries from which on a folder is kept in order for the next window."""
_MAX_CACHED_FOLDERS = 8
_MAX_FOLDERS_SEARCHED = 200
"""Folders that are looked into for a file before one counts as holding some."""


Value = TypeVar("Value")


def _put_bounded(cache: OrderedDict[str, Value], key: str, value: Value, maximum: int) -> None:
    """Keep *value*, and of all only the *maximum* that were put there last."""
    cache[key] = value
    cache.move_to_end(key)
    while len(cache) > maximum:
        cache.popitem(last=False)


@dataclass(frozen=True)
class FolderOrder:
    """Names in a folder in display order, *folders* first; *visible_names* leave hidden ones out.

    *stamp* says of which state of the folder, *index* by what *ignored* ones were judged. It
    holds strings alone: of other things a hundred thousand would burden every garbage collection.
    """

    stamp: Stamp
    index: FileIndex
    names: Sequence[str]
    folders: frozenset[str]
    visible_names: Sequence[str]
    ignored: frozenset[str]

    @cached_property
    def order_ids(self) -> tuple[str, str]:
        """Hashes that tell one order from another: of all names, and of the visible ones."""
        return _order_id(self.names), _order_id(self.visible_names)


class TreeListing:
    """Lists the folders of *project*. May be used from any thread; may block.

    *on_change* is called when an earlier answer turns out to be no longer true, *on_error* with
    an error that nobody waits for.
    """

    def __init__(
        self,
        project: Project,
        notes: Annotations,
        on_change: Callable[[], None] = lambda: None,
        on_error: Callable[[BaseException], object] = lambda _: None,
        stat_cache: StatCache | None = None,
    ) -> None:
        self._project = project
        self._notes = notes
        self._indexer = FileIndexer(project, on_change, on_error)
        self._orders: OrderedDict[str, FolderOrder] = OrderedDict()
        self._lock = threading.Lock()
        self._written_at: dict[str, float] = {}
        self.stat_cache = stat_cache or StatCache()

    def mark_stale(self) -> None:
        """Take note that something changed."""
        self._indexer.mark_stale()

    def notes(self) -> Mapping[str, tuple[str, str]]:
        """Return the notes by path, as listings contain them: on the file, and on its lines."""
        return self._notes.listed_notes()

    def close(self) -> None:
        self._indexer.close()

    def mark_written(self, paths: Iterable[str]) -> None:
        """Take note that the agent just wrote *paths*; their notes go, or come back, with them."""
        self._notes.sync()
        now = time.monotonic()
        self._written_at = {
            p: written_at
            for p, written_at in self._written_at.items()
            if now - written_at < RECENT_SECONDS
        }
        self._written_at |= dict.fromkeys(paths, now)

    def files(self) -> tuple[list[str], int]:
        """Return the paths of all files that no rule ignores, and how many were left out."""
        with as_api_errors():
            files = self._indexer.current().files
        return [visible(path) for path in files[:MAX_FILES]], max(len(files) - MAX_FILES, 0)

    def folder(
        self,
        path: str,
        focus: Iterable[str] = (),
        *,
        start: int = 0,
        count: int = DEFAULT_COUNT,
        hidden: bool = True,
        around: str = "",
    ) -> dict[str, Any]:
        """Return *count* entries of the folder *path* from *start* on, and how many there are.

        Without *hidden* those with a dot in front and the ignored ones are left out. With
        *around*, a name, *start* is the multiple of *count* that has it. Raises `ApiError`.
        """
        with as_api_errors():
            path = self._project.normalize(path)
            order = self._folder_order(path)
            names = order.names if hidden else order.visible_names
            count = max(1, min(count, MAX_COUNT))
            start = _index_of(names, around) // count * count if around else max(start, 0)
            builder = _EntryBuilder(path, order, self.notes(), frozenset(focus), self._written_at)
            items = (self._item(path, name) for name in names[start : start + count])
            entries = [builder.entry(item) for item in items if item]
        head = {"path": visible(path), "start": start, "total": len(names)}
        return {**head, "order": order.order_ids[not hidden], "entries": entries}

    def _item(self, folder: str, name: str) -> DirectoryItem | None:
        """Return *name* as it is now, None if it is gone."""
        stat_result = self._project.stat(_join(folder, name))
        if stat_result is None:
            return None
        return DirectoryItem(
            name, stat_result.st_mode, stat_result.st_size, stat_result.st_mtime_ns
        )

    def _folder_order(self, path: str) -> FolderOrder:
        """Return the folder *path* in order, from memory if nothing changed."""
        stamp = stamp_of(self._project.stat(path))
        is_settled = self.stat_cache.record(path, stamp)
        index = self._indexer.current(max(stamp[1], self._ignore_rules_mtime(path)))
        with self._lock:
            cached = self._orders.get(path)
        if cached and cached.stamp == stamp and cached.index is index:
            return cached
        unchanged = cached if cached and cached.stamp == stamp else None
        names, folders = (
            (unchanged.names, unchanged.folders) if unchanged else self._sorted_names(path)
        )
        order = self._with_ignored(path, FolderOrder(stamp, index, names, folders, (), frozenset()))
        if len(names) >= _MIN_CACHED_NAMES and is_settled:
            with self._lock:
                _put_bounded(self._orders, path, order, _MAX_CACHED_FOLDERS)
        return order

    def _sorted_names(self, path: str) -> tuple[list[str], frozenset[str]]:
        """Return the names in *path* as people expect them, capitals or not, and its folders."""
        items = [
            item
            for item in self._project.list_names(path)
            if not self._project.is_git_path(item[0])
        ]
        # One string a name: comparing tuples of very many would hold up every other thread.
        keys = sorted(f"{'10'[is_folder]}{name.casefold()}\0{name}" for name, is_folder in items)
        names = [key.rpartition("\0")[2] for key in keys]
        return names, frozenset(name for name, is_folder in items if is_folder)

    def _ignore_rules_mtime(self, path: str) -> int:
        """Return when a .gitignore of *path* or above was last written, in nanoseconds."""
        folders = [""]
        for part in path.split("/") if path else ():
            folders.append(_join(folders[-1], part))
        stats = [self._project.stat(_join(folder, ".gitignore")) for folder in folders]
        return max((stat_result.st_mtime_ns for stat_result in stats if stat_result), default=0)

    def _with_ignored(self, path: str, order: FolderOrder) -> FolderOrder:
        """Return *order* with the names that rules ignore, by a newer index if need be."""
        index = order.index
        ignored, changed_ns = self._ignored(path, order, index)
        if index.may_miss(changed_ns):
            index = self._indexer.current(changed_ns)
            ignored, _ = self._ignored(path, order, index)
        visible_names = [n for n in order.names if n not in ignored and not n.startswith(".")]
        return replace(order, index=index, visible_names=visible_names, ignored=ignored)

    def _ignored(
        self, path: str, order: FolderOrder, index: FileIndex
    ) -> tuple[frozenset[str], int]:
        """Return the names that a rule ignores, and when that may last have become another."""
        prefix = f"{path}/" if path else ""
        unknown = [n for n in order.names if prefix + n not in index.file_set]
        ignored, newest_ns = {name for name in unknown if name not in order.folders}, 0
        empty: list[str] = []
        for name in unknown:
            if name in order.folders and prefix + name not in index.folders:
                holds, changed_ns = self._holds_files(prefix + name)
                newest_ns = max(newest_ns, changed_ns)
                (ignored.add if holds else empty.append)(name)
        if empty:
            ignored |= self._project.ignored_folders(path, empty)
        return frozenset(ignored), newest_ns

    def _holds_files(self, path: str) -> tuple[bool, int]:
        """Return whether a file is below *path*, and the newest time of the folders looked into.

        Where there is one that the index does not know, a rule ignores the folder.
        """
        pending, newest_ns = [path], 0
        for _ in range(_MAX_FOLDERS_SEARCHED):
            if not pending:
                return False, newest_ns
            folder = pending.pop()
            try:
                stat_result, items = self._project.stat(folder), self._project.entries(folder)
            except ToolError:  # unreadable, or gone
                continue
            newest_ns = max(newest_ns, stat_result.st_mtime_ns if stat_result else 0)
            if any(not item.is_folder for item in items):
                return True, newest_ns
            pending += [_join(folder, item.name) for item in items]
        return True, newest_ns


@dataclass(frozen=True)
class _EntryBuilder:
    """Builder of the answers about entries of the folder *path*."""

    path: str
    order: FolderOrder
    notes: Mapping[str, tuple[str, str]]
    focus: frozenset[str]
    written_at: Mapping[str, float]

    def entry(self, item: DirectoryItem) -> dict[str, Any]:
        path = _join(self.path, item.name)
        written_at = self.written_at.get(path)
        note, line_notes = self.notes.get(path, ("", ""))
        return {
            "name": visible(item.name),
            "kind": _entry_kind(item.mode),
            "size": item.size,
            "modified": item.mtime_ns / 1e9,
            "ignored": item.name in self.order.ignored,
            "git": self._git_status(path, is_folder=item.is_folder),
            "note": note,
            "line_notes": line_notes,
            "focus": path in self.focus,
            "written": None if written_at is None else round(time.monotonic() - written_at, 1),
        }

    def _git_status(self, path: str, *, is_folder: bool) -> str:
        index = self.order.index
        return (index.folder_statuses if is_folder else index.statuses).get(path, "")


def _order_id(names: Sequence[str]) -> str:
    return blake2b("\0".join(names).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _index_of(names: Sequence[str], wanted_name: str) -> int:
    """Return where the one that shows as *wanted_name* stands, 0 if none does."""
    indexes = (index for index, name in enumerate(names) if wanted_name in (name, visible(name)))
    return next(indexes, 0)


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _entry_kind(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "folder"
    if stat.S_ISREG(mode):
        return "file"
    return "link" if stat.S_ISLNK(mode) else "other"
