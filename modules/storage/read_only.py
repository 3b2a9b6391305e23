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


def reader(path: Path, patience: float) -> Connection:
    """Open the file at *path* with what its write-ahead log holds. Raises `sqlite3.Error`.

    SQLite reads a log only with its index at hand, which it cannot make here: a log without one is
    read in a copy, and without a log SQLite is told that nobody writes.
    """
    log, index = (path.with_name(path.name + end) for end in ("-wal", "-shm"))
    if log.exists() and index.exists() and index.stat().st_size >= _SMALLEST_INDEX:
        return _opened(path, "mode=ro", patience)
    if log.exists() and log.stat().st_size:
        return _copied(path, log)
    return _opened(path, "mode=ro&immutable=1", patience)


def _copied(path: Path, log: Path) -> Connection:
    import sqlite3

    with tempfile.TemporaryDirectory(prefix="onefold-") as folder:
        for part in (path, log):
            shutil.copyfile(part, Path(folder) / part.name)
        return in_memory(sqlite3.connect(Path(folder) / path.name, isolation_level=None))


def in_memory(connection: Connection) -> Connection:
    """Return a copy of all that *connection* reads, which can be changed, and close that."""
    import sqlite3

    copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    with closing(connection):
        connection.backup(copy)
    return copy


def _opened(path: Path, how: str, patience: float) -> Connection:
    import sqlite3

    return sqlite3.connect(
        f"{path.absolute().as_uri()}?{how}",
        uri=True,
        timeout=patience,
        isolation_level=None,
        check_same_thread=False,
    )
