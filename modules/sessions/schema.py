"""The tables that sessions are kept in, and how older files come to have them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.conversation.history import SPENT
from modules.storage.database import Migration

if TYPE_CHECKING:
    from sqlite3 import Connection

SCHEMA = """
CREATE TABLE session(
    id TEXT PRIMARY KEY, title TEXT NOT NULL DEFAULT '', model TEXT NOT NULL, parent TEXT NOT NULL,
    created REAL NOT NULL, updated REAL NOT NULL, turns INTEGER NOT NULL DEFAULT 0,
    archived INTEGER NOT NULL DEFAULT 0, pinned INTEGER NOT NULL DEFAULT 0,
    tags TEXT NOT NULL DEFAULT '[]', unread INTEGER NOT NULL DEFAULT 0,
    cost_usd REAL NOT NULL DEFAULT 0);
CREATE TABLE event(
    id INTEGER PRIMARY KEY, session TEXT NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    seq INTEGER NOT NULL, ts REAL NOT NULL, turn INTEGER NOT NULL, kind TEXT NOT NULL,
    data TEXT NOT NULL, UNIQUE(session, seq));
CREATE TABLE said(
    id INTEGER PRIMARY KEY REFERENCES event(id) ON DELETE CASCADE, body TEXT NOT NULL);
CREATE TABLE indexed(upto INTEGER NOT NULL);
INSERT INTO indexed VALUES (0);
CREATE TABLE runner(session TEXT PRIMARY KEY, pid INTEGER NOT NULL, started TEXT NOT NULL)
"""


def _add_archived(connection: Connection) -> None:
    """Sessions can be archived: some files of version 1 know nothing of that."""
    columns = {row[1] for row in connection.execute("PRAGMA table_info(session)")}
    if "archived" not in columns:
        connection.execute("ALTER TABLE session ADD COLUMN archived INTEGER NOT NULL DEFAULT 0")


def _add_marks(connection: Connection) -> None:
    """Sessions are pinned, tagged and unread, and know what they cost."""
    for column in (
        "pinned INTEGER NOT NULL DEFAULT 0",
        "tags TEXT NOT NULL DEFAULT '[]'",
        "unread INTEGER NOT NULL DEFAULT 0",
        "cost_usd REAL NOT NULL DEFAULT 0",
    ):
        connection.execute(f"ALTER TABLE session ADD COLUMN {column}")
    for (session,) in connection.execute("SELECT id FROM session").fetchall():
        sum_up(connection, session)


def sum_up(connection: Connection, session: str) -> None:
    """Set the turns of *session* and what it cost to what its events say."""
    connection.execute(
        "UPDATE session SET"
        " turns = (SELECT count(*) FROM event WHERE session = ?1 AND kind = 'user'),"
        " cost_usd = (SELECT coalesce(sum(CASE WHEN json_valid(data) THEN CASE"
        " WHEN kind = 'assistant' THEN json_extract(data, '$.usage.cost_usd')"
        " WHEN json_extract(data, '$.name') = ?2 THEN json_extract(data, '$.value.cost_usd')"
        " END END), 0) FROM event WHERE session = ?1 AND kind IN ('assistant', 'shift'))"
        " WHERE id = ?1",
        (session, SPENT),
    )


MIGRATIONS: tuple[Migration, ...] = (_add_archived, _add_marks)
