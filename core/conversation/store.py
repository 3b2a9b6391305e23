"""Interface of a place that keeps sessions; `modules.sessions` is the one on disk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from core.conversation.messages import Record
from utils.frozen import frozen
from utils.i18n import Phrase, Text

if TYPE_CHECKING:
    from core.conversation.figures import Spent


@frozen
class SessionInfo:
    """A line of the session list; times are seconds since the epoch.

    *updated* is when somebody last worked in it; opening it is no work. *unread*: a turn ended
    while nobody looked. *cost_usd* is what its model calls cost.
    """

    id: str
    title: str
    model: str
    created: float
    updated: float
    turns: int
    parent: str = ""
    archived: bool = False
    pinned: bool = False
    tags: tuple[str, ...] = ()
    unread: bool = False
    cost_usd: float = 0.0


@frozen
class SessionMatch:
    """A message that a search over all sessions of the project found."""

    session: str
    title: str
    turn: int
    role: str
    snippet: str
    when: float


class Store(Protocol):
    """Sessions of one project. Records are durable when `append` returns."""

    def create(self, *, model: str, parent: str = "") -> str:
        """Begin a session and return its id."""

    def append(self, session: str, turn: int, *records: Record) -> None:
        """Add *records* to the end of *session*, all or none. The first `User` also names it."""

    def fork(self, session: str, turn: int) -> str:
        """Begin a session with what *session* holds up to the end of *turn*; return its id."""

    def load(self, session: str) -> list[tuple[int, Record]]:
        """Return (turn, record) in order. Raises `UserError` when there is no such session."""

    def length(self, session: str) -> int:
        """Return how many records *session* has, 0 where there is no such session."""

    def seconds(self, session: str) -> Mapping[int, float]:
        """Return how long each turn of *session* took, as far as it was kept."""

    def spent(self) -> Sequence[Spent]:
        """Return what each model call of all sessions took, the oldest session first."""

    def claim(self, session: str) -> None:
        """Take *session* for this process. Raises `UserError` when another one is running it."""

    def claimed(self) -> Sequence[str]:
        """Return the sessions in which a process may work now, the oldest first."""

    def holder(self, session: str) -> int | None:
        """Return the number of the process that has *session*, None where none has."""

    def release(self, session: str) -> None:
        """Give *session* free for others."""

    def sessions(self, limit: int = 50) -> Sequence[SessionInfo]:
        """Return the newest sessions first, those with nothing said in them left out."""

    def info(self, session: str) -> SessionInfo:
        """Return the line of *session* in the list. Raises `UserError` when there is none."""

    def find(self, id_prefix: str) -> str:
        """Return the one session whose id begins with *id_prefix* ("" is the newest).

        Raises `UserError` that says what there is when none or several do.
        """

    def warnings(self) -> Sequence[Phrase]:
        """Return the warnings that the person has not seen yet: damage, and what was saved."""

    def status(self) -> Iterable[tuple[Phrase, Text]]:
        """Return rows for `/status`."""

    def search(self, text: str, limit: int = 20) -> Sequence[SessionMatch]:
        """Return messages that contain *text*, newest first, in any script and of any length."""
