"""What the person accepted of the changes of a session, and where a review begins because of it.

It is kept as two roots: the folder as it was when the session began, and the same with what was
accepted; so an accepted change is one that the second root has already. Both last as long as the
session's checkpoints do.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator

from modules.checkpoints.restore.merge3 import preferring, shared
from modules.checkpoints.restore.tree_builder import TreeBuilder
from modules.checkpoints.snapshot.diff import Difference, TreeDiff, lookup
from modules.checkpoints.snapshot.entries import Entry, alike
from modules.checkpoints.store.index import CheckpointIndex
from modules.checkpoints.store.object_store import LARGE, DamagedObject, ObjectStore

Sides = tuple[str, Entry | None, Entry | None]
"""A path, with what was there when the session began, and what was accepted."""


class Accepted:
    """Knows what was accepted in each session."""

    def __init__(self, vault: ObjectStore, ledger: CheckpointIndex) -> None:
        self._vault = vault
        self._ledger = ledger

    def within(self, session: str, base: Entry, now: Entry) -> Entry:
        """Return *base*, an earlier state than *now*, with what was accepted since.

        What is now as it was in *base* again counts as not changed, whether it was accepted or not.
        """
        found = self._ledger.accepted(session)
        if found is None:
            return base
        try:
            return self._within(*found, base, now)
        except DamagedObject:
            return base

    def roots(self, session: str, began: Entry) -> tuple[Entry, Entry]:
        """Return the two roots; *began* is where the session began, when nothing was accepted."""
        return self._ledger.accepted(session) or (began, began)

    def keep(self, session: str, began: Entry, root: Entry) -> None:
        self._ledger.accept(session, began, root)

    def _within(self, began: Entry, accepted: Entry, base: Entry, now: Entry) -> Entry:
        is_whole = began == base
        graft = TreeBuilder(self._vault, accepted if is_whole else base, now)
        changes = TreeDiff(self._vault).compare(began, accepted).found()
        for path, old, new in (sides for change in changes for sides in _sides(change)):
            mine = old if is_whole else lookup(self._vault, base, path)
            here = lookup(self._vault, now, path)
            entry = mine if alike(mine, here) else self._entry(old, new, mine, here)
            if entry != (new if is_whole else mine):
                graft.put(path, entry)
        return graft.done()

    def _entry(
        self, old: Entry | None, new: Entry | None, mine: Entry | None, here: Entry | None
    ) -> Entry | None:
        """Return what a review begins with where the base has *mine*, and the folder *here*."""
        if new is None or not new.is_file or mine is None or not _are_texts(mine, new):
            return new
        text = self._vault.read(new.content)
        if old is not None and not alike(old, mine) and _are_texts(old):
            text = preferring(self._vault.read(old.content), self._vault.read(mine.content), text)
        if here is not None and _are_texts(here):
            text = shared(text, self._vault.read(mine.content), self._vault.read(here.content))
        mode = mine.mode if here is not None and here.mode == mine.mode else new.mode
        return new._replace(content=self._vault.put(text), size=len(text), mode=mode)


def _are_texts(*entries: Entry) -> bool:
    return all(entry.is_file and entry.size <= 2 * LARGE for entry in entries)


def _sides(found: Difference) -> Iterator[Sides]:
    change = found.change
    if change.kind == "renamed":
        yield change.path, found.old, None
        yield change.new_path, None, found.new
    else:
        yield change.path, found.old, found.new


def mode_of(entry: Entry) -> str:
    """Return the permissions as people write them: 644."""
    return f"{stat.S_IMODE(entry.mode):03o}"
