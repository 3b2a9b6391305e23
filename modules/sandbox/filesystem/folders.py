"""Listing folders as programs may have left them: locked, or deeper than any path can name."""

from __future__ import annotations

import errno
import os
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MAX_STEP = 3_000  # bytes of a path, a good deal fewer than the kernel takes at once
_MAX_PATH_LENGTH = (
    50_000  # characters; to go on would take ever longer, and its names ever more room
)


def real_path(path: Path) -> Path:
    """Return *path* with all links followed; unlike `resolve`, it puts up with a circle of them."""
    return Path(os.path.realpath(path))


def is_within(path: Path, folder: Path) -> bool:
    """Return whether *path* is *folder* or lies in it: both absolute, and without `..`."""
    inner, outer = str(path), str(folder)
    return inner == outer or inner.startswith(outer if outer == "/" else outer + "/")


def list_entries(folder: str) -> list[os.DirEntry[str]] | None:
    """Return what is in *folder*, None if it cannot be looked into, or is far too deep.

    Nothing if it is gone.

    Join `name` to *folder* for the path; `path` may lack it. What `stat` says of the entry itself
    is known already.
    """
    try:
        with os.scandir(folder) as found:
            return list(found)
    except FileNotFoundError:
        return []
    except OSError as error:
        is_deep = error.errno == errno.ENAMETOOLONG and len(folder) < _MAX_PATH_LENGTH
        return _list_deep(folder) if is_deep else None


def _list_deep(folder: str) -> list[os.DirEntry[str]] | None:
    """List a folder by steps."""
    try:
        descriptor = _open_stepwise(os.fsencode(folder))
        try:
            with os.scandir(descriptor) as found:
                entries = list(found)
            for entry in entries:
                entry.stat(follow_symlinks=False)  # kept by the entry, beyond the descriptor
        finally:
            os.close(descriptor)
    except OSError:
        return None
    return entries


def _open_stepwise(path: bytes) -> int:
    above: int | None = None
    try:
        while True:
            cut = path.rfind(b"/", 0, _MAX_STEP) if len(path) > _MAX_STEP else len(path)
            step, path = path[: max(cut, 1)], path[max(cut, 1) :].lstrip(b"/")
            folder = os.open(step, _FOLDER, dir_fd=above)
            if above is not None:
                os.close(above)
            if not path:
                return folder
            above = folder
    except OSError:
        if above is not None:
            os.close(above)
        raise
