"""Choosing among sessions by a number, where ids are shown to a person."""

from __future__ import annotations

import time
from collections.abc import Iterable

from core.cards import TableCard
from core.conversation.store import SessionInfo
from utils.i18n import Phrase, Text, UserError, phrase

MAX_OFFERED = 20
"""Sessions to choose from; `/sessions` and `/search` find older ones."""


def turn_count(count: int) -> Phrase:
    """Return *count* turns in words, singular for one."""
    return phrase("1 turn") if count == 1 else phrase("{n:,} turns", n=count)


class SessionChoice:
    """Numbers sessions, and knows which one a number means afterwards."""

    def __init__(self) -> None:
        self._ids: tuple[str, ...] = ()

    def offer(self, sessions: Iterable[SessionInfo], current: str) -> TableCard:
        """Return *sessions* with a number each, but the one that is *current*.

        Raises `UserError` when there is no other.
        """
        others = [info for info in sessions if info.id != current][:MAX_OFFERED]
        if not others:
            raise UserError(phrase("No other sessions in this project."))
        self._ids = tuple(info.id for info in others)
        rows = tuple(
            (
                str(n),
                format_time(info.updated),
                turn_count(info.turns),
                info.title,
                info.id,
            )
            for n, info in enumerate(others, start=1)
        )
        return TableCard(phrase("Which one? Type /resume and its number."), rows)

    def id_of(self, choice: str) -> str:
        """Return the id of the session that was offered as *choice*; what is no number as it is.

        Raises `UserError` for a number that was not offered.
        """
        if not (self._ids and choice.isdecimal() and len(choice) <= 2):
            return choice
        if not 0 < int(choice) <= len(self._ids):
            raise UserError(
                phrase("Enter a number from 1 to {last}: /resume 1", last=len(self._ids))
            )
        return self._ids[int(choice) - 1]


def marks_of(info: SessionInfo) -> tuple[Text, str]:
    """Return whether a session is pinned or unread, and its tags; each "" where there is none."""
    tags = " ".join(f"#{tag}" for tag in info.tags)
    match info.pinned, info.unread:
        case True, True:
            return phrase("pinned, unread"), tags
        case True, False:
            return phrase("pinned"), tags
        case False, True:
            return phrase("unread"), tags
        case _:
            return "", tags


def format_time(seconds: float) -> str:
    """Return a moment as people write it, to the minute."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
