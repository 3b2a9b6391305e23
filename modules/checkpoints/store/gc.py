"""Collecting what no snapshot needs any more."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from modules.checkpoints.snapshot.entries import Entry, decode
from modules.checkpoints.store.index import CheckpointIndex
from modules.checkpoints.store.object_store import DamagedObject, ObjectStore
from modules.checkpoints.store.store_recovery import is_root

_DAY = 86_400.0
_WORTH_SHRINKING = 64 << 20  # bytes of free pages; smaller gaps are filled again soon


def collect(vault: ObjectStore, ledger: CheckpointIndex, keep_days: float) -> int:
    """Remove the snapshots not seen for *keep_days* and what only they need.

    Returns how many went. The newest snapshot always stays, and everything does while an undo is
    unfinished.
    """
    with vault.alone():
        doomed = _doomed(vault, time.time() - keep_days * _DAY)
        if not doomed or ledger.unfinished() is not None:
            return 0
        with vault.database.writing() as connection:
            rows = [(number,) for number in doomed]
            connection.executemany("DELETE FROM snapshot WHERE id=?", rows)
            connection.executemany("DELETE FROM call WHERE before=?", rows)
            connection.executemany("DELETE FROM call WHERE after=?", rows)
            connection.execute(
                "DELETE FROM accepted WHERE session NOT IN (SELECT session FROM call)"
            )
            connection.execute("UPDATE collected SET times=times+1")
        _sweep(vault, _needed(vault))
        vault.forget_folders()
        return len(doomed)


def _doomed(vault: ObjectStore, before: float) -> list[int]:
    with vault.database.reading() as connection:
        rows = connection.execute("SELECT id, used FROM snapshot ORDER BY used, id").fetchall()
    known = [row for row in rows[:-1] if isinstance(row[1], float)]  # a broken disk gives anything
    return [number for number, used in known if used < before]


def _needed(vault: ObjectStore) -> set[bytes]:
    """Return the digests that the remaining snapshots, and what was accepted, lead to."""
    import json

    with vault.database.reading() as connection:
        roots = connection.execute(
            "SELECT root FROM snapshot UNION SELECT root FROM accepted"
            " UNION SELECT base FROM accepted"
        ).fetchall()
    return reachable(vault, [Entry(*json.loads(root)) for (root,) in roots if is_root(root)])


def reachable(vault: ObjectStore, roots: Iterable[Entry]) -> set[bytes]:
    """Return the digests of all that *roots* lead to, as far as it is whole."""
    needed: set[bytes] = set()
    todo = list(roots)
    while todo:
        entry = todo.pop()
        if not (entry.is_folder or entry.is_file) or bytes.fromhex(entry.content) in needed:
            continue
        needed.add(bytes.fromhex(entry.content))
        if entry.is_folder:
            with suppress(DamagedObject, ValueError, TypeError, KeyError):
                todo += _inner(vault, entry.content, needed)
    return needed


def _inner(vault: ObjectStore, key: str, needed: set[bytes]) -> list[Entry]:
    def load(part: str) -> bytes:
        needed.add(bytes.fromhex(part))
        return vault.read(part)

    return list(decode(vault.read(key), load).values())


def _sweep(vault: ObjectStore, needed: set[bytes]) -> None:
    with vault.database.writing() as connection:
        for table in ("object", "large"):
            rows = connection.execute(f"SELECT digest FROM {table}").fetchall()  # noqa: S608
            unused = [row for row in rows if row[0] not in needed]
            connection.executemany(f"DELETE FROM {table} WHERE digest=?", unused)  # noqa: S608
        kept = {row[0].hex() for row in connection.execute("SELECT digest FROM large")}
    _sweep_large(vault.folder / "large", kept)
    _shrink(vault)
    vault.forget_size()


def _sweep_large(shelf: Path, kept: set[str]) -> None:
    """Remove the files that the database does not know, leftovers of a kill among them."""
    for path in shelf.rglob("*"):
        if path.is_file() and path.name not in kept:
            path.unlink()


def _shrink(vault: ObjectStore) -> None:
    with vault.database.reading() as connection:
        (free,), (page,) = (
            connection.execute(f"PRAGMA {name}").fetchone()
            for name in ("freelist_count", "page_size")
        )
        if free * page > _WORTH_SHRINKING:
            connection.execute("VACUUM")
