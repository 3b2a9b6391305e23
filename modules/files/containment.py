"""Opening what lies beneath one folder, whatever happens to a path while we look at it.

Nothing is checked first and opened later: every step opens one name in a folder that is already
held, and follows no link of its own accord. Where Linux has openat2, it does the same in one call.
Facts: openat2(2), renameat2(2); "..", links and mounts as in path_resolution(7).
"""

from __future__ import annotations

import copy
import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from modules.files import kernel
from utils.text.git_names import is_git_name

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
READING = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NODE = getattr(os, "O_PATH", READING)
_MOST_LINKS = 40


class Outside(Exception):
    """The path leads out of the folder."""


class Guarded(Exception):
    """The path leads into a folder that must not be touched."""


class Linked(Exception):
    """A link stands where none may be followed; *target* is what it says."""

    def __init__(self, target: str) -> None:
        super().__init__(target)
        self.target = target


class Special(Exception):
    """There is something that is neither a file nor a folder nor a link."""


class Changed(Exception):
    """The file no longer has the content it was expected to have."""


@dataclass(frozen=True, slots=True)
class DirectoryItem:
    """One name in a folder; *size* in bytes, *modified* in nanoseconds since the epoch."""

    name: str
    mode: int
    size: int
    modified: int

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.mode)

    @property
    def is_file(self) -> bool:
        return stat.S_ISREG(self.mode)


class Beneath:
    """The folder *root*, held open; paths are relative to it, '/'-separated, '' is the folder.

    Reading follows links as long as they stay inside. Writing follows none at all, and never
    enters a folder of git's (but see `with_git`). *hidden* folders cannot even be read, and what
    is in *own* (paths in it, there or not) is never written. Both are recognised by device and
    inode number, whatever name leads to them. Besides the exceptions above everything raises
    `OSError`.
    """

    def __init__(self, root: Path, *, hidden: Iterable[Path] = (), own: Iterable[str] = ()) -> None:
        self.descriptor = os.open(root, _FOLDER)
        self.own = tuple(own)
        self._names = {str(root.absolute()), str(root.resolve())}
        self.hidden = [name for path in hidden if (name := self._inside(path))]
        self._in_one_call = not self.hidden and kernel.has_openat2(self.descriptor)
        self._by_number = Path("/proc/self/fd").is_dir()
        self._guards_git = True

    def with_git(self) -> Self:
        """Return the same folder, its descriptor shared, in whose git folders may be written.

        These themselves can be neither made nor moved nor deleted even so.
        """
        other = copy.copy(self)
        other._guards_git = False
        return other

    def close(self) -> None:
        os.close(self.descriptor)

    def is_hidden(self, path: str) -> bool:
        """Return whether *path* is in a hidden folder, by its name."""
        return any(f"{path}/".startswith(f"{folder}/") for folder in self.hidden)

    def path_of(self, descriptor: int) -> Path | None:
        """Return a path that leads to *descriptor* as long as it is open, where there are such."""
        return Path(f"/proc/self/fd/{descriptor}") if self._by_number else None

    # Reading

    def lstat(self, path: str) -> os.stat_result:
        """Return the state of *path* itself, a last link not followed."""
        if self._in_one_call and path:
            with suppress(kernel.Undecided), self.held(self._node(path, os.O_NOFOLLOW)) as node:
                return os.fstat(node)
        if not path:
            return os.fstat(self.descriptor)
        with self.parent(path, writing=False) as (folder, name):
            return self._not_hidden(os.stat(name, dir_fd=folder, follow_symlinks=False))

    def read(self, path: str, limit: int) -> bytes:
        """Return at most *limit* bytes of the regular file *path*. Never blocks on a FIFO."""
        with self.opened(path) as file, os.fdopen(os.dup(file), "rb") as stream:
            return stream.read(limit)

    @contextmanager
    def opened(self, path: str, *, links: bool = True) -> Iterator[int]:
        """Yield a descriptor of the regular file *path*, for reading; without *links* no link."""
        if self._in_one_call and path:
            last = 0 if links else os.O_NOFOLLOW
            with suppress(kernel.Undecided), self.held(self._node(path, last)) as node:
                with self.held(self._reopened(node, "", self.descriptor)) as file:
                    yield file
                return
        with self._opened_by_steps(path, links) as file:
            yield file

    @contextmanager
    def folder(self, path: str, *, writing: bool = False) -> Iterator[int]:
        """Yield a descriptor of the folder *path*."""
        if self._in_one_call and path and not writing:
            with (
                suppress(kernel.Undecided),
                self.held(self._open_at_once(path, _FOLDER)) as folder,
            ):
                yield folder
                return
        with self.held(self._walk(path, writing=writing)) as folder:
            yield folder

    def scan(self, path: str) -> list[DirectoryItem]:
        """Return what is in the folder *path*, hidden folders left out, by name."""
        with self.folder(path) as folder, os.scandir(folder) as entries:
            items = []
            hidden = self._hidden_folders()
            for entry in entries:
                with suppress(FileNotFoundError):  # deleted since the folder was listed
                    found = entry.stat(follow_symlinks=False)
                    if identity_of(found) not in hidden:
                        size, modified = found.st_size, found.st_mtime_ns
                        items.append(DirectoryItem(entry.name, found.st_mode, size, modified))
        return sorted(items, key=lambda item: item.name)

    def names(self, path: str) -> list[tuple[str, bool]]:
        """Return the names in the folder *path*, in no order, and whether each is a folder.

        Hidden folders are left out. Where there are many this takes a fraction of `scan`.
        """
        with self.folder(path) as folder, os.scandir(folder) as entries:
            hidden = self._hidden_folders()
            return [
                (entry.name, is_folder)
                for entry in entries
                if not (is_folder := entry.is_dir(follow_symlinks=False))
                or not hidden
                or identity_of(entry.stat(follow_symlinks=False)) not in hidden
            ]

    @contextmanager
    def parent(self, path: str, *, writing: bool = True) -> Iterator[tuple[int, str]]:
        """Yield a descriptor of the folder that *path* is in, and its last name."""
        above, _, name = path.rpartition("/")
        if not name or name == "..":
            raise Outside
        if writing and is_git_name(name):
            raise Guarded
        with self.folder(above, writing=writing) as folder:
            if writing and self.own:
                self._must_not_be_own(path, folder, name)
            yield folder, name

    def _must_not_be_own(self, path: str, folder: int, name: str) -> None:
        """Raise `Guarded` if *path*, which is *name* in *folder*, is in `own`."""
        if any(f"{path}/".startswith(f"{own}/") for own in self.own):
            raise Guarded
        with suppress(FileNotFoundError):
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if identity_of(found) in self._identities(self.own):
                raise Guarded

    # The steps

    def _node(self, path: str, flags: int) -> int:
        return self._open_at_once(path, flags | _NODE | os.O_CLOEXEC)

    def _open_at_once(self, path: str, flags: int) -> int:
        return kernel.openat2(self.descriptor, path, flags)

    def _walk(self, path: str, *, writing: bool) -> int:
        """Return a descriptor of the folder *path*, every name opened in the folder before it.

        ".." goes back to the folder that is held, so that no move of a folder can lead outside.
        """
        # Opened anew: where a duplicate is listed to, another thread's duplicate is as well.
        held = [os.open(".", _FOLDER, dir_fd=self.descriptor)]
        ahead = _parts(path)[::-1]
        links = 0
        try:
            while ahead:
                name = ahead.pop()
                if name == "..":
                    _close(held, len(held) - 1)
                elif (target := self._enter(held, name, writing)) is not None:
                    links += 1
                    if links > _MOST_LINKS:
                        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
                    ahead += self._route(target, held)[::-1]
                if not held:
                    raise Outside
            return held.pop()
        finally:
            _close(held, 0)

    def _enter(self, held: list[int], name: str, writing: bool) -> str | None:
        """Open the folder *name* in the last of *held*; return where a link in its place leads."""
        if writing and self._guards_git and is_git_name(name):
            raise Guarded
        try:
            folder = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=held[-1])
        except OSError as error:
            if error.errno not in (errno.ELOOP, errno.ENOTDIR):
                raise
            target = link_target(held[-1], name)
            if target is None:
                raise
            if writing:
                raise Linked(target) from None
            return target
        held.append(folder)
        found = self._not_hidden(os.fstat(folder))
        if writing and self._guards_git and identity_of(found) == self._git():
            raise Guarded
        if writing and self.own and identity_of(found) in self._identities(self.own):
            raise Guarded
        return None

    def _route(self, target: str, held: list[int]) -> list[str]:
        """Return the names to go on with after a link to *target*."""
        if not target.startswith("/"):
            return _parts(target)
        for root in self._names:
            if target == root or target.startswith(f"{root}/"):
                _close(held, 1)
                return _parts(target[len(root) :])
        raise Outside

    @contextmanager
    def _opened_by_steps(self, path: str, links: bool) -> Iterator[int]:
        for _ in range(_MOST_LINKS):
            with self.parent(path, writing=False) as (folder, name):
                target = link_target(folder, name) if links else None
                if target is None:
                    node = os.open(name, _NODE | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
                    with self.held(node), self.held(self._reopened(node, name, folder)) as file:
                        yield file
                    return
            path = self._onward(path, target)
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))

    def _onward(self, path: str, target: str) -> str:
        """Return the path that the link *path* leads to, its ".." left for the walk."""
        if target.startswith("/"):
            return "/".join(self._route(target, []))
        return f"{path.rpartition('/')[0]}/{target}".removeprefix("/")

    def _reopened(self, node: int, name: str, folder: int) -> int:
        """Return a descriptor for reading what *node* is, if that is a regular file.

        *node* was opened without touching the file: a device or FIFO is refused unopened.
        """
        found = self._not_hidden(os.fstat(node))
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(found.st_mode):
            raise Special
        if _NODE == READING:
            return os.dup(node)
        if self._by_number:
            return os.open(f"/proc/self/fd/{node}", READING)
        if not name:
            raise kernel.Undecided
        file = os.open(name, READING | os.O_NOFOLLOW, dir_fd=folder)
        if not os.path.sameopenfile(node, file):
            os.close(file)
            raise Changed
        return file

    def _inside(self, path: Path) -> str:
        """Return the path of the folder *path* relative to the root, "" if it is not inside."""
        place = str(path.resolve())
        roots = (root for root in self._names if place.startswith(f"{root}/"))
        return next((place[len(root) + 1 :] for root in roots), "")

    def _hidden_folders(self) -> set[tuple[int, int]]:
        """Return the hidden folders that exist by now."""
        found = set()
        for path in self.hidden:
            with suppress(OSError):
                found.add(identity_of(os.stat(path, dir_fd=self.descriptor)))
        return found

    def _identities(self, paths: Iterable[str]) -> set[tuple[int, int]]:
        """Return what those of *paths* are that exist, links themselves."""
        found = set()
        for path in paths:
            with suppress(OSError):
                found.add(identity_of(os.stat(path, dir_fd=self.descriptor, follow_symlinks=False)))
        return found

    def _git(self) -> tuple[int, int] | None:
        with suppress(OSError):
            return identity_of(os.stat(".git", dir_fd=self.descriptor, follow_symlinks=False))
        return None

    def _not_hidden(self, found: os.stat_result) -> os.stat_result:
        if self.hidden and identity_of(found) in self._hidden_folders():
            raise Guarded
        return found

    @contextmanager
    def held(self, descriptor: int) -> Iterator[int]:
        try:
            yield descriptor
        finally:
            os.close(descriptor)


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


def _close(held: list[int], keep: int) -> None:
    """Close all but the first *keep* descriptors of *held*."""
    while len(held) > keep:
        os.close(held.pop())


def link_target(folder: int, name: str) -> str | None:
    try:
        return os.readlink(name, dir_fd=folder)  # noqa: PTH115 - pathlib knows no descriptors
    except OSError as error:
        if error.errno == errno.EINVAL:
            return None
        raise


def identity_of(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino
