"""Garbage collection: removing old snapshots and the contents that only they need."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from modules.checkpoints.snapshot.entries import Entry, decode, is_digest
from modules.checkpoints.store.index import CheckpointIndex
from modules.checkpoints.store.object_store import DamagedObject, ObjectStore
from modules.checkpoints.store.store_recovery import root_from_json
from modules.checkpoints.store.writings import forget_older

_DAY = 86_400.0
_VACUUM_ABOVE = 64 << 20  # bytes of free pages; smaller gaps are filled again soon


def collect(objects: ObjectStore, index: CheckpointIndex, keep_days: float) -> int:
    """Remove the snapshots not seen for *keep_days* and what only they need.

    Returns how many went. The newest snapshot always stays, and everything does while an undo is
    unfinished.
    """
    with objects.locked():
        expired = _expired_snapshots(objects, time.time() - keep_days * _DAY)
        if not expired or index.unfinished() is not None:
            return 0
        with objects.database.writing() as connection:
            rows = [(number,) for number in expired]
            forget_older(connection, rows, time.time() - keep_days * _DAY)
            connection.executemany("DELETE FROM snapshot WHERE id=?", rows)
            connection.executemany("DELETE FROM call WHERE before=?", rows)
            connection.executemany("DELETE FROM call WHERE after=?", rows)
            connection.execute(
                "DELETE FROM accepted WHERE session NOT IN (SELECT session FROM call)"
            )
            connection.execute("UPDATE collected SET times=times+1")
        _sweep(objects, _reachable_objects(objects))
        objects.clear_folder_cache()
        return len(expired)


def _expired_snapshots(objects: ObjectStore, before: float) -> list[int]:
    with objects.database.reading() as connection:
        rows = connection.execute("SELECT id, used FROM snapshot ORDER BY used, id").fetchall()
    valid_rows = [
        row for row in rows[:-1] if isinstance(row[1], float)
    ]  # a broken disk gives anything
    return [number for number, used in valid_rows if used < before]


def _reachable_objects(objects: ObjectStore) -> set[bytes]:
    """Return the digests that the remaining snapshots, what was accepted and what the person
    wrote lead to."""
    with objects.database.reading() as connection:
        roots = connection.execute(
            "SELECT root FROM snapshot UNION SELECT root FROM accepted"
            " UNION SELECT base FROM accepted"
        ).fetchall()
        written = connection.execute(
            "SELECT before FROM writing WHERE path!='' UNION SELECT after FROM writing"
            " WHERE path!=''"
        ).fetchall()
    held = reachable(objects, filter(None, (root_from_json(one) for (one,) in roots)))
    return held | {bytes.fromhex(one) for (one,) in written if is_digest(one)}


def reachable(objects: ObjectStore, roots: Iterable[Entry]) -> set[bytes]:
    """Return the digests of all that *roots* lead to, as far as it is whole."""
    visited: set[bytes] = set()
    pending = list(roots)
    while pending:
        entry = pending.pop()
        entry = entry.git_state or entry
        if not (entry.is_folder or entry.is_file) or bytes.fromhex(entry.content) in visited:
            continue
        visited.add(bytes.fromhex(entry.content))
        if entry.is_folder:
            with suppress(DamagedObject, ValueError, TypeError, KeyError):
                pending += _inner(objects, entry.content, visited)
    return visited


def _inner(objects: ObjectStore, key: str, visited: set[bytes]) -> list[Entry]:
    def load(part: str) -> bytes:
        visited.add(bytes.fromhex(part))
        return objects.read(part)

    return list(decode(objects.read(key), load).values())


def _sweep(objects: ObjectStore, reachable_digests: set[bytes]) -> None:
    with objects.database.writing() as connection:
        for table in ("object", "large"):
            rows = connection.execute(f"SELECT digest FROM {table}").fetchall()  # noqa: S608
            unused = [row for row in rows if row[0] not in reachable_digests]
            connection.executemany(f"DELETE FROM {table} WHERE digest=?", unused)  # noqa: S608
        kept = {row[0].hex() for row in connection.execute("SELECT digest FROM large")}
    _sweep_loose(objects.folder / "large", kept)
    _vacuum(objects)
    objects.clear_size_cache()


def _sweep_loose(folder: Path, kept: set[str]) -> None:
    """Remove the files that the database does not know, leftovers of a kill among them."""
    for path in folder.rglob("*"):
        if path.is_file() and path.name not in kept:
            path.unlink()


def _vacuum(objects: ObjectStore) -> None:
    with objects.database.reading() as connection:
        (free,), (page,) = (
            connection.execute(f"PRAGMA {name}").fetchone()
            for name in ("freelist_count", "page_size")
        )
        if free * page > _VACUUM_ABOVE:
            connection.execute("VACUUM")
