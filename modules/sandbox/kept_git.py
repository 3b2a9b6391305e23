"""Putting git's dangerous files back, where a tier cannot keep programs from changing them.

These are the files in `.git` that make git run a command, or look for such files elsewhere: its
own, those of its worktrees and of the submodules that it keeps.
"""

from __future__ import annotations

import itertools
import os
import stat
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from modules.sandbox.scratch import remove_scratch

_FILES = ("config", "config.worktree", "commondir", "gitdir")
_FOLDERS = ("hooks", "info")
_MOST_INNER = 200
_MOST_FOLDERS = 20_000  # that are searched for them
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
        self._folders = [folder / name for name in _FOLDERS]
        places = [folder, *self._folders]
        self._modes = {
            path: stat.S_IMODE(path.lstat().st_mode) for path in filter(_is_folder, places)
        }
        found = ((name, _content(folder / name)) for name in self._names())
        self._kept = {name: content for name, content in found if content is not None}

    def is_same(self) -> bool:
        """Return whether the folder is the one it was, no link leading to it."""
        is_here = os.path.realpath(self.folder) == self._real
        return is_here and _mark(self.folder) == self._mark

    def restore(self) -> list[str]:
        for path, mode in self._modes.items():
            if _is_folder(path) and stat.S_IMODE(path.lstat().st_mode) != mode:
                path.chmod(mode)
        for path in self._folders:
            if os.path.lexists(path) and not _is_folder(path):
                path.unlink()
        names = dict.fromkeys((*self._kept, *self._names()))
        changed = [name for name in names if not self._is_as_kept(name)]
        for name in changed:
            self._put_back(name)
        return changed

    def _names(self) -> Iterator[str]:
        paths = [self.folder / name for name in _FILES]
        for path in (*paths, *itertools.chain(*map(_children, self._folders))):
            if os.path.lexists(path):
                yield path.relative_to(self.folder).as_posix()

    def _is_as_kept(self, name: str) -> bool:
        return name in self._kept and self._kept[name] == _content(self.folder / name)

    def _put_back(self, name: str) -> None:
        path = self.folder / name
        kept = self._kept.get(name)
        if kept is not None and kept[0] < 0:
            return  # it was no plain file: there is no telling how to make it again
        if _is_folder(path):
            remove_scratch(path)
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
    """Yield the repositories below *folder*, the uppermost first, as far as that ends."""
    waiting = deque([folder])
    for _ in range(_MOST_FOLDERS):
        if not waiting:
            return
        for path in filter(_is_folder, _children(waiting.popleft())):
            is_one = os.path.isfile(path / "HEAD")  # noqa: PTH113 - pathlib raises where it is locked
            if is_one:
                yield path
            waiting.append(path / "modules" if is_one else path)


def _mark(git: Path) -> tuple[int, int] | Content | None:
    """Return what tells *git* from another: of a folder which it is, of a file what is in it."""
    try:
        found = git.lstat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISDIR(found.st_mode) else _content(git)


def _is_folder(path: Path) -> bool:
    """Return whether *path* is a folder itself, as far as can be seen."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def _children(folder: Path) -> list[Path]:
    """Return what is in *folder*; nothing where a program has locked it, or made it too deep."""
    try:
        return sorted(folder.iterdir()) if _is_folder(folder) else []
    except OSError:
        return []


def _content(path: Path) -> Content | None:
    """Return what *path* is; None if nothing. Of what is no plain file, only a mark."""
    try:
        found = path.lstat()
    except OSError:
        return None
    try:
        if stat.S_ISREG(found.st_mode) and found.st_size <= _LARGEST:
            return stat.S_IMODE(found.st_mode), path.read_bytes()
        return -1, os.fsencode(path.readlink()) if path.is_symlink() else b""
    except PermissionError:
        return -1, b""
