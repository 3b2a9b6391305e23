"""Putting one file in place, or taking it away, so that it is whole or not there at any moment.

Nothing is replaced or removed that is not exactly as it was seen, and so held: what is in the way
is first taken aside in one step, then looked at, then removed or put back.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from modules.checkpoints.restore.hardlinks import HardLinks
from modules.checkpoints.restore.operations import names_beside
from modules.checkpoints.snapshot import dirfd, metadata
from modules.checkpoints.snapshot.entries import Entry
from modules.checkpoints.store.object_store import ObjectStore
from modules.files.kernel import exchange, rename_to_new


class ConcurrentChange(Exception):
    """Somebody changed the very thing that was to be replaced."""


@dataclass(slots=True)
class AtomicReplacer:
    """Works beneath the descriptor *root*, with *temporary* as the name of what is not ready yet.

    Close it after use. Failures are `OSError`, `Damaged` and `ConcurrentChange`, and have changed
    nothing.
    """

    vault: ObjectStore
    root: int
    temporary: str
    twins: HardLinks = field(default_factory=HardLinks)
    _walker: dirfd.Walker = field(init=False)
    _contents: dict[str, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._walker = dirfd.Walker(self.root)

    def fetch(self, entries: Iterable[Entry]) -> None:
        """Have the contents of these files at hand, as far as they are small."""
        self._contents = self.vault.read_small([entry.content for entry in entries])

    def put(self, path: str, new: Entry, current: Entry | None) -> None:
        """Make *path*, where *current* is, the file or link *new*."""
        with self.place(path) as (handle, name):
            try:
                self._build(handle, path, new)
            except BaseException:  # whatever it was, nothing half built may stay
                self.clean(handle)
                raise
            self._put_in_place(handle, name, current)

    def remove(self, path: str, current: Entry) -> None:
        """Remove the file or link *path*, which is *current*."""
        with self.place(path) as (handle, name):
            self._remove(handle, name, current)

    @contextmanager
    def place(self, path: str) -> Iterator[tuple[int, str]]:
        """Give the folder of *path* and its name there; the folder stays open for the next."""
        folder, _, name = path.rpartition("/")
        yield self.folder(folder), name

    def folder(self, path: str) -> int:
        """Return a descriptor of the folder *path*; it is ours, and good until the next."""
        return self._walker.to(path)

    def close(self) -> None:
        self._walker.close()

    def clean(self, handle: int) -> None:
        """Remove the temporary file from the folder *handle*, if it is there."""
        with suppress(FileNotFoundError):
            os.unlink(self.temporary, dir_fd=handle)

    def _build(self, handle: int, path: str, new: Entry) -> None:
        """Make the temporary file or link with everything it is to have."""
        if new.is_link:
            os.symlink(new.content, self.temporary, dir_fd=handle)
            set_attributes(handle, self.temporary, new)
        elif new.is_pipe:
            os.mkfifo(self.temporary, 0o600, dir_fd=handle)
            set_attributes(handle, self.temporary, new)
        elif not self._link_twin(handle, path, new):
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            file = os.open(self.temporary, flags, 0o600, dir_fd=handle)
            with os.fdopen(file, "wb", buffering=0) as out:
                for chunk in self._chunks(new.content):
                    _write(file, chunk)
                out.truncate()
                metadata.set_owner(handle, self.temporary, new.extras)
                metadata.set_attributes(file, new.extras)
                os.fchmod(file, stat.S_IMODE(new.mode))
                os.utime(file, ns=(time.time_ns(), new.mtime_ns))
            self.twins.note(path, new)

    def _chunks(self, content: str) -> Iterable[bytes]:
        known = self._contents.get(content)
        return self.vault.chunks(content) if known is None else (known,)

    def _link_twin(self, handle: int, path: str, new: Entry) -> bool:
        """Link to another name of the same file, if it had and has one; return whether."""
        if (found := self.twins.of(new)) is None or found[0] == path:
            return False
        twin, known = found
        with suppress(OSError), dirfd.place(self.root, twin) as (other, name):
            status = dirfd.status_of(other, name)
            if status is not None and is_like(status, known):
                os.link(
                    name, self.temporary, src_dir_fd=other, dst_dir_fd=handle,
                    follow_symlinks=False,
                )  # fmt: skip
                return True
        return False

    def _put_in_place(self, handle: int, name: str, current: Entry | None) -> None:
        """Give the temporary file its name, if there still is *current*; else remove it."""
        try:
            if current is None:
                rename_to_new(handle, self.temporary, handle, name)
            elif not exchange(handle, self.temporary, name):
                expect(dirfd.status_of(handle, name), current)
                os.rename(self.temporary, name, src_dir_fd=handle, dst_dir_fd=handle)
            else:
                self._drop_exchanged(handle, name, current)
        except (OSError, ConcurrentChange):
            self.clean(handle)
            raise

    def _drop_exchanged(self, handle: int, name: str, current: Entry) -> None:
        """Remove what was swapped out for the new file, if it is *current*; else swap back."""
        try:
            expect(dirfd.status_of(handle, self.temporary), current)
        except ConcurrentChange:
            try:
                exchange(handle, self.temporary, name)
            except OSError:  # somebody moved the new file away that very moment
                self._give_back(handle, name)
            raise
        os.unlink(self.temporary, dir_fd=handle)

    def _give_back(self, handle: int, name: str) -> None:
        """Give what was taken aside by mistake its name again, or one beside what is there now."""
        for free in chain([name], names_beside(name)):
            with suppress(FileExistsError):
                rename_to_new(handle, self.temporary, handle, free)
                return

    def _remove(self, handle: int, name: str, current: Entry) -> None:
        rename_to_new(handle, name, handle, self.temporary)
        try:
            expect(dirfd.status_of(handle, self.temporary), current)
        except ConcurrentChange:
            self._give_back(handle, name)
            raise
        try:
            os.unlink(self.temporary, dir_fd=handle)
        except OSError:
            self._give_back(handle, name)
            raise


def expect(status: os.stat_result | None, entry: Entry) -> None:
    """Raise `ConcurrentChange` unless *status* is that of *entry*; renaming alone is no change."""
    if status is None or not is_like(status, entry) or status.st_ino != entry.inode:
        raise ConcurrentChange


def is_like(status: os.stat_result, entry: Entry) -> bool:
    seen = status.st_mode, status.st_size, status.st_mtime_ns
    return seen == (entry.mode, entry.size, entry.mtime_ns)


def set_attributes(handle: int, name: str, entry: Entry) -> None:
    """Give *name* itself in the folder *handle* all that *entry* has but content."""
    metadata.set_owner(handle, name, entry.extras)
    if not entry.is_link and metadata.HAS_ATTRIBUTES:
        with dirfd.held(handle, name) as path:
            mode = stat.S_IMODE(Path(path).stat().st_mode)
            if mode & 0o600 != 0o600:  # or its attributes are neither told nor taken
                Path(path).chmod(mode | 0o600)
            metadata.set_attributes(path, entry.extras)
    if not entry.is_link:
        dirfd.set_mode(handle, name, stat.S_IMODE(entry.mode))
    dirfd.set_mtime(handle, name, entry.mtime_ns)


def _write(file: int, chunk: bytes) -> None:
    """Write *chunk*, leaving a hole where it is a long row of zeros."""
    if len(chunk) >= 1 << 16 and chunk.count(0) == len(chunk):
        os.lseek(file, len(chunk), os.SEEK_CUR)
        return
    view = memoryview(chunk)
    while view:
        view = view[os.write(file, view) :]
