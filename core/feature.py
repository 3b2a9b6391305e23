"""A feature: one subject of the house, with all that it brings to a session in one class.

A feature may have tools (`@tool` methods) and slash commands (`@command` methods). What else it
takes part in (what the model should always know, rows of `/status`, state that is kept with the
session …) it names as its bases: see `core.hooks`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from core.cards import Card
from utils.i18n import Phrase, phrase

if TYPE_CHECKING:
    from core.conversation.history import History
    from core.observer import Observer

Method = TypeVar("Method", bound=Callable[..., Any])


class SessionHandle(Protocol):
    """The conversation that families are part of, as far as they may touch it."""

    model: Any
    observer: Observer | None

    @property
    def session(self) -> str: ...
    @property
    def history(self) -> History: ...

    def rewind(self, turn: int, key: int) -> None:
        """Take back *turn* and all after it, with the state of the families; see `History`.

        Done again with the same *key*, after a kill, it does only the rest.
        """

    def give_back(self, key: int) -> bool:
        """Take back the rewinding *key*; return whether there was one. As `rewind` after a kill."""

    def save_state(self) -> None:
        """Keep what changed of the state of the families; it is durable on return."""

    def resume(self, start: str = "") -> str:
        """Go on with another session."""

    def fork(self, turn: int) -> str:
        """Begin a session with all up to the end of *turn*; return its id."""

    def blind(self, text: str) -> str:
        """Return *text* without what nobody may see."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of what the model should know now. *name* is its stable key; *text* what is true.

    An empty *text* means that there is nothing to know. *changed* may give a shorter text for a
    model that has been told *text* before in another version.
    """

    name: str
    text: str
    changed: Callable[[str], str] | None = None


@dataclass(frozen=True, slots=True)
class PostRunConfirmation:
    """What the person should decide about a call that is over: *card* shows what it did.

    *put_back* takes all of it back; it raises `Problem` if that is not possible.
    """

    why: Phrase
    card: Card
    put_back: Callable[[], None]


class Feature:
    """One subject of the house in one class; its other bases are the hooks that it implements."""


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command: *usage* as "/note PATH TEXT", *help* one sentence.

    *run* takes the rest of the line and returns a `Card`, or a `CommandAnswered` where the screen
    has something to do as well. Raises `Problem` or `ToolError` for a mistake of the person.
    """

    name: str
    usage: str
    help: Phrase
    run: Callable[[str], Any]


def command(usage: str, help: str) -> Callable[[Method], Method]:  # noqa: A002 - the plain word
    """Mark a method as the slash command *usage*; it takes the rest of the line, stripped."""

    def mark(method: Method) -> Method:
        method.__command__ = (usage, phrase(help))  # type: ignore[attr-defined]
        return method

    return mark


def commands_of(family: object) -> Iterable[Command]:
    """Return the commands of *family* in the order they are written."""
    for name, value in vars(type(family)).items():
        if marked := getattr(value, "__command__", None):
            usage, help_ = marked
            yield Command(usage.split()[0], usage, help_, getattr(family, name))
