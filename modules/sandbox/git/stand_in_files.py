"""Files of the stand-in: stamps by which a change is seen, copies, and the folder they are in."""

from __future__ import annotations

import fcntl
import os
import re
import stat
import tempfile
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path

from modules.files.git.state_changes import StateMoved, read_state_file
from modules.files.git.state_names import is_state_file, may_hold_state, own_name
from modules.sandbox.filesystem.folder_removal import remove_scratch
from modules.sandbox.git.plain_config import WORKTREE_CONFIG, is_of_tree
from modules.sandbox.git.state_check import StateRefused
from utils.i18n import phrase
from utils.text.clean import visible

_PREFIX = "git-"
_COPIED = (
    *("config", WORKTREE_CONFIG, "shallow"),
    *("info/exclude", "info/attributes"),
)
_SHARED_INDEX = re.compile(r"(worktrees/[^/]+/)?sharedindex\.[0-9a-f]{40}")
"""The larger part of an index that is split in two (`core.splitIndex`), which no run changes."""
_MODULES_OF_TREE = re.compile(r"worktrees/[^/]+/modules")
_MAX_FILES = 300_000
_MAX_REF = 4_096  # bytes of a file of a ref
_MAX_STATE = 512 << 20  # bytes of all that a run changed of the state

Stamp = tuple[int, int, int, int, int]
Stamps = dict[str, Stamp]


class NotPlain(Exception):
    """A repository that a stand-in cannot be made of."""


def make_folder(cache_folder: Path) -> tuple[Path, int]:
    """Return a new folder, and its lock; those of processes that died are removed."""
    cache_folder.mkdir(parents=True, exist_ok=True)
    for path in cache_folder.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            remove_folder(path, _locked(path))
    # Git writes down the place that no link leads to.
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=cache_folder)).resolve()
    lock_fd = _locked(folder)
    (folder / "git").mkdir()
    return folder, lock_fd


def remove_folder(folder: Path, lock_fd: int) -> None:
    remove_scratch(folder)
    os.close(lock_fd)


def _locked(folder: Path) -> int:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def is_copied(name: str) -> bool:
    own = own_name(name)
    is_beside_state = own in _COPIED or _SHARED_INDEX.fullmatch(own) or is_of_tree(name)
    return bool(is_beside_state) or is_state_file(name)


def stamps_in(folder: Path, is_wanted: Callable[[str], bool] | None = None) -> Stamps:
    """Return a stamp of each file below *folder*, of the repository only those that *is_wanted*.

    Raises `NotPlain` where one is no plain file, `OSError` for what cannot be looked into.
    """
    found: Stamps = {}
    pending = [""]
    while pending:
        inner = pending.pop()
        with os.scandir(folder / inner) as entries:
            for entry in entries:
                name = f"{inner}/{entry.name}" if inner else entry.name
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode):
                    if is_wanted is None or may_hold_state(name):
                        pending.append(name)
                elif not stat.S_ISREG(status.st_mode):
                    if _is_to_be_plain(name):
                        raise NotPlain
                elif is_wanted is None or is_wanted(name):
                    found[name] = _stamp_of(status)
        if len(found) + len(pending) > _MAX_FILES:
            raise NotPlain
    return found


def _is_to_be_plain(name: str) -> bool:
    """Return whether git keeps state at *name*; some have a link for all submodules of a linked
    work tree, which are left alone then.
    """
    is_linked = _MODULES_OF_TREE.fullmatch(name) is not None
    return is_state_file(name) or (may_hold_state(name) and not is_linked)


def _stamp_of(status: os.stat_result) -> Stamp:
    return (
        status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns,
    )  # fmt: skip


def stamp_at(path: Path) -> Stamp | None:
    try:
        return _stamp_of(path.lstat())
    except OSError:
        return None


def check_sizes(stamps: Stamps) -> None:
    """Refuse files of the state, changed by a run, that we would not want to read."""
    sizes = {name: stamp[2] for name, stamp in stamps.items() if is_state_file(name)}
    large = [name for name, size in sizes.items() if size > _MAX_REF
             and "refs/" in own_name(name) and "logs/" not in own_name(name)]  # fmt: skip
    if large or sum(sizes.values()) > _MAX_STATE:
        name = large[0] if large else max(sizes, key=sizes.__getitem__)
        raise StateRefused(phrase("{name} is too large", name=visible(name)))


def tokens(stamps: Mapping[str, Stamp]) -> dict[str, str]:
    """Return what tells each file of the state from another, by name."""
    return {name: repr(stamp) for name, stamp in stamps.items() if is_state_file(name)}


def read_state(folder: Path, name: str) -> bytes:
    content = read_state_file(folder, name)
    if content is None:
        raise StateMoved(name)
    return content


def copy_file(source: Path, target: Path) -> None:
    """Copy a plain file; what is gone by now is left out."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with suppress(FileNotFoundError), os.fdopen(os.open(source, flags), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise NotPlain
        with target.open("xb") as out:
            while chunk := file.read(1 << 20):
                out.write(chunk)
        os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))  # the index is judged by it


def empty_folder(folder: Path, kept: Collection[str]) -> None:
    """Remove what is in *folder* but for the folders *kept*, which are paths in it, ending with
    `/`, and what leads to them. Raises `OSError` if any stays.
    """
    folder.chmod(0o700)
    for entry in list(os.scandir(folder)):
        path, name = Path(entry.path), f"{entry.name}/"
        below = [one.removeprefix(name) for one in kept if one.startswith(name)]
        if not entry.is_dir(follow_symlinks=False):
            path.unlink()
        elif not below:
            remove_scratch(path)
            if path.exists():
                raise FileExistsError(entry.path)
        elif "" not in below:
            empty_folder(path, below)
