"""Release of a lock that processes share by way of a file (`flock`)."""

from __future__ import annotations

import fcntl
import os


def unlock_and_close(handle: int) -> None:
    """Free the lock that *handle* holds, and close it.

    To close it is not enough: a program that another thread starts at this moment has a copy of
    it, and with that the lock, until it runs.
    """
    fcntl.flock(handle, fcntl.LOCK_UN)
    os.close(handle)
