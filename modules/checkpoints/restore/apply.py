"""Carrying out a plan in the folder, in an order that leaves nothing half done."""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from modules.checkpoints.restore.apply_steps import (
    PHASES,
    ApplyStep,
    NotEmpty,
    needs_replacing,
    needs_rewriting,
)
from modules.checkpoints.restore.atomic_file import AtomicReplacer, ConcurrentChange, SocketInUse
from modules.checkpoints.restore.hardlinks import Identity
from modules.checkpoints.restore.operations import PathOperation, Plan, Skipped
from modules.checkpoints.snapshot import dirfd
from modules.checkpoints.snapshot.diff import PathLookup, Rename, ancestors_of
from modules.checkpoints.snapshot.entries import (
    Entry,
    is_folder,
    parent_of,
    same_content,
    same_entry,
)
from modules.checkpoints.store.object_store import DamagedObject, ObjectStore
from modules.files.kernel import rename_to_new
from utils.i18n import phrase

_MAX_WORKERS = 4
_BATCH_SIZE = 64
"""Operations that one worker takes on at a time."""

Job = tuple[PathOperation, Entry | None]
"""An operation, and what is at its path now."""


@dataclass(slots=True)
class PlanApplier:
    """Applier of plans beneath *root_fd*; *journal_number* is that of the journal entry.

    The operations not done are in *skipped*. Applied again after a kill (*is_resumed*), it does
    only the rest.
    """

    objects: ObjectStore
    root_fd: int
    journal_number: int
    is_resumed: bool = False
    skipped: list[Skipped] = field(default_factory=list)
    _replacers: list[AtomicReplacer] = field(init=False)

    def __post_init__(self) -> None:
        names = (f".onefold-undo-{self.journal_number}-{number}" for number in range(_MAX_WORKERS))
        self._replacers = [AtomicReplacer(self.objects, self.root_fd, name) for name in names]

    def apply(self, operations: list[PathOperation], now: Entry) -> None:
        """Apply *operations* where the folder, *now* (root entry), is as they expect it."""
        all_jobs = list(self._select_jobs(operations, now))
        first = self._replacers[0]
        first.hard_links.collect(self.objects, now, *_hard_linked(operations, all_jobs))
        try:
            # A folder that only gets its times back needs nothing of the one it is in.
            self._make_writable(
                {
                    parent_of(operation.path)
                    for operation, _ in all_jobs
                    if operation.old != operation.new
                }
            )
            all_jobs = self._respell(all_jobs)
            first.rewritten.update(_rewritten(self.objects, all_jobs))
            for phase in PHASES:
                jobs = [job for job in all_jobs if phase.selects(job[0].new, self._as_linked(*job))]
                if phase.is_parallel:
                    self._run_parallel(phase.apply, jobs)
                else:
                    in_order = reversed(jobs) if phase.deepest_first else jobs
                    self._run_jobs(first, phase.apply, in_order)
        finally:
            for replacer in self._replacers:
                replacer.close()
        self.skipped.sort(key=lambda one: one.path)

    def _respell(self, jobs: list[Job]) -> list[Job]:
        """Return *jobs*, as they are once files that only get another case have their new names.

        Where the case of letters does not tell names apart, making the one would find the other
        there, and removing the other would remove the one.
        """
        removed = {
            operation.path.casefold(): (operation, current)
            for operation, current in jobs
            if operation.new is None and current is not None and not is_folder(current)
        }
        respelled = []
        for operation, current in jobs if removed else ():
            old = removed.get(operation.path.casefold())
            if current is None and old and self._is_respelled(old[0].path, operation.path):
                jobs = [job for job in jobs if job not in (old, (operation, current))]
                respelled.append((operation, old[1]))
        return sorted([*jobs, *respelled], key=lambda job: job[0].path)

    def _is_respelled(self, old: str, new: str) -> bool:
        """Give the file *old* the name *new* if that leads to it already; return whether it did."""
        if parent_of(old) != parent_of(new):
            return False
        new_name = new.rpartition("/")[2]
        # Where that fails, there is something else by now; the steps say so of each.
        with suppress(OSError), dirfd.opened_parent(self.root_fd, old) as (dir_fd, name):
            if dirfd.stat_or_none(dir_fd, new_name) is not None:
                rename_to_new(dir_fd, name, dir_fd, new_name)
                return True
        return False

    def _as_linked(self, operation: PathOperation, current: Entry | None) -> Entry | None:
        """Return *current*, as what is to be if it has all its other names already."""
        if (
            operation.new
            and current
            and self._replacers[0].hard_links.is_linked(operation.new, current)
        ):
            new = operation.new
            return current._replace(inode=new.inode, device=new.device, links=new.links)
        return current

    def _run_parallel(self, apply_step: ApplyStep, jobs: list[Job]) -> None:
        """Run *jobs*, several at a time when they are many; several names of a file one by one."""
        linked = [job for job in jobs if job[0].new and job[0].new.links > 1]
        self._run_jobs(self._replacers[0], apply_step, linked)
        unlinked = [job for job in jobs if not (job[0].new and job[0].new.links > 1)]
        batches = deque(
            unlinked[start : start + _BATCH_SIZE] for start in range(0, len(unlinked), _BATCH_SIZE)
        )
        if len(batches) < _MAX_WORKERS:
            self._run_batches(self._replacers[0], apply_step, batches)
            return
        from concurrent.futures import ThreadPoolExecutor  # 15 ms: only for many files

        workers = self._replacers[: os.cpu_count() or 1]
        with ThreadPoolExecutor(len(workers), thread_name_prefix="undo") as pool:
            futures = [pool.submit(self._run_batches, one, apply_step, batches) for one in workers]
            for future in futures:
                future.result()

    def _run_batches(
        self, replacer: AtomicReplacer, apply_step: ApplyStep, batches: deque[list[Job]]
    ) -> None:
        with suppress(IndexError):
            while True:
                batch = batches.popleft()
                replacer.preload(
                    [
                        operation.new
                        for operation, _ in batch
                        if operation.new and operation.new.is_file
                    ]
                )
                self._run_jobs(replacer, apply_step, batch)

    def _run_jobs(
        self, replacer: AtomicReplacer, apply_step: ApplyStep, jobs: Iterable[Job]
    ) -> None:
        for operation, current in jobs:
            try:
                apply_step(replacer, operation, current)
            except (OSError, DamagedObject, ConcurrentChange, NotEmpty, SocketInUse) as error:
                self._skip(operation.path, error, is_gone=current is None)

    def rename(self, renames: Iterable[Rename]) -> None:
        for rename in renames:
            try:
                self._rename(rename)
            except OSError as error:
                self._skip(rename.old, error)

    def remove_temporary_files(self, plan: Plan) -> None:
        """Remove the temporary files that a killed run may have left."""
        first = self._replacers[0]
        for folder in sorted({parent_of(operation.path) for operation in plan.operations}):
            with suppress(OSError):
                dir_fd = first.open_folder(folder)
                for replacer in self._replacers:
                    replacer.remove_temporary(dir_fd)
        first.close()

    def _select_jobs(
        self, operations: list[PathOperation], now: Entry
    ) -> Iterator[tuple[PathOperation, Entry | None]]:
        finder = PathLookup(self.objects, now)
        for operation in sorted(operations, key=lambda operation: operation.path):
            try:
                current = finder.get(operation.path)
            except DamagedObject as error:
                self._skip(operation.path, error)
                continue
            is_linking = same_entry(operation.old, operation.new)
            if (
                same_entry(current, operation.new)
                and not is_folder(operation.new)
                and not is_linking
            ):
                continue
            if _is_as_expected(operation, current) or self._is_half_written(operation, current):
                yield operation, current
            else:
                self._skip(operation.path, ConcurrentChange())

    def _is_half_written(self, operation: PathOperation, current: Entry | None) -> bool:
        """Return whether we may have been killed while we wrote into the file *current*."""
        files = {entry.identity for entry in (operation.old, operation.new, current) if entry}
        return (
            self.is_resumed
            and current is not None
            and len(files) == 1
            and operation.new is not None
            and operation.new.is_file
            and self.objects.outer_links.holds(operation.new)
        )

    def _skip(self, path: str, error: Exception, *, is_gone: bool = False) -> None:
        match error:
            case DamagedObject():
                reason = phrase("its saved content is damaged")
            case NotEmpty():
                reason = phrase("kept: it contains something else")
            case SocketInUse():
                reason = phrase("a socket that a program is using")
            case ConcurrentChange() | FileExistsError():
                reason = phrase("it has changed in the meantime")
            case OSError():
                reason = phrase("system error: {why}", why=error.strerror or str(error))
            case _:
                raise error
        self.skipped.append(Skipped(path, reason, is_gone, isinstance(error, OSError)))

    def _rename(self, rename: Rename) -> None:
        # A folder that gets another parent must itself be writable.
        self._make_writable({parent_of(rename.old), parent_of(rename.new), rename.old})
        with dirfd.opened_parent(self.root_fd, rename.old) as (source, name):
            if dirfd.stat_or_none(source, name) is None:
                return  # done before a kill
            self._make_parents(rename.new)
            with dirfd.opened_parent(self.root_fd, rename.new) as (target, new_name):
                rename_to_new(source, name, target, new_name)

    def _make_parents(self, path: str) -> None:
        made = ""
        for name in parent_of(path).split("/") if parent_of(path) else ():
            with dirfd.opened_folder(self.root_fd, made) as dir_fd, suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=dir_fd)
            made = f"{made}/{name}" if made else name

    def _make_writable(self, folders: set[str]) -> None:
        """Make *folders* writable for us, and the way to them passable.

        Their own steps give them their modes back.
        """
        replacer = self._replacers[0]
        for path in sorted(folders | ancestors_of(folders)):
            needed = 0o700 if path in folders else 0o500
            with suppress(OSError), replacer.parent(path) as (dir_fd, name):
                status = dirfd.stat_or_none(dir_fd, name or ".")
                if status is not None and stat.S_ISDIR(status.st_mode):
                    mode = stat.S_IMODE(status.st_mode)
                    if mode & needed != needed:
                        dirfd.set_mode(dir_fd, name or ".", mode | needed)


def _hard_linked(
    operations: list[PathOperation], jobs: list[Job]
) -> tuple[dict[str, Entry], set[str]]:
    """Return the files of *operations* with several names, and the paths that will not stay as
    files."""
    wanted = {
        operation.path: operation.new
        for operation in operations
        if operation.new and operation.new.links > 1
    }
    return wanted, {
        operation.path for operation, current in jobs if _is_replaced(operation.new, current)
    }


def _rewritten(objects: ObjectStore, jobs: list[Job]) -> Iterator[Identity]:
    """Yield the files with names outside the project that get their content back themselves."""
    for operation, current in jobs:
        new = operation.new
        if new and needs_rewriting(new, current) and objects.outer_links.holds(new):
            yield new.identity


def _is_replaced(new: Entry | None, current: Entry | None) -> bool:
    if new is None or current is None:
        return current is not None
    return new.identity != current.identity or needs_replacing(new, current)


def _is_as_expected(operation: PathOperation, current: Entry | None) -> bool:
    if is_folder(current) and (is_folder(operation.new) or is_folder(operation.old)):
        return True
    if current and operation.old and operation.new and same_content(operation.old, operation.new):
        return same_content(current, operation.old)  # only its attributes are to change
    makes_folder = is_folder(operation.new) and not is_folder(operation.old)
    return same_entry(current, operation.old) or (current is None and makes_folder)
