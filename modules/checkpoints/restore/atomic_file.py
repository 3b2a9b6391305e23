"""Atomic replacement and removal of one file: at any moment it is whole or not there.

Nothing is replaced or removed that is not exactly as it was stored: what is in the way
is first renamed in one step, then checked, then removed or renamed back.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain, groupby, pairwise
from pathlib import Path

from modules.checkpoints.restore.hardlinks import HardLinks, Identity
from modules.checkpoints.restore.operations import conflict_names
from modules.checkpoints.snapshot import dirfd, metadata
from modules.checkpoints.snapshot.entries import Entry
from modules.checkpoints.store.object_store import ObjectStore
from modules.files.kernel import exchange, rename_to_new

_BLOCK = 4096
"""Bytes of zeros in one row that a file needs no room for."""
_SPARSE_ABOVE = 1 << 16
"""Bytes of a file below which holes would save nothing worth the trouble."""


class ConcurrentChange(Exception):
    """Change by somebody else to the very file that was to be replaced."""


class SocketInUse(Exception):
    """Socket that a program still listens at: without its name it could not be reached again."""


@dataclass(slots=True)
class AtomicReplacer:
    """Replacer of files beneath *root_fd*; *temporary_name* is that of what is not ready yet.

    Files of *rewritten* get their content by one of their names: see `_write_in_place`.

    Close it after use. Failures are `OSError`, `DamagedObject`, `ConcurrentChange`, `SocketInUse`
    and have changed nothing.
    """

    objects: ObjectStore
    root_fd: int
    temporary_name: str
    hard_links: HardLinks = field(default_factory=HardLinks)
    rewritten: set[Identity] = field(default_factory=set)
    _walker: dirfd.Walker = field(init=False)
    _preloaded: dict[str, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._walker = dirfd.Walker(self.root_fd)

    def preload(self, entries: Iterable[Entry]) -> None:
        """Load the contents of these files, as far as they are small."""
        self._preloaded = self.objects.read_small([entry.content for entry in entries])

    def put(self, path: str, new: Entry, current: Entry | None) -> None:
        """Make *path*, where *current* is, the file or link *new*."""
        with self.parent(path) as (dir_fd, name):
            _check_unused(dir_fd, name, current)
            if self._write_in_place(dir_fd, name, new, current):
                return
            try:
                self._build_temporary(dir_fd, path, new)
            except BaseException:  # whatever it was, nothing half built may stay
                self.remove_temporary(dir_fd)
                raise
            self._put_in_place(dir_fd, name, current)

    def remove(self, path: str, current: Entry) -> None:
        """Remove the file or link *path*, which is *current*."""
        with self.parent(path) as (dir_fd, name):
            _check_unused(dir_fd, name, current)
            self._remove(dir_fd, name, current)

    @contextmanager
    def parent(self, path: str) -> Iterator[tuple[int, str]]:
        """Give the folder of *path* and its name there; the folder stays open for the next."""
        folder, _, name = path.rpartition("/")
        yield self.open_folder(folder), name

    def open_folder(self, path: str) -> int:
        """Return a descriptor of the folder *path*; it is ours, and good until the next."""
        return self._walker.open(path)

    def close(self) -> None:
        self._walker.close()

    def remove_temporary(self, dir_fd: int) -> None:
        """Remove the temporary file from the folder *dir_fd*, if it is there."""
        with suppress(FileNotFoundError):
            os.unlink(self.temporary_name, dir_fd=dir_fd)

    def _write_in_place(self, dir_fd: int, name: str, new: Entry, current: Entry | None) -> bool:
        """Write into the file *current* if it is *new* and has names outside the project.

        Return whether; these names are to be names of it afterwards, too.
        """
        if current is None or not current.is_file or new.identity != current.identity:
            return False
        if not (new.is_file and self.objects.outer_links.holds(new)):
            return False
        status = dirfd.stat_or_none(dir_fd, name)
        if status and status.st_ino == new.inode and matches_stat(status, new):
            return True  # by another name of it
        check_unchanged(status, current)
        if not current.mode & stat.S_IWUSR:
            dirfd.set_mode(dir_fd, name, stat.S_IMODE(current.mode) | stat.S_IWUSR)
        file = os.open(name, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=dir_fd)
        with os.fdopen(file, "wb", buffering=0) as out:
            _reserve(file, new.size, current)
            for chunk in self._chunks(new.content):
                _write_all(file, memoryview(chunk))
            out.truncate()
        set_metadata(dir_fd, name, new)
        return True

    def _build_temporary(self, dir_fd: int, path: str, new: Entry) -> None:
        """Make the temporary file or link with everything it is to have."""
        if new.is_link:
            os.symlink(new.content, self.temporary_name, dir_fd=dir_fd)
            set_metadata(dir_fd, self.temporary_name, new)
        elif new.is_node:
            os.mknod(self.temporary_name, stat.S_IFMT(new.mode) | 0o600, dir_fd=dir_fd)
            set_metadata(dir_fd, self.temporary_name, new)
        elif not (self._link_existing(dir_fd, path, new) or self._link_outer(dir_fd, path, new)):
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            file = os.open(self.temporary_name, flags, 0o600, dir_fd=dir_fd)
            with os.fdopen(file, "wb", buffering=0) as out:
                for chunk in self._chunks(new.content):
                    _write(file, chunk)
                out.truncate()
                metadata.set_owner(dir_fd, self.temporary_name, new.metadata)
                metadata.set_xattrs(file, new.metadata)
                os.fchmod(file, stat.S_IMODE(new.mode))
                os.utime(file, ns=(time.time_ns(), new.mtime_ns))
            self.hard_links.record(path, new)

    def _chunks(self, content: str) -> Iterable[bytes]:
        preloaded = self._preloaded.get(content)
        return self.objects.chunks(content) if preloaded is None else (preloaded,)

    def _link_existing(self, dir_fd: int, path: str, new: Entry) -> bool:
        """Link to another name of the same file, if it had and has one; return whether."""
        if (link := self.hard_links.existing_link(new)) is None or link[0] == path:
            return False
        linked_path, expected = link
        with (
            suppress(OSError),
            dirfd.opened_parent(self.root_fd, linked_path) as (other_dir_fd, name),
        ):
            status = dirfd.stat_or_none(other_dir_fd, name)
            if status is not None and matches_stat(status, expected):
                os.link(
                    name, self.temporary_name, src_dir_fd=other_dir_fd, dst_dir_fd=dir_fd,
                    follow_symlinks=False,
                )  # fmt: skip
                return True
        return False

    def _link_outer(self, dir_fd: int, path: str, new: Entry) -> bool:
        """Link to the name of ours of a file with names outside, if it has one; return whether."""
        links = self.objects.outer_links
        if new.identity in self.rewritten:
            return links.restore(new, dir_fd, self.temporary_name, is_written=True)
        if new.links == 1 or not links.restore(new, dir_fd, self.temporary_name):
            return False
        set_metadata(dir_fd, self.temporary_name, new)
        self.hard_links.record(path, new)
        return True

    def _put_in_place(self, dir_fd: int, name: str, current: Entry | None) -> None:
        """Give the temporary file its name, if there still is *current*; else remove it."""
        try:
            if current is None:
                rename_to_new(dir_fd, self.temporary_name, dir_fd, name)
            elif not exchange(dir_fd, self.temporary_name, name):
                check_unchanged(dirfd.stat_or_none(dir_fd, name), current)
                os.rename(self.temporary_name, name, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
            else:
                self._remove_exchanged(dir_fd, name, current)
        except (OSError, ConcurrentChange):
            self.remove_temporary(dir_fd)
            raise

    def _remove_exchanged(self, dir_fd: int, name: str, current: Entry) -> None:
        """Remove what was swapped out for the new file, if it is *current*; else swap back."""
        try:
            check_unchanged(dirfd.stat_or_none(dir_fd, self.temporary_name), current)
        except ConcurrentChange:
            try:
                exchange(dir_fd, self.temporary_name, name)
            except OSError:  # somebody moved the new file away that very moment
                self._restore_name(dir_fd, name)
            raise
        os.unlink(self.temporary_name, dir_fd=dir_fd)

    def _restore_name(self, dir_fd: int, name: str) -> None:
        """Give a file renamed by mistake its name again, or one beside what is there now."""
        for free_name in chain([name], conflict_names(name)):
            with suppress(FileExistsError):
                rename_to_new(dir_fd, self.temporary_name, dir_fd, free_name)
                return

    def _remove(self, dir_fd: int, name: str, current: Entry) -> None:
        rename_to_new(dir_fd, name, dir_fd, self.temporary_name)
        try:
            check_unchanged(dirfd.stat_or_none(dir_fd, self.temporary_name), current)
        except ConcurrentChange:
            self._restore_name(dir_fd, name)
            raise
        try:
            os.unlink(self.temporary_name, dir_fd=dir_fd)
        except OSError:
            self._restore_name(dir_fd, name)
            raise


def check_unchanged(status: os.stat_result | None, entry: Entry) -> None:
    """Raise `ConcurrentChange` unless *status* is that of *entry*; renaming alone is no change."""
    if status is None or not matches_stat(status, entry) or status.st_ino != entry.inode:
        raise ConcurrentChange


def _check_unused(dir_fd: int, name: str, current: Entry | None) -> None:
    """Raise `SocketInUse` if *current* is a socket that somebody is reached at.

    No program notices: those that take connections refuse a datagram, others are sent none.
    """
    if current is None or not stat.S_ISSOCK(current.mode):
        return
    import socket

    with (
        dirfd.proc_path(dir_fd, name) as path,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as probe,
    ):
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            return
        except OSError as error:
            raise SocketInUse from error
        raise SocketInUse


def matches_stat(status: os.stat_result, entry: Entry) -> bool:
    actual = status.st_mode, status.st_size, status.st_mtime_ns
    return actual == (entry.mode, entry.size, entry.mtime_ns)


def set_metadata(dir_fd: int, name: str, entry: Entry) -> None:
    """Give *name* itself in the folder *dir_fd* all that *entry* has but content."""
    metadata.set_owner(dir_fd, name, entry.metadata)
    if not entry.is_link and metadata.HAS_XATTRS:
        with dirfd.proc_path(dir_fd, name) as path:
            mode = stat.S_IMODE(Path(path).stat().st_mode)
            if mode & 0o600 != 0o600:  # or its attributes are neither told nor taken
                Path(path).chmod(mode | 0o600)
            metadata.set_xattrs(path, entry.metadata)
    if not entry.is_link:
        dirfd.set_mode(dir_fd, name, stat.S_IMODE(entry.mode))
    dirfd.set_mtime(dir_fd, name, entry.mtime_ns)


def _reserve(file: int, size: int, current: Entry) -> None:
    """Make sure of room for *size* bytes in *file*, or leave it as it is, which is *current*."""
    try:
        if size > current.size and hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file, 0, size)
    except OSError:
        os.ftruncate(file, current.size)
        os.fchmod(file, stat.S_IMODE(current.mode))
        os.utime(file, ns=(time.time_ns(), current.mtime_ns))
        raise


def _write(file: int, chunk: bytes) -> None:
    """Write *chunk*, leaving holes where a large file has whole blocks of zeros."""
    has_zeros = chunk.count(0) >= min(_BLOCK, len(chunk))
    offset = os.lseek(file, 0, os.SEEK_CUR) if has_zeros else 0
    is_sparse = has_zeros and offset + len(chunk) > _SPARSE_ABOVE
    for is_hole, part in _parts(chunk, offset) if is_sparse else [(False, memoryview(chunk))]:
        if is_hole:
            os.lseek(file, len(part), os.SEEK_CUR)
        else:
            _write_all(file, part)


def _write_all(file: int, view: memoryview) -> None:
    while view:
        view = view[os.write(file, view) :]


def _parts(chunk: bytes, offset: int) -> Iterator[tuple[bool, memoryview]]:
    """Yield *chunk*, at *offset* of the file, in rows of its blocks, each with whether all is
    zeros."""
    first = -offset % _BLOCK
    starts = [*range(0, min(first, 1)), *range(first, len(chunk), _BLOCK), len(chunk)]
    blocks = [
        (chunk.count(0, start, end) == end - start, start, end) for start, end in pairwise(starts)
    ]
    for is_hole, row in groupby(blocks, key=lambda block: block[0]):
        places = [place for _, *place in row]
        yield is_hole, memoryview(chunk)[places[0][0] : places[-1][1]]
