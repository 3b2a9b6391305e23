"""Recorder of what each call does to the folder, by snapshots before and after it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.cards import Change
from core.feature import Feature
from core.hooks import (
    FlagsCalls,
    FollowsForks,
    FollowsSession,
    HoldsResources,
    MarksProgress,
    PreparesTurns,
    ProvidesStatus,
    ProvidesWarnings,
    RecordsCalls,
    RestsAfterTurns,
)
from core.tools import Risk, Tool, ToolError
from modules.checkpoints.late_checkpoints import LateCheckpoints
from modules.checkpoints.undo.background_ids import BETWEEN_TURNS, IN_BACKGROUND
from modules.files.project import Project
from modules.files.writable import TEMPORARY_FILE
from utils.i18n import Phrase, Text, UserError, phrase
from utils.text.clean import visible
from utils.text.lines import cut_middle, format_size
from utils.waiting import Stop

if TYPE_CHECKING:
    from modules.checkpoints.checkpoints import Checkpoints
    from modules.checkpoints.restore.operations import Skipped
    from modules.checkpoints.store.heartbeat import Heartbeat
    from modules.checkpoints.store.index import CallRecord, CheckpointIndex, Snapshot
    from modules.checkpoints.undo.held_files import HeldFiles
    from modules.checkpoints.undo.undo import Undoer
    from modules.checkpoints.undo.undo_results import FinishedOperation, UndoOutcome, UndoResult

_WHOLE_DISK = phrase("off: the project is the whole disk, so changes cannot be undone")
_MAX_PATH_SHOWN = 200  # characters of a path in a question


class CallRecorder(
    Feature,
    FollowsSession,
    FollowsForks,
    MarksProgress,
    HoldsResources,
    RestsAfterTurns,
    PreparesTurns,
    RecordsCalls,
    ProvidesWarnings,
    FlagsCalls,
    ProvidesStatus,
):
    """Recorder that takes a snapshot before and after every call that may change the folder.

    What the calls did is kept by session in the store of *checkpoints*, and so outlives us. When
    a checkpoint cannot be taken `before_call` raises `UserError`: the call should not run then.
    """

    def __init__(self, project: Project, checkpoints: LateCheckpoints) -> None:
        self._project = project
        self._late_checkpoints = checkpoints
        self.revision = 0
        """Number that rises whenever other changes may be seen, undone or redone."""
        self._running: set[str] = set()
        self._last_turn = 0  # of the last call
        self._is_recovered = False
        self._has_collected_garbage = False
        self._not_stored: tuple[tuple[str, str], ...] = ()
        self._held_files: HeldFiles | None = None
        self._warnings: list[Phrase] = []
        self._snapshot_error: Phrase | None = None  # why the last call could not be held
        self.session = ""
        self._background: Callable[[], Text] = lambda: ""
        self._background_call = ""  # the id of the record of what is done there

    @property
    def _checkpoints(self) -> Checkpoints:
        return self._late_checkpoints.get()

    @property
    def _index(self) -> CheckpointIndex:
        return self._checkpoints.index

    @cached_property
    def _undoer(self) -> Undoer:
        from modules.checkpoints.undo.undo import Undoer  # for undo only

        return Undoer(self._checkpoints)

    @cached_property
    def _heartbeat(self) -> Heartbeat:
        from modules.checkpoints.store.heartbeat import Heartbeat  # for calls that change files

        return Heartbeat(self._checkpoints.alive_path)

    def limit(self, *, file_cap: int, total_cap: int, keep_days: float) -> None:
        """Have these limits of what is kept hold from now on, as `Checkpoints.limit` says."""
        self._late_checkpoints.limit(file_cap=file_cap, total_cap=total_cap, keep_days=keep_days)

    def watch_background(self, running: Callable[[], Text]) -> None:
        """Record apart what changes between calls while *running* names who works there.

        It names nobody by "".
        """
        self._background = running

    def on_session_changed(self, session: str) -> None:
        try:
            self._end_background()
        except UserError as problem:  # it is ended when the session goes on
            self._warnings.append(problem.message)
        self._background_call = ""
        self.session = session
        self._is_recovered = False
        self.revision += 1

    def on_fork(self, session: str, new_session: str, turn: int) -> None:
        self._finish_interrupted()
        self._index.copy_calls(session, new_session, turn)

    def state_fingerprint(self) -> str:
        checkpoints = self._late_checkpoints.if_made
        return checkpoints.content_digest() if checkpoints else ""

    def close(self) -> None:
        if self._held_files:
            self._held_files.close()
        if checkpoints := self._late_checkpoints.if_made:
            if "_heartbeat" in vars(self):  # made by the first call
                self._heartbeat.close()
            checkpoints.close()

    def on_turn_end(self) -> None:
        if "_heartbeat" in vars(self):
            self._heartbeat.rest()
        self._release_files()
        try:
            if snapshot := self._end_background():
                self._begin_background(self._last_turn, snapshot, BETWEEN_TURNS)
        except UserError as problem:
            self._warnings.append(problem.message)
        if checkpoints := self._late_checkpoints.if_made:
            checkpoints.project_lock.release()
        self.revision += 1  # what the person did meanwhile can be seen now
        if not self._has_collected_garbage and self._late_checkpoints.exist():
            self._has_collected_garbage = True
            with suppress(UserError):  # old states go another time; the turn itself went well
                self._checkpoints.collect_garbage()

    def on_turn_start(self) -> None:
        if self._is_recovered or not self._late_checkpoints.exist():
            return
        try:
            with self._checkpoints.project_lock.exclusive(self.session):
                self._finish_interrupted()
        except UserError as problem:  # the turn may well go on: a call that changes files will not
            self._warnings.append(problem.message)

    def before_call(self, call_id: str, turn: int) -> None:
        self._is_recovered &= self._checkpoints.project_lock.is_held  # a kill may have come between
        self._checkpoints.project_lock.acquire(self.session)
        self._finish_interrupted()
        begins_task, self._last_turn = turn != self._last_turn, turn
        try:
            snapshot = self._checkpoints.begin_call(
                self.session, turn, call_id, self._end_background
            )
        except UserError as problem:
            self._snapshot_error = problem.message
            raise
        self._snapshot_error = None
        self._warn_not_stored(snapshot)
        self._hold_files(snapshot, begins_task=begins_task)
        self._heartbeat.begin()
        self._running.add(call_id)

    def after_call(self, call_id: str, turn: int) -> None:
        if call_id not in self._running:
            return
        self._running.remove(call_id)
        self._heartbeat.end()
        self._is_recovered = False  # until the end of the call is written down
        snapshot = self._checkpoints.take()
        self._warn_not_stored(snapshot)
        if call := self._index.call(self.session, call_id):
            self._close_call(call, snapshot)
        self._begin_background(turn, snapshot)
        self._is_recovered = True
        self.revision += 1

    @contextmanager
    def acting(self, begin_turn: Callable[[], int], name: str) -> Iterator[tuple[str, int]]:
        """Record what the block does to the folder as a call of its own turn, which it begins.

        Yields the id of the call, *name* and the number of the turn, and that number. Raises
        `UserError` where somebody else is at work on the folder.
        """
        with self._checkpoints.project_lock.exclusive(self.session):
            self._is_recovered = False  # as before the first call of a turn
            turn = begin_turn()
            call_id = f"{name}{turn}"
            self.before_call(call_id, turn)
            try:
                yield call_id, turn
            finally:
                self.after_call(call_id, turn)

    def _hold_files(self, before: Snapshot, *, begins_task: bool) -> None:
        """Keep open what the snapshot *before* a call does not hold, but what the task made."""
        if before.not_stored and self._held_files is None:
            from modules.checkpoints.undo.held_files import HeldFiles  # few have such files

            self._held_files = HeldFiles(self._project)
        if self._held_files:
            self._held_files.hold(before.not_stored, begins_task=begins_task)

    def _release_files(self) -> None:
        if self._held_files:
            self._held_files.release()

    def _begin_background(self, turn: int, snapshot: Snapshot, beginning: str = "") -> None:
        """Begin the record of what is done in the background from *snapshot* on.

        It ends when the folder is looked at again; after a kill, as that of a call does.
        """
        if names := self._background():
            call_id = f"{beginning}{names}{IN_BACKGROUND}"
            self._index.begin_call(self.session, turn, call_id, snapshot.id)
            self._background_call = call_id
            self._running.add(call_id)

    def _end_background(self, snapshot: Snapshot | None = None) -> Snapshot | None:
        """End that record, if there is one, with *snapshot* or a new one, which is returned.

        What begins then has to begin with the same: what is done between two is in no record.
        """
        if not (call_id := self._background_call):
            return None
        self._background_call = ""
        self._running.discard(call_id)
        self._is_recovered = False  # until it is written down
        snapshot = snapshot or self._checkpoints.take()
        if call := self._index.call(self.session, call_id):
            self._close_call(call, snapshot)
        self._is_recovered = True
        return snapshot

    @contextmanager
    def _background_apart(self) -> Iterator[None]:
        """Keep what the block does to the files out of that record."""
        beginning = BETWEEN_TURNS if self._background_call.startswith(BETWEEN_TURNS) else ""
        was_recorded = self._end_background() is not None
        try:
            yield
        finally:
            if was_recorded:
                self._begin_background(self._last_turn, self._checkpoints.take(), beginning)

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Have the project for ourselves, to take back what was done. Raises `UserError`."""
        with self._checkpoints.project_lock.exclusive(self.session):
            self._is_recovered &= not self._checkpoints.project_lock.is_alone
            with self._background_apart():
                yield

    def changes_of(self, call_id: str) -> Sequence[Change]:
        """Return what the call did to the folder, by whatever means; empty while it runs."""
        call = self._index.call(self.session, call_id)
        if call is None or call.after is None:
            return ()
        return self._checkpoints.diff(call.before, call.after)

    def size_of(self, call_id: str, change: Change) -> int | None:
        """Return how many bytes what the call changed had before, if it was there, or else has.

        None for a folder.
        """
        call = self._index.call(self.session, call_id)
        snapshot = call and (call.after if change.kind == "created" else call.before)
        entry = self._checkpoints.entry_at(snapshot, change.path) if snapshot else None
        return None if entry is None or entry.is_folder else entry.size

    def contents_around(self, call_id: str, path: str) -> tuple[bytes, bytes]:
        """Return what the file *path* held before the call, and what after it; else b""."""
        call = self._index.call(self.session, call_id)
        if call is None or call.after is None:
            return b"", b""
        before, after = (
            self._checkpoints.content_at(snapshot, path) for snapshot in (call.before, call.after)
        )
        return before or b"", after or b""

    def lost_files(self) -> Sequence[str]:
        """Return the files that the last call deleted and no checkpoint holds, while there is still
        a way to them: as long as its turn.
        """
        return self._held_files.lost() if self._held_files else ()

    def overwritten_files(self, stop: Stop) -> Sequence[str]:
        """Return those in the place of which the last call put others, or other content; from
        *stop* on it is looked at less closely.
        """
        return self._held_files.overwritten(stop) if self._held_files else ()

    def undo_call(self, call_id: str) -> bool:
        """Undo the call for good, if it was the last what is lost and overwritten too; return
        whether all of it could be undone.
        """
        call = self._index.call(self.session, call_id)
        if call is None or call.after is None:
            return False
        with self._background_apart():
            outcome = self._run_operation(lambda: self._undoer.undo_refused(self.session, call))
            try:
                back = self._held_files.put_back() if self._held_files else frozenset()
            except ToolError as error:
                why = error.message
                raise UserError(phrase("Not everything was restored: {why}", why=why)) from error
        self.revision += 1
        return not any(
            result.conflicts or any(one.path not in back for one in result.skipped)
            for result in outcome.finished.results
        )

    def warnings(self) -> list[Phrase]:
        """Return the warnings for the person since the last call."""
        checkpoints = self._late_checkpoints.if_made
        pending, self._warnings = self._warnings, []
        return [*(checkpoints.warnings() if checkpoints else ()), *pending]

    def approval_reason(self, tool: Tool, arguments: Mapping[str, Any]) -> Phrase | None:
        if tool.risk is Risk.RUN:
            return self._run_approval_reason()
        if tool.risk is not Risk.DESTROY:
            return None
        try:
            path = self._project.resolve(str(arguments.get("path", "")))
        except ToolError:
            return None  # the tool itself will say what is wrong with the path
        if not path or self._checkpoints.can_restore(path):
            return None
        return phrase("No checkpoint can hold all of {path}: it could not be undone.", path=path)

    def _run_approval_reason(self) -> Phrase | None:
        try:
            path = self._checkpoints.too_deep_folder()
        except UserError:  # the call itself will be refused
            return None
        if path is None:
            return None
        return phrase(
            "{path} is nested deeper than checkpoints hold: what a program deletes there could not "
            "be brought back.",
            path=cut_middle(visible(path), _MAX_PATH_SHOWN),
        )

    def can_restore(self, path: str) -> bool:
        """Return whether deleting *path* (relative to the project) could be undone."""
        return self._checkpoints.can_restore(path)

    def status(self) -> Iterable[tuple[Phrase, Text]]:
        try:
            size = format_size(self._checkpoints.size)
        except UserError as problem:
            return [(phrase("Checkpoints"), problem.message)]
        if self._project.is_whole_disk:
            kept = _WHOLE_DISK
        elif reason := self._checkpoints.read_only_reason or self._snapshot_error:
            kept = phrase("{size} used; no more can be saved: {why}", size=size, why=reason)
        elif self._not_stored:
            kept = phrase(
                "{size} used; not saved: {count:,}", size=size, count=len(self._not_stored)
            )
        else:
            kept = phrase("{size} used; every change can be undone", size=size)
        return [(phrase("Checkpoints"), kept)]

    def calls(self) -> list[CallRecord]:
        """Return the calls of the session that changed files and are over, oldest first."""
        return [call for call in self._calls() if call.has_visible_changes]

    @property
    def can_redo(self) -> bool:
        """Whether there is an undo or a rewind to take back."""
        return self._index.last_undo(self.session) is not None

    def clone_project(self, turn: int, target: Path) -> Sequence[Skipped]:
        """Make *target* a clone of the project as it was at the end of *turn*.

        Returns what could not be copied. Raises `UserError`.
        """
        self._finish_interrupted()
        later_calls = [call for call in self._calls() if call.turn > turn and not call.is_undone]
        snapshot = later_calls[0].before if later_calls else self._checkpoints.take().id
        return self._checkpoints.clone(snapshot, target)

    def clone_now(self, targets: Sequence[Path]) -> Sequence[Skipped]:
        """Make each of *targets* a clone of the project as it is now, all of the same moment.

        Returns what could not be copied. Raises `UserError`, as where somebody is at work on it.
        """
        self._finish_interrupted()
        with self.exclusive():
            snapshot = self._checkpoints.take().id
            skipped = [self._checkpoints.clone(snapshot, target) for target in targets]
        return skipped[0] if skipped else ()

    def take_from(
        self, clone: Checkpoints, before: int, after: int, *, with_commits: bool = False
    ) -> UndoResult:
        """Do here what changed between two snapshots of *clone*; see `Checkpoints.take_from`."""
        self._is_recovered = False
        result = self._checkpoints.take_from(clone, before, after, with_commits=with_commits)
        self._is_recovered = True
        return result

    def changes_since(self, clone: Checkpoints, snapshot: int) -> Sequence[Change]:
        """Return what differs here from a snapshot of *clone*, once what a kill interrupted is
        finished. Raises `UserError`."""
        with self._checkpoints.project_lock.exclusive(self.session):
            self._finish_interrupted()
            return self._checkpoints.changes_since(clone, snapshot)

    def snapshot_now(self) -> int:
        """Return the number of a snapshot of the folder as it is now. Raises `UserError`."""
        return self._checkpoints.take().id

    def changes_between(self, before: int, after: int) -> Sequence[Change]:
        """Return what changed between two snapshots. Raises `UserError`."""
        return self._checkpoints.diff(before, after)

    def refuse_whole_disk(self) -> None:
        """Raise `UserError` where nothing is held that could be taken back, shown or copied."""
        if self._project.is_whole_disk:
            raise UserError(
                phrase(
                    "The project is the whole disk: its files are not saved, so there is "
                    "nothing to undo, show or copy. /rewind still goes back in the "
                    "conversation."
                )
            )

    def copy_history_to(self, store: Path, fork: str, turn: int) -> None:
        """Let the session *fork* of a clone, whose checkpoints are in *store*, undo what this can.

        Up to the end of *turn*. Raises `UserError`.
        """
        from modules.checkpoints.clone.clone_history import copy_history  # used by few

        copy_history(self._checkpoints.objects, store, self.session, fork, turn)

    def _snapshot_before(self, turn: int) -> int | None:
        """Return the snapshot before the first call since *turn*."""
        return next((call.before for call in self._calls() if call.turn >= turn), None)

    def _calls(self) -> list[CallRecord]:
        return self._index.calls(self.session)

    def _close_call(self, call: CallRecord, after: Snapshot) -> None:
        if call.before == after.id:
            self._index.drop_call(call.id)
        else:
            changes = self._checkpoints.diff(call.before, after.id)
            self._index.end_call(call.id, after.id, len(changes))

    def _finish_interrupted(self) -> list[UndoOutcome]:
        """Finish what a kill interrupted: an undo half done, calls that never ended.

        Returns the undos of this session that were finished.
        """
        if self._is_recovered:
            return []
        from modules.checkpoints.undo.undo_results import UndoOutcome  # loaded with checkpoints

        interrupted = {one.number: one for one in self._checkpoints.finish_interrupted()}
        outcomes = []
        for entry in self._index.pending(self.session):
            done = interrupted.pop(entry.number, None) or self._checkpoints.result_of(entry)
            outcomes.append(UndoOutcome(done, self._finish_state(done)))
        for _ in [*interrupted, *outcomes]:
            self._warnings.append(phrase("An interrupted undo has been completed."))
        if unended := self._unended_calls():
            from modules.checkpoints.undo.killed_calls import end_killed_calls

            now = self._remove_leftovers(unended[0].before)
            self._warn_of_others(end_killed_calls(self._checkpoints, unended, now))
        self._is_recovered = True
        return outcomes

    def _unended_calls(self) -> list[CallRecord]:
        """Return the calls that a kill ended: of this session and, with nobody else at work here,
        of the others too, lest what is done from now on count as theirs.
        """
        unended = [c for c in self._calls() if c.after is None and c.call_id not in self._running]
        lock = self._checkpoints.project_lock
        others = self._index.unended_calls_of_others(self.session) if lock.is_alone else []
        if lock.is_alone:  # still: else one of them may be of who has begun meanwhile
            unended += [call for call in others if not call.background]
        return sorted(unended, key=lambda call: call.id)

    def _warn_of_others(self, paths: Sequence[str]) -> None:
        """Say what others changed after a kill: nobody could see it otherwise."""
        if paths:
            more = len(paths) - 1
            self._warnings.append(
                phrase(
                    "Changed after the last call was cut short, so undo leaves it alone: "
                    "{path}{more}",
                    path=cut_middle(visible(paths[0]), _MAX_PATH_SHOWN),
                    more=phrase(" and {n} more", n=more) if more else "",
                )
            )

    def _run_operation(self, run: Callable[[], FinishedOperation]) -> UndoOutcome:
        """Run an operation to the end; what fails of it is finished by the next recovery."""
        from modules.checkpoints.undo.undo_results import UndoOutcome  # loaded with checkpoints

        self._is_recovered = False
        finished = run()
        state_changes = self._finish_state(finished) if finished.operation.rest else []
        self._is_recovered = True
        return UndoOutcome(finished, state_changes)

    def _finish_state(self, finished: FinishedOperation) -> list[Phrase]:
        """Finish the state of an operation that is done with the files; return what was done."""
        self._index.close_journal(finished.number)
        return []

    def _remove_leftovers(self, before: int) -> Snapshot:
        """Remove temporary files of ours that came since *before*; return a snapshot after it."""
        snapshot = self._checkpoints.take()
        changes = self._checkpoints.diff(before, snapshot.id)
        leftovers = [
            c.path for c in changes if c.kind == "created" and TEMPORARY_FILE.fullmatch(c.path)
        ]
        for path in leftovers:
            with suppress(ToolError, UserError):
                self._project.delete_file(path)
        return self._checkpoints.take() if leftovers else snapshot

    def _warn_not_stored(self, snapshot: Snapshot) -> None:
        """Warn once of what cannot be stored, and again when that becomes more."""
        newly_not_stored = [pair for pair in snapshot.not_stored if pair not in self._not_stored]
        self._not_stored = snapshot.not_stored
        if newly_not_stored:
            others = len(snapshot.not_stored) - 1
            self._warnings.append(
                phrase(
                    "Not saved in checkpoints (too large, unreadable or no space), so "
                    "changes cannot be undone: {path}{more}",
                    path=visible(newly_not_stored[0][0]),
                    more=phrase(" and {n} more", n=others) if others else "",
                )
            )
