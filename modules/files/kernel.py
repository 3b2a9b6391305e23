"""System calls that Python does not offer, each with a way where it is missing."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import sys
from functools import cache
from typing import Any

_OPENAT2 = 437  # the number is the same on every architecture but Alpha
_RESOLVE_NO_MAGICLINKS, _RESOLVE_NO_SYMLINKS, _RESOLVE_BENEATH = 2, 4, 8
_RENAME_NOREPLACE, _RENAME_EXCHANGE = 1, 2
_FICLONE = 0x40049409  # of linux/fs.h
_MAX_ATTEMPTS = 32


class Undecided(Exception):
    """Failure of openat2 to decide; a walk by steps can."""


def has_openat2(folder: int) -> bool:
    """Return whether openat2 works here: Linux 5.6, and no filter (old containers) forbids it."""
    try:
        os.close(openat2(folder, ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
    except (Undecided, OSError):
        return False
    return True


def openat2(folder: int, path: str, flags: int, *, follow_links: bool = True) -> int:
    """Open *path* beneath *folder*, following links that stay beneath it, or none.

    Raises `Undecided` when it leads outside (an absolute link back inside does too), when somebody
    keeps moving folders about, or when there is no openat2; else `OSError`.
    """
    if sys.platform != "linux":  # there the number is that of some other call
        raise Undecided
    import ctypes

    name = os.fsencode(path)
    if b"\0" in name:
        raise ValueError("a path with a NUL")  # ctypes would cut it there
    resolve = _RESOLVE_BENEATH | (_RESOLVE_NO_MAGICLINKS if follow_links else _RESOLVE_NO_SYMLINKS)
    open_how = (ctypes.c_uint64 * 3)(flags, 0, resolve)
    for _ in range(_MAX_ATTEMPTS):
        descriptor: int = _libc().syscall(_OPENAT2, folder, name, open_how, ctypes.sizeof(open_how))
        if descriptor >= 0:
            return descriptor
        error_number = ctypes.get_errno()
        if error_number != errno.EAGAIN:
            break
    if error_number in (errno.EAGAIN, errno.EXDEV, errno.ENOSYS, errno.EPERM, errno.ENAMETOOLONG):
        raise Undecided
    raise OSError(error_number, os.strerror(error_number), path)


def reflink(source: int, target: int) -> bool:
    """Give the open file *target* the content of *source* without a copy; return whether it can be.

    What one of them becomes later the other does not.
    """
    if sys.platform != "linux":
        return False
    try:
        fcntl.ioctl(target, _FICLONE, source)
    except OSError:
        return False
    return True


def rename_to_new(folder: int, name: str, new_folder: int, new_name: str) -> None:
    """Rename without ever replacing anything. Raises `FileExistsError` or another `OSError`.

    Where the case of letters does not tell names apart, a name may be given another case.
    """
    if _is_other_spelling(folder, name, new_folder, new_name):
        os.rename(name, new_name, src_dir_fd=folder, dst_dir_fd=new_folder)  # noqa: PTH104
        return
    import ctypes

    names = os.fsencode(name), os.fsencode(new_name)
    try:
        call = _libc().renameat2
    except AttributeError:  # macOS, old C libraries
        _link_to_new(folder, name, new_folder, new_name)
        return
    if not call(folder, names[0], new_folder, names[1], _RENAME_NOREPLACE):
        return
    error_number = ctypes.get_errno()
    if error_number not in (errno.ENOSYS, errno.EINVAL):
        raise OSError(error_number, os.strerror(error_number), new_name)
    _link_to_new(folder, name, new_folder, new_name)  # some file systems know no such rename


def exchange(folder: int, name: str, other: str) -> bool:
    """Swap two names of *folder* in one step; return False where the system cannot."""
    import ctypes

    try:
        call = _libc().renameat2
    except AttributeError:  # macOS, old C libraries
        return False
    if not call(folder, os.fsencode(name), folder, os.fsencode(other), _RENAME_EXCHANGE):
        return True
    error_number = ctypes.get_errno()
    if error_number in (errno.ENOSYS, errno.EINVAL):
        return False
    raise OSError(error_number, os.strerror(error_number), name, None, other)


def _is_other_spelling(folder: int, name: str, new_folder: int, new_name: str) -> bool:
    """Return whether both lead to one entry of one folder, which a hard link would not be."""
    if name.casefold() != new_name.casefold() or not os.path.samestat(
        os.fstat(folder), os.fstat(new_folder)
    ):
        return False
    try:
        found = os.stat(new_name, dir_fd=new_folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    old = os.stat(name, dir_fd=folder, follow_symlinks=False)
    return os.path.samestat(old, found) and new_name not in os.listdir(folder)  # noqa: PTH208


def _link_to_new(folder: int, name: str, new_folder: int, new_name: str) -> None:
    """Rename by calls that fail if *new_name* is taken: link for files, mkdir for folders."""
    if not stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        ends = {"src_dir_fd": folder, "dst_dir_fd": new_folder}
        os.link(name, new_name, **ends, follow_symlinks=False)  # noqa: PTH200
        os.unlink(name, dir_fd=folder)  # noqa: PTH108
        return
    os.mkdir(new_name, dir_fd=new_folder)  # noqa: PTH102
    try:
        os.rename(name, new_name, src_dir_fd=folder, dst_dir_fd=new_folder)  # noqa: PTH104
    except OSError:
        os.rmdir(new_name, dir_fd=new_folder)  # noqa: PTH106
        raise


@cache
def _libc() -> Any:
    import ctypes

    return ctypes.CDLL(None, use_errno=True)
