"""Private GIT_COMMON_DIR: a folder that git takes for a repository's own, in its place.

In it objects and refs are links to the real ones; the config is plain values (`git_settings`),
and hooks there are none.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
import tempfile
import weakref
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from modules.files.git.git_config import config_files, config_text, read_config
from modules.files.git.git_guard import GitFolders
from modules.files.git.temporary_folder import temporary_folder

_PREFIX = "onefold-git-"
_LINKED = ("objects", "refs", "packed-refs", "reftable", "logs", "shallow")
_COPIED = ("info/exclude", "info/attributes")
_MAX_BYTES = 1_000_000  # bytes of one of these; a larger one does not count
_MAX_CACHED = 32
_ATTEMPTS = 20

StatKey = tuple[int, int, int, int] | None


class PrivateCommonDir:
    """GIT_COMMON_DIR for the repository in *folders*, gone with us; not changed once it is made."""

    def __init__(self, program: str, folders: GitFolders) -> None:
        parent = temporary_folder()
        _remove_stale(parent)
        self.path, self._lock_fd = _make_locked(parent)
        weakref.finalize(self, _remove, self.path, self._lock_fd)
        for name in _LINKED:
            (self.path / name).symlink_to(folders.common_dir / name)
        (self.path / "info").mkdir()
        for name in _COPIED:
            (self.path / name).write_bytes(read_regular_file(folders.common_dir / name))
        self.config = read_config(program, folders, self.path)
        text = config_text(self.config).encode("utf-8", "surrogateescape")
        (self.path / "config").write_bytes(text)


def common_dir_for(program: str, folders: GitFolders) -> PrivateCommonDir:
    """Return that for the repository in *folders* as it is now. Raises `OSError`."""
    files = (*config_files(folders), *(folders.common_dir / name for name in _COPIED))
    stat_keys = tuple(map(_stat_key, files))
    private_dir = _cached(program, folders, stat_keys)
    if not (private_dir.path / "config").exists():  # somebody has tidied up
        _cached.cache_clear()
        private_dir = _cached(program, folders, stat_keys)
    return private_dir


@lru_cache(maxsize=_MAX_CACHED)
def _cached(program: str, folders: GitFolders, stat_keys: tuple[StatKey, ...]) -> PrivateCommonDir:  # noqa: ARG001 - where a file is another now, so is this
    return PrivateCommonDir(program, folders)


def _stat_key(path: Path) -> StatKey:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_ctime_ns


def _remove_stale(parent: Path) -> None:
    """Remove those of processes that were killed from *parent*: nobody holds their lock."""
    for folder in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            _remove(folder, _acquire_lock(folder, 0))


def _make_locked(parent: Path) -> tuple[Path, int]:
    """Return a new folder in *parent*, and the descriptor that holds its lock."""
    for _ in range(_ATTEMPTS):
        path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent)).resolve()
        with suppress(BlockingIOError, FileNotFoundError):  # somebody took it for a stale one
            lock_fd = _acquire_lock(path, os.O_CREAT)
            if os.fstat(lock_fd).st_nlink:
                return path, lock_fd
            os.close(lock_fd)  # and has removed it already
    raise OSError(errno.EAGAIN, "others keep removing it", os.fspath(path))


def _acquire_lock(folder: Path, flags: int) -> int:
    """Return the descriptor that holds the lock of *folder*. Raises `OSError` if another does."""
    flags |= os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
    lock_fd = os.open(folder / "lock", flags, 0o600)
    try:
        fcntl.flock(lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock_fd)
        raise
    return lock_fd


def _remove(folder: Path, lock_fd: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    os.close(lock_fd)


def read_regular_file(path: Path) -> bytes:
    """Return what is in the file *path*, b"" if it is no plain and small one."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        fits = stat.S_ISREG(status.st_mode) and status.st_size <= _MAX_BYTES
        return file.read(_MAX_BYTES) if fits else b""
