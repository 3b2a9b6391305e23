"""Matching of answers to calls, where ids are missing, repeated or misplaced."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from core.conversation.messages import User
from modules.import_history.old_messages import (
    Entry,
    OldCall,
    OldMessage,
    OldReply,
    OldToolResult,
    OnRepair,
    Repair,
)


def match(entries: Sequence[Entry], on_repair: OnRepair) -> set[int]:
    """Give every answer to its call; return the numbers of the answers that have none."""
    finder = _CallFinder(entries)
    orphans: set[int] = set()
    for position, entry in enumerate(entries):
        if not isinstance(entry, OldToolResult):
            continue
        call = finder.by_id(position, entry)
        if call is None and (call := finder.by_position(position, entry)):
            on_repair(Repair.ANSWER_ID, entry.number)
        if call is None:
            on_repair(Repair.ORPHAN, entry.number)
            orphans.add(entry.number)
            continue
        call.answer = entry
        if not finder.follows_directly(position, call):
            on_repair(Repair.ANSWER_PLACE, entry.number)
    return orphans


class _CallFinder:
    """Finds the open call that an answer at a place among *entries* belongs to."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries
        self._answered = {entry.id for entry in entries if isinstance(entry, OldToolResult)}
        self._by_id: dict[str, list[tuple[int, OldCall]]] = {}
        self._turns = list(accumulate(map(_is_user_message, entries)))
        for position, entry in enumerate(entries):
            for call in _calls(entry):
                if call.id is not None:
                    self._by_id.setdefault(call.id, []).append((position, call))

    def by_id(self, position: int, answer: OldToolResult) -> OldCall | None:
        """Return the nearest open call before *position* with the answer's id, or one soon
        after."""
        candidates = self._by_id.get(answer.id or "", ())
        unanswered = [(index, call) for index, call in candidates if call.answer is None]
        earlier = [call for index, call in unanswered if index < position]
        turn = self._turns[position]
        later = [
            call for index, call in unanswered if index > position and self._turns[index] == turn
        ]
        return earlier[-1] if earlier else later[0] if later else None

    def by_position(self, position: int, answer: OldToolResult) -> OldCall | None:
        """Return the first open call of the nearest reply that no other answer names."""
        for index in range(position - 1, -1, -1):
            if _is_user_message(self._entries[index]):
                return None
            for call in _calls(self._entries[index]):
                is_unanswered = call.answer is None and (
                    call.id is None or call.id not in self._answered
                )
                if is_unanswered and answer.name in ("", call.raw.name):
                    return call
        return None

    def follows_directly(self, position: int, call: OldCall) -> bool:
        """Return whether nothing but answers is between *call* and the entry at *position*."""
        while position and isinstance(self._entries[position - 1], OldToolResult):
            position -= 1
        return bool(position) and call in _calls(self._entries[position - 1])


def _is_user_message(entry: Entry) -> bool:
    return isinstance(entry, OldMessage) and isinstance(entry.record, User)


def _calls(entry: Entry) -> Sequence[OldCall]:
    return entry.calls if isinstance(entry, OldReply) else ()
