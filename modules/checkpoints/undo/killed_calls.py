"""The end of calls that a kill cut short: with what they did, not with what others did since."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from modules.checkpoints.line_origins.after_kill import LaterChange, others_after_kill
from modules.checkpoints.line_origins.timeline import Timeline
from modules.checkpoints.restore.tree_builder import TreeBuilder
from modules.checkpoints.snapshot.diff import ancestors, lookup
from modules.checkpoints.store.index import ScanStamp

if TYPE_CHECKING:
    from modules.checkpoints.checkpoints import Checkpoints
    from modules.checkpoints.snapshot.entries import Entry
    from modules.checkpoints.store.index import CallRecord, Snapshot


def end_killed_calls(
    checkpoints: Checkpoints, calls: Sequence[CallRecord], now: Snapshot
) -> list[str]:
    """End *calls*, the folder being *now*; return the paths of what others changed since the kill.

    That is in none of the calls, where it can be told from what they did: no undo takes it back.
    """
    later: list[LaterChange] = []
    last = Timeline(checkpoints.objects).last_snapshot
    if last and not any(call.background for call in calls):  # a job may outlive us for a moment
        later = others_after_kill(checkpoints, last, now.id)
    after = _state_without(checkpoints, later, last, now) if later else now
    for call in calls:
        if call.before == after.id:
            checkpoints.index.drop_call(call.id)
    ended = [call for call in calls if call.before != after.id]
    ends = [(call.id, len(checkpoints.diff(call.before, after.id))) for call in ended]
    checkpoints.index.end_killed_calls(ends, after.id, now.id)
    return [one.path for one in later]


def _state_without(
    checkpoints: Checkpoints, later: Sequence[LaterChange], last: int, now: Snapshot
) -> Snapshot:
    """Keep and return the state that the folder would have *now* without what came *later*.

    That is as it was in the snapshot *last*. No scan finds it, so its times are trusted as little
    as those of the older one.
    """
    with checkpoints.objects.locked():
        before, recoveries = (
            checkpoints.index.snapshot(last),
            checkpoints.objects.database.recoveries,
        )
        builder = TreeBuilder(checkpoints.objects, now.root, before.root)
        for one in later:
            builder.put(one.path, one.old if one.path == one.former else None)
        for one in later:
            if one.path != one.former and lookup(builder.objects, builder.root, one.former) is None:
                builder.put(one.former, one.old)
        for path in _folders_of(later):
            _take_back_times(builder, before.root, path)
        add = checkpoints.index.add_snapshot
        state = add(builder.build(), ScanStamp(before.checked_ns, recoveries), now.not_stored)
        add(now.root, ScanStamp(now.checked_ns, recoveries), now.not_stored)  # it is the latest
        return state


def _folders_of(later: Iterable[LaterChange]) -> list[str]:
    """Return the folders that hold what came *later*, each behind those in it."""
    folders = {folder for one in later for folder in (*ancestors(one.path), *ancestors(one.former))}
    return [*sorted(folders, key=lambda path: (-path.count("/"), path)), ""]


def _take_back_times(builder: TreeBuilder, before: Entry, path: str) -> None:
    """Give the folder *path* the times that it had, if nothing else of it differs."""
    old, new = (lookup(builder.objects, root, path) for root in (before, builder.root))
    if old and new and old.is_folder and new.is_folder and old.content == new.content:
        builder.put(path, old)
