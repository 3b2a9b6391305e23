"""Reading what is ours although its mode does not let us; it gets that back."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from modules.checkpoints.snapshot import dirfd
from modules.checkpoints.snapshot.entries import Entry


class TemporaryAccess:
    """The folders beneath the descriptor *root* that we let ourselves into."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._modes: list[tuple[str, int]] = []

    def unlock(self, handle: int, path: str, folder: Entry) -> None:
        """Let us into *folder*, which is in *handle*. Raises `OSError` if it is not ours."""
        mode = stat.S_IMODE(folder.mode)
        dirfd.set_mode(handle, path.rpartition("/")[2], mode | 0o500)
        self._modes.append((path, mode))

    def lock_again(self) -> None:
        """Give the folders their modes back, the innermost first."""
        while self._modes:
            path, mode = self._modes.pop()
            with suppress(FileNotFoundError), dirfd.place(self._root, path) as (handle, name):
                dirfd.set_mode(handle, name, mode)


def opened(handle: int, name: str, may_unlock: bool) -> tuple[int, os.stat_result]:
    """Do as `dirfd.open_file`, also with a file of ours that is locked if that may be."""
    try:
        return dirfd.open_file(handle, name)
    except PermissionError:
        if not may_unlock:
            raise
        return dirfd.open_locked(handle, name)
