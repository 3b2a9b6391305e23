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
    from modules.checkpoints.store.index import CallRecord, CheckpointIndex, Snapshot
    from modules.checkpoints.undo.held_files import HeldFiles
    from modules.checkpoints.undo.undo import Undoer
    from modules.checkpoints.undo.undo_results import FinishedOperation, UndoOutcome

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
            checkpoints.close()

    def on_turn_end(self) -> None:
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
        self._checkpoints.project_lock.acquire(self.session)
        self._finish_interrupted()
        self._end_background()
        begins_task, self._last_turn = turn != self._last_turn, turn
        try:
            snapshot = self._checkpoints.begin_call(self.session, turn, call_id)
        except UserError as problem:
            self._snapshot_error = problem.message
            raise
        self._snapshot_error = None
        self._warn_not_stored(snapshot)
        self._hold_files(snapshot, begins_task=begins_task)
        self._running.add(call_id)

    def after_call(self, call_id: str, turn: int) -> None:
        if call_id not in self._running:
            return
        self._running.remove(call_id)
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

    def _end_background(self) -> Snapshot | None:
        """End that record, if there is one, with the snapshot that is returned."""
        if not (call_id := self._background_call):
            return None
        self._background_call = ""
        self._running.discard(call_id)
        self._is_recovered = False  # until it is written down
        snapshot = self._checkpoints.take()
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
        with self._checkpoints.project_lock.exclusive(self.session), self._background_apart():
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
        unended = [c for c in self._calls() if c.after is None and c.call_id not in self._running]
        if unended:
            snapshot = self._remove_leftovers(unended[0].before)
            for call in unended:
                self._close_call(call, snapshot)
        self._is_recovered = True
        return outcomes

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
