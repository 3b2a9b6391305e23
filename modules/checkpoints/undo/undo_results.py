"""Results of going back: what an undo did to the folder, and an operation that is done with it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.cards import Change
from modules.checkpoints.undo.journal import UndoOperation

if TYPE_CHECKING:
    from modules.checkpoints.restore.operations import Conflict, Skipped
    from utils.i18n import Phrase


@dataclass(frozen=True, slots=True)
class UndoResult:
    """Result of an undo: its changes, and the snapshots around them: undo those to redo."""

    changes: tuple[Change, ...]
    conflicts: tuple[Conflict, ...]
    skipped: tuple[Skipped, ...]
    before: int
    after: int

    @property
    def is_worth_retrying(self) -> bool:
        """Whether the system did not let all of it be done, so that it is worth another try."""
        return any(skipped.is_passing for skipped in self.skipped)


@dataclass(frozen=True, slots=True)
class FinishedOperation:
    """An operation that is done with the files; what it did to them is in *results*.

    While anything beside them is to be done, *number* is its entry in the journal.
    """

    number: int
    operation: UndoOperation
    results: list[UndoResult]


@dataclass(frozen=True, slots=True)
class UndoOutcome:
    """An operation that is done, with its *state_changes* (all beside the files), for people."""

    finished: FinishedOperation
    state_changes: list[Phrase]

    @property
    def changes(self) -> tuple[Change, ...]:
        """What it did to the folder."""
        return changes_of(self.finished.results)


def changes_of(results: Iterable[UndoResult]) -> tuple[Change, ...]:
    """Return what *results*, one after the other, did to the folder."""
    return tuple(change for result in results for change in result.changes)
