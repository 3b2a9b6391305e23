"""Planning an undo, before anything is touched.

The rule, for every path: where the folder still is as the change left it, it becomes what it was
before; where it is as before already, nothing happens; where the person went on, both are merged,
and where that cannot be, the person's file stays and the earlier one is put beside it.
"""

from __future__ import annotations

import stat
import time
from itertools import takewhile

from modules.checkpoints.restore.hardlinks import InodeIndex, relinking_pairs
from modules.checkpoints.restore.merge3 import merge
from modules.checkpoints.restore.operations import (
    Conflict,
    PathOperation,
    Plan,
    Skipped,
    conflict_names,
)
from modules.checkpoints.snapshot.diff import (
    PathLookup,
    Rename,
    TreeDiff,
    ancestors,
    ancestors_of,
    apply_rename,
    find_renames,
    git_contents,
    path_after,
    path_before,
    renamed_path,
)
from modules.checkpoints.snapshot.entries import (
    GIT,
    REASONS,
    Entry,
    is_folder,
    is_relinked,
    parent_of,
    same_content,
    same_entry,
    same_except_mtime,
)
from modules.checkpoints.store.object_store import LOOSE_ABOVE, DamagedObject, ObjectStore
from modules.files.own_code import OwnCode
from utils.i18n import Phrase, phrase

_MAX_MERGED_BYTES = 4 * LOOSE_ABOVE  # bytes; larger texts are not merged but put side by side


def plan_undo(
    objects: ObjectStore, before: Entry, after: Entry, now: Entry, own_code: OwnCode | None = None
) -> Plan:
    """Return how to take back from *now* what changed from *before* to *after* (root entries).

    Nothing in *own* is touched. Merged texts are put into *objects*.
    """
    return _Planner(objects, before, after, now, own_code or OwnCode()).plan()


class _Planner:
    """Planner over the three sides of what differs: *after* and *before* the change, and *now*."""

    def __init__(
        self, objects: ObjectStore, before: Entry, after: Entry, now: Entry, own_code: OwnCode
    ) -> None:
        undone = TreeDiff(objects).compare(after, before)
        person_diff = TreeDiff(objects).compare(after, now)
        self._objects = objects
        self._own_code = own_code
        self._before_root, self._now_root = before, now
        self._finder, self._earlier = PathLookup(objects, now), PathLookup(objects, before)
        self._relinked = undone.relinked
        self._git = undone.git
        self._after, self._before = undone.side(0), undone.side(1)
        self._now = {**self._after, **person_diff.side(1)}
        for path, (_, new) in person_diff.pairs.items():
            if new is None:
                self._now.pop(path, None)
        self._plan = Plan()
        self._touched_folders: set[str] = set()
        self._passable: set[str] = set()
        self._redirects: list[Rename] = []
        self._person_renames: list[Rename] = []
        for path in [*undone.damaged, *person_diff.damaged]:
            self._skip(path, phrase("this folder's saved content is damaged"))
        for rename in find_renames(person_diff.side(0), person_diff.side(1)):
            self._follow_rename(rename)

    def plan(self) -> Plan:
        self._plan_renames()
        for path in sorted(self._after.keys() | self._before.keys()):
            self._plan_path(path)
        self._plan_links()
        self._plan_touched_folders()
        self._plan.git = self._plan.git or self._git
        return self._plan

    def _follow_rename(self, rename: Rename) -> None:
        """Let the undo follow a file or folder that the person renamed since."""
        if rename.new not in self._before and rename.new not in self._after:
            apply_rename(self._after, rename)
            apply_rename(self._before, rename)
            self._person_renames.append(rename)

    def _plan_renames(self) -> None:
        """Plan to move back what the change moved, as far as it is there and its place is free."""
        for rename in find_renames(self._after, self._before):
            current, changed = self._now.get(rename.old), self._after.get(rename.old)
            if current is None or changed is None or current.is_folder != changed.is_folder:
                continue
            if not self._can_create(rename.new) or self._own_code.overlaps(
                (rename.old, rename.new)
            ):
                continue
            self._plan.renames.append(rename)
            self._touched_folders = {renamed_path(path, rename) for path in self._touched_folders}
            self._touched_folders |= {parent_of(rename.old), parent_of(rename.new)}
            if current.is_folder:
                self._touched_folders.add(rename.new)
            apply_rename(self._after, rename)
            apply_rename(self._now, rename)

    def _can_create(self, path: str) -> bool:
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
        if after and before and same_entry(after, before) and is_relinked(after, before):
            self._relinked.add(path)
        if same_entry(after, before) or same_entry(now, before):
            return
        if path == GIT and self._plan_repository(after, before, now):
            return
        if self._own_code.contains(path):
            if not (is_folder(after) and is_folder(before)):
                self._skip(path, REASONS["ours"], is_gone=after is None)
            return
        is_returning = now is None and not (is_folder(after) and is_folder(before))
        if before and is_returning and (target := self._reachable(path)) != path:
            self._add_operation(target, None, before)
        elif same_entry(now, after):
            self._add_operation(path, now, before)
        elif before is None:
            self._plan_removal(path, after, now)
        elif now is None:
            self._plan_recreation(path, after, before)
        else:
            self._plan_merge(path, after, before, now)

    def _plan_repository(
        self, after: Entry | None, before: Entry | None, now: Entry | None
    ) -> bool:
        """Plan to take away the repository that the change made, or to bring it back."""
        if after and not before and now and self._is_same_state(after, now):
            self._plan.git = now, None
        elif before and before.git_state and not after and not now:
            self._plan.git = None, before
        return self._plan.git is not None

    def _is_same_state(self, one: Entry, other: Entry) -> bool:
        if not (one.git_state and other.git_state):
            return False
        try:
            return git_contents(self._objects, one) == git_contents(self._objects, other)
        except DamagedObject:
            return False

    def _reachable(self, path: str) -> str:
        """Return where to put what was at *path*, and plan the folders that are missing there.

        Where the person has something else in the place of a folder, that is beside it.
        """
        path = path_after(path, self._redirects)
        unknown = list(takewhile(lambda folder: folder not in self._passable, ancestors(path)))
        for folder in reversed(unknown):
            here = self._current_entry(path_before(folder, self._plan.renames))
            if not is_folder(here):
                if (was := self._known_before(folder)) is None:
                    break
                if here is not None:
                    self._redirects.append(Rename(folder, self._plan_conflict_copy(folder, was)))
                    return self._reachable(path)
                self._add_operation(folder, None, was)
            self._passable.add(folder)
        return path

    def _plan_removal(self, path: str, after: Entry | None, now: Entry | None) -> None:
        is_folder_now = now is not None and now.is_folder  # it goes only if it is empty then
        if is_folder_now or same_except_mtime(after, now):  # saved again, with nothing of its own
            self._add_operation(path, now, None)
        else:
            self._skip(path, phrase("kept: changed since"))

    def _plan_recreation(self, path: str, after: Entry | None, before: Entry) -> None:
        """Plan for a path that the person deleted after it was changed."""
        if not before.is_folder:
            self._plan_conflict_copy(path, before)
        elif after is not None and not after.is_folder:
            self._add_operation(path, None, before)

    def _plan_merge(self, path: str, after: Entry | None, before: Entry, now: Entry) -> None:
        if before.is_folder and now.is_folder:
            if after is not None:
                self._add_operation(path, now, _with_metadata(before, after, before, now))
        elif before.is_folder:
            conflict_path = self._plan_conflict_copy(path, before)
            self._redirects.append(Rename(path, conflict_path))
        elif now.is_folder:
            self._plan_conflict_copy(path, before)
        elif after is not None and same_content(now, after):
            self._add_operation(path, now, _with_metadata(before, after, before, now))
        elif after is not None and (same_content(after, before) or same_content(now, before)):
            merged_entry = _with_metadata(now, after, before, now)
            self._add_operation(path, now, merged_entry._replace(mtime_ns=now.mtime_ns))
        elif (text := self._merged_text(after, before, now)) is not None and after is not None:
            new = _with_metadata(now, after, before, now)
            content = self._objects.put(text)
            now_ns = time.time_ns()
            self._add_operation(
                path, now, new._replace(content=content, size=len(text), mtime_ns=now_ns)
            )
        elif not same_content(now, before):
            self._plan_conflict_copy(path, before)

    def _merged_text(self, after: Entry | None, before: Entry, now: Entry) -> bytes | None:
        versions = [entry for entry in (after, before, now) if entry is not None]
        if len(versions) < 3 or not all(
            e.is_file and e.size <= _MAX_MERGED_BYTES for e in versions
        ):
            return None
        try:
            return merge(*(self._objects.read(entry.content) for entry in versions))
        except DamagedObject:
            return None

    def _plan_conflict_copy(self, path: str, before: Entry) -> str:
        """Plan to write the earlier version under a free name beside *path*; return that."""
        name = next(name for name in conflict_names(path) if self._is_free(name))
        if before.not_stored_reason:
            self._skip(path, REASONS[before.not_stored_reason], is_gone=path not in self._now)
        else:
            self._plan.conflicts.append(Conflict(path, name))
            self._add_operation(name, None, before)
        return name

    def _is_free(self, path: str) -> bool:
        taken = path in self._now or path in self._before
        return not taken and self._current_entry(path) is None

    def _add_operation(self, path: str, old: Entry | None, new: Entry | None) -> None:
        if same_entry(old, new):
            return
        if reason := _blocking_reason(old, new):
            self._skip(path, REASONS[reason], is_gone=old is None)
            return
        self._plan.operations.append(PathOperation(path, old, new))
        if is_folder(new):
            self._passable.add(path)
        if path:
            self._touched_folders.add(parent_of(path))

    def _skip(self, path: str, why: Phrase, *, is_gone: bool = False) -> None:
        self._plan.skipped.append(Skipped(path, why, is_gone))

    def _plan_links(self) -> None:
        """Plan to join again the names of one file that are names of several now, and to part
        those that the change joined."""
        operations = {step.path: step for step in self._plan.operations}
        recreated = {
            step.new.identity for step in operations.values() if step.new and _makes_link(step)
        }
        if not recreated and not self._relinked:
            return
        before = InodeIndex.build(self._objects, self._before_root, self._person_renames)
        now = InodeIndex.build(self._objects, self._now_root, self._plan.renames)
        pairs = relinking_pairs(before, now, recreated, self._relinked, operations.keys())
        for path, (current, previous) in sorted(pairs.items()):
            self._plan.operations.append(PathOperation(path, current, previous))
            self._touched_folders.add(parent_of(path))

    def _plan_touched_folders(self) -> None:
        """Plan to restore the times and modes of folders that only our own work changes.

        That is the times of those in which something is done, and the modes of those that must be
        unlocked on the way there.
        """
        planned = {step.path for step in self._plan.operations}
        leading_folders = ancestors_of(planned | self._touched_folders)
        for path in sorted((self._touched_folders | leading_folders) - planned):
            entry = self._now.get(path) or self._current_entry(path)
            if entry is None or not entry.is_folder:
                continue
            if path in self._touched_folders or entry.mode & 0o500 != 0o500:
                self._plan.operations.append(PathOperation(path, entry, entry))

    def _current_entry(self, path: str) -> Entry | None:
        return _found(self._finder, path)

    def _known_before(self, folder: str) -> Entry | None:
        was = path_before(folder, [*self._person_renames, *self._redirects])
        return _found(self._earlier, was)


def _found(finder: PathLookup, path: str) -> Entry | None:
    try:
        return finder.get(path)
    except DamagedObject:
        return None


def _makes_link(operation: PathOperation) -> bool:
    """Return whether a file with several names is to be made, rather than given a mode or time."""
    if operation.new is None or not operation.new.is_file or operation.new.links < 2:
        return False
    return operation.old is None or operation.old.identity != operation.new.identity


def _with_metadata(entry: Entry, after: Entry, before: Entry, now: Entry) -> Entry:
    """Return *entry* with the mode and time that the undo and the person's changes make
    together."""
    permissions = stat.S_IMODE(before.mode if now.mode == after.mode else now.mode)
    return entry._replace(
        mode=stat.S_IFMT(entry.mode) | permissions,
        mtime_ns=before.mtime_ns if now.mtime_ns == after.mtime_ns else now.mtime_ns,
        metadata=before.metadata if now.metadata == after.metadata else now.metadata,
    )


def _blocking_reason(old: Entry | None, new: Entry | None) -> str:
    """Return why (a key of `REASONS`) *old* cannot become *new* without losing anything."""
    if old is not None and new is not None and same_content(old, new):
        return ""
    return (new.not_stored_reason if new is not None else "") or (
        old.not_stored_reason if old is not None else ""
    )
