"""A family: one subject of the house, with all that it brings to a session in one class.

A family may have tools (`@tool` methods), slash commands (`@command` methods), things the model
should always know (`context`), rows of `/status`, and state that is kept with the session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from core.cards import Change
from utils.phrases import Phrase, Text, phrase

Method = TypeVar("Method", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Section:
    """A part of what the model should know now. *name* is its stable key; *text* what is true.

    An empty *text* means that there is nothing to know. *changed* may give a shorter text for a
    model that has been told *text* before in another version.
    """

    name: str
    text: str
    changed: Callable[[str], str] | None = None


class Family:
    """What a family may bring beside its tools and commands; by default nothing."""

    def context(self) -> Iterable[Section]:
        """Return what the model should know now; asked before every model call: be quick."""
        return ()

    def status(self) -> Iterable[tuple[Phrase, Text]]:
        """Return rows for `/status`."""
        return ()

    def concern(self, tool: str, arguments: Mapping[str, Any]) -> Phrase | None:  # noqa: ARG002
        """Return why this call needs the person's leave even in guarded mode, or None."""
        return None

    def enter(self, session: str) -> None:
        """Be told that *session* is the one from now on, "" being one that is yet to begin."""

    def before(self, call_id: str, turn: int) -> None:
        """Be told that a call that may change the folder is about to run.

        Raises `Problem` when it must not.
        """

    def after(self, call_id: str, turn: int) -> None:
        """Be told that such a call is over, however it ended."""

    def warnings(self) -> Sequence[Phrase]:
        """Return what the person should see and was not told yet."""
        return ()

    def follow(self, changes: Sequence[Change]) -> None:
        """Take note of what a call did to the files."""

    def state(self) -> dict[str, Any]:
        """Return what belongs to the session, by name, as JSON values."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Take back *state*; names that are missing mean the initial state."""


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command: *usage* as "/note PATH TEXT", *help* one sentence.

    *run* takes the rest of the line and returns or yields what the terminal's commands do (see
    `core.commands`).
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
