"""The sessions of one project on disk: appended to, never rewritten, searchable in any script."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from core.conversation.history import ASKED, QUEUE
from core.conversation.messages import Record, User
from core.conversation.store import SessionInfo, SessionMatch, Store
from modules.sessions.claims import claim, claimed, release
from modules.sessions.rows import (
    INFO_COLUMNS,
    cost_of,
    dump_tags,
    fork_title,
    info_of,
    insert_event,
    insert_session,
    is_activity,
    last_words,
    load_record,
    next_seq,
    single_line,
    title_of,
    waiting_seconds,
)
from modules.sessions.schema import MIGRATIONS, SCHEMA, sum_up
from modules.sessions.search import SessionSearch, escape_like, lower_index_mark, remove_session
from modules.storage.database import DamagedDatabase
from modules.storage.sqlite_recovery import RecoverableDatabase, with_recovery
from utils.i18n import Phrase, Text, UserError, phrase
from utils.text.nearest import with_suggestion

if TYPE_CHECKING:
    from sqlite3 import Connection

    from core.conversation.figures import Spent

_IN_USE = (
    "(turns > 0 OR EXISTS (SELECT 1 FROM json_each((SELECT json_extract("  # noqa: S608 - ours
    "data, '$.value') FROM event WHERE event.session = session.id AND kind = 'shift'"
    " AND CASE WHEN json_valid(data)"
    f" THEN json_extract(data, '$.name') END = '{QUEUE}' ORDER BY seq DESC LIMIT 1))"
    " WHERE ifnull(json_extract(value, '$.session'), session.id) = session.id))"
)
"""Condition: a session has a turn, or a queued message of its own (not of its parent)."""


class Sessions(Store):
    """The sessions kept in the SQLite file *path*, which is made when something is first kept.

    Safe to use from several threads and processes. Every method raises `UserError` when the file
    cannot be used; where it can only be read, those that change something do. *patience* is how
    many seconds to wait for another process that writes.
    """

    def __init__(self, path: Path, *, patience: float = 5.0) -> None:
        self._database = RecoverableDatabase(path, SCHEMA, migrations=MIGRATIONS, timeout=patience)
        self._lock = threading.Lock()
        self._unwritten: dict[str, SessionInfo] = {}
        self._search = SessionSearch(self._database)
        self._warnings: list[Phrase] = []

    def warnings(self) -> Sequence[Phrase]:
        warnings, self._warnings = self._warnings, []
        return warnings

    def status(self) -> Iterable[tuple[Phrase, Text]]:
        return [
            (phrase("Damaged sessions"), phrase("saved as {path}", path=str(path)))
            for path in self._database.broken_files()
        ]

    def _recover(self) -> bool:
        from modules.sessions.recovery import recover  # for a file that is damaged only

        warning = recover(self._database)
        if warning is not None:
            self._warnings.append(warning)
        return warning is not None

    def close(self) -> None:
        self._database.close()

    def create(self, *, model: str, parent: str = "") -> str:
        """Begin a session and return its id, which sorts by time; nothing is written yet."""
        now = time.time()
        name = f"{time.strftime('%Y%m%d-%H%M%S', time.localtime(now))}-{secrets.token_hex(2)}"
        with self._lock:
            self._unwritten[name] = SessionInfo(name, "", model, now, now, 0, parent)
        return name

    @with_recovery
    def keep(self, session: str) -> None:
        """Keep *session* before anything is said in it, for another process to find by its id."""
        with self._database.writing() as connection:
            self._write_session(connection, session)
        self._unwritten.pop(session, None)

    @with_recovery
    def append(self, session: str, turn: int, *records: Record) -> None:
        """Add *records* to the end of *session*; they are durable when this returns."""
        now = time.time()
        with self._database.writing() as connection:
            self._write_session(connection, session)
            for seq, record in enumerate(records, next_seq(connection, session)):
                insert_event(connection, session, seq, now, turn, record)
                facts = is_activity(record), now, isinstance(record, User), cost_of(record)
                connection.execute(
                    "UPDATE session SET updated = CASE WHEN ? THEN ? ELSE updated END,"
                    " turns = turns + ?, cost_usd = cost_usd + ?,"
                    " title = CASE title WHEN '' THEN ? ELSE title END WHERE id = ?",
                    (*facts, title_of(record), session),
                )
        self._unwritten.pop(session, None)

    @with_recovery
    def adopt(self, info: SessionInfo, records: Iterable[tuple[int, Record]]) -> str:
        """Keep a session of another project as a new one here, all of it at once; return its id."""
        name = self.create(model=info.model, parent=info.id)
        with self._database.writing() as connection:
            self._write_session(connection, name)
            for seq, (turn, record) in enumerate(records, 1):
                insert_event(connection, name, seq, info.updated, turn, record)
            _set_title(connection, name, info.title)
        self._unwritten.pop(name, None)
        return name

    @with_recovery
    def fork(self, session: str, turn: int) -> str:
        """Begin a session with what *session* holds up to the end of *turn*; return its id.

        Its title has a number behind it. Raises `UserError` when there is no such session.
        """
        origin = self.info(session)
        copy = self.create(model=origin.model, parent=session)
        with self._database.writing() as connection:
            self._write_session(connection, copy)
            rows = connection.execute(
                "SELECT ts, turn, data FROM event WHERE session = ? AND turn <= ? ORDER BY seq",
                (session, turn),
            ).fetchall()
            for seq, (when, number, data) in enumerate(rows, 1):
                insert_event(connection, copy, seq, when, number, load_record(data, session))
            titles = {name for (name,) in connection.execute("SELECT title FROM session")}
            _set_title(connection, copy, fork_title(origin.title, titles) if turn > 0 else "")
        self._unwritten.pop(copy, None)
        return copy

    def rename(self, session: str, title: str) -> None:
        """Name *session*, on one line of at most 200 characters; "" lets it name itself."""
        self._set_column(session, "title", single_line(title)[:200])

    def archive(self, session: str, archived: bool) -> None:
        """Put *session* out of the way of the list, or back."""
        self._set_column(session, "archived", int(archived))

    def pin(self, session: str, pinned: bool) -> None:
        """Keep *session* at the top of the lists, or no longer."""
        self._set_column(session, "pinned", int(pinned))

    def tag(self, session: str, tags: Iterable[str]) -> None:
        """Give *session* these tags and no other: each once, on one line of 40 characters."""
        self._set_column(session, "tags", dump_tags(tags))

    def mark_unread(self, session: str, unread: bool) -> None:
        """Note whether a turn of *session* ended while nobody looked."""
        self._set_column(session, "unread", int(unread))

    @with_recovery
    def delete(self, session: str) -> None:
        """Delete *session* for good, from the search index too."""
        with self._database.writing() as connection:
            connection.execute("PRAGMA secure_delete=ON")
            remove_session(connection, session)
            connection.execute("DELETE FROM runner WHERE session = ?", (session,))
            connection.execute("DELETE FROM session WHERE id = ?", (session,))
            lower_index_mark(connection)
        self._unwritten.pop(session, None)

    @with_recovery
    def load(self, session: str) -> list[tuple[int, Record]]:
        """Return (turn, record) in order. Raises `UserError` when there is no such session."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT turn, data FROM event WHERE session = ? ORDER BY seq", (session,)
            ).fetchall()
        if not rows:
            self.info(session)
        return [(turn, load_record(data, session)) for turn, data in rows]

    @with_recovery
    def spent(self) -> Sequence[Spent]:
        """Return what each model call of all sessions took, the oldest session first."""
        from modules.sessions.spent_rows import read_spent  # for who asks for figures only

        with self._database.reading() as connection:
            return read_spent(connection)

    @with_recovery
    def length(self, session: str) -> int:
        """Return how many records *session* has, 0 where there is no such session."""
        with self._database.reading() as connection:
            return next_seq(connection, session) - 1

    @with_recovery
    def seconds(self, session: str) -> dict[int, float]:
        """Return how long each turn of *session* took, as far as it was kept.

        The time in which it waited for the person does not count.
        """
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT turn, max(ts) - min(ts) FROM event WHERE session = ?"
                " AND kind IN ('user', 'assistant', 'tool') GROUP BY turn",
                (session,),
            ).fetchall()
            questions = connection.execute(
                "SELECT turn, ts, json_extract(data, '$.value') FROM event WHERE session = ?"
                " AND kind = 'shift' AND CASE WHEN json_valid(data)"
                " THEN json_extract(data, '$.name') = ? END ORDER BY seq",
                (session, ASKED),
            ).fetchall()
        waiting = waiting_seconds(questions)
        return {turn: seconds - waiting.get(turn, 0.0) for turn, seconds in rows}

    @with_recovery
    def sessions(self, limit: int = 50) -> Sequence[SessionInfo]:
        """Return the newest sessions first; those archived are left out.

        So are those with nothing said and nothing that waits to be.
        """
        return self._infos(f"{_IN_USE} AND NOT archived ORDER BY updated DESC LIMIT ?", limit)

    @with_recovery
    def with_state(self, name: str) -> Sequence[str]:
        """Return the ids of the sessions that ever had a state *name*, the newest first."""
        with self._database.reading() as connection:
            found = connection.execute(
                "SELECT session FROM event WHERE kind = 'shift' AND CASE WHEN json_valid(data)"
                " THEN json_extract(data, '$.name') = ? END GROUP BY session ORDER BY max(ts) DESC",
                (name,),
            )
            return [session for (session,) in found]

    @with_recovery
    def archived(self, limit: int = 50) -> Sequence[SessionInfo]:
        """Return the archived sessions, the newest first."""
        return self._infos(f"{_IN_USE} AND archived ORDER BY updated DESC LIMIT ?", limit)

    @with_recovery
    def pinned(self) -> Sequence[SessionInfo]:
        """Return the pinned sessions that are not archived, the newest first."""
        return self._infos(f"{_IN_USE} AND pinned AND NOT archived ORDER BY updated DESC")

    @with_recovery
    def last_words(self, sessions: Iterable[str]) -> dict[str, str]:
        """Return the beginning of what was said last in each of *sessions*, on one line."""
        with self._database.reading() as connection:
            return last_words(connection, sessions)

    @with_recovery
    def info(self, session: str) -> SessionInfo:
        """Return what is known of *session*. Raises `UserError` when there is no such session."""
        if session in self._unwritten:
            return self._unwritten[session]
        if matches := self._infos("id = ?", session):
            return matches[0]
        raise UserError(_not_found(session))

    def _searchable_names(self) -> list[str]:
        """Return the ids of the newest sessions, and their ends: either names one."""
        ids = [info.id for info in self.sessions()]
        return [*(name.rpartition("-")[2] for name in ids), *ids]

    @with_recovery
    def find(self, id_prefix: str) -> str:
        """Return the one session whose id begins with *id_prefix* ("" is the newest).

        The end of an id, after its last dash, will do as well. Raises `UserError` that says what
        there is when none or several fit.
        """
        if not id_prefix:
            return self._newest()
        id_prefix = id_prefix.encode("utf-8", "replace").decode()
        if id_prefix in self._unwritten or self._infos("id = ?", id_prefix):
            return id_prefix
        pattern = escape_like(single_line(id_prefix))
        matches = self._infos(
            f"{_IN_USE} AND (id LIKE ? ESCAPE '\\' OR id LIKE ? ESCAPE '\\')"
            " ORDER BY updated DESC LIMIT 6",
            f"{pattern}%",
            f"%-{pattern}",
        )
        if not matches:
            raise UserError(
                with_suggestion(_not_found(id_prefix), id_prefix, self._searchable_names())
            )
        if len(matches) > 1:
            names = ", ".join(info.id for info in matches)
            raise UserError(
                phrase("Several sessions match {start!r}: {names}.", start=id_prefix, names=names)
            )
        return matches[0].id

    def search(self, text: str, limit: int = 20) -> Sequence[SessionMatch]:
        """Return messages that contain *text*, newest first, in any script and of any length.

        *text* is taken literally, upper and lower case alike.
        """
        try:
            return self._search.find(text, limit)
        except DamagedDatabase:
            if not self._recover():
                self._search.disable_index()  # it alone is broken
            return self._search.find(text, limit)

    @with_recovery
    def claim(self, session: str) -> None:
        """Claim *session* for this process; the claim of a dead one is taken over.

        Raises `UserError` that names the process when another one runs it.
        """
        claim(self._database, session)

    @with_recovery
    def claimed(self) -> Sequence[str]:
        """Return the sessions in which a process may work now, the oldest first."""
        known = claimed(self._database)
        with self._database.reading() as connection:
            kept = connection.execute("SELECT id FROM session ORDER BY created, id").fetchall()
        return [name for (name,) in kept if name in known]

    @with_recovery
    def holder(self, session: str) -> int | None:
        """Return the number of the process that has *session*, None where none has."""
        return claimed(self._database).get(session)

    def release(self, session: str) -> None:
        """Let another process run *session*."""
        release(self._database, session)

    @with_recovery
    def _set_column(self, session: str, column: str, value: object) -> None:
        with self._database.writing() as connection:
            self._write_session(connection, session)
            row_count = connection.execute(
                f"UPDATE session SET {column} = ? WHERE id = ?",  # noqa: S608 - literals only
                (value, session),
            ).rowcount
        self._unwritten.pop(session, None)
        if not row_count:
            raise UserError(_not_found(session))

    def _write_session(self, connection: Connection, session: str) -> None:
        if info := self._unwritten.get(session):
            insert_session(connection, info)

    def _newest(self) -> str:
        if newest := self.sessions(limit=1):
            return newest[0].id
        raise UserError(phrase("No sessions in this folder yet."))

    def _infos(self, condition: str, *values: object) -> list[SessionInfo]:
        with self._database.reading() as connection:
            rows = connection.execute(
                f"SELECT {INFO_COLUMNS} FROM session WHERE {condition}",  # noqa: S608 - literals only
                values,
            ).fetchall()
        return [info_of(row) for row in rows]


def _set_title(connection: Connection, session: str, title: str) -> None:
    connection.execute("UPDATE session SET title = ? WHERE id = ?", (title, session))
    sum_up(connection, session)


def _not_found(start: str) -> Phrase:
    return phrase("No session {start!r}. /sessions lists the sessions.", start=start)
