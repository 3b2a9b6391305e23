"""Results of going back: what an undo did to the folder, and an operation that is done with it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.cards import Change
from modules.checkpoints.undo.journal import UndoOperation

if TYPE_CHECKING:
    from modules.checkpoints.restore.operations import Conflict, Skipped


@dataclass(frozen=True, slots=True)
class UndoResult:
    """Result of an undo: its changes, and the snapshots around them: undo those to redo."""

    changes: tuple[Change, ...]
    conflicts: tuple[Conflict, ...]
    skipped: tuple[Skipped, ...]
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class FinishedOperation:
    """An operation that is done with the files; what it did to them is in *results*.

    While anything beside them is to be done, *number* is its entry in the journal.
    """

    number: int
    operation: UndoOperation
    results: list[UndoResult]


def changes_of(results: Iterable[UndoResult]) -> tuple[Change, ...]:
    """Return what *results*, one after the other, did to the folder."""
    return tuple(change for result in results for change in result.changes)
