"""How much is in the home of programs, by what could be removed of it.

A program may have filled it with anything: folders without end, locked, or full of links. No link
is followed, and nothing but folders is opened.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OPENED = (".cache", ".cargo", ".gradle", ".local", ".m2")
"""Folders of which each entry is looked at for itself."""
_CACHES = (
    *(".npm", ".nuget", ".yarn", ".bun", ".ivy2", ".conan2", "go"),
    *(".cargo/registry", ".cargo/git", ".gradle/caches", ".gradle/wrapper", ".m2/repository"),
)
_MAX_DEPTH = 100  # folders in each other; no tool makes more
_MAX_ENTRIES = 10_000
_BLOCK = 512  # bytes, the unit of st_blocks


@dataclass(frozen=True, slots=True)
class HomeEntry:
    """A file or folder of the home; *path* has one or two parts.

    *changed_at* is when something in it last changed, which no program can make up. What
    *is_closed* cannot be measured: it is too deep, or locked.
    """

    path: str
    size: int
    files: int
    changed_at: float
    is_closed: bool = False

    @property
    def is_cache(self) -> bool:
        """Whether a tool makes it again when it is gone."""
        return self.path in _CACHES or self.path.startswith(".cache/")


@dataclass(frozen=True, slots=True)
class HomeUsage:
    """All that is in a home; not *is_complete* where counting it would never end."""

    entries: tuple[HomeEntry, ...] = ()
    is_complete: bool = True

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(entry.size for entry in self.entries)

    @property
    def files(self) -> int:
        return sum(entry.files for entry in self.entries)

    @property
    def is_measured(self) -> bool:
        """Whether that is all of it."""
        return self.is_complete and not any(entry.is_closed for entry in self.entries)

    def fits(self, max_size: int, max_files: int) -> bool:
        return self.is_measured and self.size <= max_size and self.files <= max_files

    def to_remove(self, max_size: int, max_files: int) -> list[HomeEntry]:
        """Return what must go for the rest to fit: caches first, of these what is oldest."""
        removed: list[HomeEntry] = []
        size, files = self.size, self.files
        for entry in sorted(
            self.entries, key=lambda e: (not e.is_closed, not e.is_cache, e.changed_at)
        ):
            if not entry.is_closed and size <= max_size and files <= max_files:
                break
            size, files = size - entry.size, files - entry.files
            removed.append(entry)
        return removed


def measure(home: Path, max_files: int) -> HomeUsage:
    """Return what is in *home*; nothing if it is not there. It stops far beyond *max_files*."""
    try:
        folder = os.open(home, _FOLDER)
    except FileNotFoundError:
        return HomeUsage()
    except OSError:
        return HomeUsage(is_complete=False)
    walk = _Walk(2 * max_files)
    try:
        entries = tuple(walk.entries(folder))
    finally:
        os.close(folder)
    return HomeUsage(entries, is_complete=not walk.is_over)


class _Walk:
    """A walk through at most *left* files."""

    def __init__(self, left: int) -> None:
        self._left = left
        self._entries_left = _MAX_ENTRIES

    @property
    def is_over(self) -> bool:
        return self._left < 0 or self._entries_left < 0

    def entries(self, folder: int, above: str = "") -> Iterator[HomeEntry]:
        with os.scandir(folder) as found:
            for entry in found:
                if self.is_over:
                    return
                path = above + entry.name
                if path in _OPENED and entry.is_dir(follow_symlinks=False):
                    with suppress(OSError):
                        inner = os.open(entry.name, _FOLDER, dir_fd=folder)
                        try:
                            yield from self.entries(inner, f"{path}/")
                        finally:
                            os.close(inner)
                        continue
                self._entries_left -= 1
                yield self._measured(folder, entry, path)

    def _measured(self, folder: int, entry: os.DirEntry[str], path: str) -> HomeEntry:
        total = _Total()
        self._add(folder, entry, total, _MAX_DEPTH)
        return HomeEntry(path, total.size, total.files, total.changed_at, total.is_closed)

    def _add(self, folder: int, entry: os.DirEntry[str], total: _Total, depth: int) -> None:
        try:
            status = entry.stat(follow_symlinks=False)
            total.add(status)
            self._left -= 1
            if not stat.S_ISDIR(status.st_mode):
                return
            inner = os.open(entry.name, _FOLDER, dir_fd=folder)
        except FileNotFoundError:  # gone while we look
            return
        except OSError:
            total.is_closed = True
            return
        try:
            self._add_all(inner, total, depth - 1)
        finally:
            os.close(inner)

    def _add_all(self, folder: int, total: _Total, depth: int) -> None:
        if depth < 0:
            total.is_closed = True
            return
        with os.scandir(folder) as found:
            for entry in found:
                if self.is_over:
                    return
                self._add(folder, entry, total, depth)


@dataclass(slots=True)
class _Total:
    size: int = 0
    files: int = 0
    changed_at: float = 0.0
    is_closed: bool = False

    def add(self, status: os.stat_result) -> None:
        self.size += status.st_blocks * _BLOCK
        self.files += 1
        self.changed_at = max(self.changed_at, status.st_ctime)
