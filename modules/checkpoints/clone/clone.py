"""A copy of the project folder as it was at a snapshot, sharing disk space where that can be."""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from modules.checkpoints.restore.atomic_file import matches_stat
from modules.checkpoints.restore.operations import Skipped
from modules.checkpoints.snapshot import dirfd, metadata
from modules.checkpoints.snapshot.diff import walk
from modules.checkpoints.snapshot.entries import LINKED_GIT, REASONS, Entry
from modules.checkpoints.store.object_store import DamagedObject, ObjectStore
from modules.files import kernel
from utils.i18n import phrase


@dataclass(slots=True)
class ProjectClone:
    """Clone of a project in the new folder *target*, from *root_fd* where a file is the same still.

    *root_fd* is the descriptor of the project folder, and *source* its path. What could not be
    copied is in *skipped* afterwards. Git's data is copied as it is now.
    """

    objects: ObjectStore
    root_fd: int
    source: Path
    target: Path
    skipped: list[Skipped] = field(default_factory=list)
    _can_reflink: bool = True
    _linked_paths: dict[tuple[int, int], str] = field(default_factory=dict)

    def fill(self, root_entry: Entry) -> None:
        """Make everything below *root_entry*. Raises `OSError`, `DamagedObject`."""
        folders: list[tuple[str, Entry]] = []
        for path, entry in walk(self.objects, root_entry):
            if entry.is_folder:
                if path:
                    (self.target / path).mkdir(mode=0o700)
                folders.append((path, entry))
            elif entry.not_stored_reason == "git":
                if path != LINKED_GIT:
                    self._copy_git(path)
            elif entry.not_stored_reason != "ours":
                self._create(path, entry)
        for path, entry in reversed(folders):
            self._set_metadata(self.target / path, entry)

    def _create(self, path: str, entry: Entry) -> None:
        target = self.target / path
        if entry.is_link:
            target.symlink_to(entry.content)
            os.utime(target, ns=(entry.mtime_ns, entry.mtime_ns), follow_symlinks=False)
        elif entry.is_node:
            os.mknod(target, stat.S_IFMT(entry.mode) | 0o600)
            self._set_metadata(target, entry)
        elif not stat.S_ISREG(entry.mode):
            self.skipped.append(
                Skipped(path, REASONS.get(entry.not_stored_reason, REASONS["special"]))
            )
        elif entry.links > 1 and entry.identity in self._linked_paths:
            target.hardlink_to(self.target / self._linked_paths[entry.identity])
        elif self._copy_unchanged(path, entry) or self._write_stored(path, entry):
            self._set_metadata(target, entry)
            self._linked_paths[entry.identity] = path

    def _copy_unchanged(self, path: str, entry: Entry) -> bool:
        """Copy the file from the project, if it is still what *entry* says; return whether."""
        try:
            with dirfd.opened_parent(self.root_fd, path) as (dir_fd, name):
                file, status = dirfd.open_file(dir_fd, name)
        except OSError:
            return False
        with os.fdopen(file, "rb") as source:
            if not matches_stat(status, entry) or status.st_ino != entry.inode:
                return False
            with (self.target / path).open("xb") as out:
                if not self._reflink(source.fileno(), out.fileno()):
                    shutil.copyfileobj(source, out, 1 << 20)
            is_same = matches_stat(
                os.fstat(source.fileno()), entry
            )  # or it was written to meanwhile
        if not is_same:
            (self.target / path).unlink()
        return is_same

    def _reflink(self, source: int, target: int) -> bool:
        self._can_reflink = self._can_reflink and kernel.reflink(source, target)
        return self._can_reflink

    def _write_stored(self, path: str, entry: Entry) -> bool:
        """Write the stored content of the file; return whether there is one."""
        if entry.not_stored_reason:
            self.skipped.append(Skipped(path, REASONS[entry.not_stored_reason]))
            return False
        target = self.target / path
        try:
            with target.open("wb") as out:
                for chunk in self.objects.chunks(entry.content):
                    out.write(chunk)
        except DamagedObject:
            target.unlink()
            self.skipped.append(Skipped(path, phrase("its saved content is damaged")))
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
            why = phrase("system error: {why}", why=str(error)[:200])
            self.skipped.append(Skipped(path, why))

    def _set_metadata(self, target: Path, entry: Entry) -> None:
        with suppress(OSError):
            metadata.set_xattrs(str(target), entry.metadata)
            target.chmod(stat.S_IMODE(entry.mode))
            os.utime(target, ns=(entry.mtime_ns, entry.mtime_ns))
