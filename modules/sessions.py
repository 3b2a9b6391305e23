"""The sessions of one project on disk: appended to, never rewritten, searchable in any script."""

from __future__ import annotations

import json
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from core.messages import Assistant, Record, Shift, ToolAnswer, User
from core.store import Found, SessionInfo, Store
from modules.database import Damaged, Database
from modules.salvage import SavedEvent, SavedSession, sessions_in, unknown
from utils.codec import from_plain, to_plain
from utils.phrases import Phrase, Problem, Text, phrase
from utils.processes import is_running, started_at

if TYPE_CHECKING:
    from sqlite3 import Connection

_SCHEMA = """
CREATE TABLE session(
    id TEXT PRIMARY KEY, title TEXT NOT NULL DEFAULT '', model TEXT NOT NULL, parent TEXT NOT NULL,
    created REAL NOT NULL, updated REAL NOT NULL, turns INTEGER NOT NULL DEFAULT 0,
    archived INTEGER NOT NULL DEFAULT 0);
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

_INDEX = """
CREATE VIRTUAL TABLE IF NOT EXISTS said_index
USING fts5(body, content='said', content_rowid='id', tokenize='trigram')
"""

_FOUND = """
SELECT session.id, session.title, event.turn, event.kind, said.body, event.ts
FROM said JOIN event ON event.id = said.id JOIN session ON session.id = event.session
WHERE {} ORDER BY said.id DESC LIMIT ?
"""

_LONGEST_QUERY = 1000  # characters; SQLite refuses LIKE patterns above 50,000 bytes


Method = TypeVar("Method", bound=Callable[..., Any])


def _rescued(method: Method) -> Method:
    """Let *method* be tried again on a new file when the old one turns out to be broken."""

    @wraps(method)
    def call(self: Sessions, *values: Any, **named: Any) -> Any:
        try:
            return method(self, *values, **named)
        except Damaged:
            if not self._rescue():
                raise
            return method(self, *values, **named)

    return call  # type: ignore[return-value]


class Sessions(Store):
    """The sessions kept in the SQLite file *path*, which is made when something is first kept.

    Safe to use from several threads and processes. Every method raises `Problem` when the file
    cannot be used. *patience* is how many seconds to wait for another process that writes.
    """

    def __init__(self, path: Path, *, patience: float = 5.0) -> None:
        self._database = Database(path, _SCHEMA, version=1, patience=patience)
        self._lock = threading.Lock()
        self._unwritten: dict[str, SessionInfo] = {}
        self._has_index = True
        self._warnings: list[Phrase] = []

    def warnings(self) -> Sequence[Phrase]:
        told, self._warnings = self._warnings, []
        return told

    def status(self) -> Iterable[tuple[Phrase, Text]]:
        return [
            (phrase("Damaged sessions"), phrase("kept as {path}", path=str(path)))
            for path in self._database.set_aside_before()
        ]

    def _rescue(self) -> bool:
        """Begin a new file with what can be read of a broken one; return whether it was broken.

        The broken file is kept beside it, as it is.
        """
        if self._database.is_whole():
            return False
        aside, log = self._database.set_aside()
        logged = log.read_bytes() if log.exists() else b""
        sessions, events = sessions_in(aside.read_bytes(), logged)
        names = sorted(sessions.keys() | events.keys())
        lost = 0
        with self._database.writing() as connection:
            for name in names:
                saved = sessions.get(name) or unknown(name, events[name])
                lost += _put_back(connection, saved, events.get(name, {}))
        self._warnings.append(
            phrase(
                "The file of the sessions was damaged; it is kept as {path}. Sessions saved: "
                "{count}; records of them that are lost: {lost}.",
                path=str(aside),
                count=len(names),
                lost=lost,
            )
        )
        return True

    def close(self) -> None:
        self._database.close()

    def create(self, *, model: str, parent: str = "") -> str:
        """Begin a session and return its id, which sorts by time; nothing is written yet."""
        now = time.time()
        name = f"{time.strftime('%Y%m%d-%H%M%S', time.localtime(now))}-{secrets.token_hex(2)}"
        with self._lock:
            self._unwritten[name] = SessionInfo(name, "", model, now, now, 0, parent)
        return name

    @_rescued
    def append(self, session: str, turn: int, record: Record) -> None:
        """Add *record* to the end of *session*; it is durable when this returns."""
        now = time.time()
        with self._database.writing() as connection:
            self._write_session(connection, session)
            row = connection.execute(
                "INSERT INTO event(session, seq, ts, turn, kind, data) VALUES (?1, (SELECT"
                " coalesce(max(seq), 0) + 1 FROM event WHERE session = ?1), ?2, ?3, ?4, ?5)",
                (session, now, turn, record.kind, _dumped(record)),
            ).lastrowid
            if words := _words(record):
                connection.execute("INSERT INTO said VALUES (?, ?)", (row, words))
            title = _title(record)
            connection.execute(
                "UPDATE session SET updated = ?, turns = turns + ?,"
                " title = CASE title WHEN '' THEN ? ELSE title END WHERE id = ?",
                (now, isinstance(record, User), title, session),
            )
        self._unwritten.pop(session, None)

    @_rescued
    def adopt(self, info: SessionInfo, records: Iterable[tuple[int, Record]]) -> str:
        """Keep a session of another project as a new one here, all of it at once; return its id."""
        name = self.create(model=info.model, parent=info.id)
        with self._database.writing() as connection:
            self._write_session(connection, name)
            for seq, (turn, record) in enumerate(records, 1):
                row = connection.execute(
                    "INSERT INTO event(session, seq, ts, turn, kind, data)"
                    " VALUES (?, ?, ?, ?, ?, ?)",
                    (name, seq, info.updated, turn, record.kind, _dumped(record)),
                ).lastrowid
                if words := _words(record):
                    connection.execute("INSERT INTO said VALUES (?, ?)", (row, words))
            connection.execute(
                "UPDATE session SET title = ?2, turns = (SELECT count(*) FROM event"
                " WHERE session = ?1 AND kind = 'user') WHERE id = ?1",
                (name, info.title),
            )
        self._unwritten.pop(name, None)
        return name

    @_rescued
    def fork(self, session: str, turn: int) -> str:
        """Begin a session with what *session* holds up to the end of *turn*; return its id.

        Raises `Problem` when there is no such session.
        """
        origin = self.info(session)
        copy = self.create(model=origin.model, parent=session)
        with self._database.writing() as connection:
            self._write_session(connection, copy)
            for old, *values in connection.execute(
                "SELECT id, ts, turn, kind, data FROM event"
                " WHERE session = ? AND turn <= ? ORDER BY seq",
                (session, turn),
            ).fetchall():
                new = connection.execute(
                    "INSERT INTO event(session, seq, ts, turn, kind, data) VALUES (?1, (SELECT"
                    " coalesce(max(seq), 0) + 1 FROM event WHERE session = ?1), ?2, ?3, ?4, ?5)",
                    (copy, *values),
                ).lastrowid
                connection.execute(
                    "INSERT INTO said SELECT ?, body FROM said WHERE id = ?", (new, old)
                )
            connection.execute(
                "UPDATE session SET title = ?2, turns = (SELECT count(*) FROM event"
                " WHERE session = ?1 AND kind = 'user') WHERE id = ?1",
                (copy, origin.title if turn > 0 else ""),
            )
        self._unwritten.pop(copy, None)
        return copy

    def rename(self, session: str, title: str) -> None:
        """Name *session*, on one line of at most 200 characters; "" lets it name itself."""
        self._set(session, "title", _flat(title)[:200])

    def archive(self, session: str, archived: bool) -> None:
        """Put *session* out of the way of the list, or back."""
        self._set(session, "archived", int(archived))

    @_rescued
    def delete(self, session: str) -> None:
        """Forget *session* for good, in the search index too."""
        with self._database.writing() as connection:
            connection.execute("PRAGMA secure_delete=ON")
            self._unindex(connection, session)
            connection.execute("DELETE FROM runner WHERE session = ?", (session,))
            connection.execute("DELETE FROM session WHERE id = ?", (session,))
            connection.execute(
                "UPDATE indexed SET upto = min(upto, (SELECT coalesce(max(id), 0) FROM said))"
            )
        self._unwritten.pop(session, None)

    @_rescued
    def load(self, session: str) -> list[tuple[int, Record]]:
        """Return (turn, record) in order. Raises `Problem` when there is no such session."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT turn, data FROM event WHERE session = ? ORDER BY seq", (session,)
            ).fetchall()
        if not rows:
            self.info(session)
        return [(turn, _loaded(data, session)) for turn, data in rows]

    @_rescued
    def sessions(self, limit: int = 50) -> Sequence[SessionInfo]:
        """Return the newest sessions first; those archived, or with nothing said, are left out."""
        return self._infos("turns > 0 AND NOT archived ORDER BY updated DESC LIMIT ?", limit)

    @_rescued
    def archived(self, limit: int = 50) -> Sequence[SessionInfo]:
        """Return the archived sessions, the newest first."""
        return self._infos("turns > 0 AND archived ORDER BY updated DESC LIMIT ?", limit)

    @_rescued
    def info(self, session: str) -> SessionInfo:
        """Return what is known of *session*. Raises `Problem` when there is no such session."""
        if session in self._unwritten:
            return self._unwritten[session]
        if found := self._infos("id = ?", session):
            return found[0]
        raise Problem(_unknown(session))

    @_rescued
    def find(self, start: str) -> str:
        """Return the one session whose id begins with *start* ("" is the newest).

        The end of an id, after its last dash, will do as well. Raises `Problem` that says what
        there is when none or several fit.
        """
        if not start:
            return self._newest()
        if start in self._unwritten or self._infos("id = ?", start):
            return start
        like = _literal(_flat(start))
        found = self._infos(
            "turns > 0 AND (id LIKE ? ESCAPE '\\' OR id LIKE ? ESCAPE '\\')"
            " ORDER BY updated DESC LIMIT 6",
            f"{like}%",
            f"%-{like}",
        )
        if not found:
            raise Problem(_unknown(start))
        if len(found) > 1:
            names = ", ".join(info.id for info in found)
            raise Problem(
                phrase("Several sessions fit {start!r}: {names}.", start=start, names=names)
            )
        return found[0].id

    def search(self, text: str, limit: int = 20) -> Sequence[Found]:
        """Return messages that contain *text*, newest first, in any script and of any length.

        *text* is taken literally, upper and lower case alike.
        """
        try:
            return self._search(text, limit)
        except Damaged:
            if not self._rescue():
                self._has_index = False  # it alone is broken
            return self._search(text, limit)

    def _search(self, text: str, limit: int) -> Sequence[Found]:
        wanted = _flat(text)[:_LONGEST_QUERY]
        if not wanted:
            return ()
        # Trigrams know nothing shorter than three characters, as most Chinese words are.
        if len(wanted) >= 3 and self._index_is_ready():
            where = "said.id IN (SELECT rowid FROM said_index WHERE said_index MATCH ?)"
            values = [f'"{wanted.replace(chr(34), chr(34) * 2)}"']
        else:
            values = [f"%{_literal(case)}%" for case in _cases(wanted)]
            where = " OR ".join(["said.body LIKE ? ESCAPE '\\'"] * len(values))
        with self._database.reading() as connection:
            rows = connection.execute(_FOUND.format(where), (*values, limit)).fetchall()
        return [
            Found(session, title, turn, role, _snippet(body, wanted), when)
            for session, title, turn, role, body, when in rows
        ]

    @_rescued
    def claim(self, session: str) -> None:
        """Note that this process runs *session*; one that is gone is taken over from.

        Raises `Problem` that names the process when another one runs it.
        """
        me = os.getpid()
        with self._database.writing() as connection:
            row = connection.execute(
                "SELECT pid, started FROM runner WHERE session = ?", (session,)
            ).fetchone()
            if row and row[0] != me and is_running(*row):
                raise Problem(
                    phrase(
                        "Session {session} is open in another Onefold (process {pid}). Close it "
                        "there, or start a new one.",
                        session=session,
                        pid=row[0],
                    )
                )
            connection.execute(
                "INSERT OR REPLACE INTO runner VALUES (?, ?, ?)", (session, me, started_at(me))
            )

    @_rescued
    def release(self, session: str) -> None:
        """Let another process run *session*."""
        with self._database.writing() as connection:
            connection.execute(
                "DELETE FROM runner WHERE session = ? AND pid = ?", (session, os.getpid())
            )

    @_rescued
    def _set(self, session: str, column: str, value: object) -> None:
        with self._database.writing() as connection:
            self._write_session(connection, session)
            done = connection.execute(
                f"UPDATE session SET {column} = ? WHERE id = ?",  # noqa: S608 - literals only
                (value, session),
            ).rowcount
        self._unwritten.pop(session, None)
        if not done:
            raise Problem(_unknown(session))

    def _unindex(self, connection: Connection, session: str) -> None:
        """Take what was said in *session* out of the search index, if there is one."""
        has_index = connection.execute(
            "SELECT 1 FROM sqlite_master WHERE name = 'said_index'"
        ).fetchone()
        if has_index:
            connection.execute(
                "INSERT INTO said_index(said_index, rowid, body) SELECT 'delete', said.id, body"
                " FROM said JOIN event ON event.id = said.id"
                " WHERE event.session = ? AND said.id <= (SELECT upto FROM indexed)",
                (session,),
            )

    def _write_session(self, connection: Connection, session: str) -> None:
        if info := self._unwritten.get(session):
            connection.execute(
                "INSERT INTO session(id, model, parent, created, updated) VALUES (?, ?, ?, ?, ?)",
                (info.id, info.model, info.parent, info.created, info.updated),
            )

    def _newest(self) -> str:
        if found := self.sessions(limit=1):
            return found[0].id
        raise Problem(phrase("There is no session of this folder yet."))

    def _infos(self, condition: str, *values: object) -> list[SessionInfo]:
        columns = "id, title, model, created, updated, turns, parent, archived"
        with self._database.reading() as connection:
            rows = connection.execute(
                f"SELECT {columns} FROM session WHERE {condition}",  # noqa: S608 - literals only
                values,
            ).fetchall()
        return [replace(SessionInfo(*row), archived=bool(row[-1])) for row in rows]

    def _index_is_ready(self) -> bool:
        """Bring the index up to date, in one go for all that was said since the last search.

        Appending stays quick that way, and an SQLite without trigrams may write between two that
        have them. Returns whether there is an index at all.
        """
        import sqlite3

        if not self._has_index:
            return False
        with self._database.reading() as connection:
            newest, upto = _backlog(connection)
        if newest <= upto:
            return upto > 0
        with self._database.writing() as connection:
            try:
                connection.execute(_INDEX)
            except sqlite3.OperationalError as error:
                if not str(error).startswith(("no such module", "no such tokenizer")):
                    raise
                self._has_index = False
                return False
            connection.execute(
                "INSERT INTO said_index(rowid, body) SELECT id, body FROM said"
                " WHERE id > (SELECT upto FROM indexed)"
            )
            connection.execute("UPDATE indexed SET upto = (SELECT max(id) FROM said)")
        return True


def _put_back(connection: Connection, info: SavedSession, events: Mapping[int, SavedEvent]) -> int:
    """Write what was saved of a session, and how much of it is missing; return that."""
    connection.execute(
        "INSERT INTO session(id, title, model, parent, created, updated, archived)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (info.id, info.title, info.model, info.parent, info.created, info.updated, info.archived),
    )
    readable = {seq: events[seq] for seq in sorted(events) if _is_readable(events[seq])}
    newest = max(events, default=0)
    missing = newest - len(readable)
    for seq, event in readable.items():
        row = connection.execute(
            "INSERT INTO event(session, seq, ts, turn, kind, data) VALUES (?, ?, ?, ?, ?, ?)",
            (info.id, seq, event.when, event.turn, event.kind, event.data),
        ).lastrowid
        if words := _words(_loaded(event.data, info.id)):
            connection.execute("INSERT INTO said VALUES (?, ?)", (row, words))
    last = max((event.turn for event in readable.values()), default=0)
    incident = _dumped(Shift("incident", {"lost": missing, "mended": 0}))
    connection.execute(
        "INSERT INTO event(session, seq, ts, turn, kind, data) VALUES (?, ?, ?, ?, 'shift', ?)",
        (info.id, newest + 1, info.updated, last, incident),
    )
    connection.execute(
        "UPDATE session SET turns = (SELECT count(*) FROM event WHERE session = ?1"
        " AND kind = 'user') WHERE id = ?1",
        (info.id,),
    )
    return missing


def _is_readable(event: SavedEvent) -> bool:
    try:
        record = _loaded(event.data, event.session)
        return record.kind == event.kind
    except (Problem, LookupError, AttributeError, RecursionError):
        return False


def _backlog(connection: Connection) -> tuple[int, int]:
    """Return the newest thing said and the newest in the index, 0 for none."""
    (newest,), (upto,) = connection.execute(
        "SELECT coalesce(max(id), 0) FROM said UNION ALL SELECT upto FROM indexed"
    ).fetchall()
    return newest, upto


def _dumped(record: Record) -> str:
    """Return *record* as JSON that SQLite can hold: a lone surrogate has no UTF-8."""
    plain = to_plain(record)
    text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(plain, separators=(",", ":"))
    return text


def _loaded(data: str, session: str) -> Record:
    try:
        record: Record = from_plain(Record, json.loads(data))
    except (ValueError, TypeError) as error:
        raise Problem(
            phrase(
                "Session {session} holds something that this Onefold cannot read: {why}. A newer "
                "one may have written it.",
                session=session,
                why=str(error)[:200],
            )
        ) from error
    return record


def _words(record: Record) -> str:
    """Return what a search may find of *record*."""
    match record:
        case User() | Assistant() | ToolAnswer():
            return _flat(record.text)
        case _:
            return ""


def _flat(text: str) -> str:
    """Return *text* on one line, every run of white space as one blank, fit for SQLite."""
    return " ".join(text.replace("\0", " ").split()).encode("utf-8", "replace").decode()


def _title(record: Record) -> str:
    """Return the first 60 characters of a person's message, on one line."""
    if not isinstance(record, User):
        return ""
    line = _words(record)
    return line if len(line) <= 60 else f"{line[:59]}…"


def _unknown(start: str) -> Phrase:
    return phrase("There is no session {start!r}; /sessions lists them.", start=start)


def _literal(text: str) -> str:
    """Return *text* for LIKE … ESCAPE '\\', its own wildcards meaning themselves."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _cases(text: str) -> Iterable[str]:
    """Return *text* in the cases worth trying: LIKE knows upper and lower case in ASCII only."""
    if text.isascii():
        return (text,)
    return dict.fromkeys((text, text.lower(), text.upper(), text.title()))


def _snippet(body: str, wanted: str, around: int = 60) -> str:
    """Return the part of *body* with *around* characters on either side of *wanted*."""
    hit = max(body.casefold().find(wanted.casefold()), 0)
    start, end = max(hit - around, 0), hit + len(wanted) + around
    return f"{'…' if start else ''}{body[start:end]}{'…' if end < len(body) else ''}"
