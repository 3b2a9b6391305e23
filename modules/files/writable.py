"""Writing files beneath one folder: whole or not at all, and never through a link."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import EllipsisType
from typing import BinaryIO

from modules.files import kernel
from modules.files.containment import (
    READ_FLAGS,
    ConfinedFolder,
    ContentChanged,
    NotRegularFile,
    ProtectedPath,
    SymlinkInPath,
    identity_of,
    link_target,
)

TEMPORARY_FILE = re.compile(r"(.*/)?\.[0-9a-f]{16}\.tmp")
"""Path of a temporary file that a kill may have left, whole or not, before it got its name."""


MAX_NEW_FOLDERS = 100
"""Most folders within each other that are made at once."""


_COPIED = 1 << 20
"""Bytes of a file that are copied at a time."""


class TooManyFolders(Exception):
    """More than `MAX_NEW_FOLDERS` folders were to be made within each other."""


class WritableFolder(ConfinedFolder):
    """A folder beneath which files may be changed; see `ConfinedFolder` for what is refused."""

    def make_folders(self, path: str) -> list[str]:
        """Make the folder *path* and those above it; return the paths of those that were made.

        All of them or none: what was made before something failed is taken away again. More than
        `MAX_NEW_FOLDERS` at once are refused (`TooManyFolders`).
        """
        missing = self._missing_folders(path)
        made: list[str] = []
        try:
            for path_made in reversed(missing):
                with self.open_parent(path_made) as (folder, name), suppress(FileExistsError):
                    os.mkdir(name, dir_fd=folder)  # noqa: PTH102 - pathlib knows no descriptors
                    made.append(path_made)
            with self.open_folder(path, writing=True):
                return made
        except BaseException:
            self._remove_folders(made)
            raise

    def move_in(self, source: Path, path: str) -> None:
        """Move the folder *source* from elsewhere to *path*, where nothing may be."""
        with self.open_parent(path) as (folder, name):
            os.mkdir(name, 0o755, dir_fd=folder)  # noqa: PTH102 - it fails if there is something
            try:
                self._fill(folder, name, source)
            except BaseException:
                import shutil  # 12 ms

                shutil.rmtree(name, dir_fd=folder)
                raise

    def _fill(self, folder: int, name: str, source: Path) -> None:
        """Make the empty folder *name* in *folder* what *source* is."""
        try:
            os.rename(source, name, dst_dir_fd=folder)  # noqa: PTH104
        except OSError as error:
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            with self.closing(os.open(name, flags, dir_fd=folder)) as target:
                within = self.proc_path(target)
                if error.errno != errno.EXDEV or within is None:
                    raise
                import shutil  # 12 ms

                shutil.copytree(source, within, symlinks=True, dirs_exist_ok=True)

    @contextmanager
    def with_folders(self, path: str) -> Iterator[None]:
        """Make the folder *path* for what is done within; when that fails, it was not made."""
        made = self.make_folders(path)
        try:
            yield
        except BaseException:
            self._remove_folders(made)
            raise

    def _remove_folders(self, paths: list[str]) -> None:
        """Remove the folders *paths*, those that are still empty."""
        for path in reversed(paths):
            with suppress(OSError), self.open_parent(path) as (folder, name):
                os.rmdir(name, dir_fd=folder)  # noqa: PTH106

    def _missing_folders(self, path: str) -> list[str]:
        """Return *path* and the folders above it that are to be made, the deepest first."""
        missing: list[str] = []
        while path and not self._is_folder(path):
            missing.append(path)
            if len(missing) > MAX_NEW_FOLDERS:
                raise TooManyFolders
            path = path.rpartition("/")[0]
        return missing

    def _is_folder(self, path: str) -> bool:
        try:
            return stat.S_ISDIR(self.lstat(path).st_mode)
        except (FileNotFoundError, NotADirectoryError):
            return False

    def write(self, path: str, data: bytes, expected: bytes | EllipsisType | None = ...) -> None:
        """Replace the regular file *path* by *data*, whole or not at all, its mode kept.

        The file must still hold *expected*, or not exist if that is None (`ContentChanged`,
        `FileExistsError`); this is looked at again right before the new file takes its name.
        """
        with self.open_parent(path) as (folder, name):
            replaced = _regular_or_missing(folder, name)
            temporary = f".{os.urandom(8).hex()}.tmp"  # see TEMPORARY_FILE
            try:
                _write_new(folder, temporary, lambda file: file.write(data), replaced)
                if expected is None:
                    kernel.rename_to_new(folder, temporary, folder, name)
                    return
                if isinstance(expected, bytes):
                    self._check_content(folder, name, expected)
                os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)  # noqa: PTH104
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=folder)  # noqa: PTH108

    def copy_unnamed(self, source: int, most: int) -> int | None:
        """Return a copy of the open file *source*, with its mode, owner and times, that has no name
        and is on the disk of this folder; the caller closes it.

        None where there is no such thing, nor room for it: unless it shares that with its file,
        at most the bytes *most* are copied, and half of what is free.
        """
        with self.open_folder("", writing=True) as folder:
            if (written := _open_unnamed_file(folder)) is None:
                return None
            with os.fdopen(written, "wb"):
                status, disk = os.fstat(source), os.fstatvfs(folder)
                if not kernel.reflink(source, written):
                    if status.st_blocks * 512 > min(most, disk.f_bavail * disk.f_frsize // 2):
                        return None
                    _copy(source, written)
                copy = os.open(f"/proc/self/fd/{written}", os.O_RDONLY | os.O_CLOEXEC)
                with suppress(PermissionError):
                    os.fchown(written, status.st_uid, status.st_gid)
                os.fchmod(written, status.st_mode & 0o777)
                os.utime(written, ns=(status.st_atime_ns, status.st_mtime_ns))
                return copy

    def copy_in(self, source: int, path: str, *, replaces: bool = False) -> None:
        """Make *path* a copy of the open file *source*: content, holes, mode, owner and times.

        Nothing may be there (`FileExistsError`), unless it *replaces* that: no folder with
        anything in it.
        """
        with self.open_parent(path) as (folder, name):
            temporary = f".{os.urandom(8).hex()}.tmp"  # see TEMPORARY_FILE
            status = os.fstat(source)
            try:
                _write_new(folder, temporary, lambda file: _copy(source, file.fileno()), status)
                times = (status.st_atime_ns, status.st_mtime_ns)
                os.utime(temporary, ns=times, dir_fd=folder, follow_symlinks=False)
                if replaces:
                    with suppress(FileNotFoundError, NotADirectoryError):
                        os.rmdir(name, dir_fd=folder)  # noqa: PTH106
                    os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)  # noqa: PTH105
                else:
                    kernel.rename_to_new(folder, temporary, folder, name)
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=folder)  # noqa: PTH108

    def rename(self, path: str, new_path: str) -> None:
        """Move *path* to *new_path*, which must not exist (`FileExistsError`)."""
        self._refuse_protected_inside(path)
        with self.open_parent(path) as (old, name), self.open_parent(new_path) as (new, new_name):
            kernel.rename_to_new(old, name, new, new_name)

    def unlink(self, path: str) -> None:
        """Delete the file or link *path*."""
        with self.open_parent(path) as (folder, name):
            os.unlink(name, dir_fd=folder)  # noqa: PTH108

    def remove_folder(self, path: str, *, recursive: bool) -> None:
        """Delete the folder *path*; with *recursive* all that is in it, following no link."""
        self._refuse_protected_inside(path)
        with self.open_parent(path) as (folder, name):
            if recursive:
                import shutil  # 12 ms

                with self.open_folder(path, writing=True):
                    shutil.rmtree(name, dir_fd=folder)
            else:
                os.rmdir(name, dir_fd=folder)  # noqa: PTH106

    def _refuse_protected_inside(self, path: str) -> None:
        """Refuse a folder with a hidden one in it, or one of ours: it would go along."""
        protected = (*self.hidden, *self.own_paths)
        if any(f"{folder}/".startswith(f"{path}/") for folder in protected):
            raise ProtectedPath
        if protected and identity_of(self.lstat(path)) in self._identities(_ancestors(protected)):
            raise ProtectedPath  # by another name

    def _check_content(self, folder: int, name: str, expected: bytes) -> None:
        file = os.open(name, READ_FLAGS | os.O_NOFOLLOW, dir_fd=folder)
        with self.closing(file), os.fdopen(os.dup(file), "rb") as stream:
            if stream.read(len(expected) + 1) != expected:
                raise ContentChanged


def _ancestors(paths: Iterable[str]) -> set[str]:
    """Return the folders that *paths* are in, the root left out."""
    return {path[:end] for path in paths for end, letter in enumerate(path) if letter == "/"}


def _regular_or_missing(folder: int, name: str) -> os.stat_result | None:
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(status.st_mode):
        raise SymlinkInPath(link_target(folder, name) or "")
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise NotRegularFile
    return status


def _write_new(
    folder: int,
    name: str,
    write: Callable[[BinaryIO], object],
    replaced: os.stat_result | None,
) -> None:
    """Have *write* fill the new file *name*, with the mode and the owner of *replaced*.

    Where the system can, it has no name before it is whole: a kill leaves nothing behind then.
    """
    unnamed = _open_unnamed_file(folder)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(name, flags, 0o666, dir_fd=folder) if unnamed is None else unnamed
    with os.fdopen(descriptor, "wb") as file:
        write(file)
        file.flush()
        if replaced is not None:
            if (replaced.st_uid, replaced.st_gid) != (os.geteuid(), os.getegid()):
                with suppress(PermissionError):
                    os.fchown(descriptor, replaced.st_uid, replaced.st_gid)
            os.fchmod(descriptor, replaced.st_mode & 0o777)
        os.fsync(descriptor)
        if unnamed is not None:
            os.link(f"/proc/self/fd/{descriptor}", name, dst_dir_fd=folder)  # noqa: PTH200


def _copy(source: int, target: int) -> None:
    """Copy the content of the file *source* to the empty one *target*, holes as holes."""
    end = os.fstat(source).st_size
    position = _next_data(source, 0, end)
    while position < end and (data := os.pread(source, _COPIED, position)):
        position = _next_data(source, position + os.pwrite(target, data, position), end)
    os.ftruncate(target, end)


def _next_data(file: int, position: int, end: int) -> int:
    """Return where *file* has data from *position* on: its *end* if it has none."""
    try:
        return os.lseek(file, position, os.SEEK_DATA)
    except OSError as error:  # a file system may not tell its holes
        return end if error.errno == errno.ENXIO else position


def _open_unnamed_file(folder: int) -> int | None:
    """Return a new file in *folder* that has no name yet; None where there is no such thing."""
    flag = getattr(os, "O_TMPFILE", 0)
    if not flag or not Path("/proc/self/fd").is_dir():
        return None
    try:
        return os.open(".", flag | os.O_WRONLY | os.O_CLOEXEC, 0o666, dir_fd=folder)
    except OSError:  # not every file system can
        return None
