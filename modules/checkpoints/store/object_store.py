"""Content-addressed object store: contents by SHA-256, compressed, each once, checked when read."""

from __future__ import annotations

import errno
import os
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from hashlib import sha256
from pathlib import Path
from typing import IO

from modules.checkpoints.late_checkpoints import DATABASE_NAME
from modules.checkpoints.snapshot.entries import Entries, Entry, decode, digest, encode
from modules.checkpoints.store.compression import compress, decompress
from modules.checkpoints.store.loose_objects import LooseObjects
from modules.checkpoints.store.outer_links import OuterLinks
from modules.checkpoints.store.schema import MIGRATIONS, SCHEMA
from modules.checkpoints.store.store_lock import StoreLock, explained, unusable
from modules.checkpoints.store.store_recovery import StoreDatabase
from modules.storage.sqlite_recovery import with_recovery
from utils.i18n import Phrase

LOOSE_ABOVE = 1 << 20
"""Bytes; contents above this are kept as files of their own, the others in one database."""

_QUERY_BATCH = 200
_LOCK_TIMEOUT = 60.0  # seconds to wait for another Onefold's first snapshot of a big folder


class DamagedObject(Exception):
    """Object that is missing from the store, or is not what was put there."""


class ObjectStore:
    """The store of one project in *folder*, which only its owner can read.

    Threads and processes may share it; whoever changes anything does so within `locked`.
    Raises `UserError` when the disk does not let it work.
    """

    def __init__(self, folder: Path) -> None:
        with suppress(OSError):  # told when something is to be kept
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder = folder
        self._lock = StoreLock(folder / "lock", _LOCK_TIMEOUT)
        self.database = StoreDatabase(
            folder / DATABASE_NAME,
            SCHEMA,
            migrations=MIGRATIONS,
            timeout=_LOCK_TIMEOUT,
            locked=self.locked,
            clear_caches=self._clear_caches,
            loose_folder=folder / "large",
        )
        self._loose = LooseObjects(folder / "large")
        self.outer_links = OuterLinks(folder / "links")
        self._folder_cache: dict[str, Entries] = {}
        self._folder_cache_limit = 1000
        self._size: int | None = None
        self._has_tried_recovery = False

    def close(self) -> None:
        self.database.close()

    def locked(self) -> AbstractContextManager[None]:
        """Lock out other threads and other processes; may be nested."""
        return self._lock.locked()

    @property
    def read_only_reason(self) -> Phrase | None:
        """Why nothing can be kept, as far as is known without trying; None where it can."""
        if self.database.read_only_reason is None and not os.access(self.folder, os.W_OK):
            return unusable(self.folder, os.strerror(errno.EROFS))
        return self.database.read_only_reason

    @property
    def size(self) -> int:
        """Bytes in use on disk, nearly: what other processes add is counted at the next start."""
        if not self.database.exists():
            return 0
        if self._size is None:
            self._size = self._measure()
        return self._size

    @with_recovery
    def _measure(self) -> int:
        with self.database.reading() as connection:
            pages, free, page, large = connection.execute(
                "SELECT p.page_count, f.freelist_count, s.page_size,"
                " (SELECT COALESCE(SUM(stored), 0) FROM large) FROM pragma_page_count() p,"
                " pragma_freelist_count() f, pragma_page_size() s"
            ).fetchone()
        return int((pages - free) * page + large)

    def _recover(self) -> bool:
        return self.database.recover()

    def _clear_caches(self) -> None:
        self.clear_size_cache()
        self.clear_folder_cache()

    def clear_size_cache(self) -> None:
        self._size = None

    def has(self, key: str) -> bool:
        return not self.missing([key])

    @with_recovery
    def missing(self, keys: Collection[str]) -> set[str]:
        """Return those of *keys*, some hundreds at most, under which nothing is kept."""
        rows = [bytes.fromhex(key) for key in keys]
        placeholders = ",".join("?" * len(rows))
        with self.database.reading() as connection:
            found = connection.execute(
                f"SELECT digest FROM object WHERE digest IN ({placeholders}) UNION ALL"  # noqa: S608
                f" SELECT digest FROM large WHERE digest IN ({placeholders})",
                (*rows, *rows),
            ).fetchall()
        return set(keys) - {row[0].hex() for row in found}

    def put_compressed(self, contents: Iterable[tuple[str, bytes]]) -> None:
        """Store compressed contents (see `compress`) by digest; all are on disk on return."""
        rows = [(bytes.fromhex(key), data) for key, data in contents]
        self._insert(rows)
        if self._size is not None:
            self._size += sum(len(data) + 60 for _, data in rows)

    @with_recovery
    def _insert(self, rows: Sequence[tuple[bytes, bytes]]) -> None:
        with self.database.writing() as connection:
            connection.executemany("INSERT OR IGNORE INTO object(digest, data) VALUES (?, ?)", rows)

    def put(self, data: bytes) -> str:
        """Keep *data*, of any size, and return its digest."""
        key = digest(data)
        if not self.has(key):
            self.put_compressed([(key, compress(data))])
        return key

    def put_large(self, file: IO[bytes]) -> tuple[str, int]:
        """Keep what is left to read in *file*; return its digest and how many bytes it was.

        Raises `UnreadableObject` when *file* is to blame.
        """
        with explained(self.folder), self._loose.compressed(file) as content:
            if not self.has(content.key):
                self._loose.put(content)
                self.record_loose(content.key, content.stored)
                if self._size is not None:
                    self._size += content.stored
        return content.key, content.size

    @with_recovery
    def record_loose(self, key: str, stored: int) -> None:
        """Record a loose object of *stored* bytes on disk."""
        with self.database.writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO large VALUES (?, ?)", (bytes.fromhex(key), stored)
            )

    def read(self, key: str) -> bytes:
        return b"".join(self.chunks(key))

    def chunks(self, key: str) -> Iterator[bytes]:
        """Yield the content of *key*. Raises `DamagedObject`, at the end at the latest."""
        hasher = sha256()
        try:
            for chunk in self._decompressed_chunks(key):
                hasher.update(chunk)
                yield chunk
        except (OSError, zlib.error) as error:
            raise DamagedObject(key) from error
        if hasher.hexdigest() != key:
            raise DamagedObject(key)

    def _decompressed_chunks(self, key: str) -> Iterator[bytes]:
        data = self._read_compressed_object(key)
        if data is None and not self.loose_path(key).exists() and self._was_recovered():
            data = self._read_compressed_object(key)
        if data is None:
            yield from self._loose.chunks(key)
        else:
            yield decompress(data)

    def read_small(self, keys: Collection[str]) -> dict[str, bytes]:
        """Return the contents of *keys* that are whole and not kept as files of their own."""
        found = {}
        for key, data in self.read_compressed(keys):
            with suppress(zlib.error):
                content = decompress(data)
                if digest(content) == key.hex():
                    found[key.hex()] = content
        return found

    @with_recovery
    def read_compressed(self, keys: Collection[str]) -> list[tuple[bytes, bytes]]:
        """Return the small contents of *keys* as they are kept, with their digests."""
        placeholders = ",".join("?" * len(keys))
        with self.database.reading() as connection:
            rows = connection.execute(
                f"SELECT digest, data FROM object WHERE digest IN ({placeholders})",  # noqa: S608
                list(map(bytes.fromhex, keys)),
            ).fetchall()
        return [row for row in rows if isinstance(row[1], bytes)]

    def verify(self, keys: Iterable[str]) -> None:
        """Read all of *keys* that are in the database, so that its damage is found now."""
        digests = sorted(set(keys))
        for start in range(0, len(digests), _QUERY_BATCH):
            batch = digests[start : start + _QUERY_BATCH]
            found = self._present(batch)
            if any(key not in found and not self.loose_path(key).exists() for key in batch):
                self._was_recovered()

    @with_recovery
    def _present(self, keys: Collection[str]) -> set[str]:
        placeholders = ",".join("?" * len(keys))
        with self.database.reading() as connection:
            rows = connection.execute(
                f"SELECT digest, data FROM object WHERE digest IN ({placeholders})",  # noqa: S608
                list(map(bytes.fromhex, keys)),
            )
            return {key.hex() for key, _ in rows}  # one content at a time is in memory

    @with_recovery
    def _read_compressed_object(self, key: str) -> bytes | None:
        with self.database.reading() as connection:
            row = connection.execute(
                "SELECT data FROM object WHERE digest=?", (bytes.fromhex(key),)
            ).fetchone()
        return row[0] if row and isinstance(row[0], bytes) else None

    def _was_recovered(self) -> bool:
        """Recover the database, once, as something is missing; return whether it was broken."""
        if self._has_tried_recovery:
            return False
        self._has_tried_recovery = True
        return self._recover()

    def loose_path(self, key: str) -> Path:
        """Return where the content of *key* is if it is kept as a file of its own."""
        return self._loose.path_of(key)

    def encode_folder(self, entries: Entries) -> tuple[str, list[tuple[str, bytes]]]:
        """Return the digest of a folder's list, and those compressed parts to be stored."""
        encoded = [(digest(data), data) for data in encode(entries)]
        key = encoded[-1][0]
        self._folder_cache[key] = entries
        return key, [
            (part_key, compress(data)) for part_key, data in encoded if not self.has(part_key)
        ]

    def entries_of(self, folder: Entry) -> Entries:
        """Return the entries of *folder* by name; not to be changed. Raises `DamagedObject`."""
        key = folder.content
        if (entries := self._folder_cache.get(key)) is None:
            try:
                entries = decode(self.read(key), self.read)
            except (ValueError, TypeError, KeyError) as error:
                raise DamagedObject(key) from error
            self._folder_cache[key] = entries
        return entries

    def evict_folders_outside(self, root: Entry) -> None:
        """Forget the folders that are not part of *root*, when they have become many."""
        if len(self._folder_cache) < self._folder_cache_limit:
            return
        live: dict[str, Entries] = {}
        pending = [root]
        while pending:
            folder = pending.pop()
            if (entries := self._folder_cache.get(folder.content)) is not None:
                live[folder.content] = entries
                pending += [entry for entry in entries.values() if entry.is_folder]
        self._folder_cache = live
        self._folder_cache_limit = 2 * len(live) + 1000

    def clear_folder_cache(self) -> None:
        self._folder_cache = {}
