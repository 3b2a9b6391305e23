"""Giving the twin of a folder the undo of its origin: the states, the calls and the undos."""

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
from modules.checkpoints.store.schema import go_on_above
from modules.checkpoints.store.store_recovery import are_spans, is_list, is_root
from utils.i18n import UserError, phrase

_BATCH = 200

Row = tuple[Any, ...]
_TURN, _BEFORE, _AFTER, _IS_UNDONE = 2, 4, 5, 7
"""Places in a row of a call."""
_CALLS, _SPANS, _IS_REDONE = 2, 3, 4
"""Places in a row of an undo."""


def hand_over(vault: ObjectStore, folder: Path, session: str, copy: str, turn: int) -> None:
    """Keep in the new store *folder* what undoing *session* up to the end of *turn* needs.

    There it is the session *copy*. Contents in files of their own share their space. Raises
    `UserError`; a store that is in use already is not touched.
    """
    target = ObjectStore(folder)
    try:
        with vault.alone(), target.alone():
            if target.database.exists():
                raise UserError(phrase("{path} is in use already.", path=str(folder)))
            _hand_over(vault, target, session, copy, turn)
    finally:
        target.close()


def _hand_over(vault: ObjectStore, target: ObjectStore, session: str, copy: str, turn: int) -> None:
    found = [row for row in _rows(vault, "SELECT * FROM snapshot") if is_root(row[1])]
    snapshots = {row[0]: row for row in found}
    every = _calls(vault, session)
    later = next((row for row in every if row[_TURN] > turn and not row[_IS_UNDONE]), None)
    calls = [row for row in every if row[_TURN] <= turn and row[_AFTER] is not None]
    calls, undos = _done_in_twin(calls, _undos(vault, session), later)
    calls = [row for row in calls if {row[_BEFORE], row[_AFTER]} <= snapshots.keys()]
    known = {row[0] for row in calls}
    undos = [row for row in undos if known.issuperset(json.loads(row[_CALLS]))]
    undos = [row for row in undos if _named_by(row) <= snapshots.keys()]
    accepted = _rows(vault, "SELECT base, root FROM accepted WHERE session=?", session)
    if later:
        accepted = []  # it may be about files as they are not there; all shows again
    needed = {row[place] for row in calls for place in (_BEFORE, _AFTER)}
    needed = needed.union(*map(_named_by, undos))
    roots = [snapshots[number][1] for number in needed] + [root for row in accepted for root in row]
    _copy_contents(vault, target, map(_entry, filter(is_root, roots)))
    with target.database.writing() as connection:
        # Nothing in the twin is believed to be what it was when the origin was looked at.
        connection.executemany(
            "INSERT INTO snapshot VALUES (?, ?, ?, ?, 0, ?)",
            [(*row[:4], row[5]) for row in map(snapshots.__getitem__, sorted(needed))],
        )
        connection.executemany(
            "INSERT INTO call VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(row[0], copy, *row[2:]) for row in calls],
        )
        connection.executemany(
            "INSERT INTO undo VALUES (?, ?, ?, ?, ?)", [(row[0], copy, *row[2:]) for row in undos]
        )
        connection.executemany(
            "INSERT INTO accepted VALUES (?, ?, ?)", [(copy, *row) for row in accepted]
        )
        ((highest,),) = _rows(vault, "SELECT COALESCE(MAX(seq), 0) FROM sqlite_sequence")
        go_on_above(connection, highest)  # what is said of an undo here is not said of one there


def _done_in_twin(
    calls: Sequence[Row], undos: Sequence[Row], later: Row | None
) -> tuple[list[Row], list[Row]]:
    """Return *calls* and *undos* as the files of the twin show them.

    Those are as they were before *later*, the first call after them that stands (see
    `Recording.twin`): what was taken back after it is still done there.
    """
    newest = _newest_before(later, undos) if later else max((row[0] for row in undos), default=0)
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


def _newest_before(call: Row, undos: Sequence[Row]) -> int:
    """Return the number of the newest undo that was surely made before *call*, which stands.

    Undos after it found the folder in a state newer than the one *call* made; those of the
    conversation alone do not tell.
    """
    if call[_AFTER] is None:
        return max((row[0] for row in undos), default=0)
    spans = [(row[0], json.loads(row[_SPANS])) for row in undos]
    return max((number for number, span in spans if span and span[0][0] < call[_AFTER]), default=0)


def _calls(vault: ObjectStore, session: str) -> list[Row]:
    rows = _rows(vault, "SELECT * FROM call WHERE session=? ORDER BY id", session)
    numbers = (_TURN, _BEFORE, _IS_UNDONE)
    return [
        row
        for row in rows
        if all(isinstance(row[place], int) for place in numbers)
        and isinstance(row[_AFTER], int | None)
    ]


def _undos(vault: ObjectStore, session: str) -> list[Row]:
    rows = _rows(vault, "SELECT * FROM undo WHERE session=? ORDER BY id", session)
    return [row for row in rows if is_list(row[_CALLS]) and are_spans(row[_SPANS])]


def _named_by(undo: Row) -> set[int]:
    """Return the numbers of the snapshots around each part of *undo*."""
    return {number for span in json.loads(undo[_SPANS]) for number in span}


def _copy_contents(vault: ObjectStore, target: ObjectStore, roots: Iterable[Entry]) -> None:
    needed = sorted(reachable(vault, roots))
    for at in range(0, len(needed), _BATCH):
        keys = [key.hex() for key in needed[at : at + _BATCH]]
        small = vault.packed(keys)
        target.keep((key.hex(), data) for key, data in small)
        for key in set(keys) - {key.hex() for key, _ in small}:
            _copy_large(vault, target, key)


def _copy_large(vault: ObjectStore, target: ObjectStore, key: str) -> None:
    source, place = vault.large(key), target.large(key)
    if not source.exists():
        return  # lost already; who wants it is told so
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        os.link(source, place)
    except OSError:  # another file system
        shutil.copyfile(source, place)
    target.note_large(key, place.stat().st_size)


def _rows(vault: ObjectStore, statement: str, *values: object) -> Sequence[Row]:
    with vault.database.reading() as connection:
        return connection.execute(statement, values).fetchall()


def _entry(text: str) -> Entry:
    return Entry(*json.loads(text))
