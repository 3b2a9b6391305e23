"""The command line: what may be said on it, and what was."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import click

from modules.cli.option_specs import OPTIONS, PROGRAM, OptionSpec, help_text
from modules.cli.usage_errors import IntegerRange, OneOf, UsageCommand, misuse
from modules.translator import Translator
from utils.i18n import UserError, phrase

EXCLUSIVE_PAIRS = [
    *(("--web", "--cli"), ("--web", "--attach"), ("--web", "-p"), ("--attach", "-p")),
    *(("--think", "--fast"), ("--import", "--resume"), ("--import", "--attach")),
    *(("--attach", "--log"), ("--follow", "--log"), ("--follow", "--import")),
    *(("--machine", "--approve"), ("--machine", "--attach")),
    *(("--follow", "--web"), ("--follow", "--cli"), ("--follow", "-p"), ("--follow", "--attach")),
]
"""Options of which only one can be meant."""


@dataclass(frozen=True, kw_only=True)
class Args:
    """Values of the command line; None (or False) for what it did not say."""

    cli: bool
    web: bool
    project: str | None
    mode: Literal["fast", "think"] | None
    model: str | None
    resume: str | None
    task: str | None
    output: Literal["text", "json", "stream-json"]
    approve: str | None
    host: str
    port: int
    allow_remote: bool
    async_mode: str
    attach: bool
    offline: bool
    import_file: str | None = None
    log: bool = False
    follow: bool = False
    machine: str | None = None

    @property
    def has_screen(self) -> bool:
        """Whether it is said on which screen to work."""
        return self.task is not None or self.cli or self.web or self.attach

    @property
    def is_command(self) -> bool:
        """Whether the task is a slash command, which needs no model."""
        return self.task is not None and self.task.startswith("/")


def parse(argv: Sequence[str], translator: Translator, *, version: str) -> Args | int:
    """Return what *argv* says, or an exit code when it was answered already (``--help``).

    Raises `UserError` for bad usage.
    """
    command = UsageCommand(
        "onefold",
        params=_click_options(translator, version),
        callback=_build_args,
        add_help_option=False,
    )
    try:
        result: Args | int = command.main(list(argv), prog_name=PROGRAM, standalone_mode=False)
    except (click.UsageError, UserError) as error:
        why = error.message if isinstance(error, UserError) else misuse(error, command)
        raise UserError(phrase("{why} (--help lists the options)", why=why)) from None
    except click.exceptions.Exit as exit_request:
        return exit_request.exit_code
    except click.Abort:  # what click makes of Ctrl-C
        raise KeyboardInterrupt from None
    return result


def _build_args(*, think: bool, fast: bool, **values: Any) -> Args:
    """Return what was said. Raises `UserError` when two options do not go together."""
    _refuse_exclusive({"think": think, "fast": fast, **values})
    return Args(mode="think" if think else "fast" if fast else None, **values)


def _refuse_exclusive(values: Mapping[str, Any]) -> None:
    given = {name for option in OPTIONS if _is_given(option, values) for name in option.names}
    for one, other in EXCLUSIVE_PAIRS:
        if {one, other} <= given:
            raise UserError(phrase("{one} and {other} exclude each other", one=one, other=other))
    if "--host" in given and given & {"--cli", "--attach", "-p"}:
        raise UserError(phrase("{option} is for {other} only", option="--host", other="--web"))


def _is_given(option: OptionSpec, values: Mapping[str, Any]) -> bool:
    unsaid = False if option.is_flag else option.default
    return bool(values.get(option.destination, unsaid) != unsaid)


def _click_options(translator: Translator, version: str) -> list[click.Parameter]:
    """Return how each option is read."""
    answers = {
        "--version": lambda: f"Onefold {version}",
        "--help": lambda: help_text(translator),
    }
    return [
        _eager_option(name, answers[name])
        if (name := option.names[0]) in answers
        else _click_option(option)
        for option in OPTIONS
    ]


def _click_option(option: OptionSpec) -> click.Option:
    names = [*option.names, option.destination]
    if option.is_flag:
        return click.Option(names, is_flag=True)
    if option.numbers:
        return click.Option(names, default=option.default, type=IntegerRange(*option.numbers))
    kind = OneOf(option.choices) if option.choices else None
    if option.bare is not None:
        return click.Option(names, is_flag=False, flag_value=option.bare, type=kind)
    return click.Option(names, default=option.default, type=kind)


def _eager_option(name: str, render: Callable[[], str]) -> click.Option:
    """Return an option that is answered at once, whatever else was said."""

    def answer(context: click.Context, _option: object, is_given: bool) -> None:
        if is_given:
            click.echo(render())
            context.exit(0)

    return click.Option([name], is_flag=True, expose_value=False, is_eager=True, callback=answer)
