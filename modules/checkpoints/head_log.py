"""The log of git's HEAD in snapshots: what a call added to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from modules.checkpoints.snapshot.entries import GIT, LINKED_GIT, Entry
from modules.checkpoints.store.object_store import DamagedObject
from utils.i18n import UserError

if TYPE_CHECKING:
    from modules.checkpoints.checkpoints import Checkpoints

_LOG = ("logs", "HEAD")
_TREES = "worktrees"


def added_to_log(checkpoints: Checkpoints, before: int, after: int) -> list[bytes]:
    """Return the lines that the log of HEAD has in the snapshot *after*, and not *before*.

    None where what was kept of them is gone.
    """
    try:
        old, new = (list(_logs(checkpoints, number)) for number in (before, after))
        if [entry.content for entry in old] == [entry.content for entry in new]:
            return []
        known = set(_lines(checkpoints, old))
        return [line for line in _lines(checkpoints, new) if line not in known]
    except (UserError, DamagedObject):
        return []


def _logs(checkpoints: Checkpoints, snapshot: int) -> Iterator[Entry]:
    """Yield the log of HEAD; in a linked work tree, those of it and of the trees in it."""
    top = checkpoints.objects.entries_of(checkpoints.root_of(snapshot))
    if (repository := top.get(GIT)) and (log := _beneath(checkpoints, repository.git_state)):
        yield log
    shared = top.get(LINKED_GIT)
    state = shared.git_state if shared else None
    trees = checkpoints.objects.entries_of(state).get(_TREES) if state else None
    if trees is not None and trees.is_folder:
        for _, tree in sorted(checkpoints.objects.entries_of(trees).items()):
            if log := _beneath(checkpoints, tree):
                yield log


def _beneath(checkpoints: Checkpoints, folder: Entry | None) -> Entry | None:
    entry = folder
    for name in _LOG:
        if entry is None or not entry.is_folder:
            return None
        entry = checkpoints.objects.entries_of(entry).get(name)
    is_held = entry is not None and not entry.is_folder and not entry.not_stored_reason
    return entry if is_held else None


def _lines(checkpoints: Checkpoints, logs: list[Entry]) -> Iterator[bytes]:
    for one in logs:
        yield from checkpoints.objects.read(one.content).splitlines()
