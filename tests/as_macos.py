"""Onefold as it would find itself on macOS: `python -m tests.as_macos FOLDER OPTION…` starts it.

What Python has on Linux only is taken away, and in FOLDER the case of letters does not tell names
apart. A simulation: it finds a call that is not there and a name that is taken for another, and
knows nothing of how the system itself behaves. Programs that Onefold starts run as they are here.
"""
# ruff: noqa: PTH109, PTH117, PTH118 - it stands in for `os`, on which pathlib is built

from __future__ import annotations

import asyncio.unix_events
import builtins
import ctypes.util
import errno
import io
import multiprocessing.connection
import os
import pty
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import urllib.request
import uuid
import zoneinfo
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

LOADED_FIRST = (
    *(asyncio, ctypes.util, multiprocessing, pty, shutil, subprocess, urllib, uuid, zoneinfo),
)
"""What would look for parts of macOS's own Python when it is imported there."""
MISSING: dict[Any, tuple[str, ...]] = {
    os: (
        *("listxattr", "getxattr", "setxattr", "removexattr", "XATTR_CREATE", "XATTR_REPLACE"),
        *("O_PATH", "O_TMPFILE", "O_NOATIME", "O_DIRECT", "O_LARGEFILE", "pidfd_open", "pipe2"),
        *("memfd_create", "eventfd", "posix_fallocate", "posix_fadvise", "fdatasync", "splice"),
        *("copy_file_range", "getrandom", "sched_getaffinity", "sched_setaffinity", "waitid"),
        *("getresuid", "getresgid", "setresuid", "setresgid", "unshare", "setns"),
    ),
    signal: ("pidfd_send_signal", "sigtimedwait", "sigwaitinfo"),
    select: ("epoll",),
    socket: ("AF_NETLINK", "AF_VSOCK", "SO_PEERCRED", "SO_PASSCRED", "SOCK_CLOEXEC"),
}
ONE_PATH = (
    *("open", "stat", "lstat", "unlink", "remove", "rmdir", "mkdir", "readlink", "chown", "utime"),
    *("access", "listdir", "scandir", "chmod"),
)
TWO_PATHS = ("rename", "replace", "link")

_real_listdir, _real_readlink, _real_lstat = os.listdir, os.readlink, os.lstat
_real_open, _real_close, _real_chmod, _real_stat = os.open, os.close, os.chmod, os.stat
_O_PATH: int = getattr(os, "O_PATH", 0)


def is_there(path: str) -> bool:
    """Return whether there is something of just this name."""
    try:
        _real_lstat(path)
    except OSError:
        return False
    return True


class FoldedNames:
    """Names below *folder*, where one of other case means the one that is there."""

    def __init__(self, folder: Path) -> None:
        self._folder = os.path.realpath(folder)

    def spelled(self, path: Any, dir_fd: int | None) -> Any:
        """Return *path* with each name as it stands in its folder; as it is, where there is none.

        Raises `FileNotFoundError` for what lies in /proc.
        """
        if not isinstance(path, str | os.PathLike):
            return path
        text = os.fsdecode(path)
        if text == "/proc" or text.startswith("/proc/"):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), text)
        here = "/" if os.path.isabs(text) else self._path_of(dir_fd)
        names = []
        for name in text.split("/"):
            names.append(self._name_in(here, name))
            here = os.path.join(here, names[-1])
        return "/".join(names)

    def _name_in(self, folder: str, name: str) -> str:
        path = os.path.join(folder, name)
        is_inside = f"{folder}/".startswith(f"{self._folder}/")
        if name in ("", ".", "..") or not is_inside or is_there(path):
            return name
        try:
            there = _real_listdir(folder)
        except OSError:
            return name
        return next((one for one in there if one.casefold() == name.casefold()), name)

    @staticmethod
    def _path_of(dir_fd: int | None) -> str:
        return os.getcwd() if dir_fd is None else _real_readlink(f"/proc/self/fd/{dir_fd}")

    def one_path(self, call: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(call)
        def folded(path: Any = ".", *rest: Any, **options: Any) -> Any:
            return call(self.spelled(path, options.get("dir_fd")), *rest, **options)

        return folded

    def two_paths(self, call: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(call)
        def folded(source: Any, target: Any, **options: Any) -> Any:
            old_fd, new_fd = options.get("src_dir_fd"), options.get("dst_dir_fd")
            old, new = self.spelled(source, old_fd), self.spelled(target, new_fd)
            is_same_entry = call.__name__ != "link" and self._is_one(old, old_fd, new, new_fd)
            return call(old, target if is_same_entry else new, **options)

        return folded

    def _is_one(self, old: str, old_fd: int | None, new: str, new_fd: int | None) -> bool:
        paths = (
            os.path.join(self._path_of(fd), name) for name, fd in ((old, old_fd), (new, new_fd))
        )
        return len({os.path.normpath(path) for path in paths}) == 1


def chmod_itself(
    path: Any, mode: int, *, dir_fd: int | None = None, follow_symlinks: bool = True
) -> None:
    """Do what `os.chmod` does on macOS: without *follow_symlinks* for the link itself."""
    if follow_symlinks:
        _real_chmod(path, mode, dir_fd=dir_fd)
        return
    if stat.S_ISLNK(_real_stat(path, dir_fd=dir_fd, follow_symlinks=False).st_mode):
        return
    handle = _real_open(path, _O_PATH | os.O_NOFOLLOW, dir_fd=dir_fd)
    try:
        _real_chmod(f"/proc/self/fd/{handle}", mode)
    finally:
        _real_close(handle)


def become_macos(folder: Path) -> None:
    """Make this process one on macOS, as far as `MISSING` and `FoldedNames` go."""
    names = FoldedNames(folder)
    chmod_itself.__name__ = "chmod"
    os.supports_follow_symlinks.add(chmod_itself)
    os.supports_dir_fd.add(chmod_itself)
    vars(os)["chmod"] = chmod_itself
    for group, wrapper in ((ONE_PATH, names.one_path), (TWO_PATHS, names.two_paths)):
        for name in group:
            replace_in_os(name, wrapper(getattr(os, name)))
    opened = names.one_path(builtins.open)
    vars(builtins)["open"] = vars(io)["open"] = opened
    for module, missing in MISSING.items():
        for name in missing:
            vars(module).pop(name, None)
    # They looked when they were imported.
    vars(tempfile)["_O_TMPFILE_WORKS"] = False
    vars(shutil)["_copyxattr"] = lambda *_, **__: None
    vars(sys)["platform"] = "darwin"
    from modules.files import kernel

    vars(kernel)["_libc"] = object  # its libc has no renameat2


def replace_in_os(name: str, call: Callable[..., Any]) -> None:
    """Put *call* in the place of `os.name`, able to do all that it can."""
    old = getattr(os, name)
    for supporting in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
        if old in supporting:
            supporting.add(call)
    setattr(os, name, call)


if __name__ == "__main__":
    become_macos(Path(sys.argv.pop(1)))
    import main

    sys.exit(main.main())
