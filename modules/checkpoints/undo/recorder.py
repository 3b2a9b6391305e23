"""What each call did to the folder, noted before and after it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
from modules.checkpoints.checkpoints import Checkpoints
from modules.checkpoints.clone.clone_history import hand_over
from modules.checkpoints.restore.operations import Skipped
from modules.checkpoints.store.index import CallRecord, Snapshot
from modules.checkpoints.undo.undo import Undoing
from modules.checkpoints.undo.undo_results import Finished
from modules.files.project import Project
from modules.files.writable import LEFT_BEHIND
from utils.i18n import Phrase, Text, UserError, phrase
from utils.text.clean import visible
from utils.text.lines import cut_middle, size_in_words

_LONGEST_NAME = 200  # characters of a path in a question


@dataclass(frozen=True, slots=True)
class Ended:
    """An operation that is done, with what was done beside the files, for people."""

    finished: Finished
    said: list[Phrase]


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
    """Holds the folder before and after every call that may change it.

    What the calls did is kept by session in the store of *checkpoints*, and so outlives us. When
    a checkpoint cannot be taken `before` raises `UserError`: the call should not run then.
    """

    def __init__(self, project: Project, checkpoints: Checkpoints) -> None:
        self._project = project
        self._checkpoints = checkpoints
        self._ledger = checkpoints.ledger
        self._undoing = Undoing(checkpoints)
        self.revision = 0
        """Rises whenever other changes may be seen, or can be taken back or brought again."""
        self._running: set[str] = set()
        self._is_settled = False
        self._is_tidy = False
        self._not_held: tuple[tuple[str, str], ...] = ()
        self._warnings: list[Phrase] = []
        self._trouble: Phrase | None = None  # why the last call could not be held
        self.session = ""

    def enter(self, session: str) -> None:
        self.session = session
        self._is_settled = False
        self.revision += 1

    def forked(self, session: str, copy: str, turn: int) -> None:
        self._settle()
        self._ledger.copy_calls(session, copy, turn)

    def standing(self) -> str:
        return self._checkpoints.contents()

    def close(self) -> None:
        self._checkpoints.close()

    def rest(self) -> None:
        self._checkpoints.work.end()
        self.revision += 1  # what the person did meanwhile can be seen now
        if not self._is_tidy:
            self._is_tidy = True
            with suppress(UserError):  # old states go another time; the turn itself went well
                self._checkpoints.tidy()

    def prepare(self) -> None:
        if self._is_settled or not self._checkpoints.vault.database.exists():
            return
        try:
            with self._checkpoints.work.alone(self.session):
                self._settle()
        except UserError as problem:  # the turn may well go on: a call that changes files will not
            self._warnings.append(problem.what)

    def before(self, call_id: str, turn: int) -> None:
        self._checkpoints.work.begin(self.session)
        self._settle()
        try:
            self._warn_of(self._checkpoints.begin_call(self.session, turn, call_id))
        except UserError as problem:
            self._trouble = problem.what
            raise
        self._trouble = None
        self._running.add(call_id)

    def after(self, call_id: str, turn: int) -> None:  # noqa: ARG002 - the turn was told before
        if call_id not in self._running:
            return
        self._running.remove(call_id)
        self._is_settled = False  # until the end of the call is written down
        snapshot = self._checkpoints.take()
        self._warn_of(snapshot)
        if call := self._ledger.call(self.session, call_id):
            self._end(call, snapshot)
        self._is_settled = True
        self.revision += 1

    def changes_of(self, call_id: str) -> Sequence[Change]:
        """Return what the call did to the folder, by whatever means; empty while it runs."""
        call = self._ledger.call(self.session, call_id)
        if call is None or call.after is None:
            return ()
        return self._checkpoints.diff(call.before, call.after)

    def size_of(self, call_id: str, change: Change) -> int | None:
        """Return how many bytes what the call changed had before, if it was there, or else has.

        None for a folder.
        """
        call = self._ledger.call(self.session, call_id)
        snapshot = call and (call.after if change.kind == "created" else call.before)
        entry = self._checkpoints.entry(snapshot, change.path) if snapshot else None
        return None if entry is None or entry.is_folder else entry.size

    def take_back(self, call_id: str) -> bool:
        """Undo the call, for good; return whether all of it could be."""
        call = self._ledger.call(self.session, call_id)
        if call is None or call.after is None:
            return False
        ended = self._do(lambda: self._undoing.put_back(self.session, call))
        self.revision += 1
        return not any(result.left or result.conflicts for result in ended.finished.results)

    def warnings(self) -> list[Phrase]:
        """Return what the person should see and was not told yet."""
        told, self._warnings = [*self._checkpoints.warnings(), *self._warnings], []
        return told

    def concern(self, tool: Tool, arguments: Mapping[str, Any]) -> Phrase | None:
        if tool.risk is Risk.RUN:
            return self._concern_of_run()
        if tool.risk is not Risk.DESTROY:
            return None
        try:
            path = self._project.meant(str(arguments.get("path", "")))
        except ToolError:
            return None  # the tool itself will say what is wrong with the path
        if not path or self._checkpoints.holds(path):
            return None
        return phrase("No checkpoint can hold all of {path}: it could not be undone.", path=path)

    def _concern_of_run(self) -> Phrase | None:
        try:
            path = self._checkpoints.too_deep()
        except UserError:  # the call itself will be refused
            return None
        if path is None:
            return None
        return phrase(
            "{path} is nested deeper than checkpoints hold: what a program deletes there could not "
            "be brought back.",
            path=cut_middle(visible(path), _LONGEST_NAME),
        )

    def holds(self, path: str) -> bool:
        """Return whether deleting *path* (relative to the project) could be undone."""
        return self._checkpoints.holds(path)

    def status(self) -> Iterable[tuple[Phrase, Text]]:
        try:
            size = size_in_words(self._checkpoints.size)
        except UserError as problem:
            return [(phrase("Checkpoints"), problem.what)]
        if why := self._checkpoints.refusal or self._trouble:
            held = phrase("{size} kept; nothing more can be held: {why}", size=size, why=why)
        elif self._not_held:
            held = phrase("{size} kept; not held: {count}", size=size, count=len(self._not_held))
        else:
            held = phrase("{size} kept; every change can be undone", size=size)
        return [(phrase("Checkpoints"), held)]

    def calls(self) -> list[CallRecord]:
        """Return the calls of the session that changed files and are over, oldest first."""
        return [call for call in self._calls() if call.can_be_seen]

    @property
    def can_redo(self) -> bool:
        """Whether there is an undo or a rewind to take back."""
        return self._ledger.last_undo(self.session) is not None

    def twin(self, turn: int, target: Path) -> Sequence[Skipped]:
        """Make *target* a copy of the project as it was at the end of *turn*.

        Returns what could not be copied. Raises `UserError`.
        """
        self._settle()
        later = [call for call in self._calls() if call.turn > turn and not call.is_undone]
        snapshot = later[0].before if later else self._checkpoints.take().id
        return self._checkpoints.twin(snapshot, target)

    def hand_over(self, store: Path, copy: str, turn: int) -> None:
        """Let the session *copy* of a twin, whose checkpoints are in *store*, undo what this can.

        Up to the end of *turn*. Raises `UserError`.
        """
        hand_over(self._checkpoints.vault, store, self.session, copy, turn)

    def _state_before(self, turn: int) -> int | None:
        """Return the snapshot before the first call since *turn*."""
        return next((call.before for call in self._calls() if call.turn >= turn), None)

    def _calls(self) -> list[CallRecord]:
        return self._ledger.calls(self.session)

    def _end(self, call: CallRecord, after: Snapshot) -> None:
        if call.before == after.id:
            self._ledger.drop_call(call.id)
        else:
            changes = self._checkpoints.diff(call.before, after.id)
            self._ledger.end_call(call.id, after.id, len(changes))

    def _settle(self) -> list[Ended]:
        """Finish what a kill cut short: an undo half done, calls that never ended.

        Returns the undos of this session that were finished.
        """
        if self._is_settled:
            return []
        cut_short = {one.number: one for one in self._checkpoints.finish()}
        ended = []
        for entry in self._ledger.pending(self.session):
            done = cut_short.pop(entry.number, None) or self._checkpoints.known(entry)
            ended.append(Ended(done, self._complete(done)))
        for _ in [*cut_short, *ended]:
            self._warnings.append(phrase("An undo that was cut short has been finished."))
        lost = [c for c in self._calls() if c.after is None and c.call_id not in self._running]
        if lost:
            snapshot = self._without_leftovers(lost[0].before)
            for call in lost:
                self._end(call, snapshot)
        self._is_settled = True
        return ended

    def _do(self, run: Callable[[], Finished]) -> Ended:
        """Do an operation to the end; what fails of it is done when it is settled again."""
        self._is_settled = False
        finished = run()
        said = self._complete(finished) if finished.operation.rest else []
        self._is_settled = True
        return Ended(finished, said)

    def _complete(self, finished: Finished) -> list[Phrase]:
        """Do what is left of an operation that is done with the files; say what that was."""
        self._ledger.close_journal(finished.number)
        return []

    def _without_leftovers(self, before: int) -> Snapshot:
        """Remove temporary files of ours that came since *before*; return how things are then."""
        snapshot = self._checkpoints.take()
        changes = self._checkpoints.diff(before, snapshot.id)
        ours = [c.path for c in changes if c.kind == "created" and LEFT_BEHIND.fullmatch(c.path)]
        for path in ours:
            with suppress(ToolError, UserError):
                self._project.delete_file(path)
        return self._checkpoints.take() if ours else snapshot

    def _warn_of(self, snapshot: Snapshot) -> None:
        """Say once what cannot be held, and again when that becomes more."""
        new = [pair for pair in snapshot.refused if pair not in self._not_held]
        self._not_held = snapshot.refused
        if new:
            others = len(snapshot.refused) - 1
            self._warnings.append(
                phrase(
                    "Not held by checkpoints (too large, unreadable or no room), so it could not "
                    "be brought back: {path}{more}",
                    path=visible(new[0][0]),
                    more=phrase(" and {n} more", n=others) if others else "",
                )
            )
