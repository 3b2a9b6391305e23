"""Index of the store: snapshots, undos under way, and the record of each call and each undo."""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from modules.checkpoints.restore.operations import Plan
from modules.checkpoints.snapshot.entries import REASONS, Entry
from modules.checkpoints.store.store_recovery import (
    INTERRUPTED_UNDO_DAMAGED,
    StoreDatabase,
    is_json_list,
    is_json_spans,
    list_from_json,
    root_from_json,
)
from modules.checkpoints.store.writings import OTHERS, add_span
from modules.checkpoints.undo.background_ids import BETWEEN_TURNS, IN_BACKGROUND
from modules.checkpoints.undo.journal import OperationPart, Span, UndoOperation
from modules.storage.sqlite_recovery import with_recovery
from utils.i18n import Phrase, UserError, phrase

if TYPE_CHECKING:
    from sqlite3 import Connection

_REFRESH_AFTER = 3600.0  # seconds after which a snapshot that is seen again is marked as in use

_CALLS = "SELECT id, turn, call_id, before, after, visible, is_undone, number FROM call NOT INDEXED"
"""Without the index, which may be broken where the rows are not; they are few."""

_END_CALL = "UPDATE call SET after=?, visible=? WHERE id=?"
_MARK_NOT_UNDONE = "UPDATE call SET is_undone=0 WHERE id=?"
_JOURNAL = "INSERT OR REPLACE INTO journal(id, before, plan, operation) VALUES (?, ?, ?, ?)"

_REFUSED = 2
"""In the place of "is it redone": what the person refused is not to be brought again."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of the folder when it was looked at; *created* in seconds since the epoch."""

    id: int
    created: float
    root: Entry
    checked_ns: int
    not_stored: tuple[tuple[str, str], ...]

    @property
    def not_stored_phrases(self) -> list[tuple[str, Phrase]]:
        """Paths whose content this snapshot could not store, each with the reason."""
        return [(path, REASONS[why]) for path, why in self.not_stored]


@dataclass(frozen=True, slots=True)
class ScanStamp:
    """Stamp of a scan of the folder: when it began, and the store's count of recoveries then.

    It vouches only for what is in the file of that count.
    """

    started_ns: int
    recoveries: int


@dataclass(frozen=True, slots=True)
class CallRecord:
    """Record of a call: *after* is None when it never ended; *visible_changes* counts its changes.

    *number* is its place among the calls of the session that changed anything, from 1.
    """

    id: int
    turn: int
    call_id: str
    before: int
    after: int | None
    visible_changes: int
    is_undone: int
    number: int

    @property
    def is_between_turns(self) -> bool:
        """Whether it stands for what was done in the background while no turn ran.

        The person may have had a hand in that.
        """
        return self.call_id.startswith(BETWEEN_TURNS)

    @property
    def background(self) -> str:
        """Name of who did it in the background ("job 1"), "" where it is a call."""
        name = self.call_id.removeprefix(BETWEEN_TURNS)
        return name.partition(IN_BACKGROUND)[0] if IN_BACKGROUND in name else ""

    @property
    def has_visible_changes(self) -> bool:
        """Whether it is over and did anything."""
        return self.after is not None and self.visible_changes > 0


@dataclass(frozen=True, slots=True)
class UndoRecord:
    """An undo or rewind: the calls it took back, and the snapshots around each part of it."""

    id: int
    calls: tuple[int, ...]
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """An undo under way: the snapshot *before* it, and its *plan*, None where that is done."""

    number: int
    before: int
    plan: Plan | None
    operation: UndoOperation


class CheckpointIndex:
    """Rows of the store's database, as values."""

    def __init__(self, database: StoreDatabase) -> None:
        self._database = database

    def _recover(self) -> bool:
        return self._database.recover()

    def latest(self) -> Snapshot | None:
        rows = self._rows(
            "SELECT id, created, root, checked_ns, not_held FROM snapshot"
            " ORDER BY used DESC, id DESC LIMIT 10"
        )
        return next(filter(None, map(_snapshot_from_row, rows)), None)

    def newest(self, limit: int) -> list[int]:
        """Return the numbers of the snapshots that were taken or found again last, newest first."""
        statement = "SELECT id FROM snapshot ORDER BY used DESC, id DESC LIMIT ?"
        return [row[0] for row in self._rows(statement, limit) if isinstance(row[0], int)]

    def snapshot(self, number: int) -> Snapshot:
        """Return the snapshot *number*. Raises `UserError` when it was collected, or is damaged."""
        rows = self._rows(
            "SELECT id, created, root, checked_ns, not_held FROM snapshot WHERE id=?", number
        )
        if not rows:
            raise UserError(phrase("Checkpoint {number} is no longer kept.", number=number))
        if (snapshot := _snapshot_from_row(rows[0])) is None:
            raise UserError(phrase("Checkpoint {number} is damaged.", number=number))
        return snapshot

    @with_recovery
    def add_snapshot(
        self, root: Entry, stamp: ScanStamp, not_stored: Sequence[tuple[str, str]]
    ) -> Snapshot:
        """Keep the snapshot, or find the one that is equal to it."""
        is_same_file = self._database.recoveries == stamp.recoveries
        checked_ns = stamp.started_ns if is_same_file else 0
        now = time.time()
        values = json.dumps(root.as_row), now, now, checked_ns, json.dumps(not_stored)
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO snapshot(root, created, used, checked_ns, not_held)"
                " VALUES (?, ?, ?, ?, ?) ON CONFLICT(root) DO UPDATE SET used=excluded.used,"
                " checked_ns=excluded.checked_ns, not_held=excluded.not_held",
                values,
            )
            number, created = connection.execute(
                "SELECT id, created FROM snapshot WHERE root=?", values[:1]
            ).fetchone()
        return Snapshot(number, created, root, checked_ns, tuple(not_stored))

    def refresh_snapshot(self, snapshot: Snapshot, stamp: ScanStamp) -> Snapshot:
        """Return *snapshot* as seen now; recorded once in a while, for the garbage collection."""
        if stamp.started_ns - snapshot.checked_ns > _REFRESH_AFTER * 1e9:
            return self.add_snapshot(snapshot.root, stamp, snapshot.not_stored)
        return snapshot

    def gc_count(self) -> int:
        """Return how often unused contents were removed from the store."""
        rows = self._rows("SELECT times FROM collected")
        return rows[0][0] if rows and isinstance(rows[0][0], int) else -1

    def open_journal(
        self, before: int, plan: Plan, operation: UndoOperation | None = None, number: int = 0
    ) -> int:
        """Note what is to be done to the folder, which is *before*; return the entry's number.

        *number* is that of the entry which this one takes the place of, 0 for none.
        """
        text = (operation or UndoOperation()).encode()
        return self._write(_JOURNAL, number or None, before, plan.encode(), text)

    def close_journal(self, number: int) -> None:
        self._write("DELETE FROM journal WHERE id=?", number)

    def unfinished(self) -> JournalEntry | None:
        """Return the undo that was cut short before it was done with the files."""
        return next((one for one in self._journal() if one.plan or one.operation.parts), None)

    def pending(self, session: str) -> list[JournalEntry]:
        """Return the undos of *session* that are done with the files, but not with the rest."""
        found = [one for one in self._journal() if not one.plan and not one.operation.parts]
        return [one for one in found if one.operation.session == session]

    def _journal(self) -> Iterator[JournalEntry]:
        for row in self._rows("SELECT id, before, plan, operation FROM journal ORDER BY id"):
            try:
                yield _journal_entry(*row)
            except (zlib.error, ValueError, TypeError, LookupError, AttributeError):
                self.close_journal(row[0])
                self._database.warn(INTERRUPTED_UNDO_DAMAGED)

    @with_recovery
    def record_progress(
        self, number: int, operation: UndoOperation, span: Span | None, *, is_refused: bool = False
    ) -> tuple[int, UndoOperation]:
        """Record in one transaction the first part of *operation* as done, as *span*, and its end.

        Without *span* it has no part in files. *number* is its entry in the journal, 0 for none.
        Returns the number of the entry that stays while anything is to be done, and what that is.
        """
        part = operation.parts[0] if operation.parts else OperationPart(0)
        done = operation
        if span is not None:
            done = operation.after_part(span, is_refused=is_refused)
        with self._database.writing() as connection:
            if span is not None and operation.kind != "taking":  # what a call does is its own
                add_span(connection, operation.kind, operation.session, span, part.before)
            done = _write_record(connection, done, part, is_refused=is_refused)
            if done.is_open:
                values = number or None, span[1] if span else 0, b"", done.encode()
                number = connection.execute(_JOURNAL, values).lastrowid or number
            else:
                connection.execute("DELETE FROM journal WHERE id=?", (number,))
        return number, done

    def begin_call(self, session: str, turn: int, call_id: str, before: int) -> int:
        return self._write(
            "INSERT INTO call(session, turn, call_id, before, number) VALUES (?, ?, ?, ?,"
            " (SELECT COALESCE(MAX(number), 0) + 1 FROM call NOT INDEXED WHERE session=?))",
            session, turn, call_id, before, session,
        )  # fmt: skip

    def end_call(self, number: int, after: int, visible_changes: int) -> None:
        self._write(_END_CALL, after, visible_changes, number)

    @with_recovery
    def end_killed_calls(self, ends: Sequence[tuple[int, int]], after: int, now: int) -> None:
        """End calls at once with the snapshot *after*: each its number and count of changes.

        What others made of that since, up to the snapshot *now*, is noted with it.
        """
        with self._database.writing() as connection:
            connection.executemany(
                _END_CALL, [(after, visible, number) for number, visible in ends]
            )
            if after != now:
                add_span(connection, OTHERS, "", (after, now), 0)

    def drop_call(self, number: int) -> None:
        self._write("DELETE FROM call WHERE id=?", number)

    def call(self, session: str, call_id: str) -> CallRecord | None:
        """Return the newest call of that id."""
        rows = self._rows(
            _CALLS + " WHERE session=? AND call_id=? ORDER BY id DESC LIMIT 1",
            session,
            call_id,
        )
        return CallRecord(*rows[0]) if rows and _is_call_row(rows[0]) else None

    def calls(self, session: str) -> list[CallRecord]:
        rows = self._rows(_CALLS + " WHERE session=? ORDER BY id", session)
        return [CallRecord(*row) for row in rows if _is_call_row(row)]

    def unended_calls_of_others(self, session: str) -> list[CallRecord]:
        """Return the calls of all but *session* that never ended, or not yet."""
        rows = self._rows(_CALLS + " WHERE after IS NULL AND session!=? ORDER BY id", session)
        return [CallRecord(*row) for row in rows if _is_call_row(row)]

    def newest_calls(self, limit: int) -> list[tuple[str, CallRecord]]:
        """Return the newest calls of all sessions with the session of each, oldest first."""
        fields = _CALLS.replace("SELECT ", "SELECT session, ", 1)
        rows = self._rows(fields + " ORDER BY id DESC LIMIT ?", limit)
        whole = [row for row in rows if isinstance(row[0], str) and _is_call_row(row[1:])]
        return [(row[0], CallRecord(*row[1:])) for row in reversed(whole)]

    def copy_calls(self, session: str, copy: str, turn: int) -> None:
        """Copy the calls of *session* up to the end of *turn* to *copy*, a fork."""
        self._write(
            "INSERT INTO call(session, turn, call_id, before, after, visible, is_undone, number)"
            " SELECT ?, turn, call_id, before, after, visible, is_undone, number FROM call"
            " WHERE session=? AND turn<=? AND after IS NOT NULL ORDER BY id",
            copy, session, turn,
        )  # fmt: skip
        self._write(
            "INSERT OR REPLACE INTO accepted SELECT ?, base, root FROM accepted WHERE session=?",
            copy, session,
        )  # fmt: skip

    def last_undo(self, session: str) -> UndoRecord | None:
        """Return the newest undo that was not itself taken back, None when there is none."""
        return next(self.undos(session), None)

    def undos(self, session: str) -> Iterator[UndoRecord]:
        """Yield the undos that were not themselves taken back, the newest first."""
        rows = self._rows(
            "SELECT id, calls, spans FROM undo WHERE session=? AND NOT is_redone ORDER BY id DESC",
            session,
        )
        for number, calls, spans in rows:
            if not (is_json_list(calls) and is_json_spans(spans)):
                continue
            pairs = tuple((before, after) for before, after in json.loads(spans))
            yield UndoRecord(number, tuple(json.loads(calls)), pairs)

    def accepted(self, session: str) -> tuple[Entry, Entry] | None:
        """Return the root that the person began with, and the one with what they accepted."""
        rows = self._rows("SELECT base, root FROM accepted WHERE session=?", session)
        base, root = map(root_from_json, rows[0]) if rows else (None, None)
        return (base, root) if base and root else None

    def set_accepted(self, session: str, base: Entry, root: Entry) -> None:
        self._write(
            "INSERT OR REPLACE INTO accepted VALUES (?, ?, ?)",
            session, json.dumps(base.as_row), json.dumps(root.as_row),
        )  # fmt: skip

    def clear_accepted(self, session: str) -> None:
        self._write("DELETE FROM accepted WHERE session=?", session)

    @with_recovery
    def _rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with self._database.reading() as connection:
            return connection.execute(statement, values).fetchall()

    @with_recovery
    def _write(self, statement: str, *values: object) -> int:
        with self._database.writing() as connection:
            return connection.execute(statement, values).lastrowid or 0


def _journal_entry(number: int, before: int, plan: bytes, operation: str) -> JournalEntry:
    decoded_plan = Plan.decode(plan) if plan else None
    return JournalEntry(number, before, decoded_plan, UndoOperation.decode(operation))


def _write_record(
    connection: Connection, operation: UndoOperation, part: OperationPart, *, is_refused: bool
) -> UndoOperation:
    """Write down what *operation* is now that *part* of it is done; return it with its number."""
    calls = [] if is_refused and operation.kind != "rewind" else [(call,) for call in part.calls]
    match operation.kind:
        case "undo" | "rewind":
            operation = _write_undo_record(connection, operation, [call for (call,) in calls])
            connection.executemany("UPDATE call SET is_undone=1 WHERE id=?", calls)
        case "refusal":
            operation = _write_undo_record(connection, operation, [], is_redone=_REFUSED)
            connection.executemany("DELETE FROM call WHERE id=?", calls)
        case "again":
            connection.executemany(_MARK_NOT_UNDONE, [(call,) for call in part.calls])
        case "redo" if not operation.parts and not operation.is_refused:
            connection.execute("UPDATE undo SET is_redone=1 WHERE id=?", (operation.undo,))
            connection.executemany(_MARK_NOT_UNDONE, calls)
    return operation


def _write_undo_record(
    connection: Connection, operation: UndoOperation, calls: Sequence[int], *, is_redone: int = 0
) -> UndoOperation:
    """Make the record of *operation*, or add to it that *calls* are taken back as well."""
    spans = json.dumps(operation.spans)
    if not operation.undo:
        statement = "INSERT INTO undo(session, calls, spans, is_redone) VALUES (?, ?, ?, ?)"
        values = operation.session, json.dumps(calls), spans, is_redone
        return replace(operation, undo=connection.execute(statement, values).lastrowid or 0)
    find = "SELECT calls FROM undo WHERE id=?"
    (stored_calls,) = connection.execute(find, (operation.undo,)).fetchone() or ("[]",)
    all_calls = json.dumps(sorted([*json.loads(stored_calls), *calls]))
    update = "UPDATE undo SET calls=?, spans=? WHERE id=?"
    connection.execute(update, (all_calls, spans, operation.undo))
    return operation


def _snapshot_from_row(row: tuple[Any, ...]) -> Snapshot | None:
    """Return the snapshot of *row*, None when that is damaged."""
    number, created, root_text, checked_ns, not_stored_text = row
    root, not_stored = root_from_json(root_text), list_from_json(not_stored_text)
    if root is None or not_stored is None or not isinstance(checked_ns, int):
        return None
    pairs = tuple((str(path), str(why)) for path, why in not_stored)
    return Snapshot(number, created, root, checked_ns, pairs)


def _is_call_row(row: tuple[Any, ...]) -> bool:
    """Return whether *row* is one, rather than what is left of it on a broken disk."""
    number, turn, call_id, before, after, *rest = row
    numbers = [number, turn, before, *rest, *([] if after is None else [after])]
    return isinstance(call_id, str) and all(isinstance(value, int) for value in numbers)
