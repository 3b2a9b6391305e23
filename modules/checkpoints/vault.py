"""Where contents are kept: by their SHA-256, compressed, each once, checked whenever read."""

from __future__ import annotations

import fcntl
import os
import tempfile
import threading
import time
import zlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import IO

from modules.checkpoints.entries import Entries, Entry, decode, digest, encode
from modules.database import Database
from utils.phrases import Problem, phrase

LARGE = 1 << 20
"""Bytes; contents above this are kept as files of their own, the others in one database."""

CHUNK = 1 << 18

_SCHEMA = """
CREATE TABLE object(id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, data BLOB NOT NULL);
CREATE TABLE large(digest BLOB PRIMARY KEY, stored INTEGER NOT NULL);
CREATE TABLE snapshot(
    id INTEGER PRIMARY KEY AUTOINCREMENT, root TEXT NOT NULL UNIQUE, created REAL NOT NULL,
    used REAL NOT NULL, checked_ns INTEGER NOT NULL, not_held TEXT NOT NULL);
CREATE TABLE journal(
    id INTEGER PRIMARY KEY AUTOINCREMENT, before INTEGER NOT NULL, plan BLOB NOT NULL);
CREATE TABLE call(
    id INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, turn INTEGER NOT NULL,
    call_id TEXT NOT NULL, before INTEGER NOT NULL, after INTEGER,
    visible INTEGER NOT NULL DEFAULT 0, is_undone INTEGER NOT NULL DEFAULT 0);
CREATE INDEX call_by_id ON call(session, call_id);
CREATE TABLE undo(
    id INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, calls TEXT NOT NULL,
    spans TEXT NOT NULL, is_redone INTEGER NOT NULL DEFAULT 0);
CREATE TABLE collected(times INTEGER NOT NULL);
INSERT INTO collected VALUES (0)
"""

_PATIENCE = 60.0  # seconds to wait for another Onefold's first snapshot of a big folder


class Damaged(Exception):
    """What the store holds under a digest is missing or is not what was put there."""


class Unreadable(Exception):
    """A file of the person's could not be read to its end."""


class Vault:
    """The store of one project in *folder*, which only its owner can read.

    Threads and processes may share it; whoever changes anything does so within `alone`.
    Raises `Problem` when the disk does not let it work.
    """

    def __init__(self, folder: Path) -> None:
        with _explained(folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder = folder
        self.database = Database(folder / "checkpoints.db", _SCHEMA, version=1, patience=_PATIENCE)
        self._lock = threading.RLock()
        self._held: int | None = None
        self._folders: dict[str, Entries] = {}
        self._enough_folders = 1000
        self._size: int | None = None

    def close(self) -> None:
        self.database.close()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other threads and other processes out; may be nested."""
        with self._lock:
            if self._held is not None:
                yield
                return
            with _explained(self.folder):
                self._held = _locked(self.folder / "lock")
            try:
                yield
            finally:
                os.close(self._held)
                self._held = None

    @property
    def size(self) -> int:
        """Bytes in use on disk, nearly: what other processes add is counted at the next start."""
        if self._size is None:
            with self.database.reading() as connection:
                pages, free, page, large = connection.execute(
                    "SELECT p.page_count, f.freelist_count, s.page_size,"
                    " (SELECT COALESCE(SUM(stored), 0) FROM large) FROM pragma_page_count() p,"
                    " pragma_freelist_count() f, pragma_page_size() s"
                ).fetchone()
            self._size = (pages - free) * page + large
        return self._size

    def forget_size(self) -> None:
        self._size = None

    def has(self, key: str) -> bool:
        return not self.missing([key])

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
        with self.database.writing() as connection:
            connection.executemany("INSERT OR IGNORE INTO object(digest, data) VALUES (?, ?)", rows)
        if self._size is not None:
            self._size += sum(len(data) + 60 for _, data in rows)

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
        shelf = self.folder / "large"
        with _explained(self.folder):
            shelf.mkdir(mode=0o700, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=shelf, prefix="new-")
            try:
                with os.fdopen(handle, "wb") as out:
                    key, size = _copy_packed(file, out)
                    out.flush()
                    os.fsync(out.fileno())
                    stored = out.tell()
                if not self.has(key):
                    self._adopt(Path(temporary), key, stored)
            finally:
                Path(temporary).unlink(missing_ok=True)
        return key, size

    def _adopt(self, temporary: Path, key: str, stored: int) -> None:
        target = self._large(key)
        target.parent.mkdir(mode=0o700, exist_ok=True)
        temporary.rename(target)
        with self.database.writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO large VALUES (?, ?)", (bytes.fromhex(key), stored)
            )
        if self._size is not None:
            self._size += stored

    def read(self, key: str) -> bytes:
        return b"".join(self.chunks(key))

    def chunks(self, key: str) -> Iterator[bytes]:
        """Yield the content of *key*. Raises `Damaged`, at the end at the latest."""
        check = sha256()
        for chunk in self._unpacked(key):
            check.update(chunk)
            yield chunk
        if check.hexdigest() != key:
            raise Damaged(key)

    def _unpacked(self, key: str) -> Iterator[bytes]:
        with self.database.reading() as connection:
            row = connection.execute(
                "SELECT data FROM object WHERE digest=?", (bytes.fromhex(key),)
            ).fetchone()
        if row is None:
            yield from self._unpacked_large(key)
            return
        try:
            yield unpack(row[0])
        except zlib.error as error:
            raise Damaged(key) from error

    def _unpacked_large(self, key: str) -> Iterator[bytes]:
        try:
            with self._large(key).open("rb") as file:
                unzip = zlib.decompressobj() if file.read(1) == b"z" else None
                while piece := file.read(CHUNK):
                    yield from _unzipped(unzip, piece) if unzip else (piece,)
        except (OSError, zlib.error) as error:
            raise Damaged(key) from error

    def _large(self, key: str) -> Path:
        return self.folder / "large" / key[:2] / key

    def drop_large(self, key: str) -> None:
        self._large(key).unlink(missing_ok=True)

    def fold(self, entries: Entries) -> tuple[str, list[tuple[str, bytes]]]:
        """Return the digest of a folder's list, and what of it is still to be kept, packed."""
        parts = [(digest(data), data) for data in encode(entries)]
        key = parts[-1][0]
        self._folders[key] = entries
        return key, [(part, pack(data)) for part, data in parts if not self.has(part)]

    def entries_of(self, folder: Entry) -> Entries:
        """Return the entries of *folder* by name; not to be changed. Raises `Damaged`."""
        key = folder.content
        if (known := self._folders.get(key)) is None:
            try:
                known = decode(self.read(key), self.read)
            except (ValueError, TypeError, KeyError) as error:
                raise Damaged(key) from error
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


def pack(data: bytes) -> bytes:
    """Return *data* as it is kept: compressed where that pays."""
    packed = zlib.compress(data, 1) if len(data) > 100 else data
    return b"z" + packed if len(packed) < len(data) else b"r" + data


def unpack(packed: bytes) -> bytes:
    return zlib.decompress(packed[1:]) if packed[:1] == b"z" else packed[1:]


def _copy_packed(file: IO[bytes], out: IO[bytes]) -> tuple[str, int]:
    check, size = sha256(), 0
    chunk = _piece(file)
    # What the first piece says of the rest decides: media and archives do not get smaller.
    zipper = zlib.compressobj(1) if len(zlib.compress(chunk, 1)) < 0.95 * len(chunk) else None
    out.write(b"z" if zipper else b"r")
    while chunk:
        check.update(chunk)
        size += len(chunk)
        out.write(zipper.compress(chunk) if zipper else chunk)
        chunk = _piece(file)
    if zipper:
        out.write(zipper.flush())
    return check.hexdigest(), size


def _unzipped(unzip: zlib._Decompress, piece: bytes) -> Iterator[bytes]:
    """Yield what *piece* holds, a chunk at a time: zeros shrink a thousandfold."""
    while piece:
        yield unzip.decompress(piece, CHUNK)
        piece = unzip.unconsumed_tail
    while more := unzip.decompress(b"", CHUNK):
        yield more


def _piece(file: IO[bytes]) -> bytes:
    try:
        return file.read(CHUNK)
    except OSError as error:
        raise Unreadable from error


def _locked(path: Path) -> int:
    """Return a descriptor that holds the lock of *path* until it is closed, also by a kill."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    deadline = time.monotonic() + _PATIENCE
    while True:
        with suppress(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return handle
        if time.monotonic() > deadline:
            os.close(handle)
            raise Problem(
                phrase("Another Onefold is busy with this project's checkpoints. Try again later.")
            )
        time.sleep(0.01)


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = error.strerror or str(error)
        raise Problem(
            phrase("Checkpoints cannot be kept in {path}: {why}.", path=str(folder), why=why)
        ) from error
