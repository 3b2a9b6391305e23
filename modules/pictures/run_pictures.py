"""Pictures that a run has made in the project, for its card."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from core.cards import Change, RunPicture
from modules.pictures.formats import MAX_PICTURE_FILE_BYTES, SUFFIXES, format_of

_MAX_PICTURES = 8
_MAX_TRIED = 50  # files that have the name of a picture
_HEAD = 16  # bytes that tell a format


def run_pictures(root: Path, changes: Iterable[Change]) -> tuple[RunPicture, ...]:
    """Return the pictures among the files that *changes* made, changed or named, eight at most.

    What only has the name of a picture, and a file too large to be shown, is left out.
    """
    named = (change.new_path or change.path for change in changes if change.kind != "deleted")
    tried = islice((path for path in named if path.lower().endswith(SUFFIXES)), _MAX_TRIED)
    return tuple(islice(_pictures(root, tried), _MAX_PICTURES))


def _pictures(root: Path, paths: Iterable[str]) -> Iterator[RunPicture]:
    for path in paths:
        size, head = _size_and_head(root / path)
        if size <= MAX_PICTURE_FILE_BYTES and (found := format_of(head)):
            yield RunPicture(path, f"image/{found.lower()}", size)


def _size_and_head(path: Path) -> tuple[int, bytes]:
    """Return the size of a regular file and how it begins; a program may have made it anything."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags)
    except OSError:
        return 0, b""
    try:
        status = os.fstat(descriptor)
        is_file = stat.S_ISREG(status.st_mode)
        return status.st_size, os.read(descriptor, _HEAD) if is_file else b""
    finally:
        os.close(descriptor)
