"""Undo of what calls changed beside the files: notes, focus, todos and memory.

The records of the session tell it: a call that changes one of these is followed by a `StateRecord`
with its new value, before its answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol

from core.conversation.history import History
from core.conversation.messages import Assistant, StateRecord, ToolResult, User
from core.feature import SessionHandle
from core.tool_spec import ToolSpec
from utils.frozen import frozen
from utils.i18n import Phrase

_UNDONE = "beside_undone"
"""The `StateRecord` of what was taken back: {"key": …, "calls": [[turn, call id], …]}."""
_REDONE = "beside_redone"
"""The `StateRecord` that takes back the newest one of the key that is its value."""


@frozen
class StateChange:
    """Change of the state *name* by a call; *position* is that of its answer in the history."""

    turn: int
    call_id: str
    position: int
    name: str
    before: Any
    after: Any


class Reversible(Protocol):
    """Feature with a state that calls change."""

    def undo_change(self, before: Any, after: Any) -> Sequence[Phrase]:
        """Take back what made *after* of *before* (values of its state, None where there was none).

        What else became of it since stays. Returns what was done, for people.
        """


class StateUndo:
    """Undo of what the calls of a session did to the states of *features*, by name."""

    def __init__(self, features: Mapping[str, Reversible]) -> None:
        self._features = features
        self._session_handle: SessionHandle | None = None

    def bind(self, session_handle: SessionHandle) -> None:
        self._session_handle = session_handle

    def not_undone(self) -> list[StateChange]:
        """Return the changes that were not undone, in order."""
        if self._session_handle is None:
            return []
        undone_calls = {
            tuple(call) for record in self._undone_records() for call in record["calls"]
        }
        return [
            change
            for change in self._state_changes(self._session_handle)
            if (change.turn, change.call_id) not in undone_calls
        ]

    def select(
        self, unit: Literal["turn", "call"], number: int, calls: Sequence[tuple[int, str]]
    ) -> tuple[list[StateChange], bool]:
        """Return those that `/undo` means, and whether it means changes of files (as well).

        *calls* are the turn and the id of each call that changed files and stands; *what* and
        *number* are as in `UndoSelector`.
        """
        not_undone = self.not_undone()
        if unit == "turn":
            turns = [*(change.turn for change in not_undone), *(turn for turn, _ in calls)]
            last = number or max(turns, default=0)
            found = [change for change in not_undone if change.turn == last]
            return found, not found or any(turn == last for turn, _ in calls)
        if number or not not_undone:
            return [], True
        newest = not_undone[-1]
        turn, call_id = calls[-1] if calls else (0, "")
        if (turn, self._position_of(turn, call_id)) > (newest.turn, newest.position):
            return [], True
        return [newest], False

    def _position_of(self, turn: int, call_id: str) -> int:
        """Return where the answer of a call is among the records, -1 where it is not."""
        records = self._session_handle.history.records if self._session_handle is not None else ()
        for position in range(len(records) - 1, -1, -1):
            number, record = records[position]
            if number == turn and isinstance(record, ToolResult) and record.call_id == call_id:
                return position
        return -1

    def changes_of(self, calls: Iterable[Sequence[Any]]) -> list[StateChange]:
        """Return what the *calls*, each its turn and its id, did to it."""
        if self._session_handle is None:
            return []
        wanted = set(map(tuple, calls))
        return [
            change
            for change in self._state_changes(self._session_handle)
            if (change.turn, change.call_id) in wanted
        ]

    def undo(self, changes: Sequence[StateChange], key: int) -> list[Phrase]:
        """Undo *changes*, the last first, as a part of the undo *key*; return what was done.

        Done again after a kill, it does only the rest.
        """
        if (
            not changes
            or self._session_handle is None
            or any(record["key"] == key for record in self._undone_records())
        ):
            return []
        descriptions = [
            description
            for change in reversed(changes)
            for description in self._apply(change, change.before, change.after)
        ]
        calls = [[change.turn, change.call_id] for change in changes]
        self._session_handle.save_state()  # what is noted as done is done, whenever we are killed
        self._session_handle.history.append(StateRecord(_UNDONE, {"key": key, "calls": calls}))
        return descriptions

    def redo(self, key: int) -> list[Phrase]:
        """Redo the part of the undo *key* here; return what was done. As above after a kill."""
        found = [record for record in self._undone_records() if record["key"] == key]
        if not found or self._session_handle is None:
            return []
        descriptions = [
            description
            for change in self.changes_of(found[-1]["calls"])
            for description in self._apply(change, change.after, change.before)
        ]
        self._session_handle.save_state()
        self._session_handle.history.append(StateRecord(_REDONE, key))
        return descriptions

    def _state_changes(self, session: SessionHandle) -> list[StateChange]:
        return state_changes(session.history, session.tools.specs)

    def _apply(self, change: StateChange, before: Any, after: Any) -> Iterable[Phrase]:
        return self._features[change.name].undo_change(before, after)

    def _undone_records(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        records = self._session_handle.history.records if self._session_handle is not None else ()
        for _, record in records:
            match record:
                case StateRecord(name, value) if name == _UNDONE:
                    found.append(value)
                case StateRecord(name, key) if name == _REDONE:
                    found = [undone for undone in found if undone["key"] != key]
        return found


def state_changes(history: History, specs: Mapping[str, ToolSpec]) -> list[StateChange]:
    """Return what the calls of a session did to the states that they are there to change.

    *specs* says by the names of the tools which states those are.
    """
    state: dict[str, Any] = {}
    changed: dict[str, Any] = {}
    found: list[StateChange] = []
    for position, (turn, record) in enumerate(history.records):
        match record:
            case StateRecord(name, value):
                changed.setdefault(name, state.get(name))
                state[name] = value
            case ToolResult(call_id=call_id, name=tool):
                name = specs[tool].state if tool in specs else ""
                if name in changed:
                    found.append(
                        StateChange(turn, call_id, position, name, changed[name], state[name])
                    )
                changed.clear()
            case User() | Assistant():
                changed.clear()
    return found
