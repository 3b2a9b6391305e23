"""Records as rows of the tables: their JSON, the text for search, the titles of sessions."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable
from itertools import count
from typing import TYPE_CHECKING, Any

from core.conversation.history import QUEUE, REWIND_UNDONE, REWOUND, usage_in
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
        "INSERT OR IGNORE INTO session(id, title, model, parent, created, updated, archived,"
        " pinned, tags, unread) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(info.id, info.title, info.model, info.parent, info.created, info.updated),
            *(info.archived, info.pinned, dump_tags(info.tags), info.unread),
        ),
    )


_LAST_WORDS = 160  # characters
MAX_TAGS = 12
"""Tags of a session."""
_MAX_TAG_LENGTH = 40  # characters


def dump_tags(tags: Iterable[str]) -> str:
    """Return *tags* as JSON: each once, on one line, without a `#` before it, none empty."""
    lines = (single_line(tag).removeprefix("#").strip()[:_MAX_TAG_LENGTH] for tag in tags)
    return json.dumps(list(dict.fromkeys(filter(None, lines)))[:MAX_TAGS], ensure_ascii=False)


def load_tags(data: object) -> tuple[str, ...]:
    """Return the tags that *data* holds; none where it is no JSON of ours."""
    try:
        tags = json.loads(str(data))
    except ValueError:
        return ()
    return tuple(map(str, tags)) if isinstance(tags, list) else ()


INFO_COLUMNS = (
    "id, title, model, created, updated, turns, parent, archived, pinned, tags, unread, cost_usd"
)


def info_of(row: tuple[Any, ...]) -> SessionInfo:
    name, title, model, created, updated, turns, parent, archived, *marks = row
    pinned, tags, unread, cost_usd = marks
    said = (bool(archived), bool(pinned), load_tags(tags), bool(unread))
    return SessionInfo(name, title, model, created, updated, turns, parent, *said, cost_usd)


def last_words(connection: Connection, sessions: Iterable[str]) -> dict[str, str]:
    """Return the beginning of what was said last in each of *sessions*, on one line."""
    rows = connection.execute(
        "SELECT value, (SELECT substr(body, 1, ?) FROM event JOIN said USING (id)"
        " WHERE session = value AND kind IN ('user', 'assistant')"
        " ORDER BY seq DESC LIMIT 1) FROM json_each(?)",
        (_LAST_WORDS, json.dumps(list(sessions))),
    ).fetchall()
    return {session: words or "" for session, words in rows}


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


def cost_of(record: Record) -> float:
    """Return the US dollars that *record* says were spent."""
    usage = usage_in(record)
    return usage.cost_usd if usage else 0.0


def title_of(record: Record) -> str:
    """Return the first 60 characters of a person's message, on one line."""
    if not isinstance(record, User):
        return ""
    line = searchable_text(record)
    return line if len(line) <= 60 else f"{line[:59]}…"


def waiting_seconds(questions: Iterable[tuple[int, float, str]]) -> dict[int, float]:
    """Return the seconds from each question to its answer, by turn.

    *questions* is (turn, time, call that is asked about or ""), in the order in which it was kept.
    """
    waiting: dict[int, float] = {}
    asked_at: float | None = None
    for turn, when, call in questions:
        if not call and asked_at is not None:
            waiting[turn] = waiting.get(turn, 0.0) + when - asked_at
        asked_at = (when if asked_at is None else asked_at) if call else None
    return waiting
