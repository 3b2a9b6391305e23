"""Search of messages, with a trigram index where SQLite has one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from core.conversation.store import SessionMatch
from modules.sessions.rows import single_line
from modules.storage.database import DamagedDatabase, Database
from modules.storage.sqlite_errors import damaged

if TYPE_CHECKING:
    from sqlite3 import Connection

INDEX_SQL = """
CREATE VIRTUAL TABLE IF NOT EXISTS said_index
USING fts5(body, content='said', content_rowid='id', tokenize='trigram')
"""

# As bytes: damage may have left something that is no text.
_SEARCH_SQL = """
SELECT session.id, CAST(session.title AS BLOB), event.turn, event.kind, CAST(said.body AS BLOB),
    event.ts
FROM said JOIN event ON event.id = said.id JOIN session ON session.id = event.session
WHERE {} ORDER BY said.id DESC LIMIT ?
"""

_MAX_QUERY_LENGTH = 1000  # characters; SQLite refuses LIKE patterns above 50,000 bytes


class SessionSearch:
    """Searches the messages of all sessions of *database*."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._has_index = True

    def disable_index(self) -> None:
        """Search without the index from now on: it is broken."""
        self._has_index = False

    def find(self, text: str, limit: int) -> Sequence[SessionMatch]:
        query = single_line(text)[:_MAX_QUERY_LENGTH]
        if not query:
            return ()
        # Trigrams know nothing shorter than three characters, as most Chinese words are.
        if len(query) >= 3 and self._index_is_ready():
            condition = "said.id IN (SELECT rowid FROM said_index WHERE said_index MATCH ?)"
            values = [f'"{query.replace(chr(34), chr(34) * 2)}"']
        else:
            values = [f"%{escape_like(case)}%" for case in _case_variants(query)]
            condition = " OR ".join(["said.body LIKE ? ESCAPE '\\'"] * len(values))
        with self._database.reading() as connection:
            rows = connection.execute(_SEARCH_SQL.format(condition), (*values, limit)).fetchall()
        return [
            SessionMatch(session, _text(title), turn, role, _snippet(_text(body), query), when)
            for session, title, turn, role, body, when in rows
        ]

    def _index_is_ready(self) -> bool:
        """Bring the index up to date, in one go for all messages since the last search.

        Appending stays quick that way, and an SQLite without trigrams may write between two that
        have them. Returns whether there is an index that knows all.
        """
        import sqlite3

        if not self._has_index:
            return False
        with self._database.reading() as connection:
            newest, upto = _backlog(connection)
        if newest <= upto:
            return upto > 0
        if self._database.read_only_reason:
            return False
        with self._database.writing() as connection:
            try:
                connection.execute(INDEX_SQL)
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


def remove_session(connection: Connection, session: str) -> None:
    """Remove the messages of *session* from the index, if there is one."""
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


def lower_index_mark(connection: Connection) -> None:
    """Lower the index mark to the newest message, as its id may be given out again."""
    connection.execute(
        "UPDATE indexed SET upto = min(upto, (SELECT coalesce(max(id), 0) FROM said))"
    )


def _backlog(connection: Connection) -> tuple[int, int]:
    """Return the ids of the newest message and the newest indexed one. Raises `DamagedDatabase`."""
    match connection.execute(
        "SELECT coalesce(max(id), 0) FROM said UNION ALL SELECT upto FROM indexed"
    ).fetchall():
        case [(int(newest),), (int(upto),)]:
            return newest, upto
        case _:  # SQLite takes any number of rows, and texts as well, for right
            raise DamagedDatabase(damaged("indexed"))


def escape_like(text: str) -> str:
    """Return *text* for LIKE … ESCAPE '\\', its own wildcards meaning themselves."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _case_variants(text: str) -> Iterable[str]:
    """Return *text* in the cases worth trying: LIKE knows upper and lower case in ASCII only."""
    if text.isascii():
        return (text,)
    return dict.fromkeys((text, text.lower(), text.upper(), text.title()))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _snippet(body: str, query: str, around: int = 60) -> str:
    """Return the part of *body* with *around* characters on either side of *query*."""
    hit = max(body.casefold().find(query.casefold()), 0)
    start, end = max(hit - around, 0), hit + len(query) + around
    return f"{'…' if start else ''}{body[start:end]}{'…' if end < len(body) else ''}"
