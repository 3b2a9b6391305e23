"""Reading the files that a look at the folder found new or changed, and keeping what they hold."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import groupby

from modules.checkpoints.snapshot import dirfd
from modules.checkpoints.snapshot.entries import Entries, Entry, digest, entry_of, join, stamp_of
from modules.checkpoints.snapshot.metadata import extras_of
from modules.checkpoints.snapshot.temporary_access import opened
from modules.checkpoints.store.batch_writer import BATCH, BatchWriter
from modules.checkpoints.store.compression import UnreadableObject
from modules.checkpoints.store.object_store import LARGE, ObjectStore
from modules.checkpoints.store.quotas import Quotas

_TRIES = 3


@dataclass(slots=True)
class _Pending:
    """A file to be read; its entry in *entries* has no content yet."""

    folder: str
    entries: Entries
    name: str
    may_unlock: bool

    @property
    def size(self) -> int:
        return self.entries[self.name].size


@dataclass(slots=True)
class FileReader:
    """Reads files beneath the descriptor *root* into *vault*, as far as *limits* let it."""

    vault: ObjectStore
    root: int
    limits: Quotas
    _pending: list[_Pending] = field(default_factory=list)
    _not_held: list[tuple[str, str]] = field(default_factory=list)
    _room: int = 0
    """Bytes of the disk that are free for contents, as far as that was asked."""

    def add(self, folder: str, entries: Entries, name: str, *, may_unlock: bool) -> None:
        """Have the file *name* of *folder* read by `run`, which then sees to its entry."""
        self._pending.append(_Pending(folder, entries, name, may_unlock))

    def run(self) -> list[tuple[str, str]]:
        """Read all that was added; return the paths that could not be held, each with why.

        Small files come first, folder by folder, then large ones, the smallest first: so the room
        there is holds as many files as possible.
        """
        small = [pending for pending in self._pending if pending.size <= LARGE]
        large = [pending for pending in self._pending if pending.size > LARGE]
        with ExitStack() as stack:
            packing = BatchWriter(self.vault, stack if len(small) > 4 * BATCH else None)
            for folder, group in groupby(small, key=lambda pending: pending.folder):
                self._read_folder(folder, group, packing)
            packing.finish()
        for pending in sorted(large, key=lambda pending: pending.size):
            self._read_folder(pending.folder, [pending], packing)
        packing.finish()
        return self._not_held

    def _read_folder(self, folder: str, group: Iterable[_Pending], packing: BatchWriter) -> None:
        try:
            handle = dirfd.open_folder(self.root, folder)
        except OSError:
            for pending in group:
                self._note(pending, pending.entries[pending.name]._replace(why="unsteady"))
            return
        try:
            for pending in group:
                self._read_file(handle, pending, packing)
        finally:
            os.close(handle)

    def _read_file(self, handle: int, pending: _Pending, packing: BatchWriter) -> None:
        try:
            entry = self._contents(handle, pending.name, packing, pending.may_unlock)
        except FileNotFoundError:
            del pending.entries[pending.name]
            return
        except (OSError, UnreadableObject):
            entry = pending.entries[pending.name]._replace(why="unreadable")
        self._note(pending, entry)

    def _note(self, pending: _Pending, entry: Entry) -> None:
        pending.entries[pending.name] = entry
        if entry.why:
            self._not_held.append((join(pending.folder, pending.name), entry.why))

    def _contents(self, handle: int, name: str, packing: BatchWriter, may_unlock: bool) -> Entry:
        """Read a file that may be written to meanwhile; the entry tells of what was read."""
        for _ in range(_TRIES):
            file, before = opened(handle, name, may_unlock)
            try:
                why = self.limits.exceeded(before.st_size, self.vault.size)
                if why or not self._has_room(file, before.st_size, packing):
                    return entry_of(before, why=why or "room")
                content, size = self._keep(file, before.st_size, packing)
                after = os.fstat(file)
                extras = extras_of(file, after)
            finally:
                os.close(file)
            if stamp_of(before) == stamp_of(after) and size == after.st_size:
                return entry_of(after, content=content)._replace(extras=extras)
            time.sleep(0.01)
        # Such a file is written to all the time: what was read last is held, and read anew the
        # next time because its times are so fresh.
        return entry_of(after, content=content)._replace(size=size, extras=extras)

    def _has_room(self, file: int, size: int, packing: BatchWriter) -> bool:
        """Return whether the content of *file*, *size* bytes, can be held, or is already."""
        needed = 2 * size if size <= LARGE else size  # a database writes it twice
        self._room -= needed
        if self._room >= 0:
            return True
        packing.settle()
        self._room = self.limits.room() - needed
        if self._room >= 0:
            return True
        is_held = size <= LARGE and self.vault.has(digest(dirfd.read(file, size + 1)))
        os.lseek(file, 0, os.SEEK_SET)
        return is_held

    def _keep(self, file: int, size: int, packing: BatchWriter) -> tuple[str, int]:
        """Keep the content of *file*, about *size* bytes; return its digest and true size."""
        if size > LARGE:
            with os.fdopen(os.dup(file), "rb", buffering=0) as source:
                return self.vault.put_large(source)
        data = dirfd.read(file, size + 1)
        return packing.add(data), len(data)
