"""Reading a SQLite file where nothing can be written: not the file, nor anything beside it."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite3 import Connection


_SMALLEST_INDEX = 32_768  # bytes; less is what a failure left


def open_read_only(path: Path, timeout: float) -> Connection:
    """Open the file at *path* with what its write-ahead log holds. Raises `sqlite3.Error`.

    SQLite reads a log only with its index at hand, which it cannot make here: a log without one is
    read in a copy, and without a log SQLite is told that nobody writes.
    """
    wal, index = (path.with_name(path.name + end) for end in ("-wal", "-shm"))
    if wal.exists() and index.exists() and index.stat().st_size >= _SMALLEST_INDEX:
        return _connect(path, "mode=ro", timeout)
    if wal.exists() and wal.stat().st_size:
        return _open_copy(path, wal)
    return _connect(path, "mode=ro&immutable=1", timeout)


def _open_copy(path: Path, wal: Path) -> Connection:
    import sqlite3

    with tempfile.TemporaryDirectory(prefix="onefold-") as folder:
        for part in (path, wal):
            shutil.copyfile(part, Path(folder) / part.name)
        return in_memory(sqlite3.connect(Path(folder) / path.name, isolation_level=None))


def in_memory(connection: Connection) -> Connection:
    """Return a copy of all that *connection* reads, which can be changed, and close that."""
    import sqlite3

    copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    with closing(connection):
        connection.backup(copy)
    return copy


def _connect(path: Path, query: str, timeout: float) -> Connection:
    import sqlite3

    return sqlite3.connect(
        f"{path.absolute().as_uri()}?{query}",
        uri=True,
        timeout=timeout,
        isolation_level=None,
        check_same_thread=False,
    )
