"""Schema of a checkpoint store, and the migrations of older ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite3 import Connection

SCHEMA = """
CREATE TABLE object(id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, data BLOB NOT NULL);
CREATE TABLE large(digest BLOB PRIMARY KEY, stored INTEGER NOT NULL);
CREATE TABLE snapshot(
    id INTEGER PRIMARY KEY AUTOINCREMENT, root TEXT NOT NULL UNIQUE, created REAL NOT NULL,
    used REAL NOT NULL, checked_ns INTEGER NOT NULL, not_held TEXT NOT NULL);
CREATE TABLE journal(
    id INTEGER PRIMARY KEY AUTOINCREMENT, before INTEGER NOT NULL, plan BLOB NOT NULL,
    operation TEXT NOT NULL DEFAULT '');
CREATE TABLE call(
    id INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, turn INTEGER NOT NULL,
    call_id TEXT NOT NULL, before INTEGER NOT NULL, after INTEGER,
    visible INTEGER NOT NULL DEFAULT 0, is_undone INTEGER NOT NULL DEFAULT 0,
    number INTEGER NOT NULL DEFAULT 0);
CREATE INDEX call_by_id ON call(session, call_id);
CREATE TABLE undo(
    id INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, calls TEXT NOT NULL,
    spans TEXT NOT NULL, is_redone INTEGER NOT NULL DEFAULT 0);
CREATE TABLE accepted(session TEXT PRIMARY KEY, base TEXT NOT NULL, root TEXT NOT NULL);
CREATE TABLE writing(
    id INTEGER PRIMARY KEY AUTOINCREMENT, call INTEGER NOT NULL, is_during INTEGER NOT NULL,
    kind TEXT NOT NULL, session TEXT NOT NULL, created REAL NOT NULL, path TEXT NOT NULL,
    before TEXT NOT NULL, after TEXT NOT NULL, source INTEGER NOT NULL);
CREATE TABLE collected(times INTEGER NOT NULL);
INSERT INTO collected VALUES (0)
"""


def _number_calls(connection: Connection) -> None:
    """Give every call its number in its session, and make room for what was accepted."""
    connection.execute("ALTER TABLE call ADD COLUMN number INTEGER NOT NULL DEFAULT 0")
    connection.execute(
        "UPDATE call SET number=(SELECT COUNT(*) FROM call other"
        " WHERE other.session=call.session AND other.id<=call.id)"
    )
    connection.execute(
        "CREATE TABLE accepted(session TEXT PRIMARY KEY, base TEXT NOT NULL, root TEXT NOT NULL)"
    )


def _keep_operations(connection: Connection) -> None:
    """Let an undo under way say what is to be written down of it."""
    connection.execute("ALTER TABLE journal ADD COLUMN operation TEXT NOT NULL DEFAULT ''")


def _keep_writings(connection: Connection) -> None:
    """Make room for what changed the folder beside calls; of before, the calls tell."""
    connection.execute(
        "CREATE TABLE writing("
        "id INTEGER PRIMARY KEY AUTOINCREMENT, call INTEGER NOT NULL, is_during INTEGER NOT NULL,"
        " kind TEXT NOT NULL, session TEXT NOT NULL, created REAL NOT NULL, path TEXT NOT NULL,"
        " before TEXT NOT NULL, after TEXT NOT NULL, source INTEGER NOT NULL)"
    )


MIGRATIONS = (_number_calls, _keep_operations, _keep_writings)


def reserve_numbers_to(connection: Connection, number: int) -> None:
    """Let no new snapshot, undo under way, call or undo have *number*, or less."""
    (highest,) = connection.execute("SELECT MAX(seq) FROM sqlite_sequence").fetchone()
    connection.execute("DELETE FROM sqlite_sequence")
    names = ("snapshot", "journal", "call", "undo", "writing")
    connection.executemany(
        "INSERT INTO sqlite_sequence VALUES (?, ?)",
        [(name, max(highest or 0, number)) for name in names],
    )
