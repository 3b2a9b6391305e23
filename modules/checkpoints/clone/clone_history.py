"""Copying the undo history of a project to its clone: snapshots, calls and undos."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from modules.checkpoints.snapshot.entries import Entry
from modules.checkpoints.store.gc import reachable
from modules.checkpoints.store.object_store import ObjectStore
from modules.checkpoints.store.schema import reserve_numbers_to
from modules.checkpoints.store.store_recovery import (
    is_json_list,
    is_json_root,
    is_json_spans,
    root_from_json,
)
from utils.i18n import UserError, phrase

_BATCH_SIZE = 200

Row = tuple[Any, ...]
_TURN, _BEFORE, _AFTER, _IS_UNDONE = 2, 4, 5, 7
"""Columns in a row of a call."""
_CALLS, _SPANS, _IS_REDONE = 2, 3, 4
"""Columns in a row of an undo."""


def copy_history(objects: ObjectStore, folder: Path, session: str, fork: str, turn: int) -> None:
    """Copy to the new store *folder* all that undoing *session* up to the end of *turn* needs.

    There it is the session *fork*. Loose objects share their disk space. Raises
    `UserError`; a store that is in use already is not touched.
    """
    target = ObjectStore(folder)
    try:
        with objects.locked(), target.locked():
            if target.database.exists():
                raise UserError(phrase("{path} is already in use.", path=str(folder)))
            _copy_history(objects, target, session, fork, turn)
    finally:
        target.close()


def _copy_history(
    objects: ObjectStore, target: ObjectStore, session: str, fork: str, turn: int
) -> None:
    snapshot_rows = [
        row for row in _select(objects, "SELECT * FROM snapshot") if is_json_root(row[1])
    ]
    snapshots = {row[0]: row for row in snapshot_rows}
    all_calls = _calls(objects, session)
    later_call = next((row for row in all_calls if row[_TURN] > turn and not row[_IS_UNDONE]), None)
    calls = [row for row in all_calls if row[_TURN] <= turn and row[_AFTER] is not None]
    calls, undos = _as_in_clone(calls, _undos(objects, session), later_call)
    calls = [row for row in calls if {row[_BEFORE], row[_AFTER]} <= snapshots.keys()]
    call_ids = {row[0] for row in calls}
    undos = [row for row in undos if call_ids.issuperset(json.loads(row[_CALLS]))]
    undos = [row for row in undos if _snapshots_of(row) <= snapshots.keys()]
    accepted = _select(objects, "SELECT base, root FROM accepted WHERE session=?", session)
    if later_call:
        accepted = []  # it may be about files as they are not there; all shows again
    needed_snapshots = {row[column] for row in calls for column in (_BEFORE, _AFTER)}
    needed_snapshots = needed_snapshots.union(*map(_snapshots_of, undos))
    roots = [snapshots[number][1] for number in needed_snapshots] + [
        root for row in accepted for root in row
    ]
    copy_contents(objects, target, filter(None, map(root_from_json, roots)))
    with target.database.writing() as connection:
        # Nothing in the clone is believed to be as it was when the origin was scanned.
        connection.executemany(
            "INSERT INTO snapshot VALUES (?, ?, ?, ?, 0, ?)",
            [(*row[:4], row[5]) for row in map(snapshots.__getitem__, sorted(needed_snapshots))],
        )
        connection.executemany(
            "INSERT INTO call VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(row[0], fork, *row[2:]) for row in calls],
        )
        connection.executemany(
            "INSERT INTO undo VALUES (?, ?, ?, ?, ?)", [(row[0], fork, *row[2:]) for row in undos]
        )
        connection.executemany(
            "INSERT INTO accepted VALUES (?, ?, ?)", [(fork, *row) for row in accepted]
        )
        ((highest,),) = _select(objects, "SELECT COALESCE(MAX(seq), 0) FROM sqlite_sequence")
        reserve_numbers_to(
            connection, highest
        )  # what is said of an undo here is not said of one there


def _as_in_clone(
    calls: Sequence[Row], undos: Sequence[Row], later_call: Row | None
) -> tuple[list[Row], list[Row]]:
    """Return *calls* and *undos* as the files of the clone show them.

    Those are as they were before *later*, the first call after them that stands (see
    `CallRecorder.clone`): what was taken back after it is still done there.
    """
    newest = (
        _newest_undo_before(later_call, undos)
        if later_call
        else max((row[0] for row in undos), default=0)
    )
    still_done = {
        call
        for row in undos
        if row[0] > newest and not row[_IS_REDONE]
        for call in json.loads(row[_CALLS])
    }
    marked = [
        (*row[:_IS_UNDONE], 0 if row[0] in still_done else row[_IS_UNDONE], *row[_IS_UNDONE + 1 :])
        for row in calls
    ]
    return marked, [row for row in undos if row[0] <= newest]


def _newest_undo_before(call: Row, undos: Sequence[Row]) -> int:
    """Return the number of the newest undo that was surely made before *call*, which stands.

    Undos after it found the folder in a state newer than the one *call* made; those of the
    conversation alone do not tell.
    """
    if call[_AFTER] is None:
        return max((row[0] for row in undos), default=0)
    spans = [(row[0], json.loads(row[_SPANS])) for row in undos]
    return max((number for number, span in spans if span and span[0][0] < call[_AFTER]), default=0)


def _calls(objects: ObjectStore, session: str) -> list[Row]:
    rows = _select(objects, "SELECT * FROM call WHERE session=? ORDER BY id", session)
    numbers = (_TURN, _BEFORE, _IS_UNDONE)
    return [
        row
        for row in rows
        if all(isinstance(row[column], int) for column in numbers)
        and isinstance(row[_AFTER], int | None)
    ]


def _undos(objects: ObjectStore, session: str) -> list[Row]:
    rows = _select(objects, "SELECT * FROM undo WHERE session=? ORDER BY id", session)
    return [row for row in rows if is_json_list(row[_CALLS]) and is_json_spans(row[_SPANS])]


def _snapshots_of(undo: Row) -> set[int]:
    """Return the numbers of the snapshots around each part of *undo*."""
    return {number for span in json.loads(undo[_SPANS]) for number in span}


def copy_contents(objects: ObjectStore, target: ObjectStore, roots: Iterable[Entry]) -> None:
    """Copy to *target* all that *roots* lead to and it has not, as far as it is whole; the locks
    are the caller's.

    Loose objects share their disk space.
    """
    needed = sorted(reachable(objects, roots))
    for start in range(0, len(needed), _BATCH_SIZE):
        batch = [key.hex() for key in needed[start : start + _BATCH_SIZE]]
        keys = sorted(target.missing(batch))
        small = objects.read_compressed(keys)
        target.put_compressed((key.hex(), data) for key, data in small)
        for key in set(keys) - {key.hex() for key, _ in small}:
            _copy_loose(objects, target, key)


def _copy_loose(objects: ObjectStore, target: ObjectStore, key: str) -> None:
    source, target_path = objects.loose_path(key), target.loose_path(key)
    if not source.exists():
        return  # lost already; who wants it is told so
    target_path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        os.link(source, target_path)
    except OSError:  # another file system
        shutil.copyfile(source, target_path)
    target.record_loose(key, target_path.stat().st_size)


def _select(objects: ObjectStore, statement: str, *values: object) -> Sequence[Row]:
    with objects.database.reading() as connection:
        return connection.execute(statement, values).fetchall()
