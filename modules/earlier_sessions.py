"""Earlier sessions of the project, searchable and readable by the model as by the person."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from functools import cache
from typing import TypeGuard

from core.cards import TextCard
from core.conversation.compaction import render_turn
from core.conversation.history import TurnRecord, effective_records
from core.conversation.messages import Record, User
from core.conversation.store import Store
from core.feature import Feature, Section, SessionHandle
from core.hooks import BindsToSession, ProvidesContext
from core.tools import Outcome, ToolError
from utils.i18n import UserError, phrase
from utils.text.lines import parse_number

ADDRESS = "@sessions"
_MOST_MATCHES = 20
_MOST_SESSIONS = 50
_MAX_READ = 2_000  # characters of a message: what was pasted speaks of nothing
_HINT = (
    f'Earlier sessions of this project: searching a text with path "{ADDRESS}" finds what was said '
    f'in them, reading "{ADDRESS}" lists them.'
)


class EarlierSessions(Feature, BindsToSession, ProvidesContext):
    """All sessions of *store* at `@sessions`, and their turns at `@sessions/ID/N`.

    The model is told of it once the person speaks of something earlier.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._session_handle: SessionHandle | None = None
        self._read_of = ""
        self._read_records = 0
        self._hint = ""

    def bind(self, session_handle: SessionHandle) -> None:
        self._session_handle = session_handle

    def context(self) -> Iterable[Section]:
        handle = self._session_handle
        if handle is None:
            return []
        records = handle.history.records
        if self._read_of != handle.session or len(records) < self._read_records:
            self._read_of, self._read_records, self._hint = handle.session, 0, ""
        said = (one.text for _, one in records[self._read_records :] if _is_readable(one))
        if not self._hint and any(map(_speaks_of_earlier, (*said, handle.task))):
            others = [one for one in self._store.sessions(limit=2) if one.id != handle.session]
            self._hint = _HINT if others else ""
        self._read_records = len(records)
        return [Section("earlier sessions", self._hint)]

    def read(self, address: str) -> str:
        """Return the text at *address*. Raises `ToolError` where there is none."""
        if address == ADDRESS:
            return "".join(
                f"{ADDRESS}/{one.id}: {_day(one.updated)}, turns: {one.turns}, {one.title}\n"
                for one in self._store.sessions(_MOST_SESSIONS)
            )
        _, _, rest = address.partition("/")
        id_prefix, _, number = rest.partition("/")
        session, turns = self._turns(id_prefix)
        if not number:
            return "".join(f"{ADDRESS}/{session}/{turn}: {_title(turns[turn])}\n" for turn in turns)
        if (turn := parse_number(number)) not in turns:
            turns_at = f"{ADDRESS}/{session}"
            raise ToolError(
                phrase("{address!r} is no turn; {list} lists them.", address=address, list=turns_at)
            )
        return render_turn(turns[turn])

    def search(self, pattern: str) -> Outcome:
        """Return where *pattern* was said in other sessions, newest first, with its address."""
        own = self._session_handle.session if self._session_handle else ""
        lines = [
            f"{ADDRESS}/{match.session}/{match.turn} ({_day(match.when)}): {match.snippet}"
            for match in self._store.search(pattern, _MOST_MATCHES)
            if match.session != own and self._may_read(match.session, match.turn, pattern)
        ]
        text = "\n".join(lines) or "Nothing in earlier sessions contains this text."
        return Outcome(text, TextCard(phrase("Earlier sessions"), text))

    def _turns(self, id_prefix: str) -> tuple[str, dict[int, list[TurnRecord]]]:
        """Return the session and its turns that stand, as far as the model may read them."""
        try:
            session = self._store.find(id_prefix)
            records = effective_records(self._store.load(session))
        except UserError as error:
            raise ToolError(error.message) from None
        turns: dict[int, list[TurnRecord]] = {}
        for one in records:
            turns.setdefault(one[0], []).append(one)
        return session, {turn: of_turn for turn, of_turn in turns.items() if _title(of_turn)}

    def _may_read(self, session: str, turn: int, pattern: str) -> bool:
        """Return whether the model may read what was found: not what the person kept private."""
        _, turns = self._turns(session)
        return turn in turns and pattern.casefold() in render_turn(turns[turn]).casefold()


def _speaks_of_earlier(text: str) -> bool:
    return _earlier_pattern().search(text[:_MAX_READ]) is not None


def _is_readable(record: Record) -> TypeGuard[User]:
    """Return whether *record* is of the person, for the model to read."""
    return isinstance(record, User) and not record.is_private


def _title(turn: Iterable[TurnRecord]) -> str:
    said = (one.text for _, one in turn if _is_readable(one))
    return " ".join(next(said, "").split())[:100]


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().date().isoformat()


@cache
def _earlier_pattern() -> re.Pattern[str]:
    """Return the words that speak of something earlier; compiled for the first message."""
    return re.compile(
        r"\b(?:last (?:time|session|week|month)|yesterday|the other day"
        r"|(?:earlier|previous|other|past) (?:session|conversation|chat|task)s?"
        r"|(?:did|have|had) we (?:decide|agree|discuss|talk|sa[iy]d?|do|done|choose|chosen)\w*"
        r"|we (?:decided|agreed|discussed|talked|said|chose|tried))\b"
        r"|上次|上一次|昨天|前天|上周|上个月|之前的(?:会话|对话|任务)|以前(?:的|我们|说|讨论)"
        r"|我们(?:之前|以前|曾经|当时|说过|讨论过|决定过|约定过)",
        re.IGNORECASE,
    )
