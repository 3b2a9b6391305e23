"""Going on in a new file with what a broken one still holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.conversation.messages import StateRecord
from core.conversation.store import SessionInfo
from modules.sessions.rows import count_turns, insert_event, insert_session, loaded
from modules.storage.page_reader import Buffer, rows
from modules.storage.sqlite_recovery import RenewableDatabase
from utils.i18n import Phrase, UserError, phrase

if TYPE_CHECKING:
    from sqlite3 import Connection


@dataclass(frozen=True, slots=True)
class SavedEvent:
    """A row of the table `event`."""

    session: str
    seq: int
    when: float
    turn: int
    kind: str
    data: str


def rescue(database: RenewableDatabase) -> Phrase | None:
    """Begin a new file with what can be read of a broken one; None when it is not broken.

    The broken file is kept beside it, as it is. Returns what to tell the person.
    """
    count = lost = 0

    def fill(connection: Connection, data: Buffer, log: Buffer) -> None:
        nonlocal count, lost
        sessions, events = sessions_in(data, log)
        count, lost = len(sessions.keys() | events.keys()), 0
        for name in sorted(sessions.keys() | events.keys()):
            saved = sessions.get(name) or _unknown(name, events[name])
            lost += _put_back(connection, saved, events.get(name, {}))

    aside = database.renew(fill)
    if aside is None:
        return None
    return phrase(
        "The file of the sessions was damaged; it is kept as {path}. Sessions saved: "
        "{count}; records of them that are lost: {lost}.",
        path=str(aside),
        count=count,
        lost=lost,
    )


def _put_back(connection: Connection, info: SessionInfo, events: Mapping[int, SavedEvent]) -> int:
    """Write what was saved of a session, and how much of it is missing; return that."""
    insert_session(connection, info)
    newest, last, missing = max(events, default=0), 0, max(events, default=0)
    for seq, event in sorted(events.items()):
        try:
            record = loaded(event.data, info.id)
        except (UserError, LookupError, AttributeError, RecursionError):
            continue
        if record.kind == event.kind:
            insert_event(connection, info.id, seq, event.when, event.turn, record)
            last, missing = max(last, event.turn), missing - 1
    incident = StateRecord("incident", {"lost": missing, "mended": 0})
    insert_event(connection, info.id, newest + 1, info.updated, last, incident)
    count_turns(connection, info.id)
    return missing


def sessions_in(
    data: Buffer, log: Buffer
) -> tuple[dict[str, SessionInfo], dict[str, dict[int, SavedEvent]]]:
    """Return the sessions by id, and the events of each by their number in it."""
    sessions: dict[str, SessionInfo] = {}
    events: dict[str, dict[int, SavedEvent]] = {}
    for _, columns in rows(data, log):
        match columns:
            case [None, str(session), int(seq), int() | float() as when, int(turn), str(kind),
                  str(text)] if kind in _KINDS:  # fmt: skip
                event = SavedEvent(session, seq, float(when), turn, kind, text)
                events.setdefault(session, {})[seq] = event
            case [str(name), str(title), str(model), str(parent), int() | float() as created,
                  int() | float() as updated, int(), *rest]:  # fmt: skip
                # A file that was older once has rows without the newer columns.
                sessions[name] = SessionInfo(
                    name, title, model, float(created), float(updated), 0, parent, rest == [1]
                )
    return sessions, events


_KINDS = frozenset({"user", "assistant", "tool", "context", "shift"})


def _unknown(name: str, events: dict[int, SavedEvent]) -> SessionInfo:
    """Return what stands for a session whose own row is lost; it has at least one event."""
    times = [event.when for event in events.values()]
    return SessionInfo(name, "", "", min(times), max(times), 0)
