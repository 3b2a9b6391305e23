"""The book of snapshots, of undos under way, and of what each call and each undo did."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from modules.checkpoints.entries import REASONS, Entry
from modules.checkpoints.plan import Plan
from modules.database import Database
from utils.phrases import Phrase, Problem, phrase

_REFRESH = 3600.0  # seconds after which a snapshot that is seen again is marked as in use

Span = tuple[int, int]
"""The numbers of the snapshots before and after something."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of the folder when it was looked at; *created* in seconds since the epoch."""

    id: int
    created: float
    root: Entry
    checked_ns: int
    refused: tuple[tuple[str, str], ...]

    @property
    def not_held(self) -> list[tuple[str, Phrase]]:
        """The paths whose content this snapshot could not keep, and why."""
        return [(path, REASONS[why]) for path, why in self.refused]


@dataclass(frozen=True, slots=True)
class CallRecord:
    """What a call did: *after* is None when it never ended; *visible* counts its changes."""

    id: int
    turn: int
    call_id: str
    before: int
    after: int | None
    visible: int
    is_undone: int


@dataclass(frozen=True, slots=True)
class UndoRecord:
    """An undo or rewind: the calls it took back, and the snapshots around each part of it."""

    id: int
    calls: tuple[int, ...]
    spans: tuple[Span, ...]


class Ledger:
    """Rows of the store's database, as values."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def latest(self) -> Snapshot | None:
        rows = self._rows(
            "SELECT id, created, root, checked_ns, not_held FROM snapshot"
            " ORDER BY used DESC, id DESC LIMIT 1"
        )
        return _snapshot(rows[0]) if rows else None

    def snapshot(self, number: int) -> Snapshot:
        """Return the snapshot *number*. Raises `Problem` when it was collected."""
        rows = self._rows(
            "SELECT id, created, root, checked_ns, not_held FROM snapshot WHERE id=?", number
        )
        if not rows:
            raise Problem(phrase("The checkpoint {number} is no longer kept.", number=number))
        return _snapshot(rows[0])

    def add_snapshot(
        self, root: Entry, checked_ns: int, refused: Sequence[tuple[str, str]]
    ) -> Snapshot:
        """Keep the snapshot, or find the one that is equal to it."""
        now = time.time()
        values = json.dumps(root), now, now, checked_ns, json.dumps(refused)
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO snapshot(root, created, used, checked_ns, not_held)"
                " VALUES (?, ?, ?, ?, ?) ON CONFLICT(root) DO UPDATE SET used=excluded.used,"
                " checked_ns=excluded.checked_ns, not_held=excluded.not_held",
                values,
            )
            row = connection.execute(
                "SELECT id, created, root, checked_ns, not_held FROM snapshot WHERE root=?",
                values[:1],
            ).fetchone()
        return _snapshot(row)

    def seen_again(self, snapshot: Snapshot, checked_ns: int) -> Snapshot:
        """Return *snapshot* as seen now; written down once in a while, for the collection."""
        if checked_ns - snapshot.checked_ns > _REFRESH * 1e9:
            return self.add_snapshot(snapshot.root, checked_ns, snapshot.refused)
        return snapshot

    def collections(self) -> int:
        """Return how often unused contents were removed from the store."""
        return int(self._rows("SELECT times FROM collected")[0][0])

    def open_journal(self, before: int, plan: Plan) -> int:
        return self._write("INSERT INTO journal(before, plan) VALUES (?, ?)", before, plan.encode())

    def close_journal(self, number: int) -> None:
        self._write("DELETE FROM journal WHERE id=?", number)

    def unfinished(self) -> tuple[int, int, Plan] | None:
        """Return (number, snapshot before, plan) of an undo that was cut short."""
        rows = self._rows("SELECT id, before, plan FROM journal ORDER BY id LIMIT 1")
        return (rows[0][0], rows[0][1], Plan.decode(rows[0][2])) if rows else None

    def begin_call(self, session: str, turn: int, call_id: str, before: int) -> int:
        return self._write(
            "INSERT INTO call(session, turn, call_id, before) VALUES (?, ?, ?, ?)",
            session, turn, call_id, before,
        )  # fmt: skip

    def end_call(self, number: int, after: int, visible: int) -> None:
        self._write("UPDATE call SET after=?, visible=? WHERE id=?", after, visible, number)

    def drop_call(self, number: int) -> None:
        self._write("DELETE FROM call WHERE id=?", number)

    def call(self, session: str, call_id: str) -> CallRecord | None:
        """Return the newest call of that id."""
        rows = self._rows(
            "SELECT id, turn, call_id, before, after, visible, is_undone FROM call"
            " WHERE session=? AND call_id=? ORDER BY id DESC LIMIT 1",
            session,
            call_id,
        )
        return CallRecord(*rows[0]) if rows else None

    def calls(self, session: str) -> list[CallRecord]:
        rows = self._rows(
            "SELECT id, turn, call_id, before, after, visible, is_undone FROM call"
            " WHERE session=? ORDER BY id",
            session,
        )
        return [CallRecord(*row) for row in rows]

    def copy_calls(self, session: str, copy: str, turn: int) -> None:
        """Let *copy*, a fork, know the calls of *session* up to the end of *turn*."""
        self._write(
            "INSERT INTO call(session, turn, call_id, before, after, visible, is_undone)"
            " SELECT ?, turn, call_id, before, after, visible, is_undone FROM call"
            " WHERE session=? AND turn<=? AND after IS NOT NULL ORDER BY id",
            copy, session, turn,
        )  # fmt: skip

    def add_undo(self, session: str, calls: Sequence[int], spans: Sequence[Span]) -> int:
        """Note an undo, of the conversation alone where there are no *spans*; return its number."""
        with self._database.writing() as connection:
            number = connection.execute(
                "INSERT INTO undo(session, calls, spans) VALUES (?, ?, ?)",
                (session, json.dumps(calls), json.dumps(spans)),
            ).lastrowid
            marks = [(call,) for call in calls]
            connection.executemany("UPDATE call SET is_undone=1 WHERE id=?", marks)
        return number or 0

    def last_undo(self, session: str) -> UndoRecord | None:
        """Return the newest undo that was not itself taken back, None when there is none."""
        rows = self._rows(
            "SELECT id, calls, spans FROM undo WHERE session=? AND NOT is_redone"
            " ORDER BY id DESC LIMIT 1",
            session,
        )
        if not rows:
            return None
        number, calls, spans = rows[0]
        return UndoRecord(
            number, tuple(json.loads(calls)), tuple((a, b) for a, b in json.loads(spans))
        )

    def mark_redone(self, undo: UndoRecord) -> None:
        with self._database.writing() as connection:
            connection.execute("UPDATE undo SET is_redone=1 WHERE id=?", (undo.id,))
            marks = [(call,) for call in undo.calls]
            connection.executemany("UPDATE call SET is_undone=0 WHERE id=?", marks)

    def _rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with self._database.reading() as connection:
            return connection.execute(statement, values).fetchall()

    def _write(self, statement: str, *values: object) -> int:
        with self._database.writing() as connection:
            return connection.execute(statement, values).lastrowid or 0


def _snapshot(row: tuple[int, float, str, int, str]) -> Snapshot:
    number, created, root, checked_ns, refused = row
    pairs = tuple((path, why) for path, why in json.loads(refused))
    return Snapshot(number, created, Entry(*json.loads(root)), checked_ns, pairs)
