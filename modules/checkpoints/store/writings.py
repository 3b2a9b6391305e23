"""Writings: what changed the folder beside calls, undos and the person at the page, in order."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection

PERSON = "person"
"""The kind of what the person wrote; of other spans the kinds are those of `UndoOperation`."""
OTHERS = "others"
"""The kind of what others wrote after a kill, before anybody ended the call in the store too."""
FORGOTTEN = "forgotten"
"""The kind of the row that says of which call, and all before it, nothing may be told."""

_INSERT = (
    "INSERT INTO writing(call, is_during, kind, session, created, path, before, after, source)"
    " VALUES ((SELECT COALESCE(MAX(id), 0) FROM call NOT INDEXED),"
    " COALESCE((SELECT after IS NULL FROM call NOT INDEXED ORDER BY id DESC LIMIT 1), 0),"
    " ?, ?, ?, ?, ?, ?, ?)"
)


@dataclass(frozen=True, slots=True)
class Writing:
    """A change that is no call's, which came after the call of the number *call* began.

    It *is_during* that call if that had not ended. With a *path* it is of that file alone, and
    *before* and *after* are digests of what it held, "" for nothing; else they are the numbers of
    snapshots. What an undo brings back stood in the snapshot *source*, 0 where none is known.
    """

    id: int
    call: int
    is_during: bool
    kind: str
    session: str
    created: float
    path: str
    before: str
    after: str
    source: int

    @property
    def span(self) -> tuple[int, int]:
        """The snapshots around it; (0, 0) where it is of one file."""
        return (0, 0) if self.path else (int(self.before), int(self.after))


def add_span(
    connection: Connection, kind: str, session: str, span: tuple[int, int], source: int
) -> None:
    """Note that *kind* brought the folder from one snapshot to the other."""
    values = kind, session, time.time(), "", str(span[0]), str(span[1]), source
    connection.execute(_INSERT, values)


def add_file(connection: Connection, path: str, before: str, after: str) -> None:
    """Note that the person made the content *after* of what was *before* in the file *path*."""
    connection.execute(_INSERT, (PERSON, "", time.time(), path, before, after, 0))


def writing_of(row: Sequence[Any]) -> Writing | None:
    """Return the writing of *row*, None when that is what a broken disk left of it."""
    number, call, is_during, kind, session, created, path, before, after, source = row
    texts, numbers = (kind, session, path, before, after), (number, call, is_during, source)
    if not all(isinstance(one, str) for one in texts) or not isinstance(created, float):
        return None
    if not all(isinstance(one, int) for one in numbers):
        return None
    if not path and not (before.isdecimal() and after.isdecimal()):
        return None
    return Writing(
        number, call, bool(is_during), kind, session, created, path, before, after, source
    )


def forget_older(connection: Connection, expired: Sequence[tuple[int]], before: float) -> None:
    """Forget what was written before the last call of which a snapshot is *expired*, or *before*.

    To be done while the rows of these calls are there.
    """
    find = "SELECT COALESCE(MAX(id), 0) FROM call NOT INDEXED WHERE before=? OR after=?"
    last = max((connection.execute(find, (n, n)).fetchone()[0] for (n,) in expired), default=0)
    connection.execute("DELETE FROM writing WHERE created < ? AND kind != ?", (before, FORGOTTEN))
    if last:
        connection.execute("DELETE FROM writing WHERE call <= ?", (last,))
        values = last, FORGOTTEN, time.time()
        connection.execute(
            "INSERT INTO writing(call, is_during, kind, session, created, path, before, after,"
            " source) VALUES (?, 0, ?, '', ?, '', '0', '0', 0)",
            values,
        )
