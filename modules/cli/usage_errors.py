"""Errors in the use of the command line, in the language of the person."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

import click

from utils.i18n import Phrase, Text, UserError, phrase
from utils.text.clean import visible


class UsageCommand(click.Command):
    """A command that takes nothing but options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Raises `click.UsageError`, of which `misuse` says the reason, or `UserError`."""
        ctx.allow_extra_args = True
        super().parse_args(ctx, args)
        if ctx.args:
            what = visible(" ".join(ctx.args))
            raise UserError(phrase("{what} is no option; a task comes after -p", what=what))
        return []


class OneOf(click.Choice[str]):
    """A value that must be one of a few."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in self.choices:
            raise _bad_value(param, value, ", ".join(self.choices))
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
        raise _bad_value(param, value, allowed)


def _bad_value(option: click.Parameter | None, value: object, allowed: Text) -> UserError:
    return UserError(
        phrase(
            "{option} cannot be {value}; allowed: {allowed}",
            option=option.opts[0] if option else "",
            value=visible(repr(value)),
            allowed=allowed,
        )
    )


def _unknown_option(name: str, command: click.Command) -> Phrase:
    """Say that there is no option *name*; that all begin with dashes makes none like another."""
    names = {name_.lstrip("-"): name_ for option in command.params for name_ in option.opts}
    matches = get_close_matches(name.lstrip("-"), names, n=1)
    if not matches:
        return phrase("There is no option {name}", name=visible(name))
    return phrase(
        "There is no option {name}. Did you mean {near}?",
        name=visible(name),
        near=names[matches[0]],
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
