"""Building a tree that was never on disk out of entries of trees that were."""

from __future__ import annotations

import stat
import time
from dataclasses import dataclass, field

from modules.checkpoints.snapshot.entries import Entry, join
from modules.checkpoints.store.object_store import ObjectStore


@dataclass(slots=True)
class TreeBuilder:
    """Builder that changes *root* path by path; *template* is the root with the folders to have.

    Nothing is stored before `build`. Everything raises `DamagedObject`.
    """

    objects: ObjectStore
    root: Entry
    template: Entry
    _encoded_folders: dict[str, list[tuple[str, bytes]]] = field(default_factory=dict)

    def put(self, path: str, entry: Entry | None) -> None:
        """Put *entry* (None: nothing) at *path*.

        Folders on the way to it come as they are in *template*; those that would be empty then go,
        if they are not in *template*. A folder that is there already keeps what is in it.
        """
        rebuilt = self._rebuilt("", self.root, self.template, path, entry)
        assert rebuilt is not None  # noqa: S101 - the root is in *like* too
        self.root = rebuilt

    def build(self) -> Entry:
        """Store the tree; return its root."""
        self.objects.put_compressed(
            part for parts in self._encoded_folders.values() for part in parts
        )
        self._encoded_folders.clear()
        return self.root

    def _rebuilt(
        self,
        prefix: str,
        current: Entry | None,
        template: Entry | None,
        path: str,
        entry: Entry | None,
    ) -> Entry | None:
        """Return what is to be at *prefix*, so that *entry* is at *path* below it."""
        if not path:
            is_kept = entry and current and entry.is_folder and current.is_folder
            return (
                entry._replace(content=current.content) if is_kept and current and entry else entry
            )
        name, _, rest = path.partition("/")
        folder = current if current is not None and current.is_folder else None
        folder_template = template if template is not None and template.is_folder else None
        entries = dict(self.objects.entries_of(folder)) if folder else {}
        child_template = (
            self.objects.entries_of(folder_template).get(name) if folder_template else None
        )
        rebuilt = self._rebuilt(join(prefix, name), entries.get(name), child_template, rest, entry)
        if rebuilt is None and folder is None:
            return current
        entries.pop(name, None)
        if rebuilt is not None:
            entries[name] = rebuilt
        elif not entries and folder_template is None:
            return None
        key, self._encoded_folders[prefix] = self.objects.encode_folder(entries)
        return (folder or folder_template or _new_folder())._replace(content=key)


def _new_folder() -> Entry:
    return Entry(stat.S_IFDIR | 0o755, 0, time.time_ns(), 0, 0, 0)
