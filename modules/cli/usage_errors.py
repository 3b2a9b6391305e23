"""Errors in the use of the command line, in the language of the person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from modules.cli.option_specs import OPTIONS, SUBCOMMANDS, SubcommandSpec
from utils.i18n import BadUsage, Phrase, Text, UserError, phrase
from utils.text.clean import visible
from utils.text.nearest import nearest_name


def message_of(words: Sequence[str]) -> str | None:
    """Return the message that *words* are, None for none. Raises `UserError` for several."""
    if len(words) > 1:
        message = visible(" ".join(words))
        raise BadUsage(phrase('Put the message in quotes: "{message}"', message=message))
    return words[0] if words else None


def refuse_near_miss(word: str) -> None:
    """Raise `UserError` for a first *word* that is hardly meant as a message: nearly a command."""
    options = {name.lstrip("-"): name for option in OPTIONS for name in option.names}
    commands = [spec.name for spec in SUBCOMMANDS]
    if near := options.get(word) or nearest_name(word, commands, cutoff=0.8):
        raise BadUsage(
            phrase(
                "Unknown command {word}. Did you mean {near}? To send it as a message: -- {word}",
                word=visible(word),
                near=near,
            )
        )


def choice_of(spec: SubcommandSpec, words: Sequence[str]) -> str:
    """Return which of its choices *words* say. Raises `UserError` where that is none of them."""
    if not words:
        raise BadUsage(phrase("{name} needs a value", name=spec.name))
    if len(words) > 1 or words[0] not in spec.choices:
        raise _bad_value(spec.name, " ".join(words), ", ".join(spec.choices))
    return words[0]


class OneOf(click.Choice[str]):
    """A value that must be one of a few."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in self.choices:
            raise _bad_value(_name_of(param), value, ", ".join(self.choices))
        return super().convert(value, param, ctx)


class IntegerRange(click.ParamType[int]):
    """A whole number from *low* to *high*."""

    name = "whole number"

    def __init__(self, low: int, high: int) -> None:
        self._low, self._high = low, high

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:  # noqa: ARG002
        digits = str(value)
        if digits.isdecimal() and len(digits) < 10 and self._low <= int(digits) <= self._high:
            return int(digits)
        low, high = self._low, self._high
        allowed = phrase("a whole number from {low} to {high}", low=low, high=high)
        raise _bad_value(_name_of(param), value, allowed)


def _name_of(option: click.Parameter | None) -> str:
    return option.opts[0] if option else ""


def _bad_value(name: str, value: object, allowed: Text) -> UserError:
    return BadUsage(
        phrase(
            "Invalid value {value} for {option}; allowed: {allowed}",
            option=name,
            value=visible(repr(value)),
            allowed=allowed,
        )
    )


def _unknown_option(name: str, command: click.Command) -> Phrase:
    """Say that there is no option *name*; that all begin with dashes makes none like another."""
    names = {name_.lstrip("-"): name_ for option in command.params for name_ in option.opts}
    near = nearest_name(name.lstrip("-"), names)
    if near is None:
        return phrase("Unknown option {name}", name=visible(name))
    return phrase(
        "Unknown option {name}. Did you mean {near}?",
        name=visible(name),
        near=names[near],
    )


def misuse(error: click.UsageError, command: click.Command) -> Phrase:
    """Return what was wrong with the command line, without a full stop."""
    match error:
        case click.NoSuchOption(option_name=name):
            return _unknown_option(name, command)
        case click.BadOptionUsage(option_name=name):
            if any(name in option.opts and _is_flag(option) for option in command.params):
                return phrase("{name} takes no value", name=name)
            return phrase("{name} needs a value", name=name)
        case _:
            return phrase("{why}", why=error.format_message())


def _is_flag(option: click.Parameter) -> bool:
    return isinstance(option, click.Option) and option.is_flag
