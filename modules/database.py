"""A SQLite file that threads and processes share, opened at first use, with failures explained."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from utils.phrases import Phrase, Problem, phrase

if TYPE_CHECKING:
    from sqlite3 import Connection, Error


_BROKEN = ("no such table: ", "no such column: ", "Could not decode", "unsupported file format")
"""What SQLite says, without a code of its own, of a file that was not written like this by us."""
_FORMAT = 24  # SQLITE_FORMAT, which the module of Python does not name


class Damaged(Problem):
    """The file is no database (any more), or something in it is broken."""


class Database:
    """One connection guarded by a lock; other processes wait for each other in SQLite.

    *schema* makes a new file of *version*. *patience* is how many seconds to wait for another
    process. Everything raises `Problem` when the file cannot be used; it is never deleted.
    """

    def __init__(self, path: Path, schema: str, *, version: int, patience: float = 5.0) -> None:
        self._path = path
        self._schema = schema
        self._version = version
        self._patience = patience
        self._lock = threading.RLock()
        self._connection: Connection | None = None

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with self._lock, self._explained():
            yield self._opened()

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Everything done inside is on disk together when this ends, or not at all."""
        with self._lock, self._explained(), _transaction(self._opened()) as connection:
            yield connection

    def is_whole(self) -> bool:
        """Return whether SQLite finds nothing wrong with the file; reads all of it."""
        try:
            with self.reading() as connection:
                found = connection.execute("PRAGMA integrity_check(1)").fetchone()
        except Damaged:
            return False
        return bool(found and found[0] == "ok")

    def set_aside(self) -> tuple[Path, Path]:
        """Move the file to a name that is free; return that and the one of its log.

        Others who have it open go on with it there.
        """
        self.close()
        with self._lock, self._explained():
            number = 1
            while (aside := self._beside(f"broken-{number}")).exists():
                number += 1
            log, aside_log = self._with_end("-wal"), aside.with_name(f"{aside.name}-wal")
            if log.exists():
                log.rename(aside_log)
            self._path.rename(aside)
            self._with_end("-shm").unlink(missing_ok=True)
            return aside, aside_log

    def set_aside_before(self) -> list[Path]:
        """Return the files that were ever moved away, oldest first."""
        found = self._path.parent.glob(f"{self._path.stem}.broken-*{self._path.suffix}")
        return sorted(found, key=lambda path: (len(path.name), path.name))

    def _beside(self, word: str) -> Path:
        return self._path.with_name(f"{self._path.stem}.{word}{self._path.suffix}")

    def _with_end(self, end: str) -> Path:
        return self._path.with_name(f"{self._path.name}{end}")

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _opened(self) -> Connection:
        if self._connection is None:
            self._connection = self._open()
        return self._connection

    def _open(self) -> Connection:
        import sqlite3  # at first use: the prompt does not wait for it

        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        connection = sqlite3.connect(
            self._path, timeout=self._patience, isolation_level=None, check_same_thread=False
        )
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: Connection) -> None:
        self._write_ahead(connection)
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        if _version_of(connection) == 0:
            with _transaction(connection):
                if _version_of(connection) == 0:
                    for statement in self._schema.split(";"):
                        connection.execute(statement)
                    connection.execute(f"PRAGMA user_version={self._version}")
        if _version_of(connection) > self._version:
            raise Problem(
                phrase("{path} was written by a newer Onefold. Update this one.", path=self._name)
            )

    def _write_ahead(self, connection: Connection) -> None:
        """Switch to the write-ahead log; SQLite does not wait here when others do the same."""
        import sqlite3

        deadline = time.monotonic() + self._patience
        while True:
            try:
                connection.execute("PRAGMA journal_mode=WAL")
            except sqlite3.OperationalError as error:
                if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
            else:
                return

    @property
    def _name(self) -> str:
        return str(self._path)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        import sqlite3

        try:
            yield
        except sqlite3.Error as error:
            if (what := _explanation(error, self._name)) is None:
                raise
            raise (Damaged if _is_damage(error) else Problem)(what) from error
        except UnicodeDecodeError as error:  # the names of the tables are no text any more
            raise Damaged(_damaged(self._name)) from error
        except OSError as error:
            why = error.strerror or str(error)
            raise Problem(_unwritable(self._name, why)) from error


@contextmanager
def _transaction(connection: Connection) -> Iterator[Connection]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        # A full or failing disk makes SQLite roll back by itself.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _version_of(connection: Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def _code(error: Error) -> int:
    """Return SQLite's primary result code, 0 for an error of the Python module itself."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _is_damage(error: Error) -> bool:
    import sqlite3

    told = str(error)
    return _code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, _FORMAT) or (
        told.startswith(_BROKEN) or told.endswith("already exists")
    )


def _explanation(error: Error, path: str) -> Phrase | None:
    """Say what is wrong with the file at *path*; None for a mistake of ours."""
    import sqlite3

    match _code(error):
        case _ if _is_damage(error):
            return _damaged(path)
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return phrase("{path} is held by another program. Close that and try again.", path=path)
        case sqlite3.SQLITE_FULL:
            return phrase(
                "The disk is full: nothing more fits into {path}. What was kept is safe; make room "
                "and try again.",
                path=path,
            )
        case (
            sqlite3.SQLITE_READONLY
            | sqlite3.SQLITE_CANTOPEN
            | sqlite3.SQLITE_PERM
            | sqlite3.SQLITE_IOERR
            | sqlite3.SQLITE_PROTOCOL
            | sqlite3.SQLITE_NOLFS
        ):
            return _unwritable(path, str(error))
        case _:
            return None


def _damaged(path: str) -> Phrase:
    return phrase(
        "{path} is damaged. Nothing was changed: move it away to start afresh, or try to "
        "rescue it with sqlite3's .recover.",
        path=path,
    )


def _unwritable(path: str, why: str) -> Phrase:
    return phrase(
        "{path} cannot be used: {why}. Mend that, or choose another data folder with "
        "ONEFOLD_DATA_DIR.",
        path=path,
        why=why,
    )
