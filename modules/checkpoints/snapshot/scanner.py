"""Scanning the project folder: files that did not change are not read again."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from modules.checkpoints.snapshot import dirfd
from modules.checkpoints.snapshot.entries import (
    EXPECTED_REASONS,
    GIT,
    LINKED_GIT,
    Entries,
    Entry,
    entry_of,
    folder_entry_of,
    is_node,
    join,
)
from modules.checkpoints.snapshot.metadata import metadata_of, owner_metadata_of
from modules.checkpoints.snapshot.reader import FileReader
from modules.checkpoints.snapshot.temporary_access import TemporaryAccess
from modules.checkpoints.store.object_store import DamagedObject, ObjectStore
from modules.checkpoints.store.quotas import Quotas
from modules.files.git.state_names import is_state_file, may_hold_state
from modules.files.own_code import OwnCode

if TYPE_CHECKING:
    from modules.files.git.linked_tree import LinkedTree

_MAX_OPEN_FOLDERS = 150
"""Folders within folders that are looked into from one; each takes a descriptor meanwhile."""

_LEVELS, _LONGEST_PATH = 12_000, 128 << 10
"""How deep folders are held, and how long paths may be, in characters: memory has an end."""

_TICK_NS = 50_000_000
"""Nanoseconds within which two writes may leave the same timestamps; no kernel clock is coarser."""

_COARSE_TICK_NS = 2_000_000_000
"""The same for file systems that keep whole seconds."""


@dataclass(slots=True)
class _TreeDraft:
    """Folder whose list may have changed, and the place of its own entry."""

    entries: Entries
    parent: Entries
    name: str


@dataclass(slots=True)
class _Deferred:
    """Folder so deep that it is scanned later, from its parent: see `Scanner._scan_child`."""

    parent: str
    name: str
    entries: Entries
    previous: Entry | None
    depth: int


@dataclass(slots=True)
class Scanner:
    """One scan of the whole folder beneath the descriptor *root_fd*.

    *previous* is the root entry of the last scan, None at the first; *previous_ns* is the time
    that one began: what was written so late before it that more may have been written in the same
    tick of the clock is read again. *ours* are folders that are never entered, nor is *own*, which
    is known by its names. *repository* is the entry of one elsewhere, which belongs to the folder.

    What was made unreadable since the last look, and is ours, is read all the same: its mode lets
    us for the while. What was so before is left alone and said.
    """

    objects: ObjectStore
    root_fd: int
    quotas: Quotas
    previous: Entry | None
    previous_ns: int
    excluded: frozenset[tuple[int, int]]
    own_code: OwnCode = field(default_factory=OwnCode)
    repository: Entry | None = None
    inner_git: tuple[int, int] | None = None
    """The folder inside that the project's `.git` file names; what is in it is git's."""
    tree: LinkedTree | None = None
    """Where *root_fd* is such a repository: the work tree, of whose state alone it is a scan."""
    not_stored: list[tuple[str, str]] = field(default_factory=list)
    _drafts: list[_TreeDraft] = field(default_factory=list)
    _deferred: list[_Deferred] = field(default_factory=list)
    _base_depth: int = 0
    _reader: FileReader = field(init=False)
    _access: TemporaryAccess = field(init=False)

    def __post_init__(self) -> None:
        self._reader = FileReader(self.objects, self.root_fd, self.quotas)
        self._access = TemporaryAccess(self.root_fd)

    def run(self) -> Entry:
        """Return the root's entry; everything it leads to is stored then."""
        top: Entries = {}
        try:
            with dirfd.opened_folder(self.root_fd, "") as dir_fd:
                self._scan_folder(dir_fd, "", "", top, self.previous, 0)
            while self._deferred:
                self._scan_deferred(self._deferred.pop())
            self.not_stored += self._reader.run()
        finally:
            self._access.restore()
        encoded_folders: list[tuple[str, bytes]] = []
        for draft in self._drafts:
            entry = draft.parent[draft.name]
            content, encoded = self.objects.encode_folder(draft.entries)
            encoded_folders += encoded
            draft.parent[draft.name] = entry._replace(content=content)
        if encoded_folders:
            self.objects.put_compressed(encoded_folders)
        return top[""]

    def _scan_folder(
        self, dir_fd: int, path: str, name: str, parent: Entries, previous: Entry | None, depth: int
    ) -> bool:
        """Enter the folder *dir_fd* as *parent*[*name*]; return whether it may have changed."""
        previous_entries = self._previous_entries(previous)
        entries: Entries = {}
        folders: list[str] = []
        with os.scandir(dir_fd) as items:
            for item in items:
                if self._is_held(dir_fd, path, item):
                    self._add_item(path, item, entries, folders, previous_entries or {})
        if path == "" and self.repository:
            entries[LINKED_GIT] = self.repository
        previous_folders = _previous_folders(entries, folders, previous_entries or {})
        changed = [
            self._scan_child(dir_fd, path, child, entries, previous_folders.get(child), depth)
            for child in folders
        ]
        status = os.fstat(dir_fd)
        entry = self._folder_entry(path, status)
        if not self._is_in_git(path):
            entry = entry._replace(metadata=metadata_of(dir_fd, status))
        if (
            previous_entries is not None
            and not any(changed)
            and _same_entries(entries, previous_entries)
        ):
            assert previous is not None  # noqa: S101 - old came from it
            parent[name] = entry._replace(content=previous.content)
            return False
        parent[name] = entry
        self._drafts.append(_TreeDraft(entries, parent, name))
        return True

    def _previous_entries(self, previous: Entry | None) -> Entries | None:
        if previous is None or not previous.is_folder:
            return None
        try:
            return self.objects.entries_of(previous)
        except DamagedObject:
            return None

    def _add_item(
        self,
        path: str,
        item: os.DirEntry[str],
        entries: Entries,
        folders: list[str],
        previous_entries: Entries,
    ) -> None:
        try:
            status = item.stat(follow_symlinks=False)
        except FileNotFoundError:
            return
        name, mode = item.name, status.st_mode
        if (entry := self._opaque_entry(join(path, name), status)) is not None:
            entries[name] = entry
            if join(path, name) == GIT and stat.S_ISDIR(mode):
                folders.append(name)
        elif stat.S_ISREG(mode):
            previous = previous_entries.get(name)
            if previous is not None and self._is_unchanged(previous, status):
                entries[name] = previous
                if previous.not_stored_reason:
                    self._report_not_stored(path, name, previous.not_stored_reason)
            else:
                entries[name] = entry_of(status)
                self._reader.add(path, entries, name, may_chmod=self._may_chmod(previous))
        elif stat.S_ISDIR(mode):
            entries[name] = self._folder_entry(join(path, name), status)
            folders.append(name)
        elif stat.S_ISLNK(mode):
            # Its target is read with the folder open: see _inner.
            entries[name] = entry_of(status)._replace(metadata=owner_metadata_of(status))
            folders.append(name)
        elif is_node(status):
            entries[name] = entry_of(status)._replace(metadata=owner_metadata_of(status))
        else:
            entries[name] = entry_of(status, why="special")
            self._report_not_stored(path, name, "special")

    def _opaque_entry(self, path: str, status: os.stat_result) -> Entry | None:
        """Return the entry of *path* if what is in it is ours or git's, None for all else."""
        if self.own_code.is_present and self.own_code.contains(path):
            reason = "ours"
        elif path.rpartition("/")[2] == GIT and not stat.S_ISREG(status.st_mode):
            reason = "git"  # such a file only says where git's data is
        elif self.inner_git and (status.st_dev, status.st_ino) == self.inner_git:
            reason = "git"
        else:
            return None
        kind = stat.S_IFMT(status.st_mode)
        return Entry(kind, 0, 0, 0, status.st_ino, status.st_dev, "", reason)

    def _is_unchanged(self, previous: Entry, status: os.stat_result) -> bool:
        stamp = (
            status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns,
            status.st_ino, status.st_dev,
        )  # fmt: skip
        if previous[:6] != stamp:
            return False
        tick = _TICK_NS if previous.ctime_ns % 1_000_000_000 else _COARSE_TICK_NS
        if previous.ctime_ns > self.previous_ns - tick:
            return False
        # What was not held for want of room, or of luck, is tried again.
        return not previous.not_stored_reason or (
            previous.not_stored_reason == "large" and previous.size > self.quotas.file_cap
        )

    def _scan_child(
        self,
        dir_fd: int,
        path: str,
        name: str,
        entries: Entries,
        previous: Entry | None,
        depth: int,
    ) -> bool:
        """Look into the folder, or at the link, *name*; return whether it may have changed."""
        entry = entries[name]
        try:
            if entry.is_link:
                entries[name] = entry._replace(content=os.readlink(name, dir_fd=dir_fd))
                return entries[name] != previous
            if entry.not_stored_reason == "git":
                return self._scan_git(dir_fd, entries, previous)
            if entry.identity in self.excluded:
                return self._mark_not_stored(path, name, entries, "ours")
            if depth >= _MAX_OPEN_FOLDERS:
                return self._defer(
                    _Deferred(path, name, entries, previous, self._base_depth + depth)
                )
            return self._scan_subfolder(dir_fd, path, name, entries, previous, depth)
        except FileNotFoundError:
            del entries[name]
            return True
        except PermissionError:
            if not self._may_chmod(previous):
                return self._mark_not_stored(path, name, entries, "unreadable")
        except OSError:
            return self._mark_not_stored(path, name, entries, "unreadable")
        try:
            self._access.grant(dir_fd, join(path, name), entry)
            is_changed = self._scan_subfolder(dir_fd, path, name, entries, previous, depth)
        except OSError:
            return self._mark_not_stored(path, name, entries, "unreadable")
        entries[name] = entries[name]._replace(mode=entry.mode)
        return is_changed

    def _scan_git(self, dir_fd: int, entries: Entries, previous: Entry | None) -> bool:
        """Scan the state of the project's repository; it alone is held of it, if it can be read."""
        repository = entries[GIT]
        state = previous.git_state if previous else None
        try:
            is_changed = self._scan_subfolder(dir_fd, "", GIT, entries, state, 0)
        except PermissionError:
            entries[GIT] = repository
            return repository != previous
        entries[GIT] = repository._replace(content=entries[GIT].content)
        return is_changed or previous is None or entries[GIT] != previous

    def _is_held(self, dir_fd: int, path: str, item: os.DirEntry[str]) -> bool:
        """Return whether *item* of the folder *path*, which is *dir_fd*, belongs in a snapshot."""
        if self.tree:
            is_folder = item.is_dir(follow_symlinks=False)
            is_plain = is_folder or item.is_file(follow_symlinks=False)
            return is_plain and self.tree.is_held(join(path, item.name), is_folder=is_folder)
        if self._is_in_git(path):
            return _is_git_state(join(path, item.name), item)
        # An empty one is no repository, but the mount point of a sandbox that still runs.
        return path != "" or item.name != GIT or not _is_empty_folder(dir_fd, GIT)

    def _is_in_git(self, path: str) -> bool:
        return self.tree is not None or path == GIT or path.startswith(f"{GIT}/")

    def _folder_entry(self, path: str, status: os.stat_result) -> Entry:
        """Return the entry of the folder *path*. Of one of git only that it is there counts."""
        if self._is_in_git(path):
            return Entry(stat.S_IFDIR, 0, 0, 0, 0, 0)
        return folder_entry_of(status)

    def _defer(self, folder: _Deferred) -> bool:
        if folder.depth >= _LEVELS or len(folder.parent) > _LONGEST_PATH:
            return self._mark_not_stored(folder.parent, folder.name, folder.entries, "deep")
        self._deferred.append(folder)
        return True

    def _scan_deferred(self, folder: _Deferred) -> None:
        """Scan a deferred folder; its drafts come before those of the folders that lead there."""
        drafts, self._drafts, self._base_depth = self._drafts, [], folder.depth
        parent, name, entries = folder.parent, folder.name, folder.entries
        try:
            with dirfd.opened_folder(self.root_fd, parent) as dir_fd:
                self._scan_child(dir_fd, parent, name, entries, folder.previous, 0)
        except OSError:
            self._mark_not_stored(parent, name, entries, "unsteady")
        self._drafts += drafts

    def _scan_subfolder(
        self,
        dir_fd: int,
        path: str,
        name: str,
        entries: Entries,
        previous: Entry | None,
        depth: int,
    ) -> bool:
        inner = dirfd.open_subfolder(dir_fd, name)
        try:
            return self._scan_folder(inner, join(path, name), name, entries, previous, depth + 1)
        finally:
            os.close(inner)

    def _may_chmod(self, previous: Entry | None) -> bool:
        return self.previous is not None and not (previous and previous.not_stored_reason)

    def _mark_not_stored(self, path: str, name: str, entries: Entries, why: str) -> bool:
        # What is ours changes while we look, and is nobody's to go back to.
        mtime = 0 if why == "ours" else entries[name].mtime_ns
        entries[name] = entries[name]._replace(content="", not_stored_reason=why, mtime_ns=mtime)
        self._report_not_stored(path, name, why)
        return True

    def _report_not_stored(self, folder: str, name: str, why: str) -> None:
        if why not in EXPECTED_REASONS:
            self.not_stored.append((join(folder, name), why))


def _is_empty_folder(dir_fd: int, name: str) -> bool:
    """Return whether *name* in *dir_fd* is a folder, no link to one, in which we see nothing."""
    try:
        with dirfd.opened_folder(dir_fd, name) as folder:
            return not os.listdir(folder)  # noqa: PTH208 - of a descriptor
    except OSError:
        return False


def _is_git_state(path: str, item: os.DirEntry[str]) -> bool:
    """Return whether *item* at *path*, in `.git`, is a plain file of its state, or holds such."""
    name = path.removeprefix(f"{GIT}/")
    if item.is_dir(follow_symlinks=False):
        return may_hold_state(name)
    return item.is_file(follow_symlinks=False) and is_state_file(name)


def _previous_folders(entries: Entries, folders: list[str], previous_entries: Entries) -> Entries:
    """Return what was known of *folders*, also of one that has another name here now.

    What is in it is then not read again, each file being looked at by itself all the same.
    """
    previous = {name: previous_entries[name] for name in folders if name in previous_entries}
    if len(previous) < len(folders) and previous_entries:
        removed = {
            e.identity: e
            for name, e in previous_entries.items()
            if e.is_folder and name not in entries
        }
        for name in folders:
            if name not in previous and (moved := removed.get(entries[name].identity)):
                previous[name] = moved
    return previous


def _same_entries(entries: Entries, previous_entries: Entries) -> bool:
    """Return whether two lists are equal; most of their entries are the very same objects."""
    if len(entries) != len(previous_entries):
        return False
    return all(
        previous_entries.get(name) is entry or previous_entries.get(name) == entry
        for name, entry in entries.items()
    )
