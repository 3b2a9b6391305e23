"""Origins: who wrote a line, and in which call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Writer = Literal["call", "person", "others", "before", "unknown"]
"""A call of the model's (or what it left in the background), the person in Onefold, somebody else
while no call ran, nobody since the first state that is kept, or nobody can tell any more."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Origin of a line; *session*, *turn* and *call_id* are those of a call.

    *when* it was there first at the latest, in seconds since the epoch, 0 where nobody can tell.
    """

    writer: Writer
    session: str = ""
    turn: int = 0
    call_id: str = ""
    when: float = 0.0


THERE_BEFORE = Origin("before")
UNKNOWN = Origin("unknown")


@dataclass(frozen=True, slots=True)
class FileOrigins:
    """Origins of the *lines* of a text, in order; of no text the one origin of all of it.

    *kind* says what a file is that is no text. One that *is_gone* has no lines: its origin is that
    of its end. *former* are the paths that it had, the newest first.
    """

    path: str
    lines: tuple[str, ...]
    origins: tuple[Origin, ...]
    kind: str = ""
    is_gone: bool = False
    former: tuple[str, ...] = ()
