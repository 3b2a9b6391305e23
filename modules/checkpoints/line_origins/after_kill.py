"""What others did in the folder after a kill, before anybody looked, and not the call it ended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from modules.checkpoints.line_origins.file_states import FileStates
from modules.checkpoints.snapshot.diff import git_contents, walk
from modules.checkpoints.snapshot.entries import GIT, Entry
from modules.checkpoints.store.heartbeat import Heartbeat

if TYPE_CHECKING:
    from modules.checkpoints.checkpoints import Checkpoints

_INDEX = "index"
"""Of a repository: looking at its state alone writes it anew."""


class LaterChange(NamedTuple):
    """What others made of the *old* entry at the path *former*: *new*, at *path*. None is none."""

    path: str
    former: str
    old: Entry | None
    new: Entry


def others_after_kill(checkpoints: Checkpoints, before: int, now: int) -> list[LaterChange]:
    """Return what others changed between two snapshots, the first the last of any call.

    That is what changed when nobody of ours was at work any more: after a kill, none of it while a
    call runs. Of a file that the call had changed as well, all that differs is the others', unless
    they only moved it, or gave it other rights: then it was last written while the call ran. Who
    deleted something cannot be told, nor who made an empty folder or moved one.
    """
    since = Heartbeat(checkpoints.alive_path).end_of_doubt()
    return [] if since is None else list(_changed_since(since, checkpoints, before, now))


def _changed_since(
    since: int, checkpoints: Checkpoints, before: int, now: int
) -> Iterator[LaterChange]:
    first = checkpoints.index.snapshot(before)
    began = first.checked_ns or int(first.created * 1e9)
    states = FileStates(checkpoints, ())
    for change in checkpoints.diff(before, now):
        path = change.new_path or change.path
        entry = None if change.kind == "deleted" else checkpoints.entry_at(now, path)
        if entry is None or entry.is_folder:  # it is empty: a sandbox leaves such ones to mount at
            continue
        former = states.path_before(path, before, now)
        later = LaterChange(path, former, checkpoints.entry_at(before, former), entry)
        if path == GIT and entry.git_state and later.old and later.old.git_state:
            is_later = _is_later_git(since, checkpoints, later.old, entry)
        else:
            is_later = entry.ctime_ns > since and not began <= entry.mtime_ns <= since
            is_later &= later.old is None or not later.old.is_folder
        if is_later:
            yield later


def _is_later_git(since: int, checkpoints: Checkpoints, old: Entry, new: Entry) -> bool:
    """Return whether the state of the repository differs by what was written *since*."""
    before, now = (git_contents(checkpoints.objects, one) for one in (old, new))
    state = new.git_state
    return any(
        entry.ctime_ns > since and path != _INDEX and before.get(path) != now.get(path)
        for path, entry in (walk(checkpoints.objects, state) if state else ())
        if path in now
    )
