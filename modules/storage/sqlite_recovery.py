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
from modules.storage.sqlite_errors import unusable
from utils.i18n import UserError

if TYPE_CHECKING:
    from sqlite3 import Connection

    from modules.storage.page_reader import Buffer

Fill = Callable[["Connection", "Buffer", "Buffer"], None]
"""Gets a connection to a new file, and the content of a broken one and of its log."""
Columns = dict[str, dict[str, str]]
"""The types of the columns by their names, by table."""
Method = TypeVar("Method", bound=Callable[..., Any])


class Recoverable(Protocol):
    def _recover(self) -> bool:
        """Begin a new file with what a broken one holds; return whether it was broken."""


def with_recovery(method: Method) -> Method:
    """Retry *method* on a new file when the old one turns out to be broken."""

    @wraps(method)
    def call(self: Recoverable, *values: Any, **named: Any) -> Any:
        try:
            return method(self, *values, **named)
        except DamagedDatabase:
            self._recover()  # if nobody else just has
            return method(self, *values, **named)

    return call  # type: ignore[return-value]


class RecoverableDatabase(Database):
    """A database whose broken files are kept beside the one that is in use."""

    def is_whole(self) -> bool:
        """Return whether nothing is found wrong with the file; reads all of it.

        Looks at the file that has the name now: another process may have set ours aside.
        """
        self.close()
        try:
            with self.reading() as connection:
                found = connection.execute("PRAGMA integrity_check(1)").fetchone()
                return bool(found and found[0] == "ok") and self._has_our_schema(connection)
        except DamagedDatabase:
            return False

    def _has_our_schema(self, connection: Connection) -> bool:
        """Return whether the tables have our schema; SQLite accepts any.

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

    def rebuild(self, fill: Fill) -> Path | None:
        """Put a new file in the place of a broken one; return where that is kept, as it was.

        *fill* writes to the new file what the broken one and its log hold. The new one takes the
        name only when it is whole: after a kill or a failure all of this is done again. Nobody can
        write meanwhile. None when the file is not broken (any more).
        """
        with self._lock, self._explained, self._shared_lock.locked(exclusive=True):
            if self.is_whole():
                return None
            from modules.storage.page_reader import map_file  # for a file that is damaged only

            self.close()
            rebuilt = RecoverableDatabase(
                self._sibling("new"),
                self._schema,
                migrations=self._migrations,
                timeout=0.0,
                shared_lock=self._shared_lock,
            )
            rebuilt._delete()
            broken, wal = self._set_aside()
            with (
                map_file(broken) as data,
                map_file(wal) as wal_data,
                rebuilt.writing() as connection,
            ):
                fill(connection, data, wal_data)
            rebuilt._truncate_wal()
            rebuilt._path.replace(self._path)
            return broken

    def broken_files(self) -> list[Path]:
        """Return the broken files that are kept, oldest first."""
        found = self._path.parent.glob(f"{self._path.stem}.broken-*{self._path.suffix}")
        return sorted(found, key=lambda path: (len(path.name), path.name))

    def _truncate_wal(self) -> None:
        """Have all in the file itself and close it. Raises `UserError` when there is no room."""
        with self.reading() as connection:
            busy, frames, checkpointed = connection.execute(
                "PRAGMA wal_checkpoint(TRUNCATE)"
            ).fetchone()
        self.close()
        wal = self._with_suffix("-wal")
        if busy or frames != checkpointed or (wal.exists() and wal.stat().st_size):
            raise UserError(unusable(self._name, os.strerror(errno.ENOSPC)))

    def _set_aside(self) -> tuple[Path, Path]:
        """Give the broken file another name beside its own, and its log that one alone."""
        earlier = self.broken_files()
        if earlier and earlier[-1].samefile(self._path):  # as far as a kill let us come
            broken = earlier[-1]
        else:
            broken = self._sibling(f"broken-{len(earlier) + 1}")
            try:
                broken.hardlink_to(self._path)
            except OSError:  # a file system without such links
                shutil.copy2(self._path, broken)
        wal, broken_wal = self._with_suffix("-wal"), broken.with_name(f"{broken.name}-wal")
        if wal.exists() and not broken_wal.exists():
            wal.rename(broken_wal)
        self._delete_wal()
        return broken, broken_wal

    def _delete(self) -> None:
        """Remove the file, if there is one."""
        self._path.unlink(missing_ok=True)
        self._delete_wal()

    def _delete_wal(self) -> None:
        for suffix in ("-wal", "-shm"):
            self._with_suffix(suffix).unlink(missing_ok=True)

    def _sibling(self, label: str) -> Path:
        return self._path.with_name(f"{self._path.stem}.{label}{self._path.suffix}")

    def _with_suffix(self, suffix: str) -> Path:
        return self._path.with_name(f"{self._path.name}{suffix}")


def _columns(connection: Connection) -> Columns:
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type='table'").fetchall()
    return {
        name: dict(connection.execute("SELECT name, type FROM pragma_table_info(?)", (name,)))
        for (name,) in tables
    }
