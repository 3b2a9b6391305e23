"""Matching answers to calls, where ids lack, repeat or stand in the wrong place."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from core.conversation.messages import User
from modules.import_history.old_messages import (
    Entry,
    Note,
    OldAnswer,
    OldCall,
    OldReply,
    Repair,
    Said,
)


def match(entries: Sequence[Entry], note: Note) -> set[int]:
    """Give every answer to its call; return the numbers of the answers that have none."""
    finder = _Finder(entries)
    orphans: set[int] = set()
    for place, entry in enumerate(entries):
        if not isinstance(entry, OldAnswer):
            continue
        call = finder.by_id(place, entry)
        if call is None and (call := finder.by_place(place, entry)):
            note(Repair.ANSWER_ID, entry.number)
        if call is None:
            note(Repair.ORPHAN, entry.number)
            orphans.add(entry.number)
            continue
        call.answer = entry
        if not finder.is_right_behind(place, call):
            note(Repair.ANSWER_PLACE, entry.number)
    return orphans


class _Finder:
    """Finds the open call that an answer at a place among *entries* belongs to."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries
        self._answered = {entry.id for entry in entries if isinstance(entry, OldAnswer)}
        self._by_id: dict[str, list[tuple[int, OldCall]]] = {}
        self._turns = list(accumulate(map(_is_said, entries)))
        for place, entry in enumerate(entries):
            for call in _calls(entry):
                if call.id is not None:
                    self._by_id.setdefault(call.id, []).append((place, call))

    def by_id(self, place: int, answer: OldAnswer) -> OldCall | None:
        """Return the nearest open call before *place* with the answer's id, or one soon after."""
        known = self._by_id.get(answer.id or "", ())
        free = [(at, call) for at, call in known if call.answer is None]
        before = [call for at, call in free if at < place]
        turn = self._turns[place]
        behind = [call for at, call in free if at > place and self._turns[at] == turn]
        return before[-1] if before else behind[0] if behind else None

    def by_place(self, place: int, answer: OldAnswer) -> OldCall | None:
        """Return the first open call of the nearest reply that no other answer names."""
        for at in range(place - 1, -1, -1):
            if _is_said(self._entries[at]):
                return None
            for call in _calls(self._entries[at]):
                is_free = call.answer is None and (call.id is None or call.id not in self._answered)
                if is_free and answer.name in ("", call.raw.name):
                    return call
        return None

    def is_right_behind(self, place: int, call: OldCall) -> bool:
        """Return whether nothing but answers is between *call* and the entry at *place*."""
        while place and isinstance(self._entries[place - 1], OldAnswer):
            place -= 1
        return bool(place) and call in _calls(self._entries[place - 1])


def _is_said(entry: Entry) -> bool:
    return isinstance(entry, Said) and isinstance(entry.record, User)


def _calls(entry: Entry) -> Sequence[OldCall]:
    return entry.calls if isinstance(entry, OldReply) else ()
