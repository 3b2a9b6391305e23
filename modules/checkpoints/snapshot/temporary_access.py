"""Temporary access to our own files whose mode forbids reading; they get their mode back."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from modules.checkpoints.snapshot import dirfd
from modules.checkpoints.snapshot.entries import Entry


class TemporaryAccess:
    """Folders beneath the descriptor *root_fd* whose mode was widened for a while."""

    def __init__(self, root_fd: int) -> None:
        self._root_fd = root_fd
        self._modes: list[tuple[str, int]] = []

    def grant(self, dir_fd: int, path: str, folder: Entry) -> None:
        """Widen the mode of *folder*, which is in *dir_fd*. Raises `OSError` if it is not ours."""
        mode = stat.S_IMODE(folder.mode)
        dirfd.set_mode(dir_fd, path.rpartition("/")[2], mode | 0o500)
        self._modes.append((path, mode))

    def restore(self) -> None:
        """Give the folders their modes back, the innermost first."""
        while self._modes:
            path, mode = self._modes.pop()
            with (
                suppress(FileNotFoundError),
                dirfd.opened_parent(self._root_fd, path) as (dir_fd, name),
            ):
                dirfd.set_mode(dir_fd, name, mode)


def open_with_access(dir_fd: int, name: str, may_chmod: bool) -> tuple[int, os.stat_result]:
    """Do as `dirfd.open_file`, also with a file of ours that is locked if that may be."""
    try:
        return dirfd.open_file(dir_fd, name)
    except PermissionError:
        if not may_chmod:
            raise
        return dirfd.open_unreadable(dir_fd, name)
