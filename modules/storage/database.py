"""A SQLite file that threads and processes share, opened at first use, with failures explained."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from modules.storage.read_only import in_memory, open_read_only
from modules.storage.shared_lock import SharedLock
from modules.storage.sqlite_errors import (
    code_of,
    damaged,
    explanation,
    is_damage,
    is_write_refusal,
    read_only,
    unusable,
)
from utils.i18n import Phrase, UserError, phrase

if TYPE_CHECKING:
    from sqlite3 import Connection

Migration = Callable[["Connection"], None]
"""Brings a file from one version to the next, within a transaction."""

_creation_lock = threading.Lock()
_MAX_VERSION = 1_000
"""No file of ours has such a number: some damage left it."""


class DamagedDatabase(UserError):
    """Database file that is none (any more), or in which something is broken."""


class Database:
    """Database with one connection, guarded by a lock; processes wait for each other in SQLite.

    *schema* makes a new file; *migrations* bring an older one up to it, the first from version 1
    to 2. *timeout* is how many seconds to wait for another process; *shared_lock* is held while
    anything is written, a lock of the file's own unless it is said. Where nothing can be written
    the file is opened for reading alone. Everything raises `UserError` when the file cannot be
    used; it is never deleted.
    """

    def __init__(
        self,
        path: Path,
        schema: str,
        *,
        migrations: Sequence[Migration] = (),
        timeout: float = 5.0,
        shared_lock: SharedLock | None = None,
    ) -> None:
        self._path = path
        self._name = str(path)
        self._schema = schema
        self._migrations = migrations
        self._timeout = timeout
        self._explained = _ExplainedErrors(self._name)
        self._lock = threading.RLock()
        self._connection: Connection | None = None
        self._read_only_reason: Phrase | None = None
        self._identity = (0, 0)
        self._shared_lock = shared_lock or SharedLock(path.with_name(f"{path.name}.lock"))

    def exists(self) -> bool:
        """Return whether anything was ever kept."""
        return self._path.exists()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with self._lock, self._explained:
            yield self._opened()

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Everything done inside is on disk together when this ends, or not at all."""
        with (
            self._lock,
            self._explained,
            self._shared_lock.locked(),
            _transaction(self._writable()) as connection,
        ):
            yield connection

    @property
    def read_only_reason(self) -> Phrase | None:
        """Why nothing can be written, as far as was found out; None where it can."""
        return self._read_only_reason

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
            self._shared_lock.close()

    def _opened(self) -> Connection:
        if self._connection is not None and self._identity != _identity_of(self._name):
            self.close()  # another process put a new file in its place
        if self._connection is None:
            self._connection = self._open()
            self._identity = _identity_of(self._name)
        return self._connection

    def _writable(self) -> Connection:
        """Return a connection that can write; the obstacle may be gone by now."""
        if self._read_only_reason is not None:
            self.close()
        connection = self._opened()
        if self._read_only_reason is not None:
            raise UserError(self._read_only_reason)
        return connection

    def _open(self) -> Connection:
        import sqlite3  # at first use: the prompt does not wait for it

        self._read_only_reason = None
        try:
            return self._open_to_write()
        except (sqlite3.Error, OSError) as error:
            if not is_write_refusal(error) or not self._has_content():
                raise
            reader = self._open_to_read()
            self._read_only_reason = read_only(self._name, error)
            return reader

    def _open_to_write(self) -> Connection:
        import sqlite3

        self._create_file()
        connection = sqlite3.connect(
            self._path, timeout=self._timeout, isolation_level=None, check_same_thread=False
        )
        with _closed_on_failure(connection):
            self._enable_wal(connection)
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA foreign_keys=ON")
            self._migrate(connection)
        return connection

    def _create_file(self) -> None:
        """Make the file, for its owner only. Raises `OSError` if it is there and not to be written.

        Else it is not opened: to close it again would take every lock from it that SQLite has in
        this process (see fcntl(2)), and another process would take the log away from under us.
        """
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _creation_lock:
            if not (self._path.is_file() and os.access(self._path, os.R_OK | os.W_OK)):
                os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))

    def _has_content(self) -> bool:
        return self._path.exists() and self._path.stat().st_size > 0

    def _open_to_read(self) -> Connection:
        connection = open_read_only(self._path, self._timeout)
        if _version_of(connection) < self._version:
            connection = in_memory(connection)
            self._migrate(connection)
        with _closed_on_failure(connection):
            self._refuse_newer(connection)
        return connection

    @property
    def _version(self) -> int:
        return len(self._migrations) + 1

    def _migrate(self, connection: Connection) -> None:
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
        if not 0 < _version_of(connection) < _MAX_VERSION:
            raise DamagedDatabase(damaged(self._name))
        if _version_of(connection) > self._version:
            raise UserError(
                phrase("{path} was written by a newer Onefold. Update this one.", path=self._name)
            )

    def _enable_wal(self, connection: Connection) -> None:
        """Switch to the write-ahead log; SQLite does not wait here when others do the same."""
        import sqlite3

        deadline = time.monotonic() + self._timeout
        while True:
            try:
                connection.execute("PRAGMA journal_mode=WAL")
            except sqlite3.OperationalError as error:
                if code_of(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
            else:
                return


class _ExplainedErrors:
    """Raises errors of SQLite and the system about the file *name* as `UserError`.

    A class, which costs a third of a generator: it is entered many times a step.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if error is None:
            return
        import sqlite3

        if isinstance(error, sqlite3.Error):
            if (sentence := explanation(error, self._name)) is not None:
                raise (DamagedDatabase if is_damage(error) else UserError)(sentence) from error
        elif isinstance(error, UnicodeDecodeError):  # names of tables that are no text any more
            raise DamagedDatabase(damaged(self._name)) from error
        elif isinstance(error, OSError):
            raise UserError(unusable(self._name, error.strerror or str(error))) from error


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


def _identity_of(path: str) -> tuple[int, int]:
    """Return what tells the file from any other that gets its name."""
    status = os.stat(path)  # noqa: PTH116 - many times a step
    return status.st_dev, status.st_ino


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
