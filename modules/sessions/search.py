"""Finding what was said, with an index of three characters each where SQLite has one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from core.conversation.store import SessionMatch
from modules.sessions.rows import flat
from modules.storage.database import DamagedDatabase, Database
from modules.storage.sqlite_errors import damaged

if TYPE_CHECKING:
    from sqlite3 import Connection

INDEX = """
CREATE VIRTUAL TABLE IF NOT EXISTS said_index
USING fts5(body, content='said', content_rowid='id', tokenize='trigram')
"""

# As bytes: damage may have left something that is no text.
_FOUND = """
SELECT session.id, CAST(session.title AS BLOB), event.turn, event.kind, CAST(said.body AS BLOB),
    event.ts
FROM said JOIN event ON event.id = said.id JOIN session ON session.id = event.session
WHERE {} ORDER BY said.id DESC LIMIT ?
"""

_LONGEST_QUERY = 1000  # characters; SQLite refuses LIKE patterns above 50,000 bytes


class SessionSearch:
    """Searches what was said in all sessions of *database*."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._has_index = True

    def give_up_index(self) -> None:
        """Search without the index from now on: it is broken."""
        self._has_index = False

    def find(self, text: str, limit: int) -> Sequence[SessionMatch]:
        wanted = flat(text)[:_LONGEST_QUERY]
        if not wanted:
            return ()
        # Trigrams know nothing shorter than three characters, as most Chinese words are.
        if len(wanted) >= 3 and self._index_is_ready():
            where = "said.id IN (SELECT rowid FROM said_index WHERE said_index MATCH ?)"
            values = [f'"{wanted.replace(chr(34), chr(34) * 2)}"']
        else:
            values = [f"%{literal(case)}%" for case in _cases(wanted)]
            where = " OR ".join(["said.body LIKE ? ESCAPE '\\'"] * len(values))
        with self._database.reading() as connection:
            rows = connection.execute(_FOUND.format(where), (*values, limit)).fetchall()
        return [
            SessionMatch(session, _text(title), turn, role, _snippet(_text(body), wanted), when)
            for session, title, turn, role, body, when in rows
        ]

    def _index_is_ready(self) -> bool:
        """Bring the index up to date, in one go for all that was said since the last search.

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
        if self._database.refusal:
            return False
        with self._database.writing() as connection:
            try:
                connection.execute(INDEX)
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


def forget(connection: Connection, session: str) -> None:
    """Take what was said in *session* out of the index, if there is one."""
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


def forget_newest(connection: Connection) -> None:
    """Let the numbers that the newest of what was forgotten had be given out again."""
    connection.execute(
        "UPDATE indexed SET upto = min(upto, (SELECT coalesce(max(id), 0) FROM said))"
    )


def _backlog(connection: Connection) -> tuple[int, int]:
    """Return the newest thing said and the newest indexed, 0 for none. Raises `DamagedDatabase`."""
    match connection.execute(
        "SELECT coalesce(max(id), 0) FROM said UNION ALL SELECT upto FROM indexed"
    ).fetchall():
        case [(int(newest),), (int(upto),)]:
            return newest, upto
        case _:  # SQLite takes any number of rows, and texts as well, for right
            raise DamagedDatabase(damaged("indexed"))


def literal(text: str) -> str:
    """Return *text* for LIKE … ESCAPE '\\', its own wildcards meaning themselves."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _cases(text: str) -> Iterable[str]:
    """Return *text* in the cases worth trying: LIKE knows upper and lower case in ASCII only."""
    if text.isascii():
        return (text,)
    return dict.fromkeys((text, text.lower(), text.upper(), text.title()))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _snippet(body: str, wanted: str, around: int = 60) -> str:
    """Return the part of *body* with *around* characters on either side of *wanted*."""
    hit = max(body.casefold().find(wanted.casefold()), 0)
    start, end = max(hit - around, 0), hit + len(wanted) + around
    return f"{'…' if start else ''}{body[start:end]}{'…' if end < len(body) else ''}"
