"""Records as rows of the tables: their JSON, the text for search, the titles of sessions."""

from __future__ import annotations

import json
import re
from collections.abc import Container
from itertools import count
from typing import TYPE_CHECKING

from core.conversation.history import QUEUE, REWIND_UNDONE, REWOUND
from core.conversation.messages import (
    Assistant,
    Context,
    Record,
    ShellResult,
    StateRecord,
    ToolResult,
    User,
)
from core.conversation.store import SessionInfo
from utils.i18n import UserError, phrase
from utils.text.codec import from_plain, to_plain

if TYPE_CHECKING:
    from sqlite3 import Connection


def insert_session(connection: Connection, info: SessionInfo) -> None:
    """Add the session, unless another thread has just done so."""
    connection.execute(
        "INSERT OR IGNORE INTO session(id, title, model, parent, created, updated, archived)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (info.id, info.title, info.model, info.parent, info.created, info.updated, info.archived),
    )


def insert_event(
    connection: Connection, session: str, seq: int, when: float, turn: int, record: Record
) -> None:
    """Add *record*, and what a search may find of it. *when* is in seconds since the epoch."""
    row = connection.execute(
        "INSERT INTO event(session, seq, ts, turn, kind, data) VALUES (?, ?, ?, ?, ?, ?)",
        (session, seq, when, turn, record.kind, dump_record(record)),
    ).lastrowid
    if text := searchable_text(record):
        connection.execute("INSERT INTO said VALUES (?, ?)", (row, text))


def next_seq(connection: Connection, session: str) -> int:
    (newest,) = connection.execute(
        "SELECT coalesce(max(seq), 0) FROM event WHERE session = ?", (session,)
    ).fetchone()
    return int(newest) + 1


def count_turns(connection: Connection, session: str) -> None:
    """Set the turns of *session* to what its events say."""
    connection.execute(
        "UPDATE session SET turns = (SELECT count(*) FROM event"
        " WHERE session = ?1 AND kind = 'user') WHERE id = ?1",
        (session,),
    )


def dump_record(record: Record) -> str:
    """Return *record* as JSON that SQLite can hold: a lone surrogate has no UTF-8."""
    plain = to_plain(record)
    text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(plain, separators=(",", ":"))
    return text


def load_record(data: str, session: str) -> Record:
    try:
        record: Record = from_plain(Record, json.loads(data))
    except (ValueError, TypeError) as error:
        raise UserError(
            phrase(
                "Session {session} contains data that this version of Onefold cannot read: "
                "{why}. It may come from a newer version.",
                session=session,
                why=str(error)[:200],
            )
        ) from error
    return record


def searchable_text(record: Record) -> str:
    """Return the text of *record* that a search may find."""
    match record:
        case User() | Assistant() | ToolResult() | ShellResult():
            return single_line(record.text)
        case _:
            return ""


def single_line(text: str) -> str:
    """Return *text* on one line, every run of white space as one blank, fit for SQLite."""
    return " ".join(text.replace("\0", " ").split()).encode("utf-8", "replace").decode()


_ACTIVITY_STATES = frozenset({"ended", REWIND_UNDONE, QUEUE, REWOUND})
"""The names of the `StateRecord`s that somebody brings about by working in a session."""
_FORK_NUMBER = re.compile(r" \(\d{1,6}\)$")


def is_activity(record: Record) -> bool:
    """Return whether *record* tells of work in a session, and not only of what was found there."""
    match record:
        case StateRecord(name):
            return name in _ACTIVITY_STATES
        case _:
            return not isinstance(record, Context)


def fork_title(title: str, existing_titles: Container[str]) -> str:
    """Return the title of a fork of the session *title*: the same, with the next number."""
    base = _FORK_NUMBER.sub("", title)
    return (
        next(name for number in count(2) if (name := f"{base} ({number})") not in existing_titles)
        if base
        else ""
    )


def title_of(record: Record) -> str:
    """Return the first 60 characters of a person's message, on one line."""
    if not isinstance(record, User):
        return ""
    line = searchable_text(record)
    return line if len(line) <= 60 else f"{line[:59]}…"
