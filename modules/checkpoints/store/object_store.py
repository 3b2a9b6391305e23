"""Where contents are kept: by their SHA-256, compressed, each once, checked whenever read."""

from __future__ import annotations

import errno
import os
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from hashlib import sha256
from pathlib import Path
from typing import IO

from modules.checkpoints.snapshot.entries import Entries, Entry, decode, digest, encode
from modules.checkpoints.store.compression import pack, unpack
from modules.checkpoints.store.loose_objects import LooseObjects
from modules.checkpoints.store.schema import MIGRATIONS, SCHEMA
from modules.checkpoints.store.store_lock import StoreLock, explained, unusable
from modules.checkpoints.store.store_recovery import StoreDatabase
from modules.storage.sqlite_recovery import rescued
from utils.i18n import Phrase

LARGE = 1 << 20
"""Bytes; contents above this are kept as files of their own, the others in one database."""

_PART = 200
_PATIENCE = 60.0  # seconds to wait for another Onefold's first snapshot of a big folder


class DamagedObject(Exception):
    """What the store holds under a digest is missing or is not what was put there."""


class ObjectStore:
    """The store of one project in *folder*, which only its owner can read.

    Threads and processes may share it; whoever changes anything does so within `alone`.
    Raises `Problem` when the disk does not let it work.
    """

    def __init__(self, folder: Path) -> None:
        with suppress(OSError):  # told when something is to be kept
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder = folder
        self._lock = StoreLock(folder / "lock", _PATIENCE)
        self.database = StoreDatabase(
            folder / "checkpoints.db",
            SCHEMA,
            migrations=MIGRATIONS,
            patience=_PATIENCE,
            alone=self.alone,
            forget=self._forget,
            large=folder / "large",
        )
        self._shelf = LooseObjects(folder / "large")
        self._folders: dict[str, Entries] = {}
        self._enough_folders = 1000
        self._size: int | None = None
        self._is_checked = False

    def close(self) -> None:
        self.database.close()

    def alone(self) -> AbstractContextManager[None]:
        """Keep other threads and other processes out; may be nested."""
        return self._lock.held()

    @property
    def refusal(self) -> Phrase | None:
        """Why nothing can be kept, as far as is known without trying; None where it can."""
        if self.database.refusal is None and not os.access(self.folder, os.W_OK):
            return unusable(self.folder, os.strerror(errno.EROFS))
        return self.database.refusal

    @property
    def size(self) -> int:
        """Bytes in use on disk, nearly: what other processes add is counted at the next start."""
        if not self.database.exists():
            return 0
        if self._size is None:
            self._size = self._measured()
        return self._size

    @rescued
    def _measured(self) -> int:
        with self.database.reading() as connection:
            pages, free, page, large = connection.execute(
                "SELECT p.page_count, f.freelist_count, s.page_size,"
                " (SELECT COALESCE(SUM(stored), 0) FROM large) FROM pragma_page_count() p,"
                " pragma_freelist_count() f, pragma_page_size() s"
            ).fetchone()
        return int((pages - free) * page + large)

    def _rescue(self) -> bool:
        return self.database.rescue()

    def _forget(self) -> None:
        self.forget_size()
        self.forget_folders()

    def forget_size(self) -> None:
        self._size = None

    def has(self, key: str) -> bool:
        return not self.missing([key])

    @rescued
    def missing(self, keys: Collection[str]) -> set[str]:
        """Return those of *keys*, some hundreds at most, under which nothing is kept."""
        rows = [bytes.fromhex(key) for key in keys]
        marks = ",".join("?" * len(rows))
        with self.database.reading() as connection:
            found = connection.execute(
                f"SELECT digest FROM object WHERE digest IN ({marks}) UNION ALL"  # noqa: S608
                f" SELECT digest FROM large WHERE digest IN ({marks})",
                (*rows, *rows),
            ).fetchall()
        return set(keys) - {row[0].hex() for row in found}

    def keep(self, contents: Iterable[tuple[str, bytes]]) -> None:
        """Keep packed contents (see `pack`) under their digests; all are on disk on return."""
        rows = [(bytes.fromhex(key), data) for key, data in contents]
        self._insert(rows)
        if self._size is not None:
            self._size += sum(len(data) + 60 for _, data in rows)

    @rescued
    def _insert(self, rows: Sequence[tuple[bytes, bytes]]) -> None:
        with self.database.writing() as connection:
            connection.executemany("INSERT OR IGNORE INTO object(digest, data) VALUES (?, ?)", rows)

    def put(self, data: bytes) -> str:
        """Keep *data*, of any size, and return its digest."""
        key = digest(data)
        if not self.has(key):
            self.keep([(key, pack(data))])
        return key

    def put_large(self, file: IO[bytes]) -> tuple[str, int]:
        """Keep what is left to read in *file*; return its digest and how many bytes it was.

        Raises `Unreadable` when *file* is to blame.
        """
        with explained(self.folder), self._shelf.packed(file) as content:
            if not self.has(content.key):
                self._shelf.put(content)
                self.note_large(content.key, content.stored)
                if self._size is not None:
                    self._size += content.stored
        return content.key, content.size

    @rescued
    def note_large(self, key: str, stored: int) -> None:
        """Take note of such a file of *stored* bytes."""
        with self.database.writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO large VALUES (?, ?)", (bytes.fromhex(key), stored)
            )

    def read(self, key: str) -> bytes:
        return b"".join(self.chunks(key))

    def chunks(self, key: str) -> Iterator[bytes]:
        """Yield the content of *key*. Raises `DamagedObject`, at the end at the latest."""
        check = sha256()
        try:
            for chunk in self._unpacked(key):
                check.update(chunk)
                yield chunk
        except (OSError, zlib.error) as error:
            raise DamagedObject(key) from error
        if check.hexdigest() != key:
            raise DamagedObject(key)

    def _unpacked(self, key: str) -> Iterator[bytes]:
        data = self._object(key)
        if data is None and not self.large(key).exists() and self._is_mended():
            data = self._object(key)
        if data is None:
            yield from self._shelf.chunks(key)
        else:
            yield unpack(data)

    def read_small(self, keys: Collection[str]) -> dict[str, bytes]:
        """Return the contents of *keys* that are whole and not kept as files of their own."""
        found = {}
        for key, data in self.packed(keys):
            with suppress(zlib.error):
                content = unpack(data)
                if digest(content) == key.hex():
                    found[key.hex()] = content
        return found

    @rescued
    def packed(self, keys: Collection[str]) -> list[tuple[bytes, bytes]]:
        """Return the small contents of *keys* as they are kept, with their digests."""
        marks = ",".join("?" * len(keys))
        with self.database.reading() as connection:
            rows = connection.execute(
                f"SELECT digest, data FROM object WHERE digest IN ({marks})",  # noqa: S608
                list(map(bytes.fromhex, keys)),
            ).fetchall()
        return [row for row in rows if isinstance(row[1], bytes)]

    def probe(self, keys: Iterable[str]) -> None:
        """Read what is kept under *keys* in the database, so that its damage is found now."""
        wanted = sorted(set(keys))
        for at in range(0, len(wanted), _PART):
            part = wanted[at : at + _PART]
            found = self._found(part)
            if any(key not in found and not self.large(key).exists() for key in part):
                self._is_mended()

    @rescued
    def _found(self, keys: Collection[str]) -> set[str]:
        marks = ",".join("?" * len(keys))
        with self.database.reading() as connection:
            rows = connection.execute(
                f"SELECT digest, data FROM object WHERE digest IN ({marks})",  # noqa: S608
                list(map(bytes.fromhex, keys)),
            )
            return {key.hex() for key, _ in rows}  # one content at a time is in memory

    @rescued
    def _object(self, key: str) -> bytes | None:
        with self.database.reading() as connection:
            row = connection.execute(
                "SELECT data FROM object WHERE digest=?", (bytes.fromhex(key),)
            ).fetchone()
        return row[0] if row and isinstance(row[0], bytes) else None

    def _is_mended(self) -> bool:
        """Look once whether the database is to blame for what is missing; return whether it was."""
        if self._is_checked:
            return False
        self._is_checked = True
        return self._rescue()

    def large(self, key: str) -> Path:
        """Return where the content of *key* is if it is kept as a file of its own."""
        return self._shelf.place(key)

    def fold(self, entries: Entries) -> tuple[str, list[tuple[str, bytes]]]:
        """Return the digest of a folder's list, and what of it is still to be kept, packed."""
        parts = [(digest(data), data) for data in encode(entries)]
        key = parts[-1][0]
        self._folders[key] = entries
        return key, [(part, pack(data)) for part, data in parts if not self.has(part)]

    def entries_of(self, folder: Entry) -> Entries:
        """Return the entries of *folder* by name; not to be changed. Raises `DamagedObject`."""
        key = folder.content
        if (known := self._folders.get(key)) is None:
            try:
                known = decode(self.read(key), self.read)
            except (ValueError, TypeError, KeyError) as error:
                raise DamagedObject(key) from error
            self._folders[key] = known
        return known

    def remember_only(self, root: Entry) -> None:
        """Forget the folders that are not part of *root*, when they have become many."""
        if len(self._folders) < self._enough_folders:
            return
        live: dict[str, Entries] = {}
        todo = [root]
        while todo:
            folder = todo.pop()
            if (entries := self._folders.get(folder.content)) is not None:
                live[folder.content] = entries
                todo += [entry for entry in entries.values() if entry.is_folder]
        self._folders = live
        self._enough_folders = 2 * len(live) + 1000

    def forget_folders(self) -> None:
        self._folders = {}
