"""The lock that keeps others out of a store of checkpoints while one changes it."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from utils.i18n import Phrase, UserError, phrase
from utils.system.file_lock import unlock_and_close


class StoreLock:
    """The lock of the file *path*, freed by a kill; *timeout* in seconds is for other processes.

    Threads wait for each other without end.
    """

    def __init__(self, path: Path, timeout: float) -> None:
        self._path = path
        self._timeout = timeout
        self._thread_lock = threading.RLock()
        self._is_held = False

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Wait for the lock and hold it, also within itself. Raises `UserError`."""
        with self._thread_lock:
            if self._is_held:
                yield
                return
            with explained(self._path.parent):
                descriptor = self._acquire()
            self._is_held = True
            try:
                yield
            finally:
                self._is_held = False
                unlock_and_close(descriptor)

    def _acquire(self) -> int:
        """Return a descriptor that holds the lock. Raises `UserError`, `OSError`."""
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        deadline = time.monotonic() + self._timeout
        while True:
            with suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return descriptor
            if time.monotonic() > deadline:
                os.close(descriptor)
                raise UserError(
                    phrase("Another Onefold is using this project's checkpoints. Try again later.")
                )
            time.sleep(0.01)


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Let what the system refuses at *path* be a `UserError`."""
    try:
        yield
    except OSError as error:
        raise UserError(unusable(path, error.strerror or str(error))) from error


def unusable(path: Path, why: str) -> Phrase:
    return phrase("Cannot save checkpoints in {path}: {why}.", path=str(path), why=why)
