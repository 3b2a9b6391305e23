"""The folder of the sockets by which the sessions that work are reached from other processes."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MAX_LINE = 4_000_000
"""Bytes of what is said at once, either way."""


@contextmanager
def opened(folder: Path) -> Iterator[int]:
    """Open *folder*, which is ours and nobody else's. Raises `OSError` for any other."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        found = os.fstat(handle)
        if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
            raise PermissionError(f"{folder} is not ours alone")
        yield handle
    finally:
        os.close(handle)


def address(folder: Path, handle: int, name: str) -> str:
    """Return an address for the socket *name* in *folder*, which *handle* has open.

    An address has 107 bytes at most; Linux has a short one for whatever is open.
    """
    return f"/proc/self/fd/{handle}/{name}" if sys.platform == "linux" else str(folder / name)


def socket_name(session: str) -> str:
    return f"{session}.sock"


def key_name(session: str) -> str:
    """Return the name of the file with the key of *session*: who can read it, may ask."""
    return f"{session}.key"
