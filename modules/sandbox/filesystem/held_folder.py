"""A folder held by a descriptor, so that a program cannot lead us elsewhere while we work in it."""

from __future__ import annotations

import itertools
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from modules.sandbox.filesystem.folder_removal import remove_scratch

_STEP = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

Content = tuple[int, bytes]
"""(permissions, bytes); of what is no plain file (-1, where a link leads)"""


class HeldFolder:
    """A folder by its *descriptor*. Names are paths in it; no link on the way is ever followed.

    Raises `OSError` where a folder on the way is none, or is locked.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @staticmethod
    @contextmanager
    def open(path: Path) -> Iterator[HeldFolder]:
        """Open the folder at the absolute *path*. Raises `OSError`, also where a link leads there.

        It need not be readable for that.
        """
        descriptor = _opened(os.open(path.anchor, _STEP), path.parts[1:])
        try:
            yield HeldFolder(descriptor)
        finally:
            os.close(descriptor)

    @contextmanager
    def _above(self, name: str, *, makes: bool = False) -> Iterator[tuple[int, str]]:
        """Yield the folder that holds *name*, which it *makes* if missing, and the last part."""
        *above, last = name.split("/")
        descriptor = _opened(os.dup(self._descriptor), above, makes=makes)
        try:
            yield descriptor, last or "."
        finally:
            os.close(descriptor)

    def status(self, name: str) -> os.stat_result | None:
        """Return the status of *name*, "" for the folder itself; None if nothing is there."""
        with suppress(OSError), self._above(name) as (above, last):
            if last == ".":
                return os.fstat(above)  # to look at "." in it, it must not be locked
            return os.stat(last, dir_fd=above, follow_symlinks=False)  # noqa: PTH116 - by descriptor
        return None

    def is_folder(self, name: str) -> bool:
        status = self.status(name)
        return status is not None and stat.S_ISDIR(status.st_mode)

    def content(self, name: str, max_bytes: int) -> Content | None:
        """Return the content of *name*, None if nothing is there; of a larger file only its kind.

        Where it is locked, that is (-1, b"").
        """
        if (status := self.status(name)) is None:
            return None
        with suppress(OSError), self._above(name) as (above, last):
            if stat.S_ISLNK(status.st_mode):
                return -1, os.fsencode(os.readlink(last, dir_fd=above))  # noqa: PTH115
            if stat.S_ISREG(status.st_mode) and status.st_size <= max_bytes:
                return _read(os.open(last, _FILE, dir_fd=above), max_bytes)
        return -1, b""

    def entries(self, name: str) -> list[os.DirEntry[str]]:
        """Return what is in the folder *name*, in order; nothing where it is none, or locked.

        What kind each is, is known already.
        """
        with suppress(OSError), self._scanned(name) as found:
            entries = sorted(found, key=lambda entry: entry.name)
            for entry in entries:
                entry.is_dir(follow_symlinks=False)  # kept by the entry, beyond the descriptor
                entry.is_symlink()
            return entries
        return []

    def write(self, name: str, content: Content) -> None:
        """Write the file *name* in the place of what is there, at once; make missing folders."""
        self._put(name, content[0], lambda file: file.write(content[1]))

    def copy(self, name: str, source: Path, mode: int, *, may_link: bool = False) -> None:
        """Make the file *name* a copy of *source* with these permissions; as `write` does it.

        If it *may_link*, it becomes another name of the same file where that can be.
        """
        if may_link:
            with suppress(OSError), self._above(name, makes=True) as (above, last):
                with suppress(FileNotFoundError):
                    os.unlink(last, dir_fd=above)  # noqa: PTH108
                os.link(source, last, dst_dir_fd=above, follow_symlinks=False)
                return
        with source.open("rb") as content:
            self._put(name, mode, lambda file: shutil.copyfileobj(content, file))

    @contextmanager
    def opened(self, name: str) -> Iterator[BinaryIO]:
        """Open the plain file *name* to read it. Raises `OSError`."""
        with self._above(name) as (above, last):
            descriptor = os.open(last, _FILE, dir_fd=above)
        with os.fdopen(descriptor, "rb") as file:
            yield file

    def give_name(self, name: str, other: Path) -> None:
        """Make *other*, which must be free, another name (hard link) of the file *name*."""
        with self._above(name) as (above, last):
            os.link(last, other, src_dir_fd=above, follow_symlinks=False)

    def make_folder(self, name: str) -> None:
        """Make the folder *name* with those above it; nothing where it is."""
        with self._above(f"{name}/", makes=True):
            pass

    def statuses(self, name: str) -> list[tuple[str, os.stat_result]]:
        """Return the names of what is in the folder *name*, and their statuses, in no order.

        Nothing where it is none, or locked.
        """
        with suppress(OSError), self._scanned(name) as found:
            return [(entry.name, entry.stat(follow_symlinks=False)) for entry in found]
        return []

    @contextmanager
    def _scanned(self, name: str) -> Iterator[Iterator[os.DirEntry[str]]]:
        """Yield what is in the folder *name*, while it is open. Raises `OSError`."""
        with self._above(name) as (above, last):
            descriptor = os.open(last, _FOLDER, dir_fd=above)
        try:
            with os.scandir(descriptor) as found:
                yield found
        finally:
            os.close(descriptor)

    def _put(self, name: str, mode: int, write: Callable[[BinaryIO], object]) -> None:
        with self._above(name, makes=True) as (above, last):
            new = _new_name(last)
            try:
                with os.fdopen(os.open(new, _NEW, 0o600, dir_fd=above), "wb") as file:
                    write(file)
                    os.fchmod(file.fileno(), mode)
                os.replace(new, last, src_dir_fd=above, dst_dir_fd=above)  # noqa: PTH105
            except BaseException:
                with suppress(OSError):
                    os.unlink(new, dir_fd=above)  # noqa: PTH108
                raise

    def remove(self, name: str) -> None:
        """Remove *name*, a folder with all that is in it; nothing where there is nothing."""
        is_folder = self.is_folder(name)
        with suppress(FileNotFoundError), self._above(name) as (above, last):
            if is_folder:
                remove_scratch(Path(last), above)
            else:
                os.unlink(last, dir_fd=above)  # noqa: PTH108

    def link(self, name: str, target: bytes) -> None:
        """Make the link *name*, which must be free, to *target*."""
        with self._above(name) as (above, last):
            os.symlink(os.fsdecode(target), last, dir_fd=above)  # noqa: PTH211 - by descriptor

    def change_mode(self, name: str, mode: int) -> None:
        """Give the folder *name* its permissions, also where it is locked."""
        with self._above(name) as (above, last):
            try:
                folder = os.open(last, _FOLDER, dir_fd=above)
            except PermissionError:
                folder = os.dup(above) if last == "." else os.open(last, _STEP, dir_fd=above)
            try:
                # A descriptor that is only a place has no other way to its permissions.
                in_proc = Path(f"/proc/self/fd/{folder}")
                in_proc.chmod(mode) if in_proc.exists() else os.fchmod(folder, mode)
            finally:
                os.close(folder)


def _new_name(name: str) -> str:
    return f".{name[:100]}.{secrets.token_hex(6)}"


def move(source: Path, target: Path) -> None:
    """Move *source* to *target*, each in a folder that no link leads to. Raises `OSError`."""
    with HeldFolder.open(source.parent) as old, HeldFolder.open(target.parent) as new:
        os.rename(  # noqa: PTH104 - by descriptors
            source.name, target.name, src_dir_fd=old._descriptor, dst_dir_fd=new._descriptor
        )


def _opened(descriptor: int, names: Sequence[str], *, makes: bool = False) -> int:
    """Go from the folder *descriptor*, which is closed, through *names*; return the last one."""
    try:
        for name in itertools.filterfalse(lambda one: one in ("", "."), names):
            if makes:
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=descriptor)  # noqa: PTH102 - by descriptor
            inner = os.open(name, _STEP, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _read(descriptor: int, max_bytes: int) -> Content:
    """Return the content of the plain file *descriptor*, and close it."""
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        is_plain = stat.S_ISREG(status.st_mode)
        data = file.read(max_bytes + 1) if is_plain else b""
    is_whole = is_plain and len(data) <= max_bytes
    return (stat.S_IMODE(status.st_mode), data) if is_whole else (-1, b"")
