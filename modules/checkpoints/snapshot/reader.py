"""Reading the files that a scan found new or changed, and storing their contents."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import groupby

from modules.checkpoints.snapshot import dirfd
from modules.checkpoints.snapshot.entries import (
    Entries,
    Entry,
    digest,
    entry_of,
    join,
    stat_signature,
)
from modules.checkpoints.snapshot.metadata import metadata_of
from modules.checkpoints.snapshot.temporary_access import open_with_access
from modules.checkpoints.store.batch_writer import BATCH_SIZE, BatchWriter
from modules.checkpoints.store.compression import UnreadableObject
from modules.checkpoints.store.object_store import LOOSE_ABOVE, ObjectStore
from modules.checkpoints.store.quotas import Quotas

_MAX_ATTEMPTS = 3
_MAX_OUTER_LINKS = 2000
"""Files with names outside of which we keep the names; more are an installer's, not a person's."""


@dataclass(slots=True)
class _Pending:
    """A file to be read; its entry in *entries* has no content yet."""

    folder: str
    entries: Entries
    name: str
    may_chmod: bool

    @property
    def entry(self) -> Entry:
        return self.entries[self.name]


@dataclass(slots=True)
class FileReader:
    """Reader of files beneath *root_fd* into *objects*, as far as *quotas* allow."""

    objects: ObjectStore
    root_fd: int
    quotas: Quotas
    _pending: list[_Pending] = field(default_factory=list)
    _not_stored: list[tuple[str, str]] = field(default_factory=list)
    _free_bytes: int = 0
    """Bytes of the disk that are free for contents, as far as that was asked."""

    def add(self, folder: str, entries: Entries, name: str, *, may_chmod: bool) -> None:
        """Have the file *name* of *folder* read by `run`, which then completes its entry."""
        self._pending.append(_Pending(folder, entries, name, may_chmod))

    def run(self) -> list[tuple[str, str]]:
        """Read all that was added; return the paths that could not be held, each with why.

        Small files come first, folder by folder, then large ones, the smallest first: so the room
        there is holds as many files as possible.
        """
        small = [pending for pending in self._pending if pending.entry.size <= LOOSE_ABOVE]
        large = [pending for pending in self._pending if pending.entry.size > LOOSE_ABOVE]
        self._keep_outer_links()
        with ExitStack() as stack:
            writer = BatchWriter(self.objects, stack if len(small) > 4 * BATCH_SIZE else None)
            for folder, group in groupby(small, key=lambda pending: pending.folder):
                self._read_folder(folder, group, writer)
            writer.finish()
        for pending in sorted(large, key=lambda pending: pending.entry.size):
            self._read_folder(pending.folder, [pending], writer)
        writer.finish()
        return self._not_stored

    def _keep_outer_links(self) -> None:
        """Have the store keep the files that have more names than those that were found.

        All names of a file are read anew together: it changes whenever it gets or loses one. This
        comes before they are read, for it changes them too.
        """
        linked = [one for one in self._pending if one.entry.links > 1]
        names = Counter(one.entry.identity for one in linked)
        outer = {
            one.entry.identity: one for one in linked if one.entry.links > names[one.entry.identity]
        }
        if len(outer) > _MAX_OUTER_LINKS:
            return
        for one in outer.values():
            if not self.objects.outer_links.holds(one.entry):
                with suppress(OSError), dirfd.opened_folder(self.root_fd, one.folder) as dir_fd:
                    self.objects.outer_links.keep(one.entry, dir_fd, one.name)

    def _read_folder(self, folder: str, group: Iterable[_Pending], writer: BatchWriter) -> None:
        try:
            dir_fd = dirfd.open_folder(self.root_fd, folder)
        except OSError:
            for pending in group:
                self._set_entry(
                    pending, pending.entries[pending.name]._replace(not_stored_reason="unsteady")
                )
            return
        try:
            for pending in group:
                self._read_file(dir_fd, pending, writer)
        finally:
            os.close(dir_fd)

    def _read_file(self, dir_fd: int, pending: _Pending, writer: BatchWriter) -> None:
        try:
            entry = self._read_stable(dir_fd, pending.name, writer, pending.may_chmod)
        except FileNotFoundError:
            del pending.entries[pending.name]
            return
        except (OSError, UnreadableObject):
            entry = pending.entries[pending.name]._replace(not_stored_reason="unreadable")
        self._set_entry(pending, entry)

    def _set_entry(self, pending: _Pending, entry: Entry) -> None:
        pending.entries[pending.name] = entry
        if entry.not_stored_reason:
            self._not_stored.append((join(pending.folder, pending.name), entry.not_stored_reason))

    def _read_stable(self, dir_fd: int, name: str, writer: BatchWriter, may_chmod: bool) -> Entry:
        """Read a file that may be written to meanwhile; the entry tells of what was read."""
        for _ in range(_MAX_ATTEMPTS):
            file, before = open_with_access(dir_fd, name, may_chmod)
            try:
                reason = self.quotas.exceeded(before.st_size, self.objects.size)
                if reason or not self._fits(file, before.st_size, writer):
                    return entry_of(before, why=reason or "room")
                content, size = self._store(file, before.st_size, writer)
                after = os.fstat(file)
                metadata = metadata_of(file, after)
            finally:
                os.close(file)
            if stat_signature(before) == stat_signature(after) and size == after.st_size:
                return entry_of(after, content=content)._replace(metadata=metadata)
            time.sleep(0.01)
        # Such a file is written to all the time: what was read last is held, and read anew the
        # next time because its times are so fresh.
        return entry_of(after, content=content)._replace(size=size, metadata=metadata)

    def _fits(self, file: int, size: int, writer: BatchWriter) -> bool:
        """Return whether the content of *file*, *size* bytes, can be held, or is already."""
        needed = 2 * size if size <= LOOSE_ABOVE else size  # a database writes it twice
        self._free_bytes -= needed
        if self._free_bytes >= 0:
            return True
        writer.flush()
        self._free_bytes = self.quotas.free_bytes() - needed
        if self._free_bytes >= 0:
            return True
        is_stored = size <= LOOSE_ABOVE and self.objects.has(
            digest(dirfd.read_up_to(file, size + 1))
        )
        os.lseek(file, 0, os.SEEK_SET)
        return is_stored

    def _store(self, file: int, size: int, writer: BatchWriter) -> tuple[str, int]:
        """Keep the content of *file*, about *size* bytes; return its digest and true size."""
        if size > LOOSE_ABOVE:
            with os.fdopen(os.dup(file), "rb", buffering=0) as source:
                return self.objects.put_large(source)
        data = dirfd.read_up_to(file, size + 1)
        return writer.add(data), len(data)
