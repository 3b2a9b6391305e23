"""Hints for who has no dialogue: with `-p` each task is a session of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from utils.i18n import Phrase, phrase

if TYPE_CHECKING:
    from core.events import EndReason
    from core.feature import Command


def hint_for(
    first_line: str,
    commands: Mapping[str, Command],
    *,
    is_done: bool,
    has_sessions: Callable[[], bool],
) -> Phrase | None:
    """Return the hint for the command *first_line* that a session began with, None for no hint.

    One that was refused changed nothing that could last. *has_sessions* tells whether there is a
    session to resume.
    """
    name, _, argument = first_line.strip().partition(" ")
    if name not in commands:
        return None
    spec = commands[name].spec
    if spec.belongs_to_session and not has_sessions():
        return phrase(
            "Each -p is a new session, and there is none yet to resume. Begin one with -p TASK; "
            "then --resume -p {command}",
            command=name,
        )
    if spec.belongs_to_session:
        return phrase(
            "Each -p is a new session. For the last one: --resume -p {command}",
            command=name,
        )
    if not is_done or not spec.option or (spec.shows_alone and not argument):
        return None
    if set(argument.split()[:1]) & {*spec.kept}:
        return None
    return phrase(
        "This applies to this -p only. For the next task, add {option}.", option=spec.option
    )


def hint_after(why: EndReason) -> Phrase | None:
    """Return how to go on with a task that ended so, None where there is nothing to go on with."""
    if why == "step_limit":
        return phrase('To continue: --resume -p "go on"')
    if why == "budget":
        return phrase('To continue: --resume -p "go on", with a larger --budget or daily_budget')
    return None
