"""Outer links: files of the project that have names outside it too.

Where such a file is removed, its content alone would come back as another file, and the names
outside would be names of it no more. So it gets one more name, in the store: from there undo takes
the very file.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from modules.checkpoints.snapshot.entries import Entry


class OuterLinks:
    """Names of ours in *folder*, of files on the file system that it is on."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, entry: Entry, dir_fd: int, name: str) -> None:
        """Give the file *entry*, which is *name* in the folder *dir_fd*, a name of ours.

        Nothing happens where the system does not let us, or another file is there by now.
        """
        link = self._path(entry)
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, exist_ok=True)
            link.unlink(missing_ok=True)  # of a file that was removed, whose number is used again
            os.link(name, link, src_dir_fd=dir_fd, follow_symlinks=False)
            status = link.lstat()
            if (status.st_dev, status.st_ino) != entry.identity:
                link.unlink()

    def holds(self, entry: Entry) -> bool:
        """Return whether the file *entry* has a name of ours."""
        with suppress(OSError):
            status = self._path(entry).lstat()
            return (status.st_dev, status.st_ino) == entry.identity
        return False

    def restore(self, entry: Entry, dir_fd: int, name: str, *, is_written: bool = False) -> bool:
        """Give the file *entry* the *name* in *dir_fd*; return whether.

        Its mode and attributes may be others by now, but nobody may have written to it, unless
        that *is_written* back elsewhere.
        """
        link = self._path(entry)
        with suppress(OSError):
            status = link.lstat()
            is_same = (status.st_dev, status.st_ino) == entry.identity
            stamp = status.st_size, status.st_mtime_ns
            if is_same and (is_written or stamp == (entry.size, entry.mtime_ns)):
                os.link(link, name, dst_dir_fd=dir_fd, follow_symlinks=False)
                return True
        return False

    def collect(self) -> None:
        """Remove the names of files that have no other name any more."""
        for link in self._folder.iterdir() if self._folder.is_dir() else ():
            if link.lstat().st_nlink == 1:
                link.unlink()

    def _path(self, entry: Entry) -> Path:
        return self._folder / f"{entry.device}-{entry.inode}"
