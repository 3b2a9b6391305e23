"""Repositories that an index names as submodules: git reads a little of them, and may wait there.

To tell whether a submodule is another now, git opens its settings and its HEAD. A program may have
put a pipe in their place, at which git would stand until its time is over.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

from modules.files.git.git_guard import named_folder
from utils.system.child import ChildResult

_READ = ("config", "config.worktree", "commondir", "HEAD", "packed-refs")
_MOST_READ = 32  # indexes
_HEAD = re.compile(rb"ref: (refs/[^\0\n]+)\n?")

Rows = Callable[[], ChildResult]
"""Asks `git ls-files --stage -z`."""


def pipe_in_a_submodule(tree: Path, index: Path, rows: Rows) -> Path | None:
    """Return what git would wait at in a submodule of the work tree *tree*, None if nothing.

    *rows* are asked for only when *index* changed since.
    """
    try:
        found = index.stat()
    except OSError:
        return None
    mark = found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
    for name in _submodules(index, mark, rows):
        git = tree / os.fsdecode(name) / ".git"
        folder = named_folder(git) if git.is_file() else git
        if folder and (pipe := next(filter(_is_special, _read_in(folder)), None)):
            return pipe
    return None


_known: dict[tuple[Path, tuple[int, ...]], Sequence[bytes]] = {}


def _submodules(index: Path, mark: tuple[int, ...], rows: Rows) -> Sequence[bytes]:
    key = index, mark
    if key not in _known:
        while len(_known) >= _MOST_READ:
            _known.pop(next(iter(_known)), None)
        lines = rows().output.split(b"\0")
        _known[key] = [line.partition(b"\t")[2] for line in lines if line.startswith(b"160000 ")]
    return _known[key]


def _read_in(folder: Path) -> list[Path]:
    """Return what git reads of the repository *folder*; its branch too, if HEAD can be read."""
    paths = [folder / name for name in _READ]
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
