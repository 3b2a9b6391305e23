"""Selector of what `/undo` and `/redo` apply to: the last turn or call, or one by its number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from utils.i18n import Phrase, UserError, phrase
from utils.text.lines import parse_number

if TYPE_CHECKING:
    from modules.checkpoints.store.index import CallRecord


@dataclass(frozen=True, slots=True)
class UndoSelector:
    """A turn, or a call by its number in the session; 0 is the last."""

    unit: Literal["turn", "call"] = "turn"
    number: int = 0

    @classmethod
    def parse(cls, command: str, argument: str) -> UndoSelector:
        """Return what the words after *command* mean. Raises `UserError`."""
        match argument.split():
            case []:
                return cls()
            case ["turn" | "call" as unit]:
                return cls(unit)
            case ["turn" | "call" as unit, number] if number_read := parse_number(number):
                return cls(unit, number_read)
            case _:
                raise UserError(
                    phrase(
                        "Usage: {command}, {command} turn 3 or {command} call 5. /undo list "
                        "shows the numbers.",
                        command=command,
                    )
                )

    def to_undo(self, calls: Sequence[CallRecord]) -> list[CallRecord]:
        """Return those of a session's *calls* that are to be taken back. Raises `UserError`."""
        changing = [call for call in calls if call.has_visible_changes]
        not_undone = [call for call in changing if not call.is_undone]
        if not changing:
            raise UserError(_NOTHING)
        if not not_undone:
            raise UserError(_ALL_UNDONE)
        selected = self._matching(not_undone)
        if self.unit == "turn":
            selected = [call for call in selected if not call.is_between_turns]
        if not selected:
            self._raise_none_matching(changing, is_undone=True)
        if self.unit == "call":
            return selected[-1:]
        # A call that did nothing to be told of goes with its turn.
        turn = selected[-1].turn
        return [
            c
            for c in calls
            if c.turn == turn and c.after is not None and not c.is_undone and not c.is_between_turns
        ]

    def has_undoable(self, calls: Sequence[CallRecord]) -> bool:
        """Return whether anything stands of what it means by a number."""
        not_undone = [call for call in calls if call.has_visible_changes and not call.is_undone]
        return bool(self.number and self._matching(not_undone))

    def to_redo(self, calls: Sequence[CallRecord]) -> list[CallRecord]:
        """Return those of *calls* that are to be brought again. Raises `UserError`."""
        changing = [call for call in calls if call.has_visible_changes]
        selected = self._matching([call for call in changing if call.is_undone])
        if not selected:
            self._raise_none_matching(changing, is_undone=False)
        if self.unit == "call":
            return selected[-1:]
        turn = selected[-1].turn
        return [c for c in calls if c.turn == turn and c.after is not None and c.is_undone]

    def description(self, calls: Sequence[CallRecord]) -> str:
        """Return what *calls* are, for the model."""
        one = "one call of " if self.unit == "call" else ""
        return f"what {one}turn {calls[-1].turn} did to files"

    def undo_title(self, calls: Sequence[CallRecord]) -> Phrase:
        last = calls[-1]
        if last.background and self.unit == "call":
            return phrase(
                "Undid {who} (number {number}); /redo restores it",
                who=last.background,
                number=last.number,
            )
        if self.unit == "call":
            return phrase(
                "Undid call {number} (turn {turn}); /redo restores it",
                number=last.number,
                turn=last.turn,
            )
        return phrase("Undid the changes of turn {turn}; /redo restores them", turn=last.turn)

    def redo_title(self, calls: Sequence[CallRecord]) -> Phrase:
        last = calls[-1]
        if self.unit == "call":
            return phrase(
                "Restored call {number} (turn {turn})",
                number=last.number,
                turn=last.turn,
            )
        return phrase("Restored turn {turn}", turn=last.turn)

    def _matching(self, calls: Sequence[CallRecord]) -> list[CallRecord]:
        if not self.number:
            return list(calls)
        is_turn = self.unit == "turn"
        return [c for c in calls if (c.turn if is_turn else c.number) == self.number]

    def _raise_none_matching(self, changing: Sequence[CallRecord], *, is_undone: bool) -> None:
        """Say why there is nothing of that number that is not, or is, undone."""
        if not self.number:
            raise UserError(phrase("Nothing to redo."))
        match self.unit, bool(self._matching(changing)), is_undone:
            case "turn", False, _:
                reason = phrase("Turn {number} changed no file.", number=self.number)
            case "call", False, _:
                reason = phrase(
                    "No call {number} changed a file. /undo list shows the calls that did.",
                    number=self.number,
                )
            case unit, True, True:
                reason = phrase(
                    "Already undone; /redo {what} {number} restores it.",
                    what=unit,
                    number=self.number,
                )
            case _:
                reason = phrase("Nothing to redo: it was not undone.")
        raise UserError(reason)


_NOTHING = phrase("Nothing to undo in this session. /sessions lists the others.")
_ALL_UNDONE = phrase("Nothing left to undo; /redo restores what was undone.")
