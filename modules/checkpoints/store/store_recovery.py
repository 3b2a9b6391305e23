"""Going on with what a broken checkpoint store still holds."""

from __future__ import annotations

import json
import re
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from modules.checkpoints.snapshot.entries import Entry, digest
from modules.checkpoints.store.compression import unpack
from modules.checkpoints.store.schema import go_on_above
from modules.storage.database import Migration
from modules.storage.page_reader import Buffer, Value, rows
from modules.storage.sqlite_recovery import RenewableDatabase
from utils.i18n import Phrase, phrase

if TYPE_CHECKING:
    from sqlite3 import Connection

_DIGEST = 32  # bytes
_KEY = re.compile(r"[0-9a-f]{64}")
_BATCH = 500
_LARGEST = 1 << 52
"""No number of ours comes that far: what is above is what some damage left."""
_TABLES = {
    "object": "INSERT OR IGNORE INTO object(digest, data) VALUES (?, ?)",
    "large": "INSERT OR IGNORE INTO large VALUES (?, ?)",
    "snapshot": "INSERT OR REPLACE INTO snapshot VALUES (?, ?, ?, ?, 0, ?)",
    "journal": "INSERT OR REPLACE INTO journal VALUES (?, ?, ?, ?)",
    "call": "INSERT OR REPLACE INTO call VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "undo": "INSERT OR REPLACE INTO undo VALUES (?, ?, ?, ?, ?)",
    "accepted": "INSERT OR REPLACE INTO accepted VALUES (?, ?, ?)",
}
CUT_SHORT = phrase("An undo that was cut short is damaged, so it stays as far as it got.")
Saved = tuple[str, Sequence[Value]]
"""The table of a row, and what to put into it."""


class StoreDatabase(RenewableDatabase):
    """The database of a store, with all that a broken one holds put into a new one.

    *alone* keeps other processes out meanwhile; *large* is the folder of the large contents;
    *forget* is called before: nothing that is known of the old file need be so in the new one.
    """

    def __init__(
        self,
        path: Path,
        schema: str,
        *,
        migrations: Sequence[Migration],
        patience: float,
        alone: Callable[[], AbstractContextManager[None]],
        forget: Callable[[], None],
        large: Path,
    ) -> None:
        super().__init__(path, schema, migrations=migrations, patience=patience)
        self._alone = alone
        self._forget = forget
        self._large = large
        self.rescues = 0
        """How often another file was begun since this was opened."""
        self._told: list[Phrase] = []

    def warnings(self) -> list[Phrase]:
        """Return what the person should see and was not told yet."""
        told, self._told = self._told, []
        return told

    def tell(self, what: Phrase) -> None:
        self._told.append(what)

    def rescue(self) -> bool:
        """Begin a new file with what a broken one holds; return whether it was broken.

        The broken one is kept as it is. Every content is checked before it is trusted again, and
        no file of the project is believed to be unchanged since it was last looked at. A call of
        which a snapshot is lost is forgotten, and no number that was lost is given out again.
        """
        count = journals = 0

        def fill(connection: Connection, data: Buffer, log: Buffer) -> None:
            nonlocal count, journals
            named = [int(time.time())]  # higher than any number that was ever given out
            for table, values in _batches(_saved(rows(data, log), self._large)):
                if table == "sqlite_sequence":
                    named += [row[1] for row in values if isinstance(row[1], int)]
                else:
                    connection.executemany(_TABLES[table], values)
            journals = _drop_unfounded(connection)
            go_on_above(connection, max(named))
            connection.execute("UPDATE collected SET times=?", (time.time_ns(),))
            (count,) = connection.execute("SELECT COUNT(*) FROM snapshot").fetchone()

        with self._alone():
            self._forget()
            aside = self.renew(fill)
            if aside is None:
                return False
            self.rescues += 1
            if journals:
                self.tell(CUT_SHORT)
            self.tell(
                phrase(
                    "The store of the checkpoints was damaged; it is kept as {path}. States of the "
                    "folder saved: {count}. What is lost of them is said when it is wanted; new "
                    "checkpoints go on.",
                    path=str(aside),
                    count=count,
                )
            )
            return True


def _drop_unfounded(connection: Connection) -> int:
    """Remove the calls, and the undos under way, of which a snapshot is lost; count the latter."""
    connection.execute(
        "DELETE FROM call WHERE before NOT IN (SELECT id FROM snapshot)"
        " OR after NOT IN (SELECT id FROM snapshot)"
    )
    return connection.execute(
        "DELETE FROM journal WHERE plan!=x'' AND before NOT IN (SELECT id FROM snapshot)"
    ).rowcount


def _batches(saved: Iterable[Saved]) -> Iterator[tuple[str, list[Sequence[Value]]]]:
    waiting: dict[str, list[Sequence[Value]]] = {}
    for table, values in saved:
        batch = waiting.setdefault(table, [])
        batch.append(values)
        if len(batch) >= _BATCH:
            yield table, waiting.pop(table)
    yield from waiting.items()


def _saved(found: Iterable[tuple[int, list[Value]]], large: Path) -> Iterator[Saved]:
    for number, columns in found:
        saved = _content(columns, large)
        if saved is None and 0 < number < _LARGEST:
            saved = _record(number, columns)
        if saved is not None:
            yield saved


def _content(columns: list[Value], large: Path) -> Saved | None:
    match columns:
        case [None, bytes(key), bytes(data)] if _is_content(key, data):
            return "object", (key, data)
        case [bytes(key), int(stored)] if len(key) == _DIGEST:
            is_there = (large / key.hex()[:2] / key.hex()).exists()
            return ("large", (key, stored)) if is_there else None
        case _:
            return None


def _record(number: int, columns: list[Value]) -> Saved | None:
    match columns:
        case [None, str(root), int() | float() as created, int() | float() as used, int(),
              str(refused)] if is_root(root) and is_list(refused):  # fmt: skip
            return "snapshot", (number, root, created, used, refused)
        case [None, int(before), bytes(plan), *rest]:
            return "journal", (number, before, plan, *(rest or [""]))
        case [None, str(), int(), str(), int(), None | int(), int(), int(), *_]:
            place = next((value for value in columns[8:] if isinstance(value, int)), 0)
            return "call", (number, *columns[1:8], place)
        case [None, str(), str(calls), str(spans), int()] if is_list(calls) and are_spans(spans):
            return "undo", (number, *columns[1:])
        case [str(), int(last)] if 0 < last < _LARGEST:
            return "sqlite_sequence", columns
        case [str(), str(base), str(root)] if is_root(base) and is_root(root):
            return "accepted", columns
        case _:
            return None


def _is_content(key: bytes, data: bytes) -> bool:
    try:
        return digest(unpack(data)) == key.hex()
    except zlib.error:
        return False


def is_list(text: object) -> bool:
    """Return whether *text* is the JSON of a list; a broken disk may give anything else."""
    try:
        return isinstance(text, str) and isinstance(json.loads(text), list)
    except (ValueError, RecursionError):
        return False


def are_spans(text: object) -> bool:
    """Return whether *text* is the JSON of a list of pairs of numbers."""
    return is_list(text) and all(
        isinstance(pair, list) and list(map(type, pair)) == [int, int]
        for pair in json.loads(str(text))
    )


def is_root(text: object) -> bool:
    """Return whether *text* is the JSON of the `Entry` of a folder that was looked into."""
    if not isinstance(text, str) or not is_list(text):
        return False
    values = json.loads(text)
    kinds = [type(value) for value in values]
    if kinds not in ([*[int] * 6, str, str, int], [*[int] * 6, str, str, int, str]):
        return False
    return Entry(*values).is_folder and _KEY.fullmatch(values[6]) is not None
