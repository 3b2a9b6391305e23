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
