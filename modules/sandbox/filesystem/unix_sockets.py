"""Unix sockets that the person's other programs keep in the project: a way out of a sandbox.

A network namespace does not hold for a socket that has a path; only not seeing the path does.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from modules.sandbox.filesystem.folders import list_entries

_PROC_NET_UNIX = Path("/proc/net/unix")
_MAX_SOCKETS = 64
_MAX_FOLDERS = 20_000  # that are searched


def sockets_in(folder: Path) -> tuple[Path, ...]:
    """Return the sockets below *folder* that somebody listens at or has bound, as the kernel tells.

    It tells the path as it was given when the socket was made. One that was given relative to some
    folder, or that was in *folder* and is not there any more, is looked for by its name.
    """
    found: dict[Path, None] = {}
    unresolved: set[str] = set()
    for path in _bound_paths():
        real = _real_socket(path, folder)
        if real and folder in real.parents:
            found[real] = None
        if not path.startswith("/") or (real is None and folder in Path(path).parents):
            unresolved.add(path.rpartition("/")[2])
    if unresolved:
        found |= dict.fromkeys(_find_by_name(unresolved, folder))
    return tuple(found)[:_MAX_SOCKETS]


def _find_by_name(names: Collection[str], folder: Path) -> Iterator[Path]:
    """Yield the sockets below *folder* that have one of *names*."""
    pending = deque([os.fspath(folder)])
    for _ in range(_MAX_FOLDERS):
        if not pending:
            return
        folder_path = pending.popleft()
        for entry in list_entries(folder_path) or ():
            if entry.is_dir(follow_symlinks=False):
                pending.append(f"{folder_path}/{entry.name}")
            elif entry.name in names and _is_socket(path := Path(folder_path, entry.name)):
                yield path


def _bound_paths() -> Iterator[str]:
    """Yield the path of each socket that has one in a file system; it is the last of 8 fields."""
    with suppress(OSError):
        text = _PROC_NET_UNIX.read_text(encoding="utf-8", errors="surrogateescape")
        for line in text.splitlines()[1:]:
            fields = line.split(None, 7)
            if len(fields) == 8 and not fields[7].startswith("@"):
                yield fields[7]


def _real_socket(path: str, folder: Path) -> Path | None:
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
