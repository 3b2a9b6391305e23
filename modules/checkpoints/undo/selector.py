"""What `/undo` and `/redo` are asked for: the last turn or call, or one by its number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from modules.checkpoints.store.index import CallRecord
from utils.i18n import Phrase, UserError, phrase
from utils.text.lines import read_number


@dataclass(frozen=True, slots=True)
class UndoSelector:
    """A turn, or a call by its number in the session; 0 is the last."""

    what: Literal["turn", "call"] = "turn"
    number: int = 0

    @classmethod
    def read(cls, command: str, rest: str) -> UndoSelector:
        """Return what the words after *command* mean. Raises `UserError`."""
        match rest.split():
            case []:
                return cls()
            case ["turn" | "call" as what]:
                return cls(what)
            case ["turn" | "call" as what, number] if place := read_number(number):
                return cls(what, place)
            case _:
                raise UserError(
                    phrase(
                        "Say {command}, or with a number: {command} turn 3, {command} call 5; "
                        "/undo list shows the numbers.",
                        command=command,
                    )
                )

    def to_undo(self, calls: Sequence[CallRecord]) -> list[CallRecord]:
        """Return those of a session's *calls* that are to be taken back. Raises `UserError`."""
        seen = [call for call in calls if call.can_be_seen]
        standing = [call for call in seen if not call.is_undone]
        if not seen:
            raise UserError(_NOTHING)
        if not standing:
            raise UserError(_ALL_UNDONE)
        meant = self._of(standing)
        if not meant:
            self._refuse(seen, is_undone=True)
        if self.what == "call":
            return meant[-1:]
        # A call that did nothing to be told of goes with its turn.
        turn = meant[-1].turn
        return [c for c in calls if c.turn == turn and c.after is not None and not c.is_undone]

    def has_left(self, calls: Sequence[CallRecord]) -> bool:
        """Return whether anything stands of what it means by a number."""
        standing = [call for call in calls if call.can_be_seen and not call.is_undone]
        return bool(self.number and self._of(standing))

    def to_redo(self, calls: Sequence[CallRecord]) -> list[CallRecord]:
        """Return those of *calls* that are to be brought again. Raises `UserError`."""
        seen = [call for call in calls if call.can_be_seen]
        meant = self._of([call for call in seen if call.is_undone])
        if not meant:
            self._refuse(seen, is_undone=False)
        if self.what == "call":
            return meant[-1:]
        turn = meant[-1].turn
        return [c for c in calls if c.turn == turn and c.after is not None and c.is_undone]

    def done(self, calls: Sequence[CallRecord]) -> str:
        """Return what *calls* are, for the model."""
        one = "one call of " if self.what == "call" else ""
        return f"what {one}turn {calls[-1].turn} did to files"

    def title(self, calls: Sequence[CallRecord]) -> Phrase:
        last = calls[-1]
        if self.what == "call":
            return phrase(
                "Took back call {number} (turn {turn}); /redo brings it again",
                number=last.number,
                turn=last.turn,
            )
        return phrase(
            "Took back the changes of turn {turn}; /redo brings them again", turn=last.turn
        )

    def title_again(self, calls: Sequence[CallRecord]) -> Phrase:
        last = calls[-1]
        if self.what == "call":
            return phrase(
                "What call {number} (turn {turn}) did is there again",
                number=last.number,
                turn=last.turn,
            )
        return phrase("What turn {turn} did is there again", turn=last.turn)

    def _of(self, calls: Sequence[CallRecord]) -> list[CallRecord]:
        if not self.number:
            return list(calls)
        is_turn = self.what == "turn"
        return [c for c in calls if (c.turn if is_turn else c.number) == self.number]

    def _refuse(self, seen: Sequence[CallRecord], *, is_undone: bool) -> None:
        """Say why there is nothing of that number that is not, or is, undone."""
        if not self.number:
            raise UserError(phrase("Nothing is taken back, so there is nothing to bring again."))
        match self.what, bool(self._of(seen)), is_undone:
            case "turn", False, _:
                why = phrase("Turn {number} changed no file.", number=self.number)
            case "call", False, _:
                why = phrase(
                    "There is no call {number} that changed a file; /undo list shows them.",
                    number=self.number,
                )
            case what, True, True:
                why = phrase(
                    "It is taken back already; /redo {what} {number} brings it again.",
                    what=what,
                    number=self.number,
                )
            case _:
                why = phrase("It is not taken back, so there is nothing to bring again.")
        raise UserError(why)


_NOTHING = phrase("There is nothing to undo in this session; /sessions lists the others.")
_ALL_UNDONE = phrase(
    "There is nothing to undo any more: all of it is taken back; /redo brings it again."
)
