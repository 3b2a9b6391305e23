"""Sockets that other programs of the person keep in the project: a door past all walls.

A network namespace does not hold for a socket that has a path; only not seeing the path does.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_LIST = Path("/proc/net/unix")
_MOST = 64


def sockets_in(folder: Path) -> tuple[Path, ...]:
    """Return the sockets below *folder* that somebody listens at or has bound, as the kernel tells.

    It tells the path as it was given; one relative to a folder is looked for in *folder*.
    """
    found = dict.fromkeys(_real(path, folder) for path in _paths())
    return tuple(path for path in found if path is not None and folder in path.parents)[:_MOST]


def _paths() -> Iterator[str]:
    """Yield the path of each socket that has one; a line is eight fields, the path the last."""
    with suppress(OSError):
        text = _LIST.read_text(encoding="utf-8", errors="surrogateescape")
        for line in text.splitlines()[1:]:
            fields = line.split(None, 7)
            if len(fields) == 8:
                yield fields[7]


def _real(path: str, folder: Path) -> Path | None:
    """Return where the socket *path* is now, None if it is not there."""
    if path.startswith("@"):
        return None
    whole = folder / path
    with suppress(OSError, ValueError, RuntimeError):
        real = Path(os.path.realpath(whole.parent)) / whole.name
        if stat.S_ISSOCK(real.lstat().st_mode):
            return real
    return None
