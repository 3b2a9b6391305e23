"""Giving the twin of a folder the undo of its origin: the states, the calls and the undos."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from modules.checkpoints.collect import reachable
from modules.checkpoints.entries import Entry
from modules.checkpoints.rescue import is_entry
from modules.checkpoints.vault import Vault
from utils.phrases import Problem, phrase

_BATCH = 200

Row = tuple[Any, ...]


def hand_over(vault: Vault, folder: Path, session: str, copy: str, turn: int) -> None:
    """Keep in the new store *folder* what undoing *session* up to the end of *turn* needs.

    There it is the session *copy*. Contents in files of their own share their space. Raises
    `Problem`; a store that is in use already is not touched.
    """
    target = Vault(folder)
    try:
        with vault.alone(), target.alone():
            if target.database.exists():
                raise Problem(phrase("{path} is in use already.", path=str(folder)))
            _hand_over(vault, target, session, copy, turn)
    finally:
        target.close()


def _hand_over(vault: Vault, target: Vault, session: str, copy: str, turn: int) -> None:
    calls = _rows(
        vault, "SELECT * FROM call WHERE session=? AND turn<=? AND after IS NOT NULL", session, turn
    )
    undos = list(_undos(vault, session, {row[0] for row in calls}))
    accepted = _rows(vault, "SELECT base, root FROM accepted WHERE session=?", session)
    numbers = {number for row in calls for number in row[4:6]}
    numbers |= {number for row in undos for span in json.loads(row[3]) for number in span}
    snapshots = [
        row
        for row in _rows(vault, "SELECT * FROM snapshot")
        if row[0] in numbers and is_entry(row[1])
    ]
    roots = [row[1] for row in snapshots] + [root for row in accepted for root in row]
    _copy_contents(vault, target, map(_entry, filter(is_entry, roots)))
    with target.database.writing() as connection:
        # Nothing in the twin is believed to be what it was when the origin was looked at.
        connection.executemany(
            "INSERT INTO snapshot VALUES (?, ?, ?, ?, 0, ?)",
            [(*row[:4], row[5]) for row in snapshots],
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


def _undos(vault: Vault, session: str, calls: set[int]) -> Iterator[Row]:
    """Yield the undos that took back only what is handed over."""
    for row in _rows(vault, "SELECT * FROM undo WHERE session=?", session):
        if calls.issuperset(json.loads(row[2])):
            yield row


def _copy_contents(vault: Vault, target: Vault, roots: Iterable[Entry]) -> None:
    needed = sorted(reachable(vault, roots))
    for at in range(0, len(needed), _BATCH):
        keys = [key.hex() for key in needed[at : at + _BATCH]]
        small = vault.packed(keys)
        target.keep((key.hex(), data) for key, data in small)
        for key in set(keys) - {key.hex() for key, _ in small}:
            _copy_large(vault, target, key)


def _copy_large(vault: Vault, target: Vault, key: str) -> None:
    source, place = vault.large(key), target.large(key)
    if not source.exists():
        return  # lost already; who wants it is told so
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        os.link(source, place)
    except OSError:  # another file system
        shutil.copyfile(source, place)
    target.note_large(key, place.stat().st_size)


def _rows(vault: Vault, statement: str, *values: object) -> Sequence[Row]:
    with vault.database.reading() as connection:
        return connection.execute(statement, values).fetchall()


def _entry(text: str) -> Entry:
    return Entry(*json.loads(text))
