"""Recovery of sessions from a damaged file into a new one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.conversation.messages import StateRecord
from core.conversation.store import SessionInfo
from modules.sessions.rows import insert_event, insert_session, load_record, load_tags
from modules.sessions.schema import sum_up
from modules.storage.page_reader import Buffer, read_rows
from modules.storage.sqlite_recovery import RecoverableDatabase
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


def recover(database: RecoverableDatabase) -> Phrase | None:
    """Rebuild a damaged file from its readable rows; return None when it is not damaged.

    The broken file is kept beside it, as it is. Returns what to tell the person.
    """
    session_count = lost_count = 0

    def fill(connection: Connection, data: Buffer, log: Buffer) -> None:
        nonlocal session_count, lost_count
        sessions, events = sessions_in(data, log)
        session_count, lost_count = len(sessions.keys() | events.keys()), 0
        for name in sorted(sessions.keys() | events.keys()):
            saved = sessions.get(name) or _placeholder_info(name, events[name])
            lost_count += _restore_session(connection, saved, events.get(name, {}))

    damaged_path = database.rebuild(fill)
    if damaged_path is None:
        return None
    return phrase(
        "The session file was damaged and was saved as {path}. Sessions recovered: "
        "{count:,}; records lost: {lost:,}.",
        path=str(damaged_path),
        count=session_count,
        lost=lost_count,
    )


def _restore_session(
    connection: Connection, info: SessionInfo, events: Mapping[int, SavedEvent]
) -> int:
    """Write what was saved of a session, and how much of it is missing; return that."""
    insert_session(connection, info)
    newest, last, missing = max(events, default=0), 0, max(events, default=0)
    for seq, event in sorted(events.items()):
        try:
            record = load_record(event.data, info.id)
        except (UserError, LookupError, AttributeError, RecursionError):
            continue
        if record.kind == event.kind:
            insert_event(connection, info.id, seq, event.when, event.turn, record)
            last, missing = max(last, event.turn), missing - 1
    incident = StateRecord("incident", {"lost": missing, "mended": 0})
    insert_event(connection, info.id, newest + 1, info.updated, last, incident)
    sum_up(connection, info.id)
    return missing


def sessions_in(
    data: Buffer, log: Buffer
) -> tuple[dict[str, SessionInfo], dict[str, dict[int, SavedEvent]]]:
    """Return the sessions by id, and the events of each by their number in it."""
    sessions: dict[str, SessionInfo] = {}
    events: dict[str, dict[int, SavedEvent]] = {}
    for _, columns in read_rows(data, log):
        match columns:
            case [None, str(session), int(seq), int() | float() as when, int(turn), str(kind),
                  str(text)] if kind in _RECORD_KINDS:  # fmt: skip
                event = SavedEvent(session, seq, float(when), turn, kind, text)
                events.setdefault(session, {})[seq] = event
            case [str(name), str(title), str(model), str(parent), int() | float() as created,
                  int() | float() as updated, int(), *rest]:  # fmt: skip
                # A file that was older once has rows without the newer columns.
                sessions[name] = SessionInfo(
                    *(name, title, model, float(created), float(updated), 0, parent),
                    *_marks([*rest, *_NO_MARKS[len(rest) :]]),
                )
    return sessions, events


_NO_MARKS = (0, 0, "[]", 0)
"""What the newer columns hold of a session of which nobody said anything."""


def _marks(columns: list[object]) -> tuple[bool, bool, tuple[str, ...], bool]:
    """Return whether a session is archived, pinned, its tags, and whether it is unread."""
    archived, pinned, tags, unread, *_ = columns
    return archived == 1, pinned == 1, load_tags(tags), unread == 1


_RECORD_KINDS = frozenset({"user", "assistant", "tool", "context", "shift"})


def _placeholder_info(name: str, events: dict[int, SavedEvent]) -> SessionInfo:
    """Return a placeholder for a session whose own row is lost; it has at least one event."""
    times = [event.when for event in events.values()]
    return SessionInfo(name, "", "", min(times), max(times), 0)
