"""A SQLite file that threads and processes share, opened at first use, with failures explained."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from modules.read_only import in_memory, reader
from modules.salvage import Buffer, mapped
from modules.sqlite_errors import (
    code_of,
    damaged,
    explanation,
    is_damage,
    is_refusal,
    only_readable,
    unusable,
)
from utils.phrases import Phrase, Problem, phrase

if TYPE_CHECKING:
    from sqlite3 import Connection

Migration = Callable[["Connection"], None]
"""Brings a file from one version to the next, within a transaction."""
Fill = Callable[["Connection", Buffer, Buffer], None]
"""Gets a connection to a new file, and the content of a broken one and of its log."""


_NO_VERSION = 1_000
"""No file of ours has such a number: it is what some damage left."""

Method = TypeVar("Method", bound=Callable[..., Any])


class Damaged(Problem):
    """The file is no database (any more), or something in it is broken."""


class Rescuable(Protocol):
    def _rescue(self) -> bool:
        """Begin a new file with what a broken one holds; return whether it was broken."""


def rescued(method: Method) -> Method:
    """Let *method* be tried again on a new file when the old one turns out to be broken."""

    @wraps(method)
    def call(self: Rescuable, *values: Any, **named: Any) -> Any:
        try:
            return method(self, *values, **named)
        except Damaged:
            self._rescue()  # if nobody else just has
            return method(self, *values, **named)

    return call  # type: ignore[return-value]


class Database:
    """One connection guarded by a lock; other processes wait for each other in SQLite.

    *schema* makes a new file; *migrations* bring an older one up to it, the first from version 1
    to 2. *patience* is how many seconds to wait for another process. Where nothing can be written
    the file is opened for reading alone. Everything raises `Problem` when the file cannot be used;
    it is never deleted.
    """

    def __init__(
        self,
        path: Path,
        schema: str,
        *,
        migrations: Sequence[Migration] = (),
        patience: float = 5.0,
    ) -> None:
        self._path = path
        self._schema = schema
        self._migrations = migrations
        self._patience = patience
        self._lock = threading.RLock()
        self._connection: Connection | None = None
        self._refusal: Phrase | None = None
        self._identity = (0, 0)
        self._lock_handle: int | None = None
        self._is_locked = False

    def exists(self) -> bool:
        """Return whether anything was ever kept."""
        return self._path.exists()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with self._lock, self._explained():
            yield self._opened()

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Everything done inside is on disk together when this ends, or not at all."""
        with (
            self._lock,
            self._explained(),
            self._shared_with_others(fcntl.LOCK_SH),
            _transaction(self._writable()) as connection,
        ):
            yield connection

    @contextmanager
    def _shared_with_others(self, kind: int) -> Iterator[None]:
        """Keep other processes from renewing the file, or, alone, from writing to it."""
        handle = None if self._is_locked else self._lock_file()
        if handle is None:
            yield
            return
        fcntl.flock(handle, kind)
        self._is_locked = True
        try:
            yield
        finally:
            self._is_locked = False
            fcntl.flock(handle, fcntl.LOCK_UN)

    def _lock_file(self) -> int | None:
        """Return a descriptor of the file that is locked, None where none can be made."""
        if self._lock_handle is None:
            with suppress(OSError):
                self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
                self._lock_handle = os.open(self._with_end(".lock"), flags, 0o600)
        return self._lock_handle

    @property
    def refusal(self) -> Phrase | None:
        """Why nothing can be written, as far as was found out; None where it can."""
        return self._refusal

    def is_whole(self) -> bool:
        """Return whether SQLite finds nothing wrong with the file; reads all of it.

        Looks at the file that has the name now: another process may have set ours aside.
        """
        self.close()
        try:
            with self.reading() as connection:
                found = connection.execute("PRAGMA integrity_check(1)").fetchone()
                return bool(found and found[0] == "ok") and self._has_our_tables(connection)
        except Damaged:
            return False

    def _has_our_tables(self, connection: Connection) -> bool:
        """Return whether the tables have the columns they should; SQLite takes any for right."""
        import sqlite3

        with closing(sqlite3.connect(":memory:", isolation_level=None)) as ours:
            for statement in self._schema.split(";"):
                ours.execute(statement)
            wanted = _columns(ours)
        found = _columns(connection)
        return all(set(columns) == set(found.get(table, ())) for table, columns in wanted.items())

    def renew(self, fill: Fill) -> Path | None:
        """Put a new file in the place of a broken one; return where that is kept, as it was.

        *fill* writes to the new file what the broken one and its log hold. The new one takes the
        name only when it is whole: after a kill or a failure all of this is done again. Nobody can
        write meanwhile. None when the file is not broken (any more).
        """
        with self._lock, self._explained(), self._shared_with_others(fcntl.LOCK_EX):
            if self.is_whole():
                return None
            self.close()
            fresh = Database(
                self._beside("new"), self._schema, migrations=self._migrations, patience=0.0
            )
            fresh.delete()
            fresh._is_locked = True  # nobody else knows of it
            aside, log = self._kept_aside()
            with mapped(aside) as data, mapped(log) as logged, fresh.writing() as connection:
                fill(connection, data, logged)
            fresh._settle()
            fresh._path.replace(self._path)
            return aside

    def _settle(self) -> None:
        """Have all in the file itself and close it. Raises `Problem` when there is no room."""
        with self.reading() as connection:
            busy, logged, moved = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        self.close()
        log = self._with_end("-wal")
        if busy or logged != moved or (log.exists() and log.stat().st_size):
            raise Problem(unusable(self._name, os.strerror(errno.ENOSPC)))

    def _kept_aside(self) -> tuple[Path, Path]:
        """Give the broken file another name beside its own, and its log that one alone."""
        before = self.set_aside_before()
        if before and before[-1].samefile(self._path):  # as far as a kill let us come
            aside = before[-1]
        else:
            aside = self._beside(f"broken-{len(before) + 1}")
            try:
                aside.hardlink_to(self._path)
            except OSError:  # a file system without such links
                shutil.copy2(self._path, aside)
        log, aside_log = self._with_end("-wal"), aside.with_name(f"{aside.name}-wal")
        if log.exists() and not aside_log.exists():
            log.rename(aside_log)
        self._forget_log()
        return aside, aside_log

    def delete(self) -> None:
        """Remove the file, if there is one."""
        self._path.unlink(missing_ok=True)
        self._forget_log()

    def _forget_log(self) -> None:
        for end in ("-wal", "-shm"):
            self._with_end(end).unlink(missing_ok=True)

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
            if self._lock_handle is not None and not self._is_locked:
                os.close(self._lock_handle)
                self._lock_handle = None

    def _opened(self) -> Connection:
        if self._connection is not None and self._identity != _identity_of(self._path):
            self.close()  # another process put a new file in its place
        if self._connection is None:
            self._connection = self._open()
            self._identity = _identity_of(self._path)
        return self._connection

    def _writable(self) -> Connection:
        """Return a connection that can write; what was in the way may be gone by now."""
        if self._refusal is not None:
            self.close()
        connection = self._opened()
        if self._refusal is not None:
            raise Problem(self._refusal)
        return connection

    def _open(self) -> Connection:
        import sqlite3  # at first use: the prompt does not wait for it

        self._refusal = None
        try:
            return self._open_to_write()
        except (sqlite3.Error, OSError) as error:
            if not is_refusal(error) or not self._has_content():
                raise
            reader = self._open_to_read()
            self._refusal = only_readable(self._name, error)
            return reader

    def _open_to_write(self) -> Connection:
        import sqlite3

        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        connection = sqlite3.connect(
            self._path, timeout=self._patience, isolation_level=None, check_same_thread=False
        )
        with _closed_on_failure(connection):
            self._write_ahead(connection)
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA foreign_keys=ON")
            self._bring_up_to_date(connection)
        return connection

    def _has_content(self) -> bool:
        return self._path.exists() and self._path.stat().st_size > 0

    def _open_to_read(self) -> Connection:
        connection = reader(self._path, self._patience)
        if _version_of(connection) < self._version:
            connection = in_memory(connection)
            self._bring_up_to_date(connection)
        with _closed_on_failure(connection):
            self._refuse_newer(connection)
        return connection

    @property
    def _version(self) -> int:
        return len(self._migrations) + 1

    def _bring_up_to_date(self, connection: Connection) -> None:
        if _version_of(connection) < self._version:
            with _transaction(connection):
                if _version_of(connection) == 0:
                    for statement in self._schema.split(";"):
                        connection.execute(statement)
                else:
                    for migrate in self._migrations[_version_of(connection) - 1 :]:
                        migrate(connection)
                connection.execute(f"PRAGMA user_version={self._version}")
        self._refuse_newer(connection)

    def _refuse_newer(self, connection: Connection) -> None:
        if not 0 < _version_of(connection) < _NO_VERSION:
            raise Damaged(damaged(self._name))
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
                if code_of(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
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
            if (what := explanation(error, self._name)) is None:
                raise
            raise (Damaged if is_damage(error) else Problem)(what) from error
        except UnicodeDecodeError as error:  # the names of the tables are no text any more
            raise Damaged(damaged(self._name)) from error
        except OSError as error:
            why = error.strerror or str(error)
            raise Problem(unusable(self._name, why)) from error


@contextmanager
def _transaction(connection: Connection) -> Iterator[Connection]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
        connection.execute("COMMIT")
    except BaseException:  # whatever it was, the next one must not find a transaction open
        # A full or failing disk makes SQLite roll back by itself.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _identity_of(path: Path) -> tuple[int, int]:
    """Return what tells the file from any other that gets its name."""
    found = path.stat()
    return found.st_dev, found.st_ino


def _columns(connection: Connection) -> dict[str, list[str]]:
    """Return the names of the columns by table."""
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type='table'").fetchall()
    return {
        name: [
            column
            for (column,) in connection.execute("SELECT name FROM pragma_table_info(?)", (name,))
        ]
        for (name,) in tables
    }


def _version_of(connection: Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


@contextmanager
def _closed_on_failure(connection: Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:  # whatever it was, nobody else will close it
        connection.close()
        raise
