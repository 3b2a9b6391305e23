"""The output of a program that runs on: the newest part of it, in a file without a name."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable
from pathlib import Path


class RingOutput:
    """Keeps the newest *size* bytes in *folder*, until `close`; *on_data* is told of new ones.

    Threads may share it. Nothing of it is left on the disk when Onefold is killed.
    """

    def __init__(self, folder: Path, size: int, on_data: Callable[[], None]) -> None:
        """Raises `OSError` when there is no file to be had."""
        self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 - see close
        self._size = size
        self._on_data = on_data
        self._lock = threading.Lock()
        self._total = 0

    @property
    def total(self) -> int:
        """Bytes that came so far, those that are dropped included."""
        return self._total

    def add(self, data: bytes, *, final: bool = False) -> str:  # noqa: ARG002 - all is kept at once
        """Take *data*; nothing is passed on, it is there to be read."""
        if data:
            with self._lock:
                self._write(data[-self._size :], self._total + len(data[: -self._size]))
                self._total += len(data)
            self._on_data()
        return ""

    def _write(self, data: bytes, start: int) -> None:
        """Write *data*, which is what follows the first *start* bytes of all."""
        place = start % self._size
        first = data[: self._size - place]
        self._file.seek(place)
        self._file.write(first)
        if rest := data[len(first) :]:
            self._file.seek(0)
            self._file.write(rest)

    def read(self, start: int) -> tuple[bytes, int]:
        """Return what follows the first *start* bytes, and how many of it are dropped by now.

        Closed, it has nothing.
        """
        with self._lock:
            if self._file.closed:
                return b"", 0
            oldest = max(start, self._total - self._size)
            return self._read(oldest, self._total - oldest), oldest - start

    def _read(self, start: int, length: int) -> bytes:
        place = start % self._size
        self._file.seek(place)
        first = self._file.read(min(length, self._size - place))
        self._file.seek(0)
        return first + self._file.read(length - len(first))

    def head_and_tail(self) -> tuple[str, str, int]:
        """Return what is kept as the head; see `OutputSink`."""
        data, dropped = self.read(0)
        return data.decode(errors="replace"), "", dropped

    def middle(self) -> str:
        return ""

    def close(self) -> None:
        with self._lock:
            self._file.close()
