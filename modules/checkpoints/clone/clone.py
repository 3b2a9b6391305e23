"""A copy of the project folder as it was at a snapshot, sharing disk space where that can be."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from modules.checkpoints.restore.atomic_file import is_like
from modules.checkpoints.restore.operations import Skipped
from modules.checkpoints.snapshot import dirfd, metadata
from modules.checkpoints.snapshot.diff import walk
from modules.checkpoints.snapshot.entries import REASONS, Entry
from modules.checkpoints.store.object_store import DamagedObject, ObjectStore
from utils.i18n import phrase

_CLONE = 0x40049409  # FICLONE of linux/fs.h


@dataclass(slots=True)
class ProjectClone:
    """Fills the new folder *target* from *vault*, and from *root* where that is still the same.

    *root* is the descriptor of the project folder, and *source* its path. What could not be copied
    is in *left* afterwards. Git's data is copied as it is now.
    """

    vault: ObjectStore
    root: int
    source: Path
    target: Path
    left: list[Skipped] = field(default_factory=list)
    _may_clone: bool = True
    _names: dict[tuple[int, int], str] = field(default_factory=dict)

    def fill(self, top: Entry) -> None:
        """Make everything below *top*, a root entry. Raises `OSError`, `DamagedObject`."""
        folders: list[tuple[str, Entry]] = []
        for path, entry in walk(self.vault, top):
            if entry.is_folder:
                if path:
                    (self.target / path).mkdir(mode=0o700)
                folders.append((path, entry))
            elif entry.why == "git":
                self._copy_git(path)
            elif entry.why != "ours":
                self._make(path, entry)
        for path, entry in reversed(folders):
            self._set(self.target / path, entry)

    def _make(self, path: str, entry: Entry) -> None:
        target = self.target / path
        if entry.is_link:
            target.symlink_to(entry.content)
            os.utime(target, ns=(entry.mtime_ns, entry.mtime_ns), follow_symlinks=False)
        elif entry.is_pipe:
            os.mkfifo(target, 0o600)
            self._set(target, entry)
        elif not stat.S_ISREG(entry.mode):
            self.left.append(Skipped(path, REASONS.get(entry.why, REASONS["special"])))
        elif entry.links > 1 and entry.identity in self._names:
            target.hardlink_to(self.target / self._names[entry.identity])
        elif self._copy_same(path, entry) or self._write_held(path, entry):
            self._set(target, entry)
            self._names[entry.identity] = path

    def _copy_same(self, path: str, entry: Entry) -> bool:
        """Copy the file from the project, if it is still what *entry* says; return whether."""
        try:
            with dirfd.place(self.root, path) as (handle, name):
                file, status = dirfd.open_file(handle, name)
        except OSError:
            return False
        with os.fdopen(file, "rb") as source:
            if not is_like(status, entry) or status.st_ino != entry.inode:
                return False
            with (self.target / path).open("xb") as out:
                if not self._clone(source.fileno(), out.fileno()):
                    shutil.copyfileobj(source, out, 1 << 20)
            is_same = is_like(os.fstat(source.fileno()), entry)  # or it was written to meanwhile
        if not is_same:
            (self.target / path).unlink()
        return is_same

    def _clone(self, source: int, target: int) -> bool:
        if self._may_clone:
            try:
                fcntl.ioctl(target, _CLONE, source)
            except OSError as error:
                self._may_clone = error.errno == errno.EINTR
            else:
                return True
        return False

    def _write_held(self, path: str, entry: Entry) -> bool:
        """Write what the vault holds of the file; return whether it holds it."""
        if entry.why:
            self.left.append(Skipped(path, REASONS[entry.why]))
            return False
        target = self.target / path
        try:
            with target.open("wb") as out:
                for chunk in self.vault.chunks(entry.content):
                    out.write(chunk)
        except DamagedObject:
            target.unlink()
            self.left.append(Skipped(path, phrase("what was held of it is damaged")))
            return False
        return True

    def _copy_git(self, path: str) -> None:
        source, target = self.source / path, self.target / path
        try:
            if source.is_dir() and not source.is_symlink():
                shutil.copytree(source, target, symlinks=True)
            else:
                shutil.copy2(source, target, follow_symlinks=False)
        except (OSError, shutil.Error) as error:
            why = phrase("the system says: {why}", why=str(error)[:200])
            self.left.append(Skipped(path, why))

    def _set(self, target: Path, entry: Entry) -> None:
        with suppress(OSError):
            metadata.set_attributes(str(target), entry.extras)
            target.chmod(stat.S_IMODE(entry.mode))
            os.utime(target, ns=(entry.mtime_ns, entry.mtime_ns))
