"""What calls changed beside the files, notes, focus, todos and memory, and how that is undone.

The records of the session tell it: a call that changes one of these is followed by a `StateRecord`
with its new value, before its answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from core.conversation.history import History
from core.conversation.messages import Assistant, StateRecord, ToolResult, User
from core.feature import SessionHandle
from core.tools import ToolSpec
from utils.i18n import Phrase

_UNDONE = "beside_undone"
"""The `StateRecord` of what was taken back: {"key": …, "calls": [[turn, call id], …]}."""
_REDONE = "beside_redone"
"""The `StateRecord` that takes back the newest one of the key that is its value."""


@dataclass(frozen=True, slots=True)
class StateChange:
    """A call made the state *name* from *before* to *after*; *place* is that of its answer."""

    turn: int
    call_id: str
    place: int
    name: str
    before: Any
    after: Any


class Reversible(Protocol):
    """A family with a state that calls change."""

    def take_back(self, before: Any, after: Any) -> Sequence[Phrase]:
        """Take back what made *after* of *before* (values of its state, None where there was none).

        What else became of it since stays. Returns what was done, for people.
        """


class StateUndo:
    """Takes back what calls of the session of a talk did to the states of *families*, by name."""

    def __init__(self, families: Mapping[str, Reversible]) -> None:
        self._families = families
        self._talk: SessionHandle | None = None

    def meet(self, talk: SessionHandle) -> None:
        self._talk = talk

    def standing(self) -> list[StateChange]:
        """Return what calls did that was not taken back, in order."""
        if self._talk is None:
            return []
        gone = {tuple(call) for shift in self._undone() for call in shift["calls"]}
        return [did for did in self._dids(self._talk) if (did.turn, did.call_id) not in gone]

    def meant(
        self, what: Literal["turn", "call"], number: int, calls: Sequence[tuple[int, str]]
    ) -> tuple[list[StateChange], bool]:
        """Return what of it `/undo` means, and whether it means changes of files (as well).

        *calls* are the turn and the id of each call that changed files and stands; *what* and
        *number* are as in `Asked`.
        """
        standing = self.standing()
        if what == "turn":
            turns = [*(did.turn for did in standing), *(turn for turn, _ in calls)]
            last = number or max(turns, default=0)
            found = [did for did in standing if did.turn == last]
            return found, not found or any(turn == last for turn, _ in calls)
        if number or not standing:
            return [], True
        newest = standing[-1]
        turn, call_id = calls[-1] if calls else (0, "")
        if (turn, self._place_of(turn, call_id)) > (newest.turn, newest.place):
            return [], True
        return [newest], False

    def _place_of(self, turn: int, call_id: str) -> int:
        """Return where the answer of a call is among the records, -1 where it is not."""
        records = self._talk.history.records if self._talk is not None else ()
        for place in range(len(records) - 1, -1, -1):
            number, record = records[place]
            if number == turn and isinstance(record, ToolResult) and record.call_id == call_id:
                return place
        return -1

    def named(self, calls: Iterable[Sequence[Any]]) -> list[StateChange]:
        """Return what the *calls*, each its turn and its id, did to it."""
        if self._talk is None:
            return []
        wanted = set(map(tuple, calls))
        return [did for did in self._dids(self._talk) if (did.turn, did.call_id) in wanted]

    def take_back(self, what: Sequence[StateChange], key: int) -> list[Phrase]:
        """Take *what* back, the last first, as a part of the undo *key*; say what was done.

        Done again after a kill, it does only the rest.
        """
        if not what or self._talk is None or any(shift["key"] == key for shift in self._undone()):
            return []
        said = [word for did in reversed(what) for word in self._apply(did, did.before, did.after)]
        calls = [[did.turn, did.call_id] for did in what]
        self._talk.save_state()  # what is noted as done is done, whenever we are killed
        self._talk.history.append(StateRecord(_UNDONE, {"key": key, "calls": calls}))
        return said

    def bring_again(self, key: int) -> list[Phrase]:
        """Undo the part that the undo *key* has here; say what was done. As above after a kill."""
        found = [shift for shift in self._undone() if shift["key"] == key]
        if not found or self._talk is None:
            return []
        said = [
            word
            for did in self.named(found[-1]["calls"])
            for word in self._apply(did, did.after, did.before)
        ]
        self._talk.save_state()
        self._talk.history.append(StateRecord(_REDONE, key))
        return said

    def _dids(self, talk: SessionHandle) -> list[StateChange]:
        return dids(talk.history, talk.tools.specs)

    def _apply(self, did: StateChange, before: Any, after: Any) -> Iterable[Phrase]:
        return self._families[did.name].take_back(before, after)

    def _undone(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        records = self._talk.history.records if self._talk is not None else ()
        for _, record in records:
            match record:
                case StateRecord(name, value) if name == _UNDONE:
                    found.append(value)
                case StateRecord(name, key) if name == _REDONE:
                    found = [shift for shift in found if shift["key"] != key]
        return found


def dids(history: History, specs: Mapping[str, ToolSpec]) -> list[StateChange]:
    """Return what the calls of a session did to the states that they are there to change.

    *specs* says by the names of the tools which states those are.
    """
    state: dict[str, Any] = {}
    changed: dict[str, Any] = {}
    found: list[StateChange] = []
    for place, (turn, record) in enumerate(history.records):
        match record:
            case StateRecord(name, value):
                changed.setdefault(name, state.get(name))
                state[name] = value
            case ToolResult(call_id=call_id, name=tool):
                name = specs[tool].state if tool in specs else ""
                if name in changed:
                    found.append(
                        StateChange(turn, call_id, place, name, changed[name], state[name])
                    )
                changed.clear()
            case User() | Assistant():
                changed.clear()
    return found
