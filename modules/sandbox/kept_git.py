"""Putting git's dangerous files back, where a tier cannot keep programs from changing them.

These are the files in `.git` that make git run a command, or look for such files elsewhere.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

_FILES = ("config", "config.worktree", "commondir")
_FOLDERS = ("hooks", "info")
_LARGEST = 1_000_000  # bytes; a larger file is not kept

Content = tuple[int, bytes]
"""(permissions, bytes)"""


class KeptGit:
    """Holds what the dangerous files of *project* were when it was made."""

    def __init__(self, project: Path) -> None:
        self._git = project / ".git"
        self._identity = _identity(self._git)
        self._kept = dict(self._dangerous()) if self._identity else {}

    def restore(self) -> tuple[str, ...]:
        """Make the files what they were; return the names of those that were not.

        A `.git` that was put in the place of another is named and left alone: it may be a link.
        """
        if _identity(self._git) != self._identity:
            return (".git",)
        if self._identity is None:
            return ()
        for folder in (self._git / name for name in _FOLDERS):
            if folder.is_symlink():
                folder.unlink()
        now = dict(self._dangerous())
        changed = [n for n in {**self._kept, **now} if self._kept.get(n) != now.get(n)]
        for name in changed:
            self._put_back(name)
        return tuple(f".git/{name}" for name in sorted(changed))

    def _dangerous(self) -> Iterator[tuple[str, Content]]:
        for name in _FILES:
            if (found := _content(self._git / name)) is not None:
                yield name, found
        for folder in _FOLDERS:
            for path in _children(self._git / folder):
                if (found := _content(path)) is not None:
                    yield f"{folder}/{path.name}", found

    def _put_back(self, name: str) -> None:
        path = self._git / name
        kept = self._kept.get(name)
        if kept is not None and kept[0] < 0:
            return  # it was no plain file: there is no telling how to make it again
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        if kept is None:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(exist_ok=True)
        handle, new = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(kept[1])
        Path(new).chmod(kept[0])
        Path(new).replace(path)


def _identity(git: Path) -> tuple[int, int] | None:
    """Return what tells this folder from one put in its place; None if it is no folder."""
    try:
        found = git.lstat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISDIR(found.st_mode) else None


def _children(folder: Path) -> list[Path]:
    if folder.is_symlink() or not folder.is_dir():
        return []
    return sorted(folder.iterdir())


def _content(path: Path) -> Content | None:
    """Return what *path* is; None if nothing. Of what is no plain file, only a mark."""
    try:
        found = path.lstat()
    except OSError:
        return None
    if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST:
        return -1, os.fsencode(path.readlink()) if path.is_symlink() else b""
    return stat.S_IMODE(found.st_mode), path.read_bytes()
