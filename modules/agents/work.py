"""Work that runs, as the board shows it, and what tells of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from core.conversation.history import TurnRecord
from utils.i18n import Text

WorkState = Literal["working", "checking", "asking", "waiting", "idle"]
"""One that is "checking" runs the project's checks behind its last word; one that is "waiting" is
over and waits for a choice of the person's; "idle" is a session that is open and does nothing."""


@dataclass(frozen=True, slots=True)
class Work:
    """One thing that runs; *parent* is the id of the work that it is part of, "" for none.

    *title* says what it is to do, *doing* what it does now or asks. *line* is the command that has
    the choice asked for which it waits.
    """

    id: str
    kind: Literal["session", "race", "racer", "helper"]
    title: Text
    state: WorkState
    parent: str = ""
    doing: Text = ""
    cost_usd: float = 0.0
    line: str = ""


class WorkSource(Protocol):
    """Tells of work inside of sessions."""

    def running_work(self, opened: Mapping[str, Sequence[TurnRecord]]) -> Iterable[Work]:
        """Return what works in any session of the project, parents first; from any thread.

        *opened* has the records of the sessions that a process has.
        """

    def stop_work(self, work: str) -> bool:
        """Stop the work of that id, from any thread; return whether it works in this session."""


def session_of(work: Work, all_work: Sequence[Work]) -> str:
    """Return the session that *work* is, or is part of, by way of others of *all_work*."""
    parent = next((one for one in all_work if one.id == work.parent), None)
    if parent:
        return session_of(parent, all_work)
    return work.parent or work.id
