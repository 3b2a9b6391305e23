"""Recovery of a broken checkpoint store: all that it still holds goes into a new one."""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modules.checkpoints.snapshot.entries import Entry, digest, is_digest
from modules.checkpoints.store.compression import decompress
from modules.checkpoints.store.schema import reserve_numbers_to
from modules.checkpoints.store.writings import writing_of
from modules.storage.database import Migration
from modules.storage.page_reader import Buffer, Value, read_rows
from modules.storage.sqlite_recovery import RecoverableDatabase
from utils.i18n import Phrase, phrase

if TYPE_CHECKING:
    from sqlite3 import Connection

_DIGEST_LENGTH = 32  # bytes
_BATCH_SIZE = 500
_MAX_NUMBER = 1 << 52
"""No number of ours comes that far: higher ones come from damage."""
_ROOT_KINDS = ([*[int] * 6, str, str, int], [*[int] * 6, str, str, int, str])
"""What the values of an `Entry` are, without its metadata and with them."""
_INSERTS = {
    "object": "INSERT OR IGNORE INTO object(digest, data) VALUES (?, ?)",
    "large": "INSERT OR IGNORE INTO large VALUES (?, ?)",
    "snapshot": "INSERT OR REPLACE INTO snapshot VALUES (?, ?, ?, ?, 0, ?)",
    "journal": "INSERT OR REPLACE INTO journal VALUES (?, ?, ?, ?)",
    "call": "INSERT OR REPLACE INTO call VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "undo": "INSERT OR REPLACE INTO undo VALUES (?, ?, ?, ?, ?)",
    "accepted": "INSERT OR REPLACE INTO accepted VALUES (?, ?, ?)",
    "writing": "INSERT OR REPLACE INTO writing VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
}
INTERRUPTED_UNDO_DAMAGED = phrase("An interrupted undo is damaged and could not be finished.")
SalvagedRow = tuple[str, Sequence[Value]]
"""Table of a row, and its values."""


class StoreDatabase(RecoverableDatabase):
    """The database of a store, with all that a broken one holds put into a new one.

    *locked* keeps other processes out meanwhile; *loose_folder* is the folder of the large
    contents; *clear_caches* is called before: nothing that is known of the old file need be so in
    the new one.
    """

    def __init__(
        self,
        path: Path,
        schema: str,
        *,
        migrations: Sequence[Migration],
        timeout: float,
        locked: Callable[[], AbstractContextManager[None]],
        clear_caches: Callable[[], None],
        loose_folder: Path,
    ) -> None:
        super().__init__(path, schema, migrations=migrations, timeout=timeout)
        self._locked = locked
        self._clear_caches = clear_caches
        self._loose_folder = loose_folder
        self.recoveries = 0
        """Number of recoveries into a new file since this was opened."""
        self._warnings: list[Phrase] = []

    def warnings(self) -> list[Phrase]:
        """Return the warnings for the person since the last call."""
        pending, self._warnings = self._warnings, []
        return pending

    def warn(self, warning: Phrase) -> None:
        self._warnings.append(warning)

    def recover(self) -> bool:
        """Begin a new file with what a broken one holds; return whether it was broken.

        The broken one is kept as it is. Every content is checked before it is trusted again, and
        no file of the project is believed to be unchanged since it was last looked at. A call of
        which a snapshot is lost is forgotten, and no number that was lost is given out again.
        """
        count = lost_journals = 0

        def fill(connection: Connection, data: Buffer, wal: Buffer) -> None:
            nonlocal count, lost_journals
            numbers = [int(time.time())]  # higher than any number that was ever given out
            for table, values in _batches(_salvaged_rows(read_rows(data, wal), self._loose_folder)):
                if table == "sqlite_sequence":
                    numbers += [row[1] for row in values if isinstance(row[1], int)]
                else:
                    connection.executemany(_INSERTS[table], values)
            lost_journals = _drop_dangling(connection)
            reserve_numbers_to(connection, max(numbers))
            connection.execute("UPDATE collected SET times=?", (time.time_ns(),))
            (count,) = connection.execute("SELECT COUNT(*) FROM snapshot").fetchone()

        with self._locked():
            self._clear_caches()
            broken = self.rebuild(fill)
            if broken is None:
                return False
            self.recoveries += 1
            if lost_journals:
                self.warn(INTERRUPTED_UNDO_DAMAGED)
            self.warn(
                phrase(
                    "The checkpoint store was damaged and was saved as {path}. Checkpoints "
                    "recovered: {count:,}. New checkpoints work as usual.",
                    path=str(broken),
                    count=count,
                )
            )
            return True


def _drop_dangling(connection: Connection) -> int:
    """Remove the calls, and the undos under way, of which a snapshot is lost; count the latter."""
    connection.execute(
        "DELETE FROM call WHERE before NOT IN (SELECT id FROM snapshot)"
        " OR after NOT IN (SELECT id FROM snapshot)"
    )
    return connection.execute(
        "DELETE FROM journal WHERE plan!=x'' AND before NOT IN (SELECT id FROM snapshot)"
    ).rowcount


def _batches(salvaged: Iterable[SalvagedRow]) -> Iterator[tuple[str, list[Sequence[Value]]]]:
    pending: dict[str, list[Sequence[Value]]] = {}
    for table, values in salvaged:
        batch = pending.setdefault(table, [])
        batch.append(values)
        if len(batch) >= _BATCH_SIZE:
            yield table, pending.pop(table)
    yield from pending.items()


def _salvaged_rows(
    found: Iterable[tuple[int, list[Value]]], loose_folder: Path
) -> Iterator[SalvagedRow]:
    for number, columns in found:
        salvaged = _object_row(columns, loose_folder)
        if salvaged is None and 0 < number < _MAX_NUMBER:
            salvaged = _record_row(number, columns)
        if salvaged is not None:
            yield salvaged


def _object_row(columns: list[Value], loose_folder: Path) -> SalvagedRow | None:
    match columns:
        case [None, bytes(key), bytes(data)] if _is_intact_content(key, data):
            return "object", (key, data)
        case [bytes(key), int(stored)] if len(key) == _DIGEST_LENGTH:
            is_there = (loose_folder / key.hex()[:2] / key.hex()).exists()
            return ("large", (key, stored)) if is_there else None
        case _:
            return None


def _record_row(number: int, columns: list[Value]) -> SalvagedRow | None:
    match columns:
        case [None, str(root), int() | float() as created, int() | float() as used, int(),
              str(refused)] if is_json_root(root) and is_json_list(refused):  # fmt: skip
            return "snapshot", (number, root, created, used, refused)
        case [None, int(before), bytes(plan), *rest]:
            return "journal", (number, before, plan, *(rest or [""]))
        case [None, str(), int(), str(), int(), None | int(), int(), int(), *_]:
            call_number = next((value for value in columns[8:] if isinstance(value, int)), 0)
            return "call", (number, *columns[1:8], call_number)
        case [None, str(), str(calls), str(spans), int()] if is_json_list(calls) and is_json_spans(
            spans
        ):
            return "undo", (number, *columns[1:])
        case [None, int(), int(), str(), *_] if writing_of([number, *columns[1:]]):
            return "writing", (number, *columns[1:])
        case [str(), int(last)] if 0 < last < _MAX_NUMBER:
            return "sqlite_sequence", columns
        case [str(), str(base), str(root)] if is_json_root(base) and is_json_root(root):
            return "accepted", columns
        case _:
            return None


def _is_intact_content(key: bytes, data: bytes) -> bool:
    try:
        return digest(decompress(data)) == key.hex()
    except zlib.error:
        return False


def is_json_list(text: object) -> bool:
    """Return whether *text* is the JSON of a list; a broken disk may give anything else."""
    return list_from_json(text) is not None


def list_from_json(text: object) -> list[Any] | None:
    """Return the list that *text* is the JSON of; None where it is that of none."""
    try:
        values = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, list) else None


def is_json_spans(text: object) -> bool:
    """Return whether *text* is the JSON of a list of pairs of numbers."""
    pairs = list_from_json(text)
    return pairs is not None and all(
        isinstance(pair, list) and list(map(type, pair)) == [int, int] for pair in pairs
    )


def is_json_root(text: object) -> bool:
    """Return whether *text* is the JSON of the `Entry` of a folder that was looked into."""
    return root_from_json(text) is not None


def root_from_json(text: object) -> Entry | None:
    """Return the `Entry` of a folder that was looked into; None where *text* is no JSON of one."""
    values = list_from_json(text)
    if values is None or [type(value) for value in values] not in _ROOT_KINDS:
        return None
    root = Entry(*values)
    return root if root.is_folder and is_digest(root.content) else None
