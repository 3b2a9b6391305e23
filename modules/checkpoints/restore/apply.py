"""Carrying out a plan in the folder, in an order that leaves nothing half done."""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from modules.checkpoints.restore.apply_steps import PHASES, ApplyStep, NotEmpty, needs_putting
from modules.checkpoints.restore.atomic_file import AtomicReplacer, ConcurrentChange
from modules.checkpoints.restore.operations import Operation, Plan, Skipped
from modules.checkpoints.snapshot import dirfd
from modules.checkpoints.snapshot.diff import Finder, Rename, above
from modules.checkpoints.snapshot.entries import Entry, is_folder, parent_of, same, same_content
from modules.checkpoints.store.object_store import DamagedObject, ObjectStore
from modules.files.kernel import rename_to_new
from utils.i18n import phrase

_MOST_WORKERS = 4
_PART = 64
"""Steps that one worker takes on at a time."""

Job = tuple[Operation, Entry | None]
"""A step, and what is there now."""


@dataclass(slots=True)
class PlanApplier:
    """Works beneath the descriptor *root*; *number* is that of the journal entry.

    What could not be done is in *left* afterwards. Done again after a kill, it does only the rest.
    """

    vault: ObjectStore
    root: int
    number: int
    left: list[Skipped] = field(default_factory=list)
    _placers: list[AtomicReplacer] = field(init=False)

    def __post_init__(self) -> None:
        names = (f".onefold-undo-{self.number}-{place}" for place in range(_MOST_WORKERS))
        self._placers = [AtomicReplacer(self.vault, self.root, name) for name in names]

    def carry(self, steps: list[Operation], now: Entry) -> None:
        """Do *steps* where the folder, which is *now* (root entry), is as they expect it."""
        due = list(self._due(steps, now))
        first = self._placers[0]
        first.twins.find(self.vault, now, *_linked(steps, due))
        try:
            # A folder that only gets its times back needs nothing of the one it is in.
            self._unlock({parent_of(step.path) for step, _ in due if step.old != step.new})
            for phase in PHASES:
                jobs = [job for job in due if phase.takes(job[0].new, self._known_as(*job))]
                if phase.is_apart:
                    self._work_through(phase.act, jobs)
                else:
                    in_order = reversed(jobs) if phase.deepest_first else jobs
                    self._work(first, phase.act, in_order)
        finally:
            for placer in self._placers:
                placer.close()
        self.left.sort(key=lambda left: left.path)

    def _known_as(self, step: Operation, current: Entry | None) -> Entry | None:
        """Return *current*, as what is to be if it has all its other names already."""
        if step.new and current and self._placers[0].twins.are_joined(step.new, current):
            new = step.new
            return current._replace(inode=new.inode, device=new.device, links=new.links)
        return current

    def _work_through(self, act: ApplyStep, jobs: list[Job]) -> None:
        """Do *jobs*, several at a time when they are many; several names of a file one by one."""
        linked = [job for job in jobs if job[0].new and job[0].new.links > 1]
        self._work(self._placers[0], act, linked)
        alone = [job for job in jobs if not (job[0].new and job[0].new.links > 1)]
        parts = deque(alone[at : at + _PART] for at in range(0, len(alone), _PART))
        if len(parts) < _MOST_WORKERS:
            self._work_off(self._placers[0], act, parts)
            return
        from concurrent.futures import ThreadPoolExecutor  # 15 ms: only for many files

        workers = self._placers[: os.cpu_count() or 1]
        with ThreadPoolExecutor(len(workers), thread_name_prefix="undo") as pool:
            works = [pool.submit(self._work_off, one, act, parts) for one in workers]
            for work in works:
                work.result()

    def _work_off(self, placer: AtomicReplacer, act: ApplyStep, parts: deque[list[Job]]) -> None:
        with suppress(IndexError):
            while True:
                part = parts.popleft()
                placer.fetch([step.new for step, _ in part if step.new and step.new.is_file])
                self._work(placer, act, part)

    def _work(self, placer: AtomicReplacer, act: ApplyStep, jobs: Iterable[Job]) -> None:
        for step, current in jobs:
            try:
                act(placer, step, current)
            except (OSError, DamagedObject, ConcurrentChange, NotEmpty) as error:
                self._leave(step.path, error, is_gone=current is None)

    def move(self, moves: Iterable[Rename]) -> None:
        for move in moves:
            try:
                self._move(move)
            except OSError as error:
                self._leave(move.old, error)

    def clean(self, plan: Plan) -> None:
        """Remove the temporary files that a killed run may have left."""
        first = self._placers[0]
        for folder in sorted({parent_of(step.path) for step in plan.steps}):
            with suppress(OSError):
                handle = first.folder(folder)
                for placer in self._placers:
                    placer.clean(handle)
        first.close()

    def _due(self, steps: list[Operation], now: Entry) -> Iterator[tuple[Operation, Entry | None]]:
        finder = Finder(self.vault, now)
        for step in sorted(steps, key=lambda step: step.path):
            try:
                current = finder.at(step.path)
            except DamagedObject as error:
                self._leave(step.path, error)
                continue
            is_linking = same(step.old, step.new)
            if same(current, step.new) and not is_folder(step.new) and not is_linking:
                continue
            if _is_as_expected(step, current):
                yield step, current
            else:
                self._leave(step.path, ConcurrentChange())

    def _leave(self, path: str, error: Exception, *, is_gone: bool = False) -> None:
        match error:
            case DamagedObject():
                why = phrase("what was held of it is damaged")
            case NotEmpty():
                why = phrase("kept: there is something else in it")
            case ConcurrentChange() | FileExistsError():
                why = phrase("somebody changed it meanwhile")
            case OSError():
                why = phrase("the system says: {why}", why=error.strerror or str(error))
            case _:
                raise error
        self.left.append(Skipped(path, why, is_gone, isinstance(error, OSError)))

    def _move(self, move: Rename) -> None:
        # A folder that gets another parent must itself be writable.
        self._unlock({parent_of(move.old), parent_of(move.new), move.old})
        with dirfd.place(self.root, move.old) as (source, name):
            if dirfd.status_of(source, name) is None:
                return  # done before a kill
            self._make_parents(move.new)
            with dirfd.place(self.root, move.new) as (target, new_name):
                rename_to_new(source, name, target, new_name)

    def _make_parents(self, path: str) -> None:
        done = ""
        for name in parent_of(path).split("/") if parent_of(path) else ():
            with dirfd.folder(self.root, done) as handle, suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=handle)
            done = f"{done}/{name}" if done else name

    def _unlock(self, folders: set[str]) -> None:
        """Make *folders* writable for us, and the way to them passable.

        Their own steps give them their modes back.
        """
        placer = self._placers[0]
        for path in sorted(folders | above(folders)):
            needed = 0o700 if path in folders else 0o500
            with suppress(OSError), placer.place(path) as (handle, name):
                status = dirfd.status_of(handle, name or ".")
                if status is not None and stat.S_ISDIR(status.st_mode):
                    mode = stat.S_IMODE(status.st_mode)
                    if mode & needed != needed:
                        dirfd.set_mode(handle, name or ".", mode | needed)


def _linked(steps: list[Operation], due: list[Job]) -> tuple[dict[str, Entry], set[str]]:
    """Return the files of *steps* with several names, and the paths that will not stay as files."""
    wanted = {step.path: step.new for step in steps if step.new and step.new.links > 1}
    return wanted, {step.path for step, current in due if _goes(step.new, current)}


def _goes(new: Entry | None, current: Entry | None) -> bool:
    if new is None or current is None:
        return current is not None
    return new.identity != current.identity or needs_putting(new, current)


def _is_as_expected(step: Operation, current: Entry | None) -> bool:
    if is_folder(current) and (is_folder(step.new) or is_folder(step.old)):
        return True
    if current and step.old and step.new and same_content(step.old, step.new):
        return same_content(current, step.old)  # only its attributes are to change
    makes_folder = is_folder(step.new) and not is_folder(step.old)
    return same(current, step.old) or (current is None and makes_folder)
