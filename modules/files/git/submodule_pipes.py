"""Submodules that an index names: git reads a little of them, and may wait at a pipe there.

To tell whether a submodule has changed, git opens its config and its HEAD. A program may have
put a pipe in their place, at which git would stand until its time is over.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

from modules.files.git.git_guard import gitdir_target
from utils.system.child import ChildResult

_READ_FILES = ("config", "config.worktree", "commondir", "HEAD", "packed-refs")
_MAX_CACHED = 32  # indexes
_HEAD = re.compile(rb"ref: (refs/[^\0\n]+)\n?")

ListIndex = Callable[[], ChildResult]
"""Asks `git ls-files --stage -z`."""


def find_submodule_pipe(tree: Path, index: Path, list_index: ListIndex) -> Path | None:
    """Return a pipe that git would wait at in a submodule of the work tree *tree*, None if none.

    *list_index* are asked for only when *index* changed since.
    """
    try:
        status = index.stat()
    except OSError:
        return None
    stat_key = status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    for name in _submodules(index, stat_key, list_index):
        git = tree / os.fsdecode(name) / ".git"
        folder = gitdir_target(git) if git.is_file() else git
        if folder and (pipe := next(filter(_is_special, _files_read(folder)), None)):
            return pipe
    return None


_cached_submodules: dict[tuple[Path, tuple[int, ...]], Sequence[bytes]] = {}


def _submodules(index: Path, stat_key: tuple[int, ...], list_index: ListIndex) -> Sequence[bytes]:
    key = index, stat_key
    if key not in _cached_submodules:
        while len(_cached_submodules) >= _MAX_CACHED:
            _cached_submodules.pop(next(iter(_cached_submodules)), None)
        lines = list_index().output.split(b"\0")
        _cached_submodules[key] = [
            line.partition(b"\t")[2] for line in lines if line.startswith(b"160000 ")
        ]
    return _cached_submodules[key]


def _files_read(folder: Path) -> list[Path]:
    """Return the files that git reads of the repository *folder*; its branch too, if it can."""
    paths = [folder / name for name in _READ_FILES]
    head = folder / "HEAD"
    if not head.is_file() or head.stat().st_size > 1_000:
        return paths
    named = _HEAD.fullmatch(head.read_bytes())
    return [*paths, folder / os.fsdecode(named[1])] if named else paths


def _is_special(path: Path) -> bool:
    """Return whether *path* leads to something that is neither a file nor a folder."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)
