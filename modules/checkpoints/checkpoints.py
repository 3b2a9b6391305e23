"""Snapshots of the project folder, what differs between them, and going back."""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from core.cards import Change
from modules.checkpoints.clone.clone import ProjectClone
from modules.checkpoints.clone.clone_history import copy_contents
from modules.checkpoints.restore.apply import PlanApplier
from modules.checkpoints.restore.git_repository import remove_old
from modules.checkpoints.restore.git_restore import restore_git
from modules.checkpoints.restore.operations import Plan, Skipped
from modules.checkpoints.restore.plan import plan_undo
from modules.checkpoints.snapshot.diff import TreeDiff, TreeDigests, lookup, walk
from modules.checkpoints.snapshot.entries import EXPECTED_REASONS, GIT, Entry
from modules.checkpoints.snapshot.linked_repository import inner_repository, scan_linked
from modules.checkpoints.snapshot.scanner import Scanner
from modules.checkpoints.store.gc import collect
from modules.checkpoints.store.index import CheckpointIndex, JournalEntry, ScanStamp, Snapshot
from modules.checkpoints.store.object_store import DamagedObject, ObjectStore
from modules.checkpoints.store.project_lock import ProjectLock
from modules.checkpoints.store.quotas import Quotas
from modules.checkpoints.store.store_recovery import INTERRUPTED_UNDO_DAMAGED
from modules.checkpoints.undo.journal import Kind, OperationPart, UndoOperation
from modules.checkpoints.undo.undo_results import FinishedOperation, UndoResult
from modules.files.own_code import OwnCode
from utils.i18n import Phrase, UserError, phrase

if TYPE_CHECKING:
    from modules.files.git.linked_tree import LinkedTree


class InterruptedOperation(UserError):
    """The rest of an operation cannot be done any more; what was done of it stays."""


class Checkpoints:
    """The states of the folder *root*, kept in the folder *store*.

    Everything is stored, hidden and ignored files too, but for what is in a `.git` (of the
    project's own, or that it is linked to, the state is: branches, HEAD, index, stash and what is
    under way; see `state_names`), files above *file_cap* bytes and, once the store has *total_cap*
    bytes, new content; a snapshot says what it could not hold. Owners and attributes are put back
    as far as the system lets us; access times are not kept. Symbolic links are never followed.
    *keep_days* is how long a state can be gone back to after it was last seen. *protected* folders
    are left out, as the store itself is, and so is what is in *own_code*, by its name.

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
        own_code: OwnCode | None = None,
        root_fd: int | None = None,
        holds_files: bool = True,
    ) -> None:
        """*root_fd* is *root* as somebody has opened it, for us to close.

        Unless it *holds_files*, all of the folder's states are the same empty one.
        """
        self._store = store
        self.limit(file_cap=file_cap, total_cap=total_cap, keep_days=keep_days)
        self.objects = ObjectStore(store)
        self._root_path = root
        self._digests = TreeDigests()
        self._root_fd = _open_folder(root) if root_fd is None else root_fd
        self.project_lock = ProjectLock(store / "work")
        self.index = CheckpointIndex(self.objects.database)
        self._kept_repositories = store / "repositories"
        excluded = [path.stat() for path in (store, *protected) if path.exists()]
        self._excluded = frozenset((status.st_dev, status.st_ino) for status in excluded)
        self._own_code = own_code or OwnCode()
        self._holds_files = holds_files
        self._last: Snapshot | None = None
        self._checked_ns = 0
        self._gc_count = -1

    def limit(self, *, file_cap: int, total_cap: int, keep_days: float) -> None:
        """Have these limits hold for what is kept from now on, and for the next clearing away."""
        if file_cap <= 0 or total_cap <= 0 or keep_days <= 0:
            raise ValueError(f"limits must be above zero: {file_cap!r} {total_cap!r} {keep_days!r}")
        self._quotas = Quotas(file_cap, total_cap, self._store)
        self._keep_days = keep_days

    def close(self) -> None:
        self.project_lock.release()
        self.objects.close()
        os.close(self._root_fd)

    def take(self) -> Snapshot:
        """Scan the folder and store what changed since the last scan.

        A folder that did not change gives the same snapshot again, and costs no space. When the
        store is found damaged meanwhile, it may not hold all of that: we look again.
        """
        with self.objects.locked():
            while True:
                recoveries = self.objects.database.recoveries
                self._refresh_last()
                started_ns = time.time_ns()
                root, not_stored = self._scan()
                snapshot = self._record_snapshot(
                    root, ScanStamp(started_ns, recoveries), not_stored
                )
                if self.objects.database.recoveries == recoveries:
                    break
            self._last, self._checked_ns = snapshot, started_ns
            self.objects.evict_folders_outside(root)
            return snapshot

    def begin_call(
        self,
        session: str,
        turn: int,
        call_id: str,
        end_other: Callable[[Snapshot], object] = lambda _: None,
    ) -> Snapshot:
        """Take a snapshot and note that a call begins with it; what it holds can be trusted.

        Before that is noted *end_other* ends with the same what was recorded so far: after a kill
        between the two nothing stands in two records. Raises `UserError` where the disk has no room
        for that.
        """
        with self.objects.locked():
            while True:
                snapshot = self.take()
                self._quotas.refuse_if_full(snapshot.not_stored)
                recoveries = self.objects.database.recoveries
                end_other(snapshot)
                number = self.index.begin_call(session, turn, call_id, snapshot.id)
                if self.objects.database.recoveries == recoveries:
                    return snapshot
                self.index.drop_call(number)

    def last_snapshot(self) -> Snapshot:
        """Return the folder as it was last scanned, without a new scan."""
        return self._last or self.take()

    def too_deep_folder(self) -> str | None:
        """Return a folder too deep to be stored, as of anybody's last scan; or None."""
        last = self._last or self.index.latest() or self.take()
        return next((path for path, reason in last.not_stored if reason == "deep"), None)

    def diff(self, before: int, after: int) -> list[Change]:
        """Return what changed between two snapshots, renames recognised."""
        return self._compare(before, after).changes()

    def damaged(self, before: int, after: int) -> list[str]:
        """Return the folders that cannot be compared because the store is damaged there."""
        return self._compare(before, after).damaged

    def content_at(self, snapshot: int, path: str) -> bytes | None:
        """Return the content of a file, the target of a link; None if there was none or no room.

        Raises `DamagedObject` when the store does not have what it should have.
        """
        entry = lookup(self.objects, self.root_of(snapshot), path)
        if entry is None or entry.is_folder or entry.is_node or entry.not_stored_reason:
            return None
        if entry.is_link:
            return entry.content.encode(errors="surrogateescape")
        return self.objects.read(entry.content)

    def entry_at(self, snapshot: int, path: str) -> Entry | None:
        return lookup(self.objects, self.root_of(snapshot), path)

    def can_restore(self, path: str) -> bool:
        """Return whether *path*, with all that is in it, could be brought back if it went now."""
        root = self.take().root
        if not self._holds_files:
            return False
        try:
            entry = lookup(self.objects, root, path)
            return entry is None or not any(
                e.not_stored_reason for _, e in walk(self.objects, entry)
            )
        except DamagedObject:
            return False

    def undo(self, before: int, after: int) -> UndoResult:
        """Take back what changed between two snapshots, and nothing else.

        Later changes of the person are merged or kept; see `plan`. The folder's present state is
        stored first, so that undoing (`UndoResult.before`, `UndoResult.after`) restores it.
        """
        return self.run(UndoOperation(parts=(OperationPart(before, after),))).results[0]

    def rewind(self, to: int) -> UndoResult:
        """Bring the folder back to a snapshot, whoever changed it since; that is stored first."""
        return self.run(UndoOperation(parts=(OperationPart(to),))).results[0]

    def run(
        self, operation: UndoOperation, roots: tuple[Entry, Entry] | None = None
    ) -> FinishedOperation:
        """Do all parts of *operation*, each written down in one go with what it did.

        *roots* say what the one part that there is takes back, if it is no two snapshots. After a
        kill `finish_interrupted` does the rest. Raises `UserError`, before anything is done where a
        snapshot that is needed is not kept; `InterruptedOperation` where one was lost in the midst.
        """
        with self.objects.locked():
            self.finish_interrupted()
            for part in operation.parts if roots is None else ():
                self._planner(part)
            if not operation.parts:
                return FinishedOperation(*self.index.record_progress(0, operation, None), [])
            return self._run_parts(0, operation, [], roots)

    def finish_interrupted(self) -> list[FinishedOperation]:
        """Finish all parts of operations that a kill interrupted; return these."""
        finished = []
        with self.objects.locked():
            while (entry := self.index.unfinished()) is not None:
                finished.append(self._resume(entry))
        return finished

    def result_of(self, entry: JournalEntry) -> FinishedOperation:
        """Return the result of an operation on the files, as far as that is still known."""
        results = []
        for before, after in entry.operation.spans:
            with suppress(UserError):  # no longer kept
                results.append(UndoResult(tuple(self.diff(before, after)), (), (), before, after))
        return FinishedOperation(entry.number, entry.operation, results)

    def _resume(self, entry: JournalEntry) -> FinishedOperation:
        operation = entry.operation
        results: list[UndoResult] = []
        number = entry.number
        if entry.plan is not None:
            self._verify_objects(entry.plan)
            PlanApplier(self.objects, self._root_fd, number).remove_temporary_files(entry.plan)
            before = self.index.snapshot(entry.before)
            number, operation, undone = self._apply_plan(
                number, before, entry.plan, operation, is_resumed=True
            )
            results.append(undone)
        try:
            return self._run_parts(number, operation, results)
        except InterruptedOperation:
            self.objects.database.warn(INTERRUPTED_UNDO_DAMAGED)
            return FinishedOperation(0, replace(operation, parts=(), rest={}), results)

    def _run_parts(
        self,
        number: int,
        operation: UndoOperation,
        results: list[UndoResult],
        roots: tuple[Entry, Entry] | None = None,
    ) -> FinishedOperation:
        """Do the parts that are left of *operation*; *number* is its entry in the journal.

        Raises `InterruptedOperation` where one cannot be done any more; *results* are those that
        were.
        """
        while operation.parts:
            try:
                planner = self._planner(operation.parts[0], roots)
            except UserError:  # a snapshot went with a damaged store
                self.index.close_journal(number)
                raise InterruptedOperation(INTERRUPTED_UNDO_DAMAGED) from None
            number, operation, undone = self._run_part(planner, operation, number)
            results.append(undone)
        return FinishedOperation(number, operation, results)

    def clone(self, snapshot: int, target: Path) -> list[Skipped]:
        """Make the new folder *target* as the project was; return what could not be copied.

        Share the disk space of what did not change since, where the file system can. Raises
        `UserError`. A clone gets that name when it is whole: it is made under one beside it.
        """
        unfinished = target.with_name(f".{target.name}.unfinished")
        project_clone = ProjectClone(self.objects, self._root_fd, self._root_path, unfinished)
        with self.objects.locked():
            shutil.rmtree(unfinished, ignore_errors=True)  # what a kill left
            try:
                unfinished.mkdir(mode=0o700)
                project_clone.fill(self.root_of(snapshot))
                unfinished.rename(target)
            except (OSError, DamagedObject) as error:
                shutil.rmtree(unfinished, ignore_errors=True)
                path, reason = str(target), str(error)
                raise UserError(
                    phrase(
                        "Cannot create the folder {path} for the copy: {why}.",
                        path=path,
                        why=reason,
                    )
                ) from error
        return project_clone.skipped

    def take_from(
        self, clone: Checkpoints, before: int, after: int, *, with_commits: bool = False
    ) -> UndoResult:
        """Do here what changed between two snapshots of *clone*; merge it with what changed here.

        What git keeps stays as it is here, or, *with_commits*, is brought too where it is still
        what it was in the clone *before*. Raises `UserError`. After a kill `finish_interrupted`
        does the rest.
        """
        base, changed = clone.root_of(before), clone.root_of(after)
        with clone.objects.locked(), self.objects.locked():
            copy_contents(clone.objects, self.objects, (base, changed))
            has_commits = with_commits and _bring_objects(clone._root_path, self._root_path)
            kind: Kind = "taking with commits" if has_commits else "taking"
            operation = UndoOperation(kind, parts=(OperationPart(0),))
            result = self.run(operation, (changed, base)).results[0]
        if has_commits or not with_commits:
            return result
        left = Skipped(GIT, phrase("git could not bring the commits"))
        return replace(result, skipped=(*result.skipped, left))

    def changes_since(self, clone: Checkpoints, snapshot: int) -> list[Change]:
        """Return what changed from a snapshot of *clone* to the folder as it is now here."""
        root = clone.root_of(snapshot)
        with clone.objects.locked(), self.objects.locked():
            copy_contents(clone.objects, self.objects, (root,))
            return TreeDiff(self.objects).compare(root, self.take().root).changes()

    def content_digest(self) -> str:
        """Return a digest of names, modes and contents as last looked at, "" before that."""
        if self._last is None:
            return ""
        with suppress(DamagedObject), self.objects.locked():
            return self._digests.of(self.objects, self._last.root)
        return self._last.root.content

    def digest_at(self, snapshot: int) -> str:
        """Return that digest of a snapshot. Raises `UserError` when it was collected."""
        root = self.root_of(snapshot)
        with suppress(DamagedObject), self.objects.locked():
            return self._digests.of(self.objects, root)
        return root.content

    def collect_garbage(self) -> int:
        """Remove what was last seen longer than the set days ago; return how many snapshots."""
        self.objects.outer_links.collect()
        remove_old(self._kept_repositories, time.time() - self._keep_days * 86_400)
        return collect(self.objects, self.index, self._keep_days)

    @property
    def size(self) -> int:
        """Bytes that the store takes on disk, nearly."""
        return self.objects.size

    def _planner(
        self, part: OperationPart, roots: tuple[Entry, Entry] | None = None
    ) -> Callable[[Entry], Plan]:
        """Return a function that plans *part* for the root of the folder as it is."""
        before, after = roots or (self.root_of(part.before), None)
        if after is None and part.after:
            after = self.root_of(part.after)
        return lambda now: plan_undo(self.objects, before, after or now, now, self._own_code)

    def _run_part(
        self, make_plan: Callable[[Entry], Plan], operation: UndoOperation, number: int
    ) -> tuple[int, UndoOperation, UndoResult]:
        """Apply the plan that *make_plan* returns for the folder as it is, which is stored first.

        All that is needed of the database is read before anything is changed: what is overwritten
        may be lost when that turns out to be damaged, and is stored again then.
        """
        while True:
            now = self.take()
            recoveries = self.objects.database.recoveries
            plan = make_plan(now.root)
            if operation.kind == "taking":  # the commits it may name are in the clone alone
                plan.git = None
            self._verify_objects(plan)
            number = self.index.open_journal(now.id, plan, operation, number)
            if self.objects.database.recoveries == recoveries:
                return self._apply_plan(number, now, plan, operation)
            self.index.close_journal(number)
            number = 0

    def _verify_objects(self, plan: Plan) -> None:
        new_entries = [operation.new for operation in plan.operations if operation.new is not None]
        self.objects.verify(entry.content for entry in new_entries if entry.is_file)

    def _apply_plan(
        self,
        number: int,
        before: Snapshot,
        plan: Plan,
        operation: UndoOperation,
        *,
        is_resumed: bool = False,
    ) -> tuple[int, UndoOperation, UndoResult]:
        """Apply *plan*, record at once what it did; return the rest of *operation*."""
        applier = PlanApplier(self.objects, self._root_fd, number, is_resumed)
        applier.rename(plan.renames)
        applier.apply(
            plan.operations, self.take().root if plan.renames or is_resumed else before.root
        )
        skipped = plan.skipped + applier.skipped
        if plan.git:
            skipped += restore_git(
                self.objects, self._root_fd, self._root_path, plan.git, self._kept_repositories
            )
        after = self.take()
        number, operation = self.index.record_progress(
            number,
            operation,
            (before.id, after.id),
            is_refused=any(one.is_passing for one in skipped),
        )
        changes = tuple(self.diff(before.id, after.id))
        explained = tuple(map(self._quotas.explain, skipped))
        undone = UndoResult(changes, tuple(plan.conflicts), explained, before.id, after.id)
        return number, operation, undone

    @property
    def alive_path(self) -> Path:
        """The file that is touched while a call runs; see `Heartbeat`."""
        return self._store / "alive"

    @property
    def read_only_reason(self) -> Phrase | None:
        """Reason why nothing more can be stored, as far as known without trying; None if it can."""
        return self.objects.read_only_reason

    def warnings(self) -> list[Phrase]:
        """Return the warnings for the person since the last call."""
        return self.objects.database.warnings()

    def _scan(self) -> tuple[Entry, list[tuple[str, str]]]:
        if not self._holds_files:
            content, encoded = self.objects.encode_folder({})
            self.objects.put_compressed(encoded)
            return Entry(stat.S_IFDIR, 0, 0, 0, 0, 0, content), []
        previous = self._last.root if self._last else None
        repository, not_stored = scan_linked(
            self.objects, self._root_path, previous, self._repository_scanner
        )
        scanner = Scanner(
            self.objects,
            self._root_fd,
            self._quotas,
            previous,
            self._checked_ns,
            self._excluded,
            self._own_code,
            repository,
            inner_repository(self._root_path),
        )
        root = scanner.run()
        not_stored += scanner.not_stored
        return root, sorted(pair for pair in not_stored if pair[1] not in EXPECTED_REASONS)

    def _repository_scanner(
        self, descriptor: int, previous: Entry | None, tree: LinkedTree
    ) -> Scanner:
        checked_ns, excluded = self._checked_ns, self._excluded
        return Scanner(
            self.objects, descriptor, self._quotas, previous, checked_ns, excluded, tree=tree
        )

    def _record_snapshot(
        self, root: Entry, stamp: ScanStamp, not_stored: list[tuple[str, str]]
    ) -> Snapshot:
        if self._last is not None and root == self._last.root:
            return self.index.refresh_snapshot(self._last, stamp)
        return self.index.add_snapshot(root, stamp, not_stored)

    def _refresh_last(self) -> None:
        """Start from a snapshot that is whole in the store: another process may have collected."""
        gc_count = self.index.gc_count()
        if gc_count != self._gc_count:
            self._gc_count = gc_count
            self.objects.clear_folder_cache()
            self._last = self.index.latest()
            self._checked_ns = self._last.checked_ns if self._last else 0

    def _compare(self, before: int, after: int) -> TreeDiff:
        return TreeDiff(self.objects).compare(self.root_of(before), self.root_of(after))

    def root_of(self, snapshot: int) -> Entry:
        """Return the root of a snapshot. Raises `UserError` when it was collected."""
        return self.index.snapshot(snapshot).root


def _open_folder(root: Path) -> int:
    return os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _bring_objects(source: Path, target: Path) -> bool:
    from modules.files.git.object_transfer import bring_objects  # hardly ever needed

    return bring_objects(source, target)
