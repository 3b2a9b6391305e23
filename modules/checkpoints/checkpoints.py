"""Snapshots of the project folder, what differs between them, and going back."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from core.cards import Change
from modules.checkpoints.clone.clone import ProjectClone
from modules.checkpoints.restore.apply import PlanApplier
from modules.checkpoints.restore.operations import Plan, Skipped
from modules.checkpoints.restore.plan import plan_undo
from modules.checkpoints.snapshot.diff import Digests, TreeDiff, lookup, walk
from modules.checkpoints.snapshot.entries import BY_DESIGN, Entry
from modules.checkpoints.snapshot.scanner import Scanner
from modules.checkpoints.store.gc import collect
from modules.checkpoints.store.index import CheckpointIndex, JournalEntry, SeenState, Snapshot
from modules.checkpoints.store.object_store import DamagedObject, ObjectStore
from modules.checkpoints.store.project_lock import ProjectLock
from modules.checkpoints.store.quotas import Quotas
from modules.checkpoints.store.store_recovery import CUT_SHORT
from modules.checkpoints.undo.journal import OperationPart, UndoOperation
from modules.checkpoints.undo.undo_results import Finished, Undone
from modules.files.own_code import OwnCode
from utils.i18n import Phrase, UserError, phrase


class CutShort(UserError):
    """What is left of an operation cannot be done any more; what was done of it stays."""


class Checkpoints:
    """The states of the folder *root*, kept in the folder *store*.

    Everything is held, hidden and ignored files too, but for what is inside `.git` (never entered,
    never touched), files above *file_cap* bytes and, once the store has *total_cap* bytes, new
    content; a snapshot says what it could not hold. Owners and attributes are put back as far as
    the system lets us; access times are not kept. Symbolic links are never followed. *keep_days* is
    how long a state can be gone back to after it was last seen. *protected* folders are left out,
    as the store itself is, and so is what is in *own*, by its name.

    The folder is held open: what is later put in its place is not touched. Threads and processes
    may share a store; they wait for each other. Everything raises `UserError` when the store cannot
    be used.
    """

    def __init__(
        self,
        root: Path,
        store: Path,
        *,
        file_cap: int,
        total_cap: int,
        keep_days: float,
        protected: Iterable[Path] = (),
        own: OwnCode | None = None,
    ) -> None:
        if file_cap <= 0 or total_cap <= 0 or keep_days <= 0:
            raise ValueError(f"limits must be above zero: {file_cap!r} {total_cap!r} {keep_days!r}")
        self.vault = ObjectStore(store)
        self._path = root
        self._digests = Digests()
        self._root = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self.work = ProjectLock(store / "work")
        self.ledger = CheckpointIndex(self.vault.database)
        self._limits = Quotas(file_cap, total_cap, store)
        self._keep_days = keep_days
        ours = [path.stat() for path in (store, *protected) if path.exists()]
        self._ours = frozenset((status.st_dev, status.st_ino) for status in ours)
        self._own = own or OwnCode()
        self._last: Snapshot | None = None
        self._checked_ns = 0
        self._collections = -1

    def close(self) -> None:
        self.work.end()
        self.vault.close()
        os.close(self._root)

    def take(self) -> Snapshot:
        """Look at the folder and hold what changed since the last look.

        A folder that did not change gives the same snapshot again, and costs no space. When the
        store is found damaged meanwhile, it may not hold all of that: we look again.
        """
        with self.vault.alone():
            while True:
                rescues = self.vault.database.rescues
                self._catch_up()
                began = time.time_ns()
                root, refused = self._look()
                snapshot = self._noted(root, SeenState(began, rescues), refused)
                if self.vault.database.rescues == rescues:
                    break
            self._last, self._checked_ns = snapshot, began
            self.vault.remember_only(root)
            return snapshot

    def begin_call(self, session: str, turn: int, call_id: str) -> Snapshot:
        """Take a snapshot and note that a call begins with it; what it holds can be trusted.

        Raises `UserError` where the disk has no room for that.
        """
        with self.vault.alone():
            while True:
                snapshot = self.take()
                self._limits.refuse_if_full(snapshot.refused)
                rescues = self.vault.database.rescues
                number = self.ledger.begin_call(session, turn, call_id, snapshot.id)
                if self.vault.database.rescues == rescues:
                    return snapshot
                self.ledger.drop_call(number)

    def newest(self) -> Snapshot:
        """Return the folder as it was last looked at, without looking again."""
        return self._last or self.take()

    def too_deep(self) -> str | None:
        """Return a folder too deep to be held, as of the last look, whoever took that; or None."""
        last = self._last or self.ledger.latest() or self.take()
        return next((path for path, why in last.refused if why == "deep"), None)

    def diff(self, before: int, after: int) -> list[Change]:
        """Return what changed between two snapshots, renames recognised."""
        return self._compared(before, after).changes()

    def damaged(self, before: int, after: int) -> list[str]:
        """Return the folders that cannot be compared because the store is damaged there."""
        return self._compared(before, after).damaged

    def content(self, snapshot: int, path: str) -> bytes | None:
        """Return the content of a file, the target of a link; None if there was none or no room.

        Raises `DamagedObject` when the store does not have what it should have.
        """
        entry = lookup(self.vault, self.root_of(snapshot), path)
        if entry is None or entry.is_folder or entry.is_pipe or entry.why:
            return None
        if entry.is_link:
            return entry.content.encode(errors="surrogateescape")
        return self.vault.read(entry.content)

    def entry(self, snapshot: int, path: str) -> Entry | None:
        return lookup(self.vault, self.root_of(snapshot), path)

    def holds(self, path: str) -> bool:
        """Return whether *path*, with all that is in it, could be brought back if it went now."""
        root = self.take().root
        try:
            entry = lookup(self.vault, root, path)
            return entry is None or not any(e.why for _, e in walk(self.vault, entry))
        except DamagedObject:
            return False

    def undo(self, before: int, after: int) -> Undone:
        """Take back what changed between two snapshots, and nothing else.

        What the person changed since is merged or kept; see `plan`. The folder's present state is
        held first, so that undoing (`Undone.before`, `Undone.after`) restores it.
        """
        return self.run(UndoOperation(parts=(OperationPart(before, after),))).results[0]

    def rewind(self, to: int) -> Undone:
        """Bring the folder back to a snapshot, whoever changed it since; that is held first."""
        return self.run(UndoOperation(parts=(OperationPart(to),))).results[0]

    def run(self, operation: UndoOperation, roots: tuple[Entry, Entry] | None = None) -> Finished:
        """Do all parts of *operation*, each written down in one go with what it did.

        *roots* say what the one part that there is takes back, if it is no two snapshots. After a
        kill `finish` does the rest. Raises `UserError`, before anything is done where a snapshot
        that is needed is not kept; `CutShort` where one was lost in the midst.
        """
        with self.vault.alone():
            self.finish()
            for part in operation.parts if roots is None else ():
                self._planner(part)
            if not operation.parts:
                return Finished(*self.ledger.write_down(0, operation, None), [])
            return self._go_on(0, operation, [], roots)

    def finish(self) -> list[Finished]:
        """Finish what was cut short by a kill, all its parts; return what that was."""
        finished = []
        with self.vault.alone():
            while (found := self.ledger.unfinished()) is not None:
                finished.append(self._finish(found))
        return finished

    def known(self, entry: JournalEntry) -> Finished:
        """Return what an operation did to the files, as far as that is still known."""
        results = []
        for before, after in entry.operation.spans:
            with suppress(UserError):  # no longer kept
                results.append(Undone(tuple(self.diff(before, after)), (), (), before, after))
        return Finished(entry.number, entry.operation, results)

    def _finish(self, entry: JournalEntry) -> Finished:
        operation = entry.operation
        results: list[Undone] = []
        number = entry.number
        if entry.plan is not None:
            self._probe(entry.plan)
            PlanApplier(self.vault, self._root, number).clean(entry.plan)
            before = self.ledger.snapshot(entry.before)
            number, operation, undone = self._carry_out(
                number, before, entry.plan, operation, is_resumed=True
            )
            results.append(undone)
        try:
            return self._go_on(number, operation, results)
        except CutShort:
            self.vault.database.tell(CUT_SHORT)
            return Finished(0, replace(operation, parts=(), rest={}), results)

    def _go_on(
        self,
        number: int,
        operation: UndoOperation,
        results: list[Undone],
        roots: tuple[Entry, Entry] | None = None,
    ) -> Finished:
        """Do the parts that are left of *operation*; *number* is its entry in the journal.

        Raises `CutShort` where one cannot be done any more; *results* are those that were.
        """
        while operation.parts:
            try:
                planner = self._planner(operation.parts[0], roots)
            except UserError:  # a snapshot went with a damaged store
                self.ledger.close_journal(number)
                raise CutShort(CUT_SHORT) from None
            number, operation, undone = self._go(planner, operation, number)
            results.append(undone)
        return Finished(number, operation, results)

    def twin(self, snapshot: int, target: Path) -> list[Skipped]:
        """Make the new folder *target* as the project was; return what could not be copied.

        Shares the disk space of what did not change since, where the file system can. Raises
        `UserError`. Half a twin never has that name: it is made under one beside it.
        """
        unfinished = target.with_name(f".{target.name}.unfinished")
        twin = ProjectClone(self.vault, self._root, self._path, unfinished)
        with self.vault.alone():
            shutil.rmtree(unfinished, ignore_errors=True)  # what a kill left
            try:
                unfinished.mkdir(mode=0o700)
                twin.fill(self.root_of(snapshot))
                unfinished.rename(target)
            except (OSError, DamagedObject) as error:
                shutil.rmtree(unfinished, ignore_errors=True)
                path, why = str(target), str(error)
                raise UserError(
                    phrase("The twin folder {path} cannot be made: {why}.", path=path, why=why)
                ) from error
        return twin.left

    def contents(self) -> str:
        """Return a digest of names, modes and contents as last looked at, "" before that."""
        if self._last is None:
            return ""
        with suppress(DamagedObject), self.vault.alone():
            return self._digests.of(self.vault, self._last.root)
        return self._last.root.content

    def tidy(self) -> int:
        """Remove what was last seen longer than the set days ago; return how many snapshots."""
        return collect(self.vault, self.ledger, self._keep_days)

    @property
    def size(self) -> int:
        """Bytes that the store takes on disk, nearly."""
        return self.vault.size

    def _planner(
        self, part: OperationPart, roots: tuple[Entry, Entry] | None = None
    ) -> Callable[[Entry], Plan]:
        """Return what works out the plan of *part* for the root of the folder as it is."""
        before, after = roots or (self.root_of(part.before), None)
        if after is None and part.after:
            after = self.root_of(part.after)
        return lambda now: plan_undo(self.vault, before, after or now, now, self._own)

    def _go(
        self, planned: Callable[[Entry], Plan], operation: UndoOperation, number: int
    ) -> tuple[int, UndoOperation, Undone]:
        """Carry out what is *planned* for the folder as it is, which is held first.

        All that is needed of the database is read before anything is changed: what is overwritten
        may be lost when that turns out to be damaged, and is held again then.
        """
        while True:
            now = self.take()
            rescues = self.vault.database.rescues
            plan = planned(now.root)
            self._probe(plan)
            number = self.ledger.open_journal(now.id, plan, operation, number)
            if self.vault.database.rescues == rescues:
                return self._carry_out(number, now, plan, operation)
            self.ledger.close_journal(number)
            number = 0

    def _probe(self, plan: Plan) -> None:
        new = [step.new for step in plan.steps if step.new is not None]
        self.vault.probe(entry.content for entry in new if entry.is_file)

    def _carry_out(
        self,
        number: int,
        before: Snapshot,
        plan: Plan,
        operation: UndoOperation,
        *,
        is_resumed: bool = False,
    ) -> tuple[int, UndoOperation, Undone]:
        """Do *plan*, write down all at once what it did; return what is left of *operation*."""
        carrier = PlanApplier(self.vault, self._root, number)
        carrier.move(plan.moves)
        carrier.carry(plan.steps, self.take().root if plan.moves or is_resumed else before.root)
        after = self.take()
        left = plan.left + carrier.left
        number, operation = self.ledger.write_down(
            number,
            operation,
            (before.id, after.id),
            is_refused=any(one.is_passing for one in left),
        )
        changes = tuple(self.diff(before.id, after.id))
        blamed = tuple(map(self._limits.blamed, left))
        undone = Undone(changes, tuple(plan.conflicts), blamed, before.id, after.id)
        return number, operation, undone

    @property
    def refusal(self) -> Phrase | None:
        """Why nothing more can be held, as far as is known without trying; None where it can."""
        return self.vault.refusal

    def warnings(self) -> list[Phrase]:
        """Return what the person should see and was not told yet."""
        return self.vault.database.warnings()

    def _look(self) -> tuple[Entry, list[tuple[str, str]]]:
        known = self._last.root if self._last else None
        times, ours = self._checked_ns, self._ours
        scan = Scanner(self.vault, self._root, self._limits, known, times, ours, self._own)
        root = scan.run()
        return root, sorted(pair for pair in scan.not_held if pair[1] not in BY_DESIGN)

    def _noted(self, root: Entry, seen: SeenState, refused: list[tuple[str, str]]) -> Snapshot:
        if self._last is not None and root == self._last.root:
            return self.ledger.seen_again(self._last, seen)
        return self.ledger.add_snapshot(root, seen, refused)

    def _catch_up(self) -> None:
        """Start from a snapshot that is whole in the store: another process may have collected."""
        collections = self.ledger.collections()
        if collections != self._collections:
            self._collections = collections
            self.vault.forget_folders()
            self._last = self.ledger.latest()
            self._checked_ns = self._last.checked_ns if self._last else 0

    def _compared(self, before: int, after: int) -> TreeDiff:
        return TreeDiff(self.vault).compare(self.root_of(before), self.root_of(after))

    def root_of(self, snapshot: int) -> Entry:
        """Return the root of a snapshot. Raises `UserError` when it was collected."""
        return self.ledger.snapshot(snapshot).root
