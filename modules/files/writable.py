"""Changing what lies beneath one folder: whole or not at all, and never through a link."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import EllipsisType

from modules.files import kernel
from modules.files.containment import (
    READING,
    Beneath,
    Changed,
    Guarded,
    Linked,
    Special,
    identity_of,
    link_target,
)

LEFT_BEHIND = re.compile(r"(.*/)?\.[0-9a-f]{16}\.tmp")
"""The path of a file that a kill may have left, whole or not, instead of giving it its name."""


class Writable(Beneath):
    """A folder beneath which files may be changed; see `Beneath` for what is refused."""

    def make_folders(self, path: str) -> list[str]:
        """Make the folder *path* and those above it; return the paths of those that were made."""
        parts = path.split("/") if path else []
        made = []
        for end in range(1, len(parts) + 1):
            here = "/".join(parts[:end])
            if self._is_folder(here):
                continue
            with self.parent(here) as (folder, name), suppress(FileExistsError):
                os.mkdir(name, dir_fd=folder)  # noqa: PTH102 - pathlib knows no descriptors
                made.append(here)
        with self.folder(path, writing=True):
            return made

    def _is_folder(self, path: str) -> bool:
        try:
            return stat.S_ISDIR(self.lstat(path).st_mode)
        except (FileNotFoundError, NotADirectoryError):
            return False

    def write(self, path: str, data: bytes, expect: bytes | EllipsisType | None = ...) -> None:
        """Replace the regular file *path* by *data*, whole or not at all, its mode kept.

        The file must still hold *expect*, or not exist if that is None (`Changed`,
        `FileExistsError`); this is looked at again right before the new file takes its name.
        """
        with self.parent(path) as (folder, name):
            before = _regular_or_missing(folder, name)
            temporary = f".{os.urandom(8).hex()}.tmp"  # see LEFT_BEHIND
            try:
                _write_new(folder, temporary, data, before)
                if expect is None:
                    kernel.rename_to_new(folder, temporary, folder, name)
                    return
                if isinstance(expect, bytes):
                    self._must_hold(folder, name, expect)
                os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)  # noqa: PTH104
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=folder)  # noqa: PTH108

    def rename(self, path: str, new_path: str) -> None:
        """Move *path* to *new_path*, which must not exist (`FileExistsError`)."""
        self._must_keep_nothing(path)
        with self.parent(path) as (old, name), self.parent(new_path) as (new, new_name):
            kernel.rename_to_new(old, name, new, new_name)

    def unlink(self, path: str) -> None:
        """Delete the file or link *path*."""
        with self.parent(path) as (folder, name):
            os.unlink(name, dir_fd=folder)  # noqa: PTH108

    def remove_folder(self, path: str, *, recursive: bool) -> None:
        """Delete the folder *path*; with *recursive* all that is in it, following no link."""
        self._must_keep_nothing(path)
        with self.parent(path) as (folder, name):
            if recursive:
                import shutil  # 12 ms

                with self.folder(path, writing=True):
                    shutil.rmtree(name, dir_fd=folder)
            else:
                os.rmdir(name, dir_fd=folder)  # noqa: PTH106

    def _must_keep_nothing(self, path: str) -> None:
        """Refuse a folder with a hidden one in it, or one of ours: it would go along."""
        kept = (*self.hidden, *self.own)
        if any(f"{folder}/".startswith(f"{path}/") for folder in kept):
            raise Guarded
        if kept and identity_of(self.lstat(path)) in self._identities(_above(kept)):
            raise Guarded  # by another name

    def _must_hold(self, folder: int, name: str, expect: bytes) -> None:
        file = os.open(name, READING | os.O_NOFOLLOW, dir_fd=folder)
        with self.held(file), os.fdopen(os.dup(file), "rb") as stream:
            if stream.read(len(expect) + 1) != expect:
                raise Changed


def _above(paths: Iterable[str]) -> set[str]:
    """Return the folders that *paths* are in, the root left out."""
    return {path[:end] for path in paths for end, letter in enumerate(path) if letter == "/"}


def _regular_or_missing(folder: int, name: str) -> os.stat_result | None:
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(found.st_mode):
        raise Linked(link_target(folder, name) or "")
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(found.st_mode):
        raise Special
    return found


def _write_new(folder: int, name: str, data: bytes, before: os.stat_result | None) -> None:
    """Write *data* to the new file *name*, with the mode and the owner of *before*.

    Where the system can, it has no name before it is whole: a kill leaves nothing behind then.
    """
    unnamed = _unnamed(folder)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(name, flags, 0o666, dir_fd=folder) if unnamed is None else unnamed
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        if before is not None:
            if (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
                with suppress(PermissionError):
                    os.fchown(handle, before.st_uid, before.st_gid)
            os.fchmod(handle, before.st_mode & 0o777)
        os.fsync(handle)
        if unnamed is not None:
            os.link(f"/proc/self/fd/{handle}", name, dst_dir_fd=folder)  # noqa: PTH200


def _unnamed(folder: int) -> int | None:
    """Return a new file in *folder* that has no name yet; None where there is no such thing."""
    flag = getattr(os, "O_TMPFILE", 0)
    if not flag or not Path("/proc/self/fd").is_dir():
        return None
    try:
        return os.open(".", flag | os.O_WRONLY | os.O_CLOEXEC, 0o666, dir_fd=folder)
    except OSError:  # not every file system can
        return None
