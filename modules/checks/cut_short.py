"""Turns that came to no end, so that nothing checked what they did: the next one takes it over."""

from __future__ import annotations

from core.conversation.turn_progress import turn_end_of, turns_backward
from core.events import EndReason
from core.feature import SessionHandle
from modules.checkpoints.late_checkpoints import LateCheckpoints

_BY_OTHERS: frozenset[EndReason] = frozenset({"budget", "error", "interrupted", "step_limit"})
"""Ends that nobody wanted: who stops a task wants nothing more of it."""


def turns_cut_short(session_handle: SessionHandle | None) -> set[int]:
    """Return the turns right before the one that goes on which were cut short, back to an end."""
    found: set[int] = set()
    if session_handle is None:
        return found
    history = session_handle.history
    for turn, records in turns_backward(history.records):
        if turn == history.turn:
            continue
        if turn_end_of(records) not in _BY_OTHERS:
            break
        found.add(turn)
    return found


def unchecked_since(session_handle: SessionHandle | None, checkpoints: LateCheckpoints) -> int:
    """Return the snapshot before what such turns did to the files, 0 for nothing.

    Raises `UserError`.
    """
    if session_handle is None or not (turns := turns_cut_short(session_handle)):
        return 0
    calls = checkpoints.get().index.calls(session_handle.session)
    return next((call.before for call in calls if call.turn in turns), 0)
