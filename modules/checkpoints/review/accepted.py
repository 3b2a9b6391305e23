"""Accepted changes of a session, and the state at which a review begins because of them.

It is kept as two roots: the folder as it was when the session began, and the same with what was
accepted; so an accepted change is one that the second root has already. Both last as long as the
session's checkpoints do.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator

from modules.checkpoints.restore.merge3 import merge_common, merge_preferring_theirs
from modules.checkpoints.restore.tree_builder import TreeBuilder
from modules.checkpoints.snapshot.diff import Difference, TreeDiff, lookup
from modules.checkpoints.snapshot.entries import Entry, same_except_mtime
from modules.checkpoints.store.index import CheckpointIndex
from modules.checkpoints.store.object_store import LOOSE_ABOVE, DamagedObject, ObjectStore

Sides = tuple[str, Entry | None, Entry | None]
"""A path, with what was there when the session began, and what was accepted."""


class AcceptedChanges:
    """Record of the changes that were accepted in each session."""

    def __init__(self, objects: ObjectStore, index: CheckpointIndex) -> None:
        self._objects = objects
        self._index = index

    def base_with_accepted(self, session: str, base: Entry, now: Entry) -> Entry:
        """Return *base*, an earlier state than *now*, with what was accepted since.

        What is now as it was in *base* again counts as not changed, whether it was accepted or not.
        """
        found = self._index.accepted(session)
        if found is None:
            return base
        try:
            return self._base_with_accepted(*found, base, now)
        except DamagedObject:
            return base

    def roots(self, session: str, session_start: Entry) -> tuple[Entry, Entry]:
        """Return the two roots; *session_start* stands for both while nothing was accepted."""
        return self._index.accepted(session) or (session_start, session_start)

    def save(self, session: str, session_start: Entry, root: Entry) -> None:
        self._index.set_accepted(session, session_start, root)

    def _base_with_accepted(
        self, session_start: Entry, accepted: Entry, base: Entry, now: Entry
    ) -> Entry:
        is_whole = session_start == base
        builder = TreeBuilder(self._objects, accepted if is_whole else base, now)
        changes = TreeDiff(self._objects).compare(session_start, accepted).differences()
        for path, old, new in (
            change_sides for change in changes for change_sides in _sides(change)
        ):
            base_entry = old if is_whole else lookup(self._objects, base, path)
            current = lookup(self._objects, now, path)
            entry = (
                base_entry
                if same_except_mtime(base_entry, current)
                else self._merged_entry(old, new, base_entry, current)
            )
            if entry != (new if is_whole else base_entry):
                builder.put(path, entry)
        return builder.build()

    def _merged_entry(
        self, old: Entry | None, new: Entry | None, base_entry: Entry | None, current: Entry | None
    ) -> Entry | None:
        """Return what a review begins with where the base has *base_entry*, and the folder
        *current*."""
        if (
            new is None
            or not new.is_file
            or base_entry is None
            or not _may_be_texts(base_entry, new)
        ):
            return new
        text = self._objects.read(new.content)
        if old is not None and not same_except_mtime(old, base_entry) and _may_be_texts(old):
            text = merge_preferring_theirs(
                self._objects.read(old.content), self._objects.read(base_entry.content), text
            )
        if current is not None and _may_be_texts(current):
            text = merge_common(
                text, self._objects.read(base_entry.content), self._objects.read(current.content)
            )
        mode = (
            base_entry.mode if current is not None and current.mode == base_entry.mode else new.mode
        )
        return new._replace(content=self._objects.put(text), size=len(text), mode=mode)


def _may_be_texts(*entries: Entry) -> bool:
    return all(entry.is_file and entry.size <= 2 * LOOSE_ABOVE for entry in entries)


def _sides(difference: Difference) -> Iterator[Sides]:
    change = difference.change
    if change.kind == "renamed":
        yield change.path, difference.old, None
        yield change.new_path, None, difference.new
    else:
        yield change.path, difference.old, difference.new


def mode_of(entry: Entry) -> str:
    """Return the permissions as people write them: 644."""
    return f"{stat.S_IMODE(entry.mode):03o}"
