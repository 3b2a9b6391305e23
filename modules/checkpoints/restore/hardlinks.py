"""Hard links: the names that a file had, and those that it can be linked to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from modules.checkpoints.snapshot.diff import Rename, path_after, walk
from modules.checkpoints.snapshot.entries import Entries, Entry, same_content, same_entry
from modules.checkpoints.store.object_store import DamagedObject, ObjectStore

Identity = tuple[int, int]


@dataclass(slots=True)
class InodeIndex:
    """Files of one state of the folder, by path and by inode."""

    _by_path: Entries = field(default_factory=dict)
    _by_inode: dict[Identity, Entries] = field(default_factory=dict)

    @classmethod
    def build(cls, objects: ObjectStore, root: Entry, renames: Sequence[Rename]) -> InodeIndex:
        """Return those beneath *root*, with the paths they have after *renames*."""
        index = cls()
        with suppress(DamagedObject):
            for path, entry in walk(objects, root):
                if entry.is_file:
                    index._add(path_after(path, renames), entry)
        return index

    def _add(self, path: str, entry: Entry) -> None:
        self._by_path[path] = entry
        self._by_inode.setdefault(entry.identity, {})[path] = entry

    def get(self, path: str) -> Entry | None:
        return self._by_path.get(path)

    def entries_of(self, files: Iterable[Identity]) -> Entries:
        return {p: e for file in files for p, e in self._by_inode.get(file, {}).items()}

    def names_of(self, entry: Entry) -> set[str]:
        """Return the names of the file that *entry* is."""
        return set(self._by_inode[entry.identity])


def relinking_pairs(
    before: InodeIndex,
    now: InodeIndex,
    recreated: set[Identity],
    relinked: set[str],
    planned: Collection[str],
) -> dict[str, tuple[Entry, Entry]]:
    """Return what is there now, and what was, at each path that must be linked or unlinked.

    *recreated* are files with several names that are to be made again; *relinked* paths of which a
    change may have made names of another file. What is *planned* already is not returned.
    """
    pairs = {}
    for path in relinked:
        previous, current = before.get(path), now.get(path)
        if (
            previous
            and current
            and same_entry(previous, current)
            and before.names_of(previous) != now.names_of(current)
        ):
            pairs[path] = current, previous
    files = recreated | {previous.identity for _, previous in pairs.values()}
    other_names = before.entries_of(files)
    for path, previous in other_names.items():
        current = now.get(path)
        if current and current.identity != previous.identity and same_entry(current, previous):
            pairs[path] = current, previous
    for path, current in now.entries_of(files).items():  # the number of a file is used again
        previous = before.get(path)
        if path not in other_names and previous and same_entry(current, previous):
            pairs[path] = current, previous
    return {path: pair for path, pair in pairs.items() if path not in planned}


@dataclass(slots=True)
class HardLinks:
    """Existing names, with the right content, of files that are to have several."""

    _existing: dict[tuple[Identity, str], tuple[str, Entry]] = field(default_factory=dict)

    def collect(
        self,
        objects: ObjectStore,
        now: Entry,
        wanted: Mapping[str, Entry],
        replaced: Collection[str],
    ) -> None:
        """Look in the folder, which is *now* (root entry), for the files *wanted* at their paths.

        What is in *replaced* is to be another file, or none.
        """
        keys = {_key(entry) for entry in wanted.values()}
        if not keys:
            return
        files: Entries = {}
        with suppress(DamagedObject):
            files = {path: entry for path, entry in walk(objects, now) if entry.is_file}
        for path, entry in files.items():
            if _key(entry) in keys and path not in replaced:
                self._existing.setdefault(_key(entry), (path, entry))
        for path, entry in _same_content_files(files, wanted):
            self._existing.setdefault(_key(wanted[path]), (path, entry))

    def existing_link(self, new: Entry) -> tuple[str, Entry] | None:
        """Return the path of another name of *new*, and what is there; None if there is none."""
        return self._existing.get(_key(new)) if new.links > 1 else None

    def record(self, path: str, new: Entry) -> None:
        """Take note that *path* was just made as *new*."""
        if new.links > 1:
            self._existing[_key(new)] = path, new._replace(inode=0, device=0)

    def is_linked(self, new: Entry, current: Entry | None) -> bool:
        """Return whether *current* is that other name already, or the same file as it."""
        link = self.existing_link(new)
        return link is not None and current is not None and link[1].identity == current.identity


def _key(entry: Entry) -> tuple[Identity, str]:
    return entry.identity, entry.content


def _same_content_files(files: Entries, wanted: Mapping[str, Entry]) -> Iterator[tuple[str, Entry]]:
    """Yield those of the files *files* with a wanted content, and no name of another file."""
    names: dict[Identity, set[str]] = {}
    for path, entry in files.items():
        names.setdefault(entry.identity, set()).add(path)
    for path, new in sorted(wanted.items()):
        current = files.get(path)
        if current is None or not same_content(current, new):
            continue
        others = names[current.identity]
        if all(one in wanted and _key(wanted[one]) == _key(new) for one in others):
            yield path, current
