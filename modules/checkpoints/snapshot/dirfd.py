"""Work on files beneath one open folder, following no symbolic link on the way.

Stricter than `modules.files.containment`, which follows links inside: an undo must write to
the very place it looked at, and must get at what the agent's own tools may not (read-only folders,
files inside unreadable ones). A folder that somebody swaps for a link cannot lead outside.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from modules.files.kernel import Undecided, openat2

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


_SHALLOW = 16
"""Folders that are opened one by one; a longer path takes fewer steps."""
_MAX_STEP = 1000
"""Characters of such a step: in bytes that is shorter than the longest path of a system."""


def open_folder(root_fd: int, path: str) -> int:
    """Return a descriptor of the folder *path* beneath *root_fd*; the caller closes it.

    The path may be longer than what the system takes as one.
    """
    dir_fd = os.open(".", _FOLDER, dir_fd=root_fd)
    for step in _steps(path):
        try:
            inner = _open_step(dir_fd, step)
        finally:
            os.close(dir_fd)
        dir_fd = inner
    return dir_fd


def _steps(path: str) -> Iterator[str]:
    if path.count("/") < _SHALLOW:
        yield from path.split("/") if path else ()
        return
    start = 0
    while len(path) - start > _MAX_STEP and (end := path.rfind("/", start, start + _MAX_STEP)) >= 0:
        yield path[start:end]
        start = end + 1
    yield path[start:]


def _open_step(dir_fd: int, path: str) -> int:
    """Return a descriptor of the folder *path*, with no link on the way."""
    parts = path.split("/")
    if not {"", ".", ".."}.isdisjoint(parts):
        raise OSError(errno.EINVAL, "not a plain path", path)
    if len(parts) > 1:
        with suppress(Undecided):
            return openat2(dir_fd, path, _FOLDER, follow_links=False)
    current = os.dup(dir_fd)
    for part in parts:
        try:
            inner = os.open(part, _FOLDER, dir_fd=current)
        finally:
            os.close(current)
        current = inner
    return current


class Walker:
    """Walker that keeps one folder beneath *root_fd* open, and goes from there up and down.

    So a tree is gone through in a time that its size determines, however deep it is. Up is gone
    only where the way from *root_fd* would be a long one, and each folder there must be the very
    one that we came through; else the way begins at *root_fd* again.
    """

    def __init__(self, root_fd: int) -> None:
        self._root_fd = root_fd
        self._path = ""
        self._dir_fd: int | None = None
        self._ancestors: list[tuple[int, int]] = []

    def open(self, path: str) -> int:
        """Return a descriptor of the folder *path*, ours until the next call. Raises `OSError`."""
        if self._dir_fd is None or not self._climb_toward(path):
            self.close()
            self._dir_fd = os.open(".", _FOLDER, dir_fd=self._root_fd)
        if len(path) > len(self._path):
            start = len(self._path) + 1 if self._path else 0
            for name in path[start:].split("/"):
                self._descend(name)
        assert self._dir_fd is not None  # noqa: S101 - opened above
        return self._dir_fd

    def close(self) -> None:
        if self._dir_fd is not None:
            os.close(self._dir_fd)
        self._dir_fd, self._path, self._ancestors = None, "", []

    def _climb_toward(self, path: str) -> bool:
        """Go up to what is on the way to *path*; return whether that was shorter, and possible."""
        common, levels = self._path, 0
        while common and not (
            path.startswith(common) and path[len(common) : len(common) + 1] in "/"
        ):
            common = common.rpartition("/")[0]
            levels += 1
        depth = len(self._ancestors)
        if levels and (depth < _SHALLOW or levels > depth - levels):
            return False
        while levels and self._climb():
            levels -= 1
        self._path = common
        return not levels

    def _climb(self) -> bool:
        assert self._dir_fd is not None  # noqa: S101 - only what is open has a folder above
        try:
            parent_fd = os.open("..", _FOLDER, dir_fd=self._dir_fd)
        except OSError:
            return False
        os.close(self._dir_fd)
        self._dir_fd = parent_fd
        return _identity_of(parent_fd) == self._ancestors.pop()

    def _descend(self, name: str) -> None:
        assert self._dir_fd is not None  # noqa: S101 - as above
        if name in ("", ".", ".."):
            raise OSError(errno.EINVAL, "not a plain path", name)
        inner = os.open(name, _FOLDER, dir_fd=self._dir_fd)
        self._ancestors.append(_identity_of(self._dir_fd))
        os.close(self._dir_fd)
        self._dir_fd = inner
        self._path = f"{self._path}/{name}" if self._path else name


def _identity_of(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino


def open_subfolder(dir_fd: int, name: str) -> int:
    return os.open(name, _FOLDER, dir_fd=dir_fd)


def open_file(dir_fd: int, name: str) -> tuple[int, os.stat_result]:
    """Open the regular file *name* for reading; waits for nothing. Raises `OSError`."""
    file = os.open(name, _FILE, dir_fd=dir_fd)
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode):
        os.close(file)
        raise OSError(errno.EINVAL, "not a regular file", name)
    return file, status


def open_unreadable(dir_fd: int, name: str) -> tuple[int, os.stat_result]:
    """Open as `open_file` does, also a file of ours that its mode forbids; the mode stays."""
    status = os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
    mode = stat.S_IMODE(status.st_mode)
    set_mode(dir_fd, name, mode | stat.S_IRUSR)
    try:
        file, _ = open_file(dir_fd, name)
    finally:
        set_mode(dir_fd, name, mode)
    return file, os.fstat(file)


def read_up_to(file: int, size: int) -> bytes:
    """Read at most *size* bytes, and less only at the end of *file*."""
    data = os.read(file, size)
    while data and len(data) < size:
        more = os.read(file, size - len(data))
        if not more:
            break
        data += more
    return data


@contextmanager
def opened_folder(root_fd: int, path: str) -> Iterator[int]:
    dir_fd = open_folder(root_fd, path)
    try:
        yield dir_fd
    finally:
        os.close(dir_fd)


@contextmanager
def opened_parent(root_fd: int, path: str) -> Iterator[tuple[int, str]]:
    """Give the folder that *path* is in, as a descriptor, and its name there."""
    parent, _, name = path.rpartition("/")
    with opened_folder(root_fd, parent) as dir_fd:
        yield dir_fd, name


def stat_or_none(dir_fd: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
    except FileNotFoundError:
        return None


def set_mode(dir_fd: int, name: str, mode: int) -> None:
    """Set the permission bits of *name* itself, be it unreadable; a link is left as it is."""
    if os.chmod in os.supports_follow_symlinks:
        os.chmod(name, mode, dir_fd=dir_fd, follow_symlinks=False)
        return
    with proc_path(dir_fd, name) as path:
        if not stat.S_ISLNK(os.stat(name, dir_fd=dir_fd, follow_symlinks=False).st_mode):
            Path(path).chmod(mode)


@contextmanager
def proc_path(dir_fd: int, name: str) -> Iterator[str]:
    """Give a path that leads to *name* itself, be it unreadable, and to nothing put in its place.

    It goes by way of the kernel's list of what is open, which is Linux's.
    """
    if sys.platform != "linux":
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP), name)
    file = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=dir_fd)
    try:
        yield f"/proc/self/fd/{file}"
    finally:
        os.close(file)


def set_mtime(dir_fd: int, name: str, mtime_ns: int) -> None:
    times = (os.stat(name, dir_fd=dir_fd, follow_symlinks=False).st_atime_ns, mtime_ns)
    os.utime(name, ns=times, dir_fd=dir_fd, follow_symlinks=False)
