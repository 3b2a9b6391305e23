"""Making a state of the folder that never was, out of states that were."""

from __future__ import annotations

import stat
import time
from dataclasses import dataclass, field

from modules.checkpoints.snapshot.entries import Entry, join
from modules.checkpoints.store.object_store import ObjectStore


@dataclass(slots=True)
class TreeBuilder:
    """Changes *root* path by path; *like* is the root that says which folders there are to be.

    Nothing is kept in the vault before `done`. Everything raises `Damaged`.
    """

    vault: ObjectStore
    root: Entry
    like: Entry
    _parts: dict[str, list[tuple[str, bytes]]] = field(default_factory=dict)

    def put(self, path: str, entry: Entry | None) -> None:
        """Let *entry* (None: nothing) be at *path*.

        Folders on the way to it come as they are in *like*; those that would be empty then go, if
        they are not in *like*. A folder that is there already keeps what is in it.
        """
        made = self._made("", self.root, self.like, path, entry)
        assert made is not None  # noqa: S101 - the root is in *like* too
        self.root = made

    def done(self) -> Entry:
        """Keep what was made; return the root."""
        self.vault.keep(part for parts in self._parts.values() for part in parts)
        self._parts.clear()
        return self.root

    def _made(
        self, where: str, here: Entry | None, like: Entry | None, path: str, entry: Entry | None
    ) -> Entry | None:
        """Return what is to be at *where*, so that *entry* is at *path* below it."""
        if not path:
            is_kept = entry and here and entry.is_folder and here.is_folder
            return entry._replace(content=here.content) if is_kept and here and entry else entry
        name, _, rest = path.partition("/")
        folder = here if here is not None and here.is_folder else None
        model = like if like is not None and like.is_folder else None
        inner = dict(self.vault.entries_of(folder)) if folder else {}
        there = self.vault.entries_of(model).get(name) if model else None
        made = self._made(join(where, name), inner.get(name), there, rest, entry)
        if made is None and folder is None:
            return here
        inner.pop(name, None)
        if made is not None:
            inner[name] = made
        elif not inner and model is None:
            return None
        key, self._parts[where] = self.vault.fold(inner)
        return (folder or model or _new_folder())._replace(content=key)


def _new_folder() -> Entry:
    return Entry(stat.S_IFDIR | 0o755, 0, time.time_ns(), 0, 0, 0)
