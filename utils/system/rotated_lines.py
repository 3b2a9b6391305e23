"""A file of lines that several processes append to and that never grows beyond a size."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

MOST_BYTES = 10_000_000
KEPT = 2
"""Older files that are kept, as NAME.1 and NAME.2; the higher number is the older one."""


def names(path: Path) -> Sequence[Path]:
    """Return the file *path* and its older ones, the newest first."""
    return [path, *(path.with_name(f"{path.name}.{n}") for n in range(1, KEPT + 1))]


def append_line(path: Path, line: bytes, *, most_bytes: int = MOST_BYTES) -> None:
    """Append *line*, which has no line end, to *path*; readable by its owner only.

    A process that is killed, or a full disk, leaves whole lines; if ever a part of one, the next
    line still begins on a line of its own. Raises `OSError`; then nothing was appended.
    """
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            if not _is_still(path, handle):  # another process has just rotated it
                continue
            size = os.fstat(handle).st_size
            if size and size + len(line) >= most_bytes:
                _rotate(path)
                continue
            _append(handle, size, line + b"\n")
            return
        finally:
            os.close(handle)


def _is_still(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False


def _rotate(path: Path) -> None:
    every = names(path)
    for newer, older in reversed(list(zip(every, every[1:], strict=False))):
        if newer.exists():
            newer.replace(older)


def _append(handle: int, size: int, line: bytes) -> None:
    if size and os.pread(handle, 1, size - 1) != b"\n":
        line = b"\n" + line
    rest = memoryview(line)
    try:
        os.fchmod(handle, 0o600)
        while rest:
            rest = rest[os.write(handle, rest) :]
    except OSError:
        os.ftruncate(handle, size)
        raise


class LineFollower:
    """Reads the lines of *path* as they are appended, through every rotation; the last first."""

    def __init__(self, path: Path, *, last: int) -> None:
        """Begin with the *last* lines that are there."""
        self._path = path
        self._last = last
        self._file: BinaryIO | None = None
        self._rest = b""

    def close(self) -> None:
        if self._file:
            self._file.close()

    def read(self) -> list[bytes]:
        """Return the whole lines that have come since the last time, without their ends."""
        if self._file is None:
            return self._begin()
        lines = self._more(self._file)
        while newer := self._newer(self._file):
            lines += self._more(self._file)  # what came before it was rotated
            lines += [self._rest] if self._rest else []
            self._file.close()
            self._file, self._rest = newer, b""
            lines += self._more(newer)
        return lines

    def _begin(self) -> list[bytes]:
        self._file = _opened(self._path)
        return self._more(self._file)[-self._last :] if self._file else []

    def _more(self, file: BinaryIO) -> list[bytes]:
        if os.fstat(file.fileno()).st_size < file.tell():  # somebody emptied it
            file.seek(0)
            self._rest = b""
        *lines, self._rest = (self._rest + file.read()).split(b"\n")
        return [line for line in lines if line]

    def _newer(self, file: BinaryIO) -> BinaryIO | None:
        """Return what came after *file*, None while that is the newest."""
        ours = os.fstat(file.fileno())
        newer: Path | None = None
        for name in names(self._path):
            try:
                if os.path.samestat(name.stat(), ours):
                    break
            except FileNotFoundError:
                continue
            newer = name
        return _opened(newer) if newer else None


def _opened(path: Path) -> BinaryIO | None:
    try:
        return path.open("rb")
    except FileNotFoundError:
        return None
