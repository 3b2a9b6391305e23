"""Claims of sessions: one process runs a session at a time; a dead one's claim is void."""

from __future__ import annotations

import os
from contextlib import suppress

from modules.storage.database import Database
from utils.i18n import UserError, phrase
from utils.system.process_identity import is_running, start_ticks


def claim(database: Database, session: str) -> None:
    """Note that this process runs *session*. Raises `UserError` that names another that does."""
    own_pid = os.getpid()
    with database.writing() as connection:
        row = connection.execute(
            "SELECT pid, started FROM runner WHERE session = ?", (session,)
        ).fetchone()
        if row and row[0] != own_pid and _is_owner(*row):
            raise UserError(
                phrase(
                    "Session {session} is open in another Onefold (process {pid}). Close it "
                    "there, or start a new one.",
                    session=session,
                    pid=row[0],
                )
            )
        connection.execute(
            "INSERT OR REPLACE INTO runner VALUES (?, ?, ?)",
            (session, own_pid, start_ticks(own_pid)),
        )


def claimed(database: Database) -> dict[str, int]:
    """Return the sessions that a process has, each with its number."""
    with database.reading() as connection:
        rows = connection.execute("SELECT session, pid, started FROM runner")
        return {row[0]: row[1] for row in rows.fetchall() if _is_owner(*row[1:])}


def _is_owner(pid: object, started: object) -> bool:
    """Return whether the process that a row names lives; a broken disk may have left anything."""
    return isinstance(pid, int) and 0 < pid < 1 << 31 and is_running(pid, str(started))


def release(database: Database, session: str) -> None:
    """Take back this process's claim. Where that cannot be written, the claim ends with us."""
    with suppress(UserError), database.writing() as connection:
        connection.execute(
            "DELETE FROM runner WHERE session = ? AND pid = ?", (session, os.getpid())
        )
