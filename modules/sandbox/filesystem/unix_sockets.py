"""Sockets that other programs of the person keep in the project: a door past all walls.

A network namespace does not hold for a socket that has a path; only not seeing the path does.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from modules.sandbox.filesystem.folders import entries_of

_LIST = Path("/proc/net/unix")
_MOST = 64
_MOST_FOLDERS = 20_000  # that are searched


def sockets_in(folder: Path) -> tuple[Path, ...]:
    """Return the sockets below *folder* that somebody listens at or has bound, as the kernel tells.

    It tells the path as it was given when the socket was made. One that was given relative to some
    folder, or that was in *folder* and is not there any more, is looked for by its name.
    """
    found: dict[Path, None] = {}
    lost: set[str] = set()
    for path in _paths():
        real = _real(path, folder)
        if real and folder in real.parents:
            found[real] = None
        if not path.startswith("/") or (real is None and folder in Path(path).parents):
            lost.add(path.rpartition("/")[2])
    if lost:
        found |= dict.fromkeys(_called(lost, folder))
    return tuple(found)[:_MOST]


def _called(names: Collection[str], folder: Path) -> Iterator[Path]:
    """Yield the sockets below *folder* that have one of *names*."""
    waiting = deque([os.fspath(folder)])
    for _ in range(_MOST_FOLDERS):
        if not waiting:
            return
        above = waiting.popleft()
        for entry in entries_of(above) or ():
            if entry.is_dir(follow_symlinks=False):
                waiting.append(f"{above}/{entry.name}")
            elif entry.name in names and _is_socket(path := Path(above, entry.name)):
                yield path


def _paths() -> Iterator[str]:
    """Yield the path of each socket that has one in a file system; it is the last of 8 fields."""
    with suppress(OSError):
        text = _LIST.read_text(encoding="utf-8", errors="surrogateescape")
        for line in text.splitlines()[1:]:
            fields = line.split(None, 7)
            if len(fields) == 8 and not fields[7].startswith("@"):
                yield fields[7]


def _real(path: str, folder: Path) -> Path | None:
    """Return where the socket *path* is now, None if it is not there."""
    whole = folder / path
    try:
        real = Path(os.path.realpath(whole.parent)) / whole.name
    except (OSError, ValueError):
        return None
    return real if _is_socket(real) else None


def _is_socket(path: Path) -> bool:
    try:
        return stat.S_ISSOCK(path.lstat().st_mode)
    except (OSError, ValueError):
        return False
