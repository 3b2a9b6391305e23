"""Finding a folder that a program has moved, and moving it back."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from modules.sandbox.filesystem.held_folder import move

_MAX_FOLDERS = 50_000

Identity = tuple[int, int]
"""(device, inode)"""


class FolderSearch:
    """Finds folders below *top*; it looks around at the first question only, if nothing moves."""

    def __init__(self, top: Path) -> None:
        self._top = top
        self._paths: dict[Identity, Path] = {}

    def find(self, folder: Identity) -> Path | None:
        """Return where *folder* is now, None if it is not found."""
        path_known = self._paths.get(folder)
        if path_known is None or _identity(path_known) != folder:
            self._paths = {}
            for path in itertools.islice(_folders(self._top), _MAX_FOLDERS):
                if (identity := _identity(path)) is not None:
                    self._paths[identity] = path
        return self._paths.get(folder)


def move_back(found: Path, place: Path) -> None:
    """Move *found* to *place*, and what is there to where it was found. Raises `OSError`."""
    if not os.path.lexists(place):
        move(found, place)
        return
    other = set_aside(place)
    move(other / found.relative_to(place) if place in found.parents else found, place)
    if place not in found.parents:
        move(other, found)


def set_aside(path: Path) -> Path:
    """Give what is at *path*, if anything is, a free name beside it and return that."""
    names = (f"{path.name}.replaced{number or ''}" for number in itertools.count())
    other = next(beside for beside in map(path.with_name, names) if not os.path.lexists(beside))
    if os.path.lexists(path):
        move(path, other)
    return other


def _folders(top: Path) -> Iterator[Path]:
    """Yield the folders below *top*, the uppermost first; a locked one is opened for the look."""
    level = [top]
    while level:
        below: list[Path] = []
        for folder in level:
            below += _inner(folder)
        yield from below
        level = below


def _inner(folder: Path) -> list[Path]:
    try:
        with _made_readable(folder), os.scandir(folder) as entries:
            return [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:  # gone, or its path is too long to be named
        return []


@contextmanager
def _made_readable(folder: Path) -> Iterator[None]:
    mode = folder.lstat().st_mode & 0o7777
    if mode & 0o500 == 0o500:
        yield
        return
    folder.chmod(mode | 0o700)
    try:
        yield
    finally:
        folder.chmod(mode)


def _identity(path: Path) -> Identity | None:
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
