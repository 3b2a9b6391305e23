"""A file of lines that several processes append to and that never grows beyond a size."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

MAX_BYTES = 10_000_000
MAX_OLD_FILES = 2
"""Older files that are kept, as NAME.1 and NAME.2; the higher number is the older one."""


def all_files(path: Path) -> Sequence[Path]:
    """Return the file *path* and its older ones, the newest first."""
    return [path, *(path.with_name(f"{path.name}.{n}") for n in range(1, MAX_OLD_FILES + 1))]


def append_line(path: Path, line: bytes, *, max_bytes: int = MAX_BYTES) -> None:
    """Append *line*, which has no line end, to *path*; readable by its owner only.

    A full disk leaves whole lines. A process that is killed as it writes may leave a part of one;
    the next line begins on a line of its own. Raises `OSError`; then nothing was appended.
    """
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            if not _is_current(path, handle):  # another process has just rotated it
                continue
            size = os.fstat(handle).st_size
            if size and size + len(line) >= max_bytes:
                _rotate(path)
                continue
            _append(handle, size, line + b"\n")
            return
        finally:
            os.close(handle)


def _is_current(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False


def _rotate(path: Path) -> None:
    files = all_files(path)
    for newer, older in reversed(list(zip(files, files[1:], strict=False))):
        if newer.exists():
            newer.replace(older)


def _append(handle: int, size: int, line: bytes) -> None:
    if size and os.pread(handle, 1, size - 1) != b"\n":
        line = b"\n" + line
    unwritten = memoryview(line)
    try:
        os.fchmod(handle, 0o600)
        while unwritten:
            unwritten = unwritten[os.write(handle, unwritten) :]
    except OSError:
        os.ftruncate(handle, size)
        raise


class LineFollower:
    """Reads the lines of *path* as they are appended, through every rotation; the last first."""

    def __init__(self, path: Path, *, last: int) -> None:
        """Begin with the *last* lines that are there."""
        self._path = path
        self._initial_lines = last
        self._file: BinaryIO | None = None
        self._partial_line = b""

    def close(self) -> None:
        if self._file:
            self._file.close()

    def read(self) -> list[bytes]:
        """Return the whole lines that have come since the last time, without their ends."""
        if self._file is None:
            return self._read_initial()
        lines = self._read_new(self._file)
        while newer := self._next_file(self._file):
            lines += self._read_new(self._file)  # what came before it was rotated
            lines += [self._partial_line] if self._partial_line else []
            self._file.close()
            self._file, self._partial_line = newer, b""
            lines += self._read_new(newer)
        return lines

    def _read_initial(self) -> list[bytes]:
        self._file = _open_or_none(self._path)
        return self._read_new(self._file)[-self._initial_lines :] if self._file else []

    def _read_new(self, file: BinaryIO) -> list[bytes]:
        if os.fstat(file.fileno()).st_size < file.tell():  # somebody emptied it
            file.seek(0)
            self._partial_line = b""
        *lines, self._partial_line = (self._partial_line + file.read()).split(b"\n")
        return [line for line in lines if line]

    def _next_file(self, file: BinaryIO) -> BinaryIO | None:
        """Return what came after *file*, None while that is the newest."""
        current_stat = os.fstat(file.fileno())
        newer: Path | None = None
        for name in all_files(self._path):
            try:
                if os.path.samestat(name.stat(), current_stat):
                    break
            except FileNotFoundError:
                continue
            newer = name
        return _open_or_none(newer) if newer else None


def _open_or_none(path: Path) -> BinaryIO | None:
    try:
        return path.open("rb")
    except FileNotFoundError:
        return None
