"""Work on files beneath one open folder, following no symbolic link on the way.

Stricter than `modules.files.containment`, which follows links inside: an undo must write to
the very place it looked at, and must get at what the agent's own tools may not (read-only folders,
files inside unreadable ones). A folder that somebody swaps for a link cannot lead outside.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from modules.files.kernel import Undecided, openat2

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


_NEAR = 16
"""Folders that are opened one by one; a longer way goes in fewer steps."""
_STEP = 1000
"""Characters of such a step: in bytes that is shorter than the longest path of a system."""


def open_folder(root: int, path: str) -> int:
    """Return a descriptor of the folder *path* beneath *root*; the caller closes it.

    The path may be longer than what the system takes as one.
    """
    handle = os.open(".", _FOLDER, dir_fd=root)
    for step in _steps(path):
        try:
            inner = _open_step(handle, step)
        finally:
            os.close(handle)
        handle = inner
    return handle


def _steps(path: str) -> Iterator[str]:
    if path.count("/") < _NEAR:
        yield from path.split("/") if path else ()
        return
    at = 0
    while len(path) - at > _STEP and (end := path.rfind("/", at, at + _STEP)) >= 0:
        yield path[at:end]
        at = end + 1
    yield path[at:]


def _open_step(handle: int, path: str) -> int:
    """Return a descriptor of the folder *path*, with no link on the way."""
    parts = path.split("/")
    if not {"", ".", ".."}.isdisjoint(parts):
        raise OSError(errno.EINVAL, "not a plain path", path)
    if len(parts) > 1:
        with suppress(Undecided):
            return openat2(handle, path, _FOLDER, follows=False)
    here = os.dup(handle)
    for part in parts:
        try:
            inner = os.open(part, _FOLDER, dir_fd=here)
        finally:
            os.close(here)
        here = inner
    return here


class Walker:
    """Keeps one folder beneath *root* open, and goes from there to the next, up and down.

    So a tree is gone through in a time that its size determines, however deep it is. Up is gone
    only where the way from *root* would be a long one, and each folder there must be the very one
    that we came through; else the way begins at *root* again.
    """

    def __init__(self, root: int) -> None:
        self._root = root
        self._path = ""
        self._handle: int | None = None
        self._came_through: list[tuple[int, int]] = []

    def to(self, path: str) -> int:
        """Return a descriptor of the folder *path*, ours until the next call. Raises `OSError`."""
        if self._handle is None or not self._climbs(path):
            self.close()
            self._handle = os.open(".", _FOLDER, dir_fd=self._root)
        if len(path) > len(self._path):
            start = len(self._path) + 1 if self._path else 0
            for name in path[start:].split("/"):
                self._descend(name)
        assert self._handle is not None  # noqa: S101 - opened above
        return self._handle

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
        self._handle, self._path, self._came_through = None, "", []

    def _climbs(self, path: str) -> bool:
        """Go up to what is on the way to *path*; return whether that was shorter, and possible."""
        above, levels = self._path, 0
        while above and not (path.startswith(above) and path[len(above) : len(above) + 1] in "/"):
            above = above.rpartition("/")[0]
            levels += 1
        deep = len(self._came_through)
        if levels and (deep < _NEAR or levels > deep - levels):
            return False
        while levels and self._goes_up():
            levels -= 1
        self._path = above
        return not levels

    def _goes_up(self) -> bool:
        assert self._handle is not None  # noqa: S101 - only what is open has a folder above
        try:
            upper = os.open("..", _FOLDER, dir_fd=self._handle)
        except OSError:
            return False
        os.close(self._handle)
        self._handle = upper
        return _identity(upper) == self._came_through.pop()

    def _descend(self, name: str) -> None:
        assert self._handle is not None  # noqa: S101 - as above
        if name in ("", ".", ".."):
            raise OSError(errno.EINVAL, "not a plain path", name)
        inner = os.open(name, _FOLDER, dir_fd=self._handle)
        self._came_through.append(_identity(self._handle))
        os.close(self._handle)
        self._handle = inner
        self._path = f"{self._path}/{name}" if self._path else name


def _identity(handle: int) -> tuple[int, int]:
    status = os.fstat(handle)
    return status.st_dev, status.st_ino


def open_inner(handle: int, name: str) -> int:
    return os.open(name, _FOLDER, dir_fd=handle)


def open_file(handle: int, name: str) -> tuple[int, os.stat_result]:
    """Open the regular file *name* for reading; waits for nothing. Raises `OSError`."""
    file = os.open(name, _FILE, dir_fd=handle)
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode):
        os.close(file)
        raise OSError(errno.EINVAL, "not a regular file", name)
    return file, status


def open_locked(handle: int, name: str) -> tuple[int, os.stat_result]:
    """Do as `open_file` with a file of ours that its mode does not let us read, and leave that."""
    status = os.stat(name, dir_fd=handle, follow_symlinks=False)
    mode = stat.S_IMODE(status.st_mode)
    set_mode(handle, name, mode | stat.S_IRUSR)
    try:
        file, _ = open_file(handle, name)
    finally:
        set_mode(handle, name, mode)
    return file, os.fstat(file)


def read(file: int, size: int) -> bytes:
    """Read at most *size* bytes, and less only at the end of *file*."""
    data = os.read(file, size)
    while data and len(data) < size:
        more = os.read(file, size - len(data))
        if not more:
            break
        data += more
    return data


@contextmanager
def folder(root: int, path: str) -> Iterator[int]:
    handle = open_folder(root, path)
    try:
        yield handle
    finally:
        os.close(handle)


@contextmanager
def place(root: int, path: str) -> Iterator[tuple[int, str]]:
    """Give the folder that *path* is in, as a descriptor, and its name there."""
    parent, _, name = path.rpartition("/")
    with folder(root, parent) as handle:
        yield handle, name


def status_of(handle: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=handle, follow_symlinks=False)
    except FileNotFoundError:
        return None


def set_mode(handle: int, name: str, mode: int) -> None:
    """Set the permission bits of *name* itself, be it unreadable; a link is left as it is."""
    if os.chmod in os.supports_follow_symlinks:
        os.chmod(name, mode, dir_fd=handle, follow_symlinks=False)
        return
    with held(handle, name) as path:
        if not stat.S_ISLNK(os.stat(name, dir_fd=handle, follow_symlinks=False).st_mode):
            Path(path).chmod(mode)


@contextmanager
def held(handle: int, name: str) -> Iterator[str]:
    """Give a path that leads to *name* itself, be it unreadable, and to nothing put in its place.

    It goes by way of the kernel's list of what is open, which is Linux's.
    """
    file = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=handle)
    try:
        yield f"/proc/self/fd/{file}"
    finally:
        os.close(file)


def set_mtime(handle: int, name: str, mtime_ns: int) -> None:
    times = (os.stat(name, dir_fd=handle, follow_symlinks=False).st_atime_ns, mtime_ns)
    os.utime(name, ns=times, dir_fd=handle, follow_symlinks=False)
