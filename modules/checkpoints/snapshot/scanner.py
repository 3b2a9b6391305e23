"""Reading the project folder: what is as it was is not read again, only looked at."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field

from modules.checkpoints.snapshot import dirfd
from modules.checkpoints.snapshot.entries import (
    BY_DESIGN,
    Entries,
    Entry,
    entry_of,
    folder_entry_of,
    join,
)
from modules.checkpoints.snapshot.metadata import extras_of, owner_of
from modules.checkpoints.snapshot.reader import FileReader
from modules.checkpoints.snapshot.temporary_access import TemporaryAccess
from modules.checkpoints.store.object_store import DamagedObject, ObjectStore
from modules.checkpoints.store.quotas import Quotas
from modules.files.own_code import OwnCode

_STRETCH = 150
"""Folders within folders that are looked into from one; each takes a descriptor meanwhile."""

_LEVELS, _LONGEST_PATH = 12_000, 128 << 10
"""How deep folders are held, and how long paths may be, in characters: memory has an end."""

_TICK_NS = 50_000_000
"""Two writes within this time may leave the same timestamps; no clock of a kernel is coarser."""

_COARSE_TICK_NS = 2_000_000_000
"""The same for file systems that keep whole seconds."""


@dataclass(slots=True)
class _TreeDraft:
    """A folder whose list may have changed, and where its own entry is."""

    entries: Entries
    parent: Entries
    name: str


@dataclass(slots=True)
class _Deferred:
    """A folder so deep that it is looked into later, from the one above: see `Scanner._inner`."""

    above: str
    name: str
    entries: Entries
    known: Entry | None
    level: int


@dataclass(slots=True)
class Scanner:
    """One look at the whole folder beneath the descriptor *root*.

    *previous* is the root entry of the last look, None at the first; *previous_ns* is the time
    that one began: what was written so late before it that more may have been written in the same
    tick of the clock is read again. *ours* are folders that are never entered, nor is *own*, which
    is known by its names.

    What was made unreadable since the last look, and is ours, is read all the same: its mode lets
    us for the while. What was so before is left alone and said.
    """

    vault: ObjectStore
    root: int
    limits: Quotas
    previous: Entry | None
    previous_ns: int
    ours: frozenset[tuple[int, int]]
    own: OwnCode = field(default_factory=OwnCode)
    not_held: list[tuple[str, str]] = field(default_factory=list)
    _drafts: list[_TreeDraft] = field(default_factory=list)
    _deferred: list[_Deferred] = field(default_factory=list)
    _level: int = 0
    _reading: FileReader = field(init=False)
    _unlocked: TemporaryAccess = field(init=False)

    def __post_init__(self) -> None:
        self._reading = FileReader(self.vault, self.root, self.limits)
        self._unlocked = TemporaryAccess(self.root)

    def run(self) -> Entry:
        """Return the root's entry; everything it leads to is in the vault then."""
        top: Entries = {}
        try:
            with dirfd.folder(self.root, "") as handle:
                self._look(handle, "", "", top, self.previous, 0)
            while self._deferred:
                self._look_deeper(self._deferred.pop())
            self.not_held += self._reading.run()
        finally:
            self._unlocked.lock_again()
        lists: list[tuple[str, bytes]] = []
        for draft in self._drafts:
            entry = draft.parent[draft.name]
            content, new = self.vault.fold(draft.entries)
            lists += new
            draft.parent[draft.name] = entry._replace(content=content)
        if lists:
            self.vault.keep(lists)
        return top[""]

    def _look(
        self, handle: int, path: str, name: str, parent: Entries, known: Entry | None, depth: int
    ) -> bool:
        """Enter the folder *handle* as *parent*[*name*]; return whether it may have changed."""
        old = self._old_entries(known)
        entries: Entries = {}
        folders: list[str] = []
        with os.scandir(handle) as items:
            for item in items:
                self._enter(path, item, entries, folders, old or {})
        known_inner = _known_inner(entries, folders, old or {})
        changed = [
            self._inner(handle, path, inner, entries, known_inner.get(inner), depth)
            for inner in folders
        ]
        status = os.fstat(handle)
        entry = folder_entry_of(status)._replace(extras=extras_of(handle, status))
        if old is not None and not any(changed) and _is_same(entries, old):
            assert known is not None  # noqa: S101 - old came from it
            parent[name] = entry._replace(content=known.content)
            return False
        parent[name] = entry
        self._drafts.append(_TreeDraft(entries, parent, name))
        return True

    def _old_entries(self, known: Entry | None) -> Entries | None:
        if known is None or not known.is_folder:
            return None
        try:
            return self.vault.entries_of(known)
        except DamagedObject:
            return None

    def _enter(
        self, path: str, item: os.DirEntry[str], entries: Entries, folders: list[str], old: Entries
    ) -> None:
        try:
            status = item.stat(follow_symlinks=False)
        except FileNotFoundError:
            return
        name, mode = item.name, status.st_mode
        if self.own.is_some and self.own.holds(join(path, name)):
            kind = stat.S_IFMT(mode)
            entries[name] = Entry(kind, 0, 0, 0, status.st_ino, status.st_dev, "", "ours")
        elif name == ".git" and not stat.S_ISREG(mode):  # such a file only says where git's data is
            entries[name] = Entry(
                stat.S_IFMT(mode), 0, 0, 0, status.st_ino, status.st_dev, "", "git"
            )
        elif stat.S_ISREG(mode):
            known = old.get(name)
            if known is not None and self._is_unchanged(known, status):
                entries[name] = known
                if known.why:
                    self._say(path, name, known.why)
            else:
                entries[name] = entry_of(status)
                self._reading.add(path, entries, name, may_unlock=self._may_unlock(known))
        elif stat.S_ISDIR(mode):
            entries[name] = folder_entry_of(status)
            folders.append(name)
        elif stat.S_ISLNK(mode):
            # Its target is read with the folder open: see _inner.
            entries[name] = entry_of(status)._replace(extras=owner_of(status))
            folders.append(name)
        elif stat.S_ISFIFO(mode):
            entries[name] = entry_of(status)._replace(extras=owner_of(status))
        else:
            entries[name] = entry_of(status, why="special")
            self._say(path, name, "special")

    def _is_unchanged(self, known: Entry, status: os.stat_result) -> bool:
        stamp = (
            status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns,
            status.st_ino, status.st_dev,
        )  # fmt: skip
        if known[:6] != stamp:
            return False
        tick = _TICK_NS if known.ctime_ns % 1_000_000_000 else _COARSE_TICK_NS
        if known.ctime_ns > self.previous_ns - tick:
            return False
        # What was not held for want of room, or of luck, is tried again.
        return not known.why or (known.why == "large" and known.size > self.limits.file_cap)

    def _inner(
        self, handle: int, path: str, name: str, entries: Entries, known: Entry | None, depth: int
    ) -> bool:
        """Look into the folder, or at the link, *name*; return whether it may have changed."""
        entry = entries[name]
        try:
            if entry.is_link:
                entries[name] = entry._replace(content=os.readlink(name, dir_fd=handle))
                return entries[name] != known
            if entry.identity in self.ours:
                return self._refuse(path, name, entries, "ours")
            if depth >= _STRETCH:
                return self._defer(_Deferred(path, name, entries, known, self._level + depth))
            return self._look_inside(handle, path, name, entries, known, depth)
        except FileNotFoundError:
            del entries[name]
            return True
        except PermissionError:
            if not self._may_unlock(known):
                return self._refuse(path, name, entries, "unreadable")
        except OSError:
            return self._refuse(path, name, entries, "unreadable")
        try:
            self._unlocked.unlock(handle, join(path, name), entry)
            has_changed = self._look_inside(handle, path, name, entries, known, depth)
        except OSError:
            return self._refuse(path, name, entries, "unreadable")
        entries[name] = entries[name]._replace(mode=entry.mode)
        return has_changed

    def _defer(self, folder: _Deferred) -> bool:
        if folder.level >= _LEVELS or len(folder.above) > _LONGEST_PATH:
            return self._refuse(folder.above, folder.name, folder.entries, "deep")
        self._deferred.append(folder)
        return True

    def _look_deeper(self, folder: _Deferred) -> None:
        """Look into what was deferred; what is drafted of it comes before what leads there."""
        drafts, self._drafts, self._level = self._drafts, [], folder.level
        above, name, entries = folder.above, folder.name, folder.entries
        try:
            with dirfd.folder(self.root, above) as handle:
                self._inner(handle, above, name, entries, folder.known, 0)
        except OSError:
            self._refuse(above, name, entries, "unsteady")
        self._drafts += drafts

    def _look_inside(
        self, handle: int, path: str, name: str, entries: Entries, known: Entry | None, depth: int
    ) -> bool:
        inner = dirfd.open_inner(handle, name)
        try:
            return self._look(inner, join(path, name), name, entries, known, depth + 1)
        finally:
            os.close(inner)

    def _may_unlock(self, known: Entry | None) -> bool:
        return self.previous is not None and not (known and known.why)

    def _refuse(self, path: str, name: str, entries: Entries, why: str) -> bool:
        # What is ours changes while we look, and is nobody's to go back to.
        mtime = 0 if why == "ours" else entries[name].mtime_ns
        entries[name] = entries[name]._replace(content="", why=why, mtime_ns=mtime)
        self._say(path, name, why)
        return True

    def _say(self, folder: str, name: str, why: str) -> None:
        if why not in BY_DESIGN:
            self.not_held.append((join(folder, name), why))


def _known_inner(entries: Entries, folders: list[str], old: Entries) -> Entries:
    """Return what was known of *folders*, also of one that has another name here now.

    What is in it is then not read again, each file being looked at by itself all the same.
    """
    known = {name: old[name] for name in folders if name in old}
    if len(known) < len(folders) and old:
        gone = {e.identity: e for name, e in old.items() if e.is_folder and name not in entries}
        for name in folders:
            if name not in known and (moved := gone.get(entries[name].identity)):
                known[name] = moved
    return known


def _is_same(entries: Entries, old: Entries) -> bool:
    """Return whether two lists are equal; most of their entries are the very same objects."""
    if len(entries) != len(old):
        return False
    return all(old.get(name) is entry or old.get(name) == entry for name, entry in entries.items())
