"""Search for repositories in a project of any size, which looks only where something changed."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from modules.sandbox.filesystem.folders import list_entries
from modules.sandbox.run.file_changes import FolderState

_IN_REPOSITORY = frozenset({".git", "HEAD", "objects", "refs"})
_SETTLED_NS = 2_000_000_000
"""A folder that changed later than that before a look may change again at the same time of it."""
_NO_TIME = -1
_MAX_FOLDERS = 1_000_000
_MAX_PATH = 4_000  # characters; what lies deeper no git can be led to


@dataclass(frozen=True, slots=True)
class _Listing:
    """What counts of a folder whose device, inode and time of any change are *stamp*."""

    stamp: tuple[int, int, int]
    folders: tuple[str, ...]
    files: tuple[str, ...]
    """Of these, those alone that bear a name as in a repository; links are among them."""


class RepositorySearch:
    """Finds what git would take for repositories below *root*, but for the folders *unchanging*.

    A look asks for the times of folders, and lists those that changed since the last one. No
    program can set these times.
    """

    def __init__(self, root: Path, unchanging: Collection[str] = ()) -> None:
        self._root = os.fspath(root)
        self._unchanging = frozenset(unchanging)
        self._listings: dict[str, _Listing] = {}

    def look(self) -> FolderState | None:
        """Return the folders and files that make repositories; None of a million folders."""
        files: dict[str, tuple[int, int, int, int, int]] = {}
        folders: set[str] = set()
        listings: dict[str, _Listing] = {}
        pending = [""]
        while pending:
            path = pending.pop()
            listing = self._listing(path)
            if len(listings) + len(pending) > _MAX_FOLDERS:
                return None
            if listing.stamp[2] != _NO_TIME:
                listings[path] = listing
            above = f"{path}/" if path else ""
            names = _IN_REPOSITORY.intersection(listing.folders)
            folders.update(above + name for name in names)
            files |= {above + name: (0, 0, 0, 0, 0) for name in listing.files}
            if len(above) < _MAX_PATH:
                pending += self._inner(above, listing)
        self._listings = listings
        return FolderState(files, frozenset(folders), is_whole=False)

    def _inner(self, above: str, listing: _Listing) -> Iterator[str]:
        is_bare = {"HEAD"} <= {*listing.files} and {"objects", "refs"} <= {*listing.folders}
        for name in listing.folders:
            is_git = name == ".git" or (is_bare and name in _IN_REPOSITORY)
            if not is_git and above + name not in self._unchanging:
                yield above + name

    def _listing(self, path: str) -> _Listing:
        folder = f"{self._root}/{path}" if path else self._root
        stamp = _stamp(folder)
        known = self._listings.get(path)
        if known and known.stamp == stamp:
            return known
        entries = list_entries(folder) or ()
        inner = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
        files = (name for name, is_folder in inner.items() if not is_folder)
        return _Listing(
            stamp,
            tuple(name for name, is_folder in inner.items() if is_folder),
            tuple(name for name in files if name in _IN_REPOSITORY),
        )


def _stamp(folder: str) -> tuple[int, int, int]:
    """Return what tells whether *folder* was changed; it tells nothing of one just changed."""
    try:
        status = os.lstat(folder)
    except OSError:
        return 0, 0, _NO_TIME
    is_settled = time.time_ns() - status.st_ctime_ns > _SETTLED_NS
    is_known = stat.S_ISDIR(status.st_mode) and is_settled
    return status.st_dev, status.st_ino, status.st_ctime_ns if is_known else _NO_TIME
