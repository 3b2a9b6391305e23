"""Names of one file: which of them were, and where another one can be linked to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from modules.checkpoints.snapshot.diff import Rename, path_after, walk
from modules.checkpoints.snapshot.entries import Entries, Entry, same, same_content
from modules.checkpoints.store.object_store import DamagedObject, ObjectStore

Identity = tuple[int, int]


@dataclass(slots=True)
class Names:
    """The files of one state of the folder, by path and by which file it is."""

    _by_path: Entries = field(default_factory=dict)
    _by_file: dict[Identity, Entries] = field(default_factory=dict)

    @classmethod
    def of(cls, vault: ObjectStore, root: Entry, moves: Sequence[Rename]) -> Names:
        """Return those beneath *root*, with the paths they have after *moves*."""
        found = cls()
        with suppress(DamagedObject):
            for path, entry in walk(vault, root):
                if entry.is_file:
                    found._add(path_after(path, moves), entry)
        return found

    def _add(self, path: str, entry: Entry) -> None:
        self._by_path[path] = entry
        self._by_file.setdefault(entry.identity, {})[path] = entry

    def at(self, path: str) -> Entry | None:
        return self._by_path.get(path)

    def of_files(self, files: Iterable[Identity]) -> Entries:
        return {p: e for file in files for p, e in self._by_file.get(file, {}).items()}

    def mates(self, entry: Entry) -> set[str]:
        """Return the names of the file that *entry* is."""
        return set(self._by_file[entry.identity])


def rejoined(
    before: Names, now: Names, made: set[Identity], relinked: set[str], planned: Collection[str]
) -> dict[str, tuple[Entry, Entry]]:
    """Return what is there now, and what was, at each path that must be joined or parted.

    *made* are files with several names that are to be made again; *relinked* paths of which a
    change may have made names of another file. What is *planned* already is not returned.
    """
    found = {}
    for path in relinked:
        was, here = before.at(path), now.at(path)
        if was and here and same(was, here) and before.mates(was) != now.mates(here):
            found[path] = here, was
    files = made | {was.identity for _, was in found.values()}
    mates = before.of_files(files)
    for path, was in mates.items():
        here = now.at(path)
        if here and here.identity != was.identity and same(here, was):
            found[path] = here, was
    for path, here in now.of_files(files).items():  # the number of a file is used again
        was = before.at(path)
        if path not in mates and was and same(here, was):
            found[path] = here, was
    return {path: pair for path, pair in found.items() if path not in planned}


@dataclass(slots=True)
class HardLinks:
    """Where a file that is to have several names has one already, with the right content."""

    _known: dict[tuple[Identity, str], tuple[str, Entry]] = field(default_factory=dict)

    def find(
        self, vault: ObjectStore, now: Entry, wanted: Mapping[str, Entry], gone: Collection[str]
    ) -> None:
        """Look in the folder, which is *now* (root entry), for the files *wanted* at their paths.

        What is in *gone* is to be another file, or none.
        """
        keys = {_key(entry) for entry in wanted.values()}
        if not keys:
            return
        here: Entries = {}
        with suppress(DamagedObject):
            here = {path: entry for path, entry in walk(vault, now) if entry.is_file}
        for path, entry in here.items():
            if _key(entry) in keys and path not in gone:
                self._known.setdefault(_key(entry), (path, entry))
        for path, entry in _alike(here, wanted):
            self._known.setdefault(_key(wanted[path]), (path, entry))

    def of(self, new: Entry) -> tuple[str, Entry] | None:
        """Return the path of another name of *new*, and what is there; None if there is none."""
        return self._known.get(_key(new)) if new.links > 1 else None

    def note(self, path: str, new: Entry) -> None:
        """Take note that *path* was just made as *new*."""
        if new.links > 1:
            self._known[_key(new)] = path, new._replace(inode=0, device=0)

    def are_joined(self, new: Entry, current: Entry | None) -> bool:
        """Return whether *current* is that other name already, or the same file as it."""
        twin = self.of(new)
        return twin is not None and current is not None and twin[1].identity == current.identity


def _key(entry: Entry) -> tuple[Identity, str]:
    return entry.identity, entry.content


def _alike(here: Entries, wanted: Mapping[str, Entry]) -> Iterator[tuple[str, Entry]]:
    """Yield those of the files *here* with a wanted content, and no name of another file."""
    names: dict[Identity, set[str]] = {}
    for path, entry in here.items():
        names.setdefault(entry.identity, set()).add(path)
    for path, new in sorted(wanted.items()):
        current = here.get(path)
        if current is None or not same_content(current, new):
            continue
        others = names[current.identity]
        if all(one in wanted and _key(wanted[one]) == _key(new) for one in others):
            yield path, current
