"""A database that goes on in a new file when its own turns out to be broken."""

from __future__ import annotations

import errno
import os
import shutil
from collections import deque
from collections.abc import Callable
from contextlib import closing
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from modules.storage.database import DamagedDatabase, Database
from modules.storage.page_reader import Buffer, mapped
from modules.storage.sqlite_errors import unusable
from utils.i18n import UserError

if TYPE_CHECKING:
    from sqlite3 import Connection

Fill = Callable[["Connection", Buffer, Buffer], None]
"""Gets a connection to a new file, and the content of a broken one and of its log."""
Columns = dict[str, dict[str, str]]
"""The types of the columns by their names, by table."""
Method = TypeVar("Method", bound=Callable[..., Any])


class Rescuable(Protocol):
    def _rescue(self) -> bool:
        """Begin a new file with what a broken one holds; return whether it was broken."""


def rescued(method: Method) -> Method:
    """Let *method* be tried again on a new file when the old one turns out to be broken."""

    @wraps(method)
    def call(self: Rescuable, *values: Any, **named: Any) -> Any:
        try:
            return method(self, *values, **named)
        except DamagedDatabase:
            self._rescue()  # if nobody else just has
            return method(self, *values, **named)

    return call  # type: ignore[return-value]


class RenewableDatabase(Database):
    """A database whose broken files are kept beside the one that is in use."""

    def is_whole(self) -> bool:
        """Return whether nothing is found wrong with the file; reads all of it.

        Looks at the file that has the name now: another process may have set ours aside.
        """
        self.close()
        try:
            with self.reading() as connection:
                found = connection.execute("PRAGMA integrity_check(1)").fetchone()
                return bool(found and found[0] == "ok") and self._can_be_read(connection)
        except DamagedDatabase:
            return False

    def _can_be_read(self, connection: Connection) -> bool:
        """Return whether the tables are ours; SQLite takes any for right.

        Raises `sqlite3.Error` where a text is none: SQLite does not look at texts.
        """
        import sqlite3

        with closing(sqlite3.connect(":memory:", isolation_level=None)) as ours:
            for statement in self._schema.split(";"):
                ours.execute(statement)
            wanted = _columns(ours)
        found = _columns(connection)
        if any(columns.keys() != found.get(name, {}).keys() for name, columns in wanted.items()):
            return False
        for name, columns in wanted.items():
            texts = ",".join(column for column, kind in columns.items() if kind == "TEXT")
            if texts:
                rows = connection.execute(f"SELECT {texts} FROM {name} NOT INDEXED")  # noqa: S608 - names of our schema
                deque(rows, maxlen=0)
        return True

    def renew(self, fill: Fill) -> Path | None:
        """Put a new file in the place of a broken one; return where that is kept, as it was.

        *fill* writes to the new file what the broken one and its log hold. The new one takes the
        name only when it is whole: after a kill or a failure all of this is done again. Nobody can
        write meanwhile. None when the file is not broken (any more).
        """
        with self._lock, self._explained(), self._shared.held(alone=True):
            if self.is_whole():
                return None
            self.close()
            fresh = RenewableDatabase(
                self._beside("new"),
                self._schema,
                migrations=self._migrations,
                patience=0.0,
                shared=self._shared,
            )
            fresh._delete()
            aside, log = self._kept_aside()
            with mapped(aside) as data, mapped(log) as logged, fresh.writing() as connection:
                fill(connection, data, logged)
            fresh._settle()
            fresh._path.replace(self._path)
            return aside

    def set_aside_before(self) -> list[Path]:
        """Return the broken files that are kept, oldest first."""
        found = self._path.parent.glob(f"{self._path.stem}.broken-*{self._path.suffix}")
        return sorted(found, key=lambda path: (len(path.name), path.name))

    def _settle(self) -> None:
        """Have all in the file itself and close it. Raises `UserError` when there is no room."""
        with self.reading() as connection:
            busy, logged, moved = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        self.close()
        log = self._with_end("-wal")
        if busy or logged != moved or (log.exists() and log.stat().st_size):
            raise UserError(unusable(self._name, os.strerror(errno.ENOSPC)))

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

    def _delete(self) -> None:
        """Remove the file, if there is one."""
        self._path.unlink(missing_ok=True)
        self._forget_log()

    def _forget_log(self) -> None:
        for end in ("-wal", "-shm"):
            self._with_end(end).unlink(missing_ok=True)

    def _beside(self, word: str) -> Path:
        return self._path.with_name(f"{self._path.stem}.{word}{self._path.suffix}")

    def _with_end(self, end: str) -> Path:
        return self._path.with_name(f"{self._path.name}{end}")


def _columns(connection: Connection) -> Columns:
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type='table'").fetchall()
    return {
        name: dict(connection.execute("SELECT name, type FROM pragma_table_info(?)", (name,)))
        for (name,) in tables
    }
