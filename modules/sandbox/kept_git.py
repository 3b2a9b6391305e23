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
from typing import Literal

from modules.sandbox.moved_folders import Search, put_in_place, set_aside
from modules.sandbox.scratch import remove_scratch

_FILES = ("config", "config.worktree", "commondir", "gitdir", "objects/info/alternates")
_FOLDERS = ("hooks", "info")
_MOST_INNER = 200
_MOST_FOLDERS = 20_000  # that are searched for them
_LARGEST = 1_000_000  # bytes; a larger file is not kept

Content = tuple[int, bytes]
"""(permissions, bytes)"""


@dataclass(frozen=True, slots=True)
class Restored:
    """What was changed, by path in the project: *files* and *folders* that were put back, and
    folders that are *lost* since this run: gone, or others now stand there.
    """

    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


_State = Literal["same", "back", "replaced", "lost"]
"""What became of a folder: the same one in its place, or put back there; another, or none."""


class KeptGit:
    """Keeps the dangerous files of repositories in *project* what they were before each run.

    One that a run takes away is remembered: what stands in its place after a later run is given
    its files.
    """

    def __init__(self, project: Path) -> None:
        self._project = project
        self._parts: list[_Part] = []
        self._lost: dict[Path, _Part] = {}
        self._elsewhere: set[Path] = set()  # repositories whose folders a run has moved

    def begin(self, gits: Iterable[Path]) -> None:
        """Look at *gits*, each a `.git`, before a run. One that is not there is to stay away."""
        folders = [folder for git in (*gits, *self._elsewhere) for folder in _repositories_of(git)]
        self._lost = {place: part for place, part in self._lost.items()
                      if not os.path.lexists(place)}  # fmt: skip
        places = dict.fromkeys((*folders, *self._lost))
        self._parts = [self._lost.get(folder) or _Part(folder) for folder in places]

    def restore(self) -> Restored:
        """Make the files what they were, and put folders back that were moved or replaced."""
        files: list[str] = []
        folders: list[str] = []
        missing: list[_Part] = []
        lost: dict[Path, _Part] = {}
        search = Search(self._project)
        for part in self._parts:
            state = self._put_back(part, search)
            if state == "back":
                folders.append(self._name(part.folder))
            if state in ("lost", "replaced") and part not in self._lost.values():
                missing.append(part)
            if state == "lost":
                lost[part.folder] = part
            else:
                files += (f"{self._name(part.folder)}/{name}" for name in part.restore())
        self._parts, self._lost = [], lost
        names = sorted(self._name(part.folder) for part in missing)
        above = [name for name in names if not any(name.startswith(f"{one}/") for one in names)]
        return Restored(tuple(sorted(files)), tuple(folders), tuple(above))

    def _put_back(self, part: _Part, search: Search) -> _State:
        """Have the folder of *part* where it was, as far as that goes."""
        if part.is_same():
            return "same"
        try:
            found = search.place_of(part.identity) if part.identity else None
            if part.is_parent_there():
                return _put_there(part, found)
        except OSError:
            return "lost"
        if found is None:
            return "lost"
        part.move_to(found)  # with the folder around it
        self._elsewhere.add(found)
        return "same"

    def _name(self, folder: Path) -> str:
        return folder.relative_to(self._project).as_posix()


def _put_there(part: _Part, found: Path | None) -> _State:
    """Have *part*, which is *found* somewhere else or not at all, in its old place.

    Raises `OSError` where it cannot be moved.
    """
    if found:
        put_in_place(found, part.folder)
        return "back"
    if part.content is None and _is_folder(part.folder):  # another one: it gets the same files
        return "replaced" if part.identity else "same"
    set_aside(part.folder)
    part.write()
    return "lost" if part.identity else "back"


class _Part:
    """The dangerous files of *folder*, which git takes for a repository."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._mark = _mark(folder)
        self._real = os.path.realpath(folder)
        places = ((name, folder / name) for name in ("", *_FOLDERS))
        self._modes = {
            name: stat.S_IMODE(path.lstat().st_mode) for name, path in places if _is_folder(path)
        }
        found = ((name, _content(folder / name)) for name in self._names())
        self._kept = {name: content for name, content in found if content is not None}

    @property
    def identity(self) -> tuple[int, int] | None:
        """Device and inode of what was a folder; None if it was not."""
        mark = self._mark
        return mark if mark and not isinstance(mark[1], bytes) else None

    @property
    def content(self) -> Content | None:
        """What was a file; None if it was not."""
        mark = self._mark
        return mark if mark and isinstance(mark[1], bytes) else None

    def is_same(self) -> bool:
        """Return whether the folder is the one it was, no link leading to it."""
        is_here = os.path.realpath(self.folder) == self._real
        return is_here and _mark(self.folder) == self._mark

    def is_parent_there(self) -> bool:
        """Return whether what it was in is there, no link leading to it."""
        parent = self.folder.parent
        return parent.is_dir() and os.path.realpath(parent) == os.path.dirname(self._real)  # noqa: PTH120

    def move_to(self, folder: Path) -> None:
        """Be told that it is at *folder* now."""
        self.folder, self._real = folder, os.path.realpath(folder)

    def _folders(self) -> list[Path]:
        return [self.folder / name for name in _FOLDERS]

    def write(self) -> None:
        """Write the file that it was."""
        if self.content and self.content[0] >= 0:
            _write(self.folder, self.content)

    def restore(self) -> list[str]:
        for name, mode in self._modes.items():
            path = self.folder / name
            if _is_folder(path) and stat.S_IMODE(path.lstat().st_mode) != mode:
                path.chmod(mode)
        for path in self._folders():
            if os.path.lexists(path) and not _is_folder(path):
                path.unlink()
        names = dict.fromkeys((*self._kept, *self._names()))
        changed = [name for name in names if not self._is_as_kept(name)]
        for name in changed:
            self._put_back(name)
        return changed

    def _names(self) -> Iterator[str]:
        paths = [self.folder / name for name in _FILES]
        for path in (*paths, *itertools.chain(*map(_children, self._folders()))):
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
        _write(path, kept)


def _write(path: Path, content: Content) -> None:
    handle, new = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(content[1])
    Path(new).chmod(content[0])
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
