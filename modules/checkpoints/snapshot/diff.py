"""Lookup in snapshots, and the difference between two of them."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import NamedTuple

from core.cards import Change
from modules.checkpoints.snapshot.entries import (
    EXPECTED_REASONS,
    GIT,
    LINKED_GIT,
    Entries,
    Entry,
    is_folder,
    is_relinked,
    join,
    parent_of,
    same_content,
    same_entry,
    same_except_mtime,
)
from modules.checkpoints.store.object_store import DamagedObject, ObjectStore
from modules.files.git.state_names import is_of_remote, of_shared_submodules

Pair = tuple[Entry | None, Entry | None]
_MAX_DIGESTS = 100_000


@dataclass(frozen=True, slots=True)
class Rename:
    """A file or folder that got another path, with all that is in it."""

    old: str
    new: str


class Difference(NamedTuple):
    """Change with its path before it, and the entries before and after; None is for nothing."""

    change: Change
    old_path: str
    old: Entry | None
    new: Entry | None


def lookup(objects: ObjectStore, root: Entry, path: str) -> Entry | None:
    """Return what was at *path*, None for nothing. Raises `DamagedObject`."""
    entry: Entry | None = root
    for name in path.split("/") if path else ():
        if entry is None or not entry.is_folder:
            return None
        entry = objects.entries_of(entry).get(name)
    return entry


class PathLookup:
    """Looks up one path after the other beneath *root*, quickly where they are sorted."""

    def __init__(self, objects: ObjectStore, root: Entry) -> None:
        self._objects, self._root = objects, root
        self._last: tuple[str, Entry | None] = "", root
        self._folder: tuple[str, Entry | None] = "", root

    def get(self, path: str) -> Entry | None:
        """Return what was at *path*, None for nothing. Raises `DamagedObject`."""
        if not path:
            return self._root
        parent, _, name = path.rpartition("/")
        if parent == self._last[0]:
            self._folder = self._last
        elif parent != self._folder[0]:
            self._folder = parent, lookup(self._objects, self._root, parent)
        folder = self._folder[1]
        entry = None
        if folder is not None and folder.is_folder:
            entry = self._objects.entries_of(folder).get(name)
        self._last = path, entry
        return entry


def walk(objects: ObjectStore, root: Entry, path: str = "") -> Iterator[tuple[str, Entry]]:
    """Yield *root* and everything beneath it with its path. Raises `DamagedObject`."""
    pending = [(path, root)]
    while pending:
        path, entry = pending.pop()
        yield path, entry
        if entry.is_folder:
            inner = objects.entries_of(entry)
            pending += [(join(path, name), one) for name, one in reversed(inner.items())]


def git_contents(objects: ObjectStore, repository: Entry) -> dict[str, str]:
    """Return the contents of the files of the state of *repository*, each by its name in there.

    What others have is none of it. A content that is not held is known by its times. Raises
    `DamagedObject`.
    """
    state = repository.git_state
    found = walk(objects, state) if state else ()
    return {
        path: _content_key(entry)
        for path, entry in found
        if not is_folder(entry) and not is_of_remote(path)
    }


class TreeDigests:
    """Digests of what folders contain, without times and inodes; equal ones look the same."""

    def __init__(self) -> None:
        self._digests: dict[str, str] = {}

    def of(self, objects: ObjectStore, folder: Entry) -> str:
        """Return the digest of *folder*; quick for what was seen before. Raises `DamagedObject`."""
        if len(self._digests) > _MAX_DIGESTS:
            self._digests.clear()
        pending = [folder]
        while pending:
            entries = objects.entries_of(pending[-1])
            inner = [e for e in entries.values() if e.is_folder and e.content not in self._digests]
            pending += inner
            if not inner:
                self._record(pending.pop(), entries)
        return self._digests[folder.content]

    def _record(self, folder: Entry, entries: Entries) -> None:
        """Note the digest of *folder*; that of every folder in it is known."""
        if folder.content not in self._digests:
            hasher = sha256()
            for name, entry in sorted(entries.items()):
                content = self._digests[entry.content] if entry.is_folder else _content_key(entry)
                line = f"{name}\0{entry.mode}\0{entry.metadata}\0{content}\0"
                hasher.update(line.encode(errors="surrogateescape"))
            self._digests[folder.content] = hasher.hexdigest()


def _content_key(entry: Entry) -> str:
    if entry.not_stored_reason in ("git", "ours"):
        return ""
    return entry.content or f"{entry.size} {entry.mtime_ns}"


@dataclass(slots=True)
class TreeDiff:
    """Difference between two root entries, by path; *damaged* folders could not be compared.

    *relinked* are files that are alike, but may share their names with others than before. *git*
    are the two sides of the project's repository if what is held of its state differs.
    """

    objects: ObjectStore
    pairs: dict[str, Pair] = field(default_factory=dict)
    relinked: set[str] = field(default_factory=set)
    damaged: list[str] = field(default_factory=list)
    git: tuple[Entry, Entry] | None = None

    def compare(self, old: Entry | None, new: Entry | None, path: str = "") -> TreeDiff:
        """Add what differs at *path* and below; what has equal digests is not looked into."""
        pending = [(old, new, path)]
        while pending:
            old, new, path = pending.pop()
            if old == new:
                continue
            inner_old, inner_new = self._compare_one(old, new, path)
            for name in inner_old.keys() | inner_new.keys():
                pending.append((inner_old.get(name), inner_new.get(name), join(path, name)))
        return self

    def _compare_one(
        self, old: Entry | None, new: Entry | None, path: str
    ) -> tuple[Entries, Entries]:
        """Add what differs at *path* itself; return what is to be compared below."""
        if path in (GIT, LINKED_GIT) and old and new and self._is_other_git_state(old, new):
            self.git = old, new
        if path == LINKED_GIT:
            return {}, {}  # it is no path in the project
        if path == GIT and old and new and old.git_state and new.git_state:
            return {}, {}  # which folder it is does not count: one that went is made anew
        if not same_entry(old, new):
            self.pairs[path] = (old, new)
        elif old and new and is_relinked(old, new):
            self.relinked.add(path)
        if old and new and old.is_folder and new.is_folder and old.content == new.content:
            return {}, {}
        if (
            old
            and new
            and is_folder(old)
            and is_folder(new)
            and (old.not_stored_reason or new.not_stored_reason)
        ):
            return {}, {}  # what is in it is not known on one side: that is no reason to lose it
        try:
            return self._inner(old), self._inner(new)
        except DamagedObject:
            self.damaged.append(path)
            return {}, {}

    def _is_other_git_state(self, old: Entry, new: Entry) -> bool:
        """Return whether the state of the repository differs; one not known differs from none."""
        if old.git_state is None or new.git_state is None or old.content == new.content:
            return False
        try:
            contents = git_contents(self.objects, old), git_contents(self.objects, new)
            one, other = of_shared_submodules(*contents)
            return one != other
        except DamagedObject:
            self.damaged.append(GIT)
            return False

    def _inner(self, entry: Entry | None) -> Entries:
        return self.objects.entries_of(entry) if entry is not None and entry.is_folder else {}

    def side(self, which: int) -> Entries:
        """Return the old (0) or the new (1) entries of what differs, by path."""
        return {path: entry for path, pair in self.pairs.items() if (entry := pair[which])}

    def changes(self) -> list[Change]:
        """Return the differences as the cards name them.

        Times alone are worth a word only where nothing else happened: every file that comes or goes
        changes that of its folder.
        """
        changes = [one.change for one in self.differences()]
        if self.git:
            changes.append(Change("modified", GIT))
        return changes or [one.change for one in self.time_differences()]

    def time_differences(self) -> list[Difference]:
        """Return the differences that are of times alone.

        That of the project folder itself tells nothing: to protect what is not there, a sandbox
        makes a mount point in it for a while.
        """
        old, new = self.side(0), self.side(1)
        return [
            Difference(Change("modified", path), path, old[path], new[path])
            for path in sorted(old.keys() & new.keys())
            if path
            and old[path].not_stored_reason not in EXPECTED_REASONS
            and new[path].not_stored_reason not in EXPECTED_REASONS
        ]

    def differences(self) -> list[Difference]:
        """Return the differences, each with its two sides; renamed things come first."""
        old, new = self.side(0), self.side(1)
        renames = find_renames(old, new)
        for rename in renames:
            apply_rename(old, rename)
        renamed = [
            Difference(
                Change("renamed", rename.old, rename.new),
                path_before(rename.old, renames[:index]),
                old.get(rename.new),
                new.get(rename.new),
            )
            for index, rename in enumerate(renames)
        ]
        paths = sorted(old.keys() | new.keys())
        changed = [
            Difference(change, path_before(path, renames), old.get(path), new.get(path))
            for path in paths
            if (change := _change(path, old.get(path), new.get(path)))
        ]
        paths_named = [found.change.path for found in changed]
        paths_named += [path for rename in renames for path in (rename.old, rename.new)]
        non_empty = ancestors_of(paths_named)
        return renamed + [
            f for f in changed if f.change.kind == "modified" or f.change.path not in non_empty
        ]


def find_renames(old: Entries, new: Entries) -> list[Rename]:
    """Return what got another path between *old* and *new*, folders first, to be done in order.

    A folder is told by its inode and by something in it that is still there; a file by inode and
    content, or by content that no other has. A path in use on both sides never takes part.
    """
    old = dict(old)
    renames: list[Rename] = []
    sources = _removed_folders(old, new)
    for path in sorted(_removed_folders(new, old).values()):
        source = sources.get(new[path].identity)
        if source is None or not _is_same_folder(old, new, Rename(source, path)):
            continue
        renames.append(Rename(source, path))
        apply_rename(old, renames[-1])
        sources = _removed_folders(old, new)
    return renames + _file_renames(old, new)


def _removed_folders(old: Entries, new: Entries) -> dict[tuple[int, int], str]:
    """Return the folders of *old* whose paths are free in *new*, by identity."""
    return {
        entry.identity: path
        for path, entry in old.items()
        if is_folder(entry) and _may_rename(entry) and path not in new
    }


def _may_rename(entry: Entry) -> bool:
    return entry.not_stored_reason not in ("git", "ours")


def _is_same_folder(old: Entries, new: Entries, rename: Rename) -> bool:
    """Return whether the inode was not just used again for another folder."""
    before, after = _read_tool_tag(old, rename.old), _read_tool_tag(new, rename.new)
    if not before and not after:
        return old[rename.old].mtime_ns == new[rename.new].mtime_ns
    return any(
        name in after and entry.identity == after[name].identity for name, entry in before.items()
    )


def _file_renames(old: Entries, new: Entries) -> list[Rename]:
    removed = {p: e for p, e in old.items() if p not in new and not e.is_folder and _may_rename(e)}
    added = {p: e for p, e in new.items() if p not in old and not e.is_folder and _may_rename(e)}
    renames = []
    by_identity = {entry.identity: path for path, entry in removed.items()}
    for path, entry in list(added.items()):
        source = by_identity.get(entry.identity)
        if source is not None and source in removed and same_content(removed[source], entry):
            renames.append(Rename(source, path))
            del removed[source], added[path]
    unique_removed, unique_added = _by_unique_content(removed), _by_unique_content(added)
    shared = unique_removed.keys() & unique_added.keys()
    return renames + [
        Rename(unique_removed[content], unique_added[content]) for content in sorted(shared)
    ]


def _by_unique_content(entries: Entries) -> dict[str, str]:
    """Return the paths of files whose content no other name or file has, by content."""
    paths_by_content: dict[str, list[str]] = {}
    for path, entry in entries.items():
        if entry.is_file and entry.size and entry.links == 1:
            paths_by_content.setdefault(entry.content, []).append(path)
    return {content: paths[0] for content, paths in paths_by_content.items() if len(paths) == 1}


def apply_rename(entries: Entries, rename: Rename) -> None:
    """Give the entries at and below *rename*.old the paths they have after it."""
    if rename.old in entries and not stat.S_ISDIR(entries[rename.old].mode):
        entries[rename.new] = entries.pop(rename.old)
        return
    for path in [path for path in entries if renamed_path(path, rename) != path]:
        entries[renamed_path(path, rename)] = entries.pop(path)


def renamed_path(path: str, rename: Rename) -> str:
    if path == rename.old or path.startswith(f"{rename.old}/"):
        return rename.new + path[len(rename.old) :]
    return path


def path_after(path: str, renames: Sequence[Rename]) -> str:
    for rename in renames:
        path = renamed_path(path, rename)
    return path


def path_before(path: str, moves: list[Rename]) -> str:
    for move in reversed(moves):
        path = renamed_path(path, Rename(move.new, move.old))
    return path


def _read_tool_tag(entries: Entries, folder: str) -> Entries:
    return {p.rpartition("/")[2]: e for p, e in entries.items() if p and parent_of(p) == folder}


def ancestors(path: str) -> Iterator[str]:
    """Yield the folders that *path* is in, the nearest first; not the root, which is above all."""
    while path := parent_of(path):
        yield path


def ancestors_of(paths: Iterable[str]) -> set[str]:
    """Return all the folders that *paths* are in, as `ancestors` does of one."""
    folders: set[str] = set()
    for path in paths:
        for parent in ancestors(path):
            if parent in folders:
                break
            folders.add(parent)
    return folders


def _change(path: str, old: Entry | None, new: Entry | None) -> Change | None:
    if (old or new) is None or "ours" in {entry.not_stored_reason for entry in (old, new) if entry}:
        return None
    if old is None:
        return Change("created", path)
    if new is None:
        return Change("deleted", path)
    return None if same_except_mtime(old, new) else Change("modified", path)
