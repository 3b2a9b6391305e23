"""Removing a folder that a program has filled, however deep and locked it left it."""

from __future__ import annotations

import itertools
import os
from contextlib import suppress
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_scratch(path: Path, above: int | None = None) -> None:
    """Remove the folder *path* with all that is in it; what cannot be removed stays.

    With *above* it is a name in the folder of that descriptor.
    Folders in folders are first moved up to *path*, so that no depth is too deep.
    """
    numbers = itertools.count()
    with suppress(OSError):
        top = _open_unlocked(os.fspath(path), above)
        try:
            has_more = True
            while has_more:
                has_more = False
                for entry in _entries(top):
                    has_more |= _remove_entry(top, entry, numbers)
        finally:
            os.close(top)
        os.rmdir(path, dir_fd=above)  # noqa: PTH106 - by descriptor


def _remove_entry(top: int, entry: os.DirEntry[str], numbers: itertools.count[int]) -> bool:
    """Remove *entry* of the folder *top*; return whether that has put others into *top*."""
    if not entry.is_dir(follow_symlinks=False):
        with suppress(OSError):
            os.unlink(entry.name, dir_fd=top)  # noqa: PTH108 - pathlib knows no descriptors
        return False
    moved = 0
    with suppress(OSError):
        folder = _open_unlocked(entry.name, top)
        try:
            for inner in _entries(folder):
                if inner.is_dir(follow_symlinks=False):
                    name = f".{next(numbers)}.moved"
                    os.chmod(inner.name, 0o700, dir_fd=folder)  # noqa: PTH101 - else it stays
                    os.rename(inner.name, name, src_dir_fd=folder, dst_dir_fd=top)  # noqa: PTH104
                    moved += 1
                else:
                    os.unlink(inner.name, dir_fd=folder)  # noqa: PTH108
        finally:
            os.close(folder)
        os.rmdir(entry.name, dir_fd=top)  # noqa: PTH106
    return moved > 0


def _open_unlocked(name: str, above: int | None) -> int:
    try:
        folder = os.open(name, _FOLDER, dir_fd=above)
    except PermissionError:
        os.chmod(name, 0o700, dir_fd=above)  # noqa: PTH101
        return os.open(name, _FOLDER, dir_fd=above)
    with suppress(OSError):
        os.fchmod(folder, 0o700)
    return folder


def _entries(folder: int) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return list(entries)
