"""How to go on, told to who has no dialogue: with `-p` each task is a session of its own."""

from __future__ import annotations

from utils.i18n import Phrase, phrase

_OF_A_SESSION = frozenset(
    {
        "/undo", "/redo", "/rewind", "/diff", "/fork", "/history", "/compact", "/export", "/cost",
        "/focus", "/unfocus",
    }
)  # fmt: skip
_AS_AN_OPTION = {
    "/think": "--think",
    "/fast": "--fast",
    "/model": "--model",
    "/approve": "--approve",
}
_SHOWING = frozenset({"/model", "/approve"})
"""Commands that change nothing where nothing follows them."""


def hint_for(opening: str) -> Phrase | None:
    """Return what to add to the answer to the command that a session began with, its *opening*."""
    command, _, rest = opening.strip().partition(" ")
    if command in _OF_A_SESSION:
        return phrase(
            "This -p is a session of its own; for the last one: --resume -p {command}",
            command=command,
        )
    if command in _SHOWING and not rest:
        return None
    if option := _AS_AN_OPTION.get(command):
        return phrase(
            "This holds for one -p only; for the next task put {option} before it.", option=option
        )
    return None


def hint_at_the_limit() -> Phrase:
    return phrase('To continue: --resume -p "go on"')
