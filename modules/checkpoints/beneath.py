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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_EXCHANGE = 2


def open_folder(root: int, path: str) -> int:
    """Return a descriptor of the folder *path* beneath *root*; the caller closes it."""
    handle = os.open(".", _FOLDER, dir_fd=root)
    for part in path.split("/") if path else ():
        try:
            if part in ("", ".", ".."):
                raise OSError(errno.EINVAL, "not a plain path", path)
            inner = os.open(part, _FOLDER, dir_fd=handle)
        finally:
            os.close(handle)
        handle = inner
    return handle


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
    held = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=handle)
    try:
        if not stat.S_ISLNK(os.fstat(held).st_mode):
            Path(f"/proc/self/fd/{held}").chmod(mode)
    finally:
        os.close(held)


def set_mtime(handle: int, name: str, mtime_ns: int) -> None:
    times = (os.stat(name, dir_fd=handle, follow_symlinks=False).st_atime_ns, mtime_ns)
    os.utime(name, ns=times, dir_fd=handle, follow_symlinks=False)


def exchange(handle: int, name: str, other: str) -> bool:
    """Swap two names of a folder in one step; return False where the system cannot."""
    call = _renameat2()
    if call is None:
        return False
    if call(handle, os.fsencode(name), handle, os.fsencode(other), _EXCHANGE) == 0:
        return True
    code = _errno()
    if code in (errno.ENOSYS, errno.EINVAL):
        return False
    raise OSError(code, os.strerror(code), name, None, other)


@cache
def _renameat2() -> Callable[[int, bytes, int, bytes, int], int] | None:
    if not sys.platform.startswith("linux"):
        return None
    import ctypes  # 5 ms

    function = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if function is None:
        return None
    name = ctypes.c_char_p
    function.argtypes = [ctypes.c_int, name, ctypes.c_int, name, ctypes.c_uint]
    return function  # type: ignore[no-any-return]


def _errno() -> int:
    import ctypes

    return ctypes.get_errno()
