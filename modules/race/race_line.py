"""What is said behind `/race`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import get_args

from core.loop.thinking import Mode
from utils.i18n import UserError, phrase

FEWEST, MOST = 2, 8
"""Racers of one race."""
_LISTS = re.compile(r"--(models|modes)[ =]\s*(\S+)\s*")
_BEGIN = re.compile(r"(\d+)\s*")


@dataclass(frozen=True, slots=True)
class RaceLine:
    """A *task* for *count* racers.

    *models* and *modes* go round among them, () is for the session's own.
    """

    count: int
    task: str
    models: tuple[str, ...] = ()
    modes: tuple[Mode, ...] = ()

    def model_of(self, number: int) -> str:
        """Return the model of the racer *number*, from 1; "" for that of the session."""
        return self.models[(number - 1) % len(self.models)] if self.models else ""

    def mode_of(self, number: int, usual: Mode) -> Mode:
        """Return the mode of the racer *number*; *usual* is the session's."""
        return self.modes[(number - 1) % len(self.modes)] if self.modes else usual


def begins_race(argument: str) -> bool:
    """Return whether *argument* asks for a new race: it begins with a number."""
    return _BEGIN.match(argument) is not None


def parse_race(argument: str, command: str) -> RaceLine:
    """Return the race that *argument*, one that `begins_race`, asks for behind *command*.

    Raises `UserError`.
    """
    found = _BEGIN.match(argument)
    number = found[1] if found else ""
    if len(number) > 2 or not FEWEST <= int(number or 0) <= MOST:
        raise UserError(
            phrase("A race has {least} to {most} racers.", least=str(FEWEST), most=str(MOST))
        )
    rest = argument[found.end() :] if found else ""
    lists: dict[str, tuple[str, ...]] = {}
    while option := _LISTS.match(rest):
        lists[option[1]] = tuple(filter(None, option[2].split(",")))
        rest = rest[option.end() :]
    if not rest.strip():
        raise UserError(phrase("Usage: /race N TASK, such as /race 3 fix the failing test."))
    if rest.split(maxsplit=1)[0] == command:
        raise UserError(phrase("A race cannot hold another race."))
    return RaceLine(int(number), rest.strip(), lists.get("models", ()), _modes(lists.get("modes")))


def _modes(names: tuple[str, ...] | None) -> tuple[Mode, ...]:
    known: tuple[Mode, ...] = get_args(Mode)
    modes = tuple(mode for name in names or () for mode in known if mode == name)
    if len(modes) != len(names or ()):
        raise UserError(phrase("Modes are {modes}.", modes=", ".join(known)))
    return modes
