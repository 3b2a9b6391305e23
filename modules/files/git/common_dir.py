"""A folder that git takes for the common folder of a repository, in the place of the real one.

In it objects and refs are links to the real ones; the settings are plain values (`git_settings`),
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

from modules.files.git.git_guard import GitFolders
from modules.files.git.git_settings import as_config, read_settings, settings_files

_PLACES = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - TMPDIR may lie in the project
_PREFIX = "onefold-git-"
_LINKED = ("objects", "refs", "packed-refs", "reftable", "logs", "shallow")
_COPIED = ("info/exclude", "info/attributes")
_LARGEST = 1_000_000  # bytes of one of these; a larger one does not count
_MOST_KEPT = 32

Mark = tuple[int, int, int, int] | None


class PrivateCommonDir:
    """One for the repository in *folders*, gone with us; nobody changes it once it is made."""

    def __init__(self, program: str, folders: GitFolders) -> None:
        place = _place()
        _remove_left(place)
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place)).resolve()
        self._lock = _locked(self.path, os.O_CREAT)
        weakref.finalize(self, _remove, self.path, self._lock)
        for name in _LINKED:
            (self.path / name).symlink_to(folders.common / name)
        (self.path / "info").mkdir()
        for name in _COPIED:
            (self.path / name).write_bytes(_plain_content(folders.common / name))
        self.settings = read_settings(program, folders, self.path)
        text = as_config(self.settings).encode("utf-8", "surrogateescape")
        (self.path / "config").write_bytes(text)


_avoided: set[Path] = set()


def keep_out_of(project: Path) -> None:
    """Make none in *project* from now on: programs write there, and undo would hold it."""
    _avoided.add(project.resolve())


def _place() -> Path:
    """Return the folder to make one in. Raises `OSError` where there is none."""
    for place in map(Path, (*_PLACES, tempfile.gettempdir())):
        real = place.resolve()
        if os.access(real, os.W_OK) and _avoided.isdisjoint((real, *real.parents)):
            return place
    raise OSError(errno.ENOENT, "no temporary folder outside of the project")


def common_dir_for(program: str, folders: GitFolders) -> PrivateCommonDir:
    """Return that for the repository in *folders* as it is now. Raises `OSError`."""
    files = (*settings_files(folders), *(folders.common / name for name in _COPIED))
    marks = tuple(map(_mark, files))
    made = _kept(program, folders, marks)
    if not (made.path / "config").exists():  # somebody has tidied up
        _kept.cache_clear()
        made = _kept(program, folders, marks)
    return made


@lru_cache(maxsize=_MOST_KEPT)
def _kept(program: str, folders: GitFolders, marks: tuple[Mark, ...]) -> PrivateCommonDir:  # noqa: ARG001 - where a file is another now, so is this
    return PrivateCommonDir(program, folders)


def _mark(path: Path) -> Mark:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_ctime_ns


def _remove_left(place: Path) -> None:
    """Remove those of processes that were killed from *place*: nobody holds their lock."""
    for left in place.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            _remove(left, _locked(left, 0))


def _locked(folder: Path, flags: int) -> int:
    """Return the descriptor that holds the lock of *folder*. Raises `OSError` if another does."""
    flags |= os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
    lock = os.open(folder / "lock", flags, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise
    return lock


def _remove(folder: Path, lock: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)


def _plain_content(path: Path) -> bytes:
    """Return what is in the file *path*, b"" if it is no plain and small one."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        fits = stat.S_ISREG(found.st_mode) and found.st_size <= _LARGEST
        return file.read(_LARGEST) if fits else b""
