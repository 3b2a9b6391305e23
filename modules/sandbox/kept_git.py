"""Putting git's dangerous files back, where a tier cannot keep programs from changing them.

These are the files in `.git` that make git run a command, or look for such files elsewhere: its
own, those of its worktrees and of the submodules that it keeps.
"""

from __future__ import annotations

import itertools
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_FILES = ("config", "config.worktree", "commondir", "gitdir")
_FOLDERS = ("hooks", "info")
_MOST_INNER = 200
_LARGEST = 1_000_000  # bytes; a larger file is not kept

Content = tuple[int, bytes]
"""(permissions, bytes)"""


@dataclass(frozen=True, slots=True)
class Restored:
    """What was changed, by path in the project: *files* that were put back, and *folders* that are
    gone or not the same any more. These are left alone: they may be links.
    """

    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


class KeptGit:
    """Holds what the dangerous files of *gits*, each a `.git` in *project*, were when it was made.

    One that is not there is to stay away.
    """

    def __init__(self, project: Path, gits: Iterable[Path]) -> None:
        self._project = project
        self._parts = [_Part(folder) for git in gits for folder in _repositories_of(git)]

    def restore(self) -> Restored:
        """Make the files what they were."""
        files: list[str] = []
        folders: list[str] = []
        for part in self._parts:
            place = part.folder.relative_to(self._project).as_posix()
            if part.is_same():
                files += (f"{place}/{name}" for name in part.restore())
            elif not any(place.startswith(f"{folder}/") for folder in folders):
                folders.append(place)
        return Restored(tuple(sorted(files)), tuple(folders))


class _Part:
    """The dangerous files of *folder*, which git takes for a repository."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._mark = _mark(folder)
        self._real = os.path.realpath(folder)
        self._kept = dict(self._dangerous())

    def is_same(self) -> bool:
        """Return whether the folder is the one it was, no link leading to it."""
        is_here = os.path.realpath(self.folder) == self._real
        return is_here and _mark(self.folder) == self._mark

    def restore(self) -> list[str]:
        for folder in (self.folder / name for name in _FOLDERS):
            if folder.is_symlink():
                folder.unlink()
        now = dict(self._dangerous())
        changed = [n for n in {**self._kept, **now} if self._kept.get(n) != now.get(n)]
        for name in changed:
            self._put_back(name)
        return changed

    def _dangerous(self) -> Iterator[tuple[str, Content]]:
        folders = (self.folder / name for name in _FOLDERS)
        paths = [self.folder / name for name in _FILES]
        for path in (*paths, *itertools.chain(*map(_children, folders))):
            if (found := _content(path)) is not None:
                yield path.relative_to(self.folder).as_posix(), found

    def _put_back(self, name: str) -> None:
        path = self.folder / name
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


def _repositories_of(git: Path) -> Iterator[Path]:
    """Yield *git* itself, and the folders in it that git takes for repositories."""
    yield git
    inner = (one for name in ("worktrees", "modules") for one in _repositories(git / name))
    yield from itertools.islice(inner, _MOST_INNER)


def _repositories(folder: Path) -> Iterator[Path]:
    for path in _children(folder):
        if path.is_dir() and not path.is_symlink():
            if (path / "HEAD").is_file():
                yield path
                yield from _repositories(path / "modules")
            else:
                yield from _repositories(path)


def _mark(git: Path) -> tuple[int, int] | Content | None:
    """Return what tells *git* from another: of a folder which it is, of a file what is in it."""
    try:
        found = git.lstat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISDIR(found.st_mode) else _content(git)


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
