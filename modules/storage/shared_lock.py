"""A lock that processes share by way of a file: many hold it together, or one alone."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


class SharedLock:
    """The lock of the file *path*, which is made at first use; one thread at a time may use it.

    Where the file cannot be made nobody is kept out: nothing can be written there either.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None
        self._is_held = False

    @contextmanager
    def held(self, *, alone: bool = False) -> Iterator[None]:
        """Wait for the lock and hold it; within that it is held already, and nothing changes."""
        handle = None if self._is_held else self._opened()
        if handle is None:
            yield
            return
        fcntl.flock(handle, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False
            fcntl.flock(handle, fcntl.LOCK_UN)

    def close(self) -> None:
        """Let go of the file, unless the lock is held."""
        if self._handle is not None and not self._is_held:
            os.close(self._handle)
            self._handle = None

    def _opened(self) -> int | None:
        if self._handle is None:
            with suppress(OSError):
                self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
                self._handle = os.open(self._path, flags, 0o600)
        return self._handle
