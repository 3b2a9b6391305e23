"""The lock that keeps other processes out of a store of checkpoints while one changes it."""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path

from utils.phrases import Problem, phrase


def locked(path: Path, patience: float) -> int:
    """Return a descriptor that holds the lock of *path* until it is closed, also by a kill.

    *patience* is how many seconds to wait for who has it. Raises `Problem`, `OSError`.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    deadline = time.monotonic() + patience
    while True:
        with suppress(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return handle
        if time.monotonic() > deadline:
            os.close(handle)
            raise Problem(
                phrase("Another Onefold is busy with this project's checkpoints. Try again later.")
            )
        time.sleep(0.01)
