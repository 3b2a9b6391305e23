"""What an undo is going to do, worked out before anything is touched.

The rule, for every path: where the folder still is as the change left it, it becomes what it was
before; where it is as before already, nothing happens; where the person went on, both are merged,
and where that cannot be, the person's file stays and the earlier one is put beside it.
"""

from __future__ import annotations

import stat
import time
from itertools import takewhile

from modules.checkpoints.restore.hardlinks import Names, rejoined
from modules.checkpoints.restore.merge3 import merged
from modules.checkpoints.restore.operations import Conflict, Operation, Plan, Skipped, names_beside
from modules.checkpoints.snapshot.diff import (
    Finder,
    Rename,
    TreeDiff,
    above,
    find_moves,
    parents,
    path_after,
    path_before,
    shift,
    shifted_path,
)
from modules.checkpoints.snapshot.entries import (
    REASONS,
    Entry,
    is_folder,
    is_relinked,
    parent_of,
    same,
    same_content,
)
from modules.checkpoints.store.object_store import LARGE, DamagedObject, ObjectStore
from modules.files.own_code import OwnCode
from utils.i18n import Phrase, phrase

_MERGED_SIZE = 4 * LARGE  # bytes; larger texts are not merged but put side by side


def plan_undo(
    vault: ObjectStore, before: Entry, after: Entry, now: Entry, own: OwnCode | None = None
) -> Plan:
    """Return how to take back from *now* what changed from *before* to *after* (root entries).

    Nothing in *own* is touched. Texts that are merged are put into the vault.
    """
    return _Planner(vault, before, after, now, own or OwnCode()).plan()


class _Planner:
    """Works on three sides of what differs: *after* and *before* the change, and *now*."""

    def __init__(
        self, vault: ObjectStore, before: Entry, after: Entry, now: Entry, own: OwnCode
    ) -> None:
        change = TreeDiff(vault).compare(after, before)
        person = TreeDiff(vault).compare(after, now)
        self._vault = vault
        self._own = own
        self._before_root, self._now_root = before, now
        self._finder, self._earlier = Finder(vault, now), Finder(vault, before)
        self._relinked = change.relinked
        self._after, self._before = change.side(0), change.side(1)
        self._now = {**self._after, **person.side(1)}
        for path, (_, new) in person.pairs.items():
            if new is None:
                self._now.pop(path, None)
        self._plan = Plan()
        self._disturbed: set[str] = set()
        self._passable: set[str] = set()
        self._redirected: list[Rename] = []
        self._followed: list[Rename] = []
        for path in [*change.damaged, *person.damaged]:
            self._leave(path, phrase("what was held of this folder is damaged"))
        for move in find_moves(person.side(0), person.side(1)):
            self._follow(move)

    def plan(self) -> Plan:
        self._plan_moves()
        for path in sorted(self._after.keys() | self._before.keys()):
            self._plan_path(path)
        self._plan_links()
        self._plan_disturbed()
        return self._plan

    def _follow(self, move: Rename) -> None:
        """Let what is to be undone follow a file or folder that the person moved since."""
        if move.new not in self._before and move.new not in self._after:
            shift(self._after, move)
            shift(self._before, move)
            self._followed.append(move)

    def _plan_moves(self) -> None:
        """Plan to move back what the change moved, as far as it is there and its place is free."""
        for move in find_moves(self._after, self._before):
            here, was = self._now.get(move.old), self._after.get(move.old)
            if here is None or was is None or here.is_folder != was.is_folder:
                continue
            if not self._has_room(move.new) or self._own.is_touched((move.old, move.new)):
                continue
            self._plan.moves.append(move)
            self._disturbed = {shifted_path(path, move) for path in self._disturbed}
            self._disturbed |= {parent_of(move.old), parent_of(move.new)}
            if here.is_folder:
                self._disturbed.add(move.new)
            shift(self._after, move)
            shift(self._now, move)

    def _has_room(self, path: str) -> bool:
        """Return whether nothing is at *path* now, and no file where its folders are to be."""
        if path in self._now:
            return False
        while path := parent_of(path):
            if (entry := self._now.get(path)) is not None and not entry.is_folder:
                return False
        return True

    def _plan_path(self, path: str) -> None:
        after, before = self._after.get(path), self._before.get(path)
        now = self._now.get(path)
        if after and before and same(after, before) and is_relinked(after, before):
            self._relinked.add(path)
        if same(after, before) or same(now, before):
            return
        if self._own.holds(path):
            if not (is_folder(after) and is_folder(before)):
                self._leave(path, REASONS["ours"], is_gone=after is None)
            return
        is_returning = now is None and not (is_folder(after) and is_folder(before))
        if before and is_returning and (target := self._reachable(path)) != path:
            self._step(target, None, before)
        elif same(now, after):
            self._step(path, now, before)
        elif before is None:
            self._plan_removal(path, now)
        elif now is None:
            self._plan_return(path, after, before)
        else:
            self._plan_merge(path, after, before, now)

    def _reachable(self, path: str) -> str:
        """Return where to put what was at *path*, and plan the folders that are missing there.

        Where the person has something else in the place of a folder, that is beside it.
        """
        path = path_after(path, self._redirected)
        unknown = list(takewhile(lambda folder: folder not in self._passable, parents(path)))
        for folder in reversed(unknown):
            here = self._known_now(path_before(folder, self._plan.moves))
            if not is_folder(here):
                if (was := self._known_before(folder)) is None:
                    break
                if here is not None:
                    self._redirected.append(Rename(folder, self._put_beside(folder, was)))
                    return self._reachable(path)
                self._step(folder, None, was)
            self._passable.add(folder)
        return path

    def _plan_removal(self, path: str, now: Entry | None) -> None:
        if now is not None and now.is_folder:
            self._step(path, now, None)  # happens only if it is empty then
        else:
            self._leave(path, phrase("changed since, so it was kept"))

    def _plan_return(self, path: str, after: Entry | None, before: Entry) -> None:
        """Plan for what the person deleted after it was changed."""
        if not before.is_folder:
            self._put_beside(path, before)
        elif after is not None and not after.is_folder:
            self._step(path, None, before)

    def _plan_merge(self, path: str, after: Entry | None, before: Entry, now: Entry) -> None:
        if before.is_folder and now.is_folder:
            if after is not None:
                self._step(path, now, _with_attributes(before, after, before, now))
        elif before.is_folder:
            beside = self._put_beside(path, before)
            self._redirected.append(Rename(path, beside))
        elif now.is_folder:
            self._put_beside(path, before)
        elif after is not None and same_content(now, after):
            self._step(path, now, _with_attributes(before, after, before, now))
        elif after is not None and (same_content(after, before) or same_content(now, before)):
            merged_entry = _with_attributes(now, after, before, now)
            self._step(path, now, merged_entry._replace(mtime_ns=now.mtime_ns))
        elif (text := self._merged_text(after, before, now)) is not None and after is not None:
            new = _with_attributes(now, after, before, now)
            content = self._vault.put(text)
            times = time.time_ns()
            self._step(path, now, new._replace(content=content, size=len(text), mtime_ns=times))
        elif not same_content(now, before):
            self._put_beside(path, before)

    def _merged_text(self, after: Entry | None, before: Entry, now: Entry) -> bytes | None:
        versions = [entry for entry in (after, before, now) if entry is not None]
        if len(versions) < 3 or not all(e.is_file and e.size <= _MERGED_SIZE for e in versions):
            return None
        try:
            return merged(*(self._vault.read(entry.content) for entry in versions))
        except DamagedObject:
            return None

    def _put_beside(self, path: str, before: Entry) -> str:
        """Plan to write the earlier version under a free name beside *path*; return that."""
        name = next(name for name in names_beside(path) if self._is_free(name))
        if before.why:
            self._leave(path, REASONS[before.why], is_gone=path not in self._now)
        else:
            self._plan.conflicts.append(Conflict(path, name))
            self._step(name, None, before)
        return name

    def _is_free(self, path: str) -> bool:
        taken = path in self._now or path in self._before
        return not taken and self._known_now(path) is None

    def _step(self, path: str, old: Entry | None, new: Entry | None) -> None:
        if same(old, new):
            return
        if why := _obstacle(old, new):
            self._leave(path, REASONS[why], is_gone=old is None)
            return
        self._plan.steps.append(Operation(path, old, new))
        if is_folder(new):
            self._passable.add(path)
        if path:
            self._disturbed.add(parent_of(path))

    def _leave(self, path: str, why: Phrase, *, is_gone: bool = False) -> None:
        self._plan.left.append(Skipped(path, why, is_gone))

    def _plan_links(self) -> None:
        """Plan to join again the names of one file that are names of several now, and to part
        those that the change joined."""
        steps = {step.path: step for step in self._plan.steps}
        made = {step.new.identity for step in steps.values() if step.new and _is_joined(step)}
        if not made and not self._relinked:
            return
        before = Names.of(self._vault, self._before_root, self._followed)
        now = Names.of(self._vault, self._now_root, self._plan.moves)
        pairs = rejoined(before, now, made, self._relinked, steps.keys())
        for path, (here, was) in sorted(pairs.items()):
            self._plan.steps.append(Operation(path, here, was))
            self._disturbed.add(parent_of(path))

    def _plan_disturbed(self) -> None:
        """Plan to give back what of folders would only change by our own doing.

        That is the times of those in which something is done, and the modes of those that must be
        unlocked on the way there.
        """
        done = {step.path for step in self._plan.steps}
        on_the_way = above(done | self._disturbed)
        for path in sorted((self._disturbed | on_the_way) - done):
            entry = self._now.get(path) or self._known_now(path)
            if entry is None or not entry.is_folder:
                continue
            if path in self._disturbed or entry.mode & 0o500 != 0o500:
                self._plan.steps.append(Operation(path, entry, entry))

    def _known_now(self, path: str) -> Entry | None:
        return _found(self._finder, path)

    def _known_before(self, folder: str) -> Entry | None:
        was = path_before(folder, [*self._followed, *self._redirected])
        return _found(self._earlier, was)


def _found(finder: Finder, path: str) -> Entry | None:
    try:
        return finder.at(path)
    except DamagedObject:
        return None


def _is_joined(step: Operation) -> bool:
    """Return whether a file with several names is to be made, rather than given a mode or time."""
    if step.new is None or not step.new.is_file or step.new.links < 2:
        return False
    return step.old is None or step.old.identity != step.new.identity


def _with_attributes(of: Entry, after: Entry, before: Entry, now: Entry) -> Entry:
    """Return *of* with the mode and time that the undo and the person's changes make together."""
    permissions = stat.S_IMODE(before.mode if now.mode == after.mode else now.mode)
    return of._replace(
        mode=stat.S_IFMT(of.mode) | permissions,
        mtime_ns=before.mtime_ns if now.mtime_ns == after.mtime_ns else now.mtime_ns,
        extras=before.extras if now.extras == after.extras else now.extras,
    )


def _obstacle(old: Entry | None, new: Entry | None) -> str:
    """Return why (a key of `REASONS`) *old* cannot become *new* without losing anything."""
    if old is not None and new is not None and same_content(old, new):
        return ""
    return (new.why if new is not None else "") or (old.why if old is not None else "")
