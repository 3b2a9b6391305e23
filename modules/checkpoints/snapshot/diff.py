"""Finding one's way in snapshots, and what differs between two of them."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import NamedTuple

from core.cards import Change
from modules.checkpoints.snapshot.entries import (
    BY_DESIGN,
    Entries,
    Entry,
    alike,
    is_folder,
    is_relinked,
    join,
    parent_of,
    same,
    same_content,
)
from modules.checkpoints.store.object_store import DamagedObject, ObjectStore

Pair = tuple[Entry | None, Entry | None]
_MOST_DIGESTS = 100_000


@dataclass(frozen=True, slots=True)
class Rename:
    """A file or folder that got another path, with all that is in it."""

    old: str
    new: str


class Difference(NamedTuple):
    """A change with the path it had before, and what was and is there; None is for nothing."""

    change: Change
    was: str
    old: Entry | None
    new: Entry | None


def lookup(vault: ObjectStore, root: Entry, path: str) -> Entry | None:
    """Return what was at *path*, None for nothing. Raises `DamagedObject`."""
    entry: Entry | None = root
    for name in path.split("/") if path else ():
        if entry is None or not entry.is_folder:
            return None
        entry = vault.entries_of(entry).get(name)
    return entry


class Finder:
    """Looks up one path after the other beneath *root*, quickly where they are sorted."""

    def __init__(self, vault: ObjectStore, root: Entry) -> None:
        self._vault, self._root = vault, root
        self._last: tuple[str, Entry | None] = "", root
        self._folder: tuple[str, Entry | None] = "", root

    def at(self, path: str) -> Entry | None:
        """Return what was at *path*, None for nothing. Raises `DamagedObject`."""
        if not path:
            return self._root
        parent, _, name = path.rpartition("/")
        if parent == self._last[0]:
            self._folder = self._last
        elif parent != self._folder[0]:
            self._folder = parent, lookup(self._vault, self._root, parent)
        folder = self._folder[1]
        found = None
        if folder is not None and folder.is_folder:
            found = self._vault.entries_of(folder).get(name)
        self._last = path, found
        return found


def walk(vault: ObjectStore, root: Entry, path: str = "") -> Iterator[tuple[str, Entry]]:
    """Yield *root* and everything beneath it with its path. Raises `DamagedObject`."""
    todo = [(path, root)]
    while todo:
        path, entry = todo.pop()
        yield path, entry
        if entry.is_folder:
            inner = vault.entries_of(entry)
            todo += [(join(path, name), one) for name, one in reversed(inner.items())]


class Digests:
    """Digests of what folders contain, without times and inodes; equal ones look the same."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def of(self, vault: ObjectStore, folder: Entry) -> str:
        """Return the digest of *folder*; quick for what was seen before. Raises `DamagedObject`."""
        if len(self._known) > _MOST_DIGESTS:
            self._known.clear()
        todo = [folder]
        while todo:
            entries = vault.entries_of(todo[-1])
            inner = [e for e in entries.values() if e.is_folder and e.content not in self._known]
            todo += inner
            if not inner:
                self._note(todo.pop(), entries)
        return self._known[folder.content]

    def _note(self, folder: Entry, entries: Entries) -> None:
        """Note the digest of *folder*; that of every folder in it is known."""
        if folder.content not in self._known:
            check = sha256()
            for name, entry in sorted(entries.items()):
                said = self._known[entry.content] if entry.is_folder else _said(entry)
                told = f"{name}\0{entry.mode}\0{entry.extras}\0{said}\0"
                check.update(told.encode(errors="surrogateescape"))
            self._known[folder.content] = check.hexdigest()


def _said(entry: Entry) -> str:
    if entry.why in ("git", "ours"):
        return ""
    return entry.content or f"{entry.size} {entry.mtime_ns}"


@dataclass(slots=True)
class TreeDiff:
    """What differs, by path, between two root entries; *damaged* folders could not be compared.

    *relinked* are files that are alike, but may share their names with others than before.
    """

    vault: ObjectStore
    pairs: dict[str, Pair] = field(default_factory=dict)
    relinked: set[str] = field(default_factory=set)
    damaged: list[str] = field(default_factory=list)

    def compare(self, old: Entry | None, new: Entry | None, path: str = "") -> TreeDiff:
        """Add what differs at *path* and below; what has equal digests is not looked into."""
        todo = [(old, new, path)]
        while todo:
            old, new, path = todo.pop()
            if old == new:
                continue
            inner_old, inner_new = self._compare_one(old, new, path)
            for name in inner_old.keys() | inner_new.keys():
                todo.append((inner_old.get(name), inner_new.get(name), join(path, name)))
        return self

    def _compare_one(
        self, old: Entry | None, new: Entry | None, path: str
    ) -> tuple[Entries, Entries]:
        """Add what differs at *path* itself; return what is to be compared below."""
        if not same(old, new):
            self.pairs[path] = (old, new)
        elif old and new and is_relinked(old, new):
            self.relinked.add(path)
        if old and new and old.is_folder and new.is_folder and old.content == new.content:
            return {}, {}
        if old and new and is_folder(old) and is_folder(new) and (old.why or new.why):
            return {}, {}  # what is in it is not known on one side: that is no reason to lose it
        try:
            return self._inner(old), self._inner(new)
        except DamagedObject:
            self.damaged.append(path)
            return {}, {}

    def _inner(self, entry: Entry | None) -> Entries:
        return self.vault.entries_of(entry) if entry is not None and entry.is_folder else {}

    def side(self, which: int) -> Entries:
        """Return the old (0) or the new (1) entries of what differs, by path."""
        return {path: entry for path, pair in self.pairs.items() if (entry := pair[which])}

    def changes(self) -> list[Change]:
        """Say what happened in the words of the cards.

        Times alone are worth a word only where nothing else happened: every file that comes or goes
        changes that of its folder.
        """
        return [found.change for found in self.found() or self.touched()]

    def touched(self) -> list[Difference]:
        """Return what is alike but for its time.

        That of the project folder itself tells nothing: to protect what is not there, a sandbox
        makes a mount point in it for a while.
        """
        old, new = self.side(0), self.side(1)
        return [
            Difference(Change("modified", path), path, old[path], new[path])
            for path in sorted(old.keys() & new.keys())
            if path and old[path].why not in BY_DESIGN and new[path].why not in BY_DESIGN
        ]

    def found(self) -> list[Difference]:
        """Return what happened, each with its two sides; renamed things come first."""
        old, new = self.side(0), self.side(1)
        moves = find_moves(old, new)
        for move in moves:
            shift(old, move)
        renamed = [
            Difference(
                Change("renamed", move.old, move.new),
                path_before(move.old, moves[:place]),
                old.get(move.new),
                new.get(move.new),
            )
            for place, move in enumerate(moves)
        ]
        paths = sorted(old.keys() | new.keys())
        told = [
            Difference(change, path_before(path, moves), old.get(path), new.get(path))
            for path in paths
            if (change := _change(path, old.get(path), new.get(path)))
        ]
        places = [found.change.path for found in told]
        places += [path for move in moves for path in (move.old, move.new)]
        filled = above(places)
        return renamed + [
            f for f in told if f.change.kind == "modified" or f.change.path not in filled
        ]


def find_moves(old: Entries, new: Entries) -> list[Rename]:
    """Return what got another path between *old* and *new*, folders first, to be done in order.

    A folder is known by its inode and by something in it that is still there; a file by inode and
    content, or by content that no other has. A path in use on both sides never takes part.
    """
    old = dict(old)
    moves: list[Rename] = []
    homes = _folders_gone(old, new)
    for path in sorted(_folders_gone(new, old).values()):
        source = homes.get(new[path].identity)
        if source is None or not _is_that_folder(old, new, Rename(source, path)):
            continue
        moves.append(Rename(source, path))
        shift(old, moves[-1])
        homes = _folders_gone(old, new)
    return moves + _file_moves(old, new)


def _folders_gone(old: Entries, new: Entries) -> dict[tuple[int, int], str]:
    """Return the folders of *old* whose paths are free in *new*, by identity."""
    return {
        entry.identity: path
        for path, entry in old.items()
        if is_folder(entry) and _may_move(entry) and path not in new
    }


def _may_move(entry: Entry) -> bool:
    return entry.why not in ("git", "ours")


def _is_that_folder(old: Entries, new: Entries, move: Rename) -> bool:
    """Return whether the inode was not just used again for another folder."""
    before, after = _children(old, move.old), _children(new, move.new)
    if not before and not after:
        return old[move.old].mtime_ns == new[move.new].mtime_ns
    return any(
        name in after and entry.identity == after[name].identity for name, entry in before.items()
    )


def _file_moves(old: Entries, new: Entries) -> list[Rename]:
    gone = {p: e for p, e in old.items() if p not in new and not e.is_folder and _may_move(e)}
    came = {p: e for p, e in new.items() if p not in old and not e.is_folder and _may_move(e)}
    moves = []
    by_identity = {entry.identity: path for path, entry in gone.items()}
    for path, entry in list(came.items()):
        source = by_identity.get(entry.identity)
        if source is not None and source in gone and same_content(gone[source], entry):
            moves.append(Rename(source, path))
            del gone[source], came[path]
    alone_gone, alone_came = _by_lone_content(gone), _by_lone_content(came)
    shared = alone_gone.keys() & alone_came.keys()
    return moves + [Rename(alone_gone[content], alone_came[content]) for content in sorted(shared)]


def _by_lone_content(entries: Entries) -> dict[str, str]:
    """Return the paths of files whose content no other name or file has, by content."""
    found: dict[str, list[str]] = {}
    for path, entry in entries.items():
        if entry.is_file and entry.size and entry.links == 1:
            found.setdefault(entry.content, []).append(path)
    return {content: paths[0] for content, paths in found.items() if len(paths) == 1}


def shift(entries: Entries, move: Rename) -> None:
    """Give the entries at and below *move*.old the paths they have after it."""
    if move.old in entries and not stat.S_ISDIR(entries[move.old].mode):
        entries[move.new] = entries.pop(move.old)
        return
    for path in [path for path in entries if shifted_path(path, move) != path]:
        entries[shifted_path(path, move)] = entries.pop(path)


def shifted_path(path: str, move: Rename) -> str:
    if path == move.old or path.startswith(f"{move.old}/"):
        return move.new + path[len(move.old) :]
    return path


def path_after(path: str, moves: Sequence[Rename]) -> str:
    for move in moves:
        path = shifted_path(path, move)
    return path


def path_before(path: str, moves: list[Rename]) -> str:
    for move in reversed(moves):
        path = shifted_path(path, Rename(move.new, move.old))
    return path


def _children(entries: Entries, folder: str) -> Entries:
    return {p.rpartition("/")[2]: e for p, e in entries.items() if p and parent_of(p) == folder}


def parents(path: str) -> Iterator[str]:
    """Yield the folders that *path* is in, the nearest first; not the root, which is above all."""
    while path := parent_of(path):
        yield path


def above(paths: Iterable[str]) -> set[str]:
    """Return all the folders that *paths* are in, as `parents` does of one."""
    found: set[str] = set()
    for path in paths:
        for parent in parents(path):
            if parent in found:
                break
            found.add(parent)
    return found


def _change(path: str, old: Entry | None, new: Entry | None) -> Change | None:
    if (old or new) is None or "ours" in {entry.why for entry in (old, new) if entry}:
        return None
    if old is None:
        return Change("created", path)
    if new is None:
        return Change("deleted", path)
    return None if alike(old, new) else Change("modified", path)
