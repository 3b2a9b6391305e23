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
        self._descriptor: int | None = None
        self._is_held = False

    @contextmanager
    def locked(self, *, exclusive: bool = False) -> Iterator[None]:
        """Wait for the lock and hold it; nested, it is held already, and nothing changes."""
        descriptor = None if self._is_held else self._opened()
        if descriptor is None:
            yield
            return
        fcntl.flock(descriptor, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False
            fcntl.flock(descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        """Close the file, unless the lock is held."""
        if self._descriptor is not None and not self._is_held:
            os.close(self._descriptor)
            self._descriptor = None

    def _opened(self) -> int | None:
        if self._descriptor is None:
            with suppress(OSError):
                self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
                self._descriptor = os.open(self._path, flags, 0o600)
        return self._descriptor
