"""The command line: what may be said on it, and what was."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import click

from modules.cli.option_specs import PROGRAM, help_text
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
MACHINES = ("evident", "yes-this-one")
"""How `--machine` may be said: alone, for a machine that is evidently virtual, or for any."""
DEFAULT_HOST = "127.0.0.1"


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
    options = Args(mode="think" if think else "fast" if fast else None, **values)
    _refuse_exclusive(options, {"--think": think, "--fast": fast})
    return options


def _refuse_exclusive(options: Args, flags: Mapping[str, bool]) -> None:
    given = {
        **flags,
        "--web": options.web,
        "--cli": options.cli,
        "--attach": options.attach,
        "-p": options.task is not None,
        "--resume": options.resume is not None,
        "--import": options.import_file is not None,
        "--log": options.log,
        "--follow": options.follow,
        "--machine": options.machine is not None,
        "--approve": options.approve is not None,
    }
    for one, other in EXCLUSIVE_PAIRS:
        if given[one] and given[other]:
            raise UserError(phrase("{one} and {other} exclude each other", one=one, other=other))
    if options.host != DEFAULT_HOST and (options.cli or options.attach or options.task is not None):
        raise UserError(phrase("{option} is for {other} only", option="--host", other="--web"))


def _click_options(translator: Translator, version: str) -> list[click.Parameter]:
    """Return how each option is read; `option_table` tells of them, in the same order."""

    def flag(name: str) -> click.Option:
        return click.Option([name], is_flag=True)

    def choice(name: str, *allowed: str, default: str | None = None) -> click.Option:
        return click.Option([name], type=OneOf(allowed), default=default)

    return [
        flag("--cli"),
        flag("--web"),
        click.Option(["-p", "--print", "task"]),
        choice("--output", "text", "json", "stream-json", default="text"),
        click.Option(["--project"]),
        click.Option(["--resume"], is_flag=False, flag_value=""),
        click.Option(["--import", "import_file"]),
        flag("--think"),
        flag("--fast"),
        click.Option(["--model"]),
        choice("--approve", "guarded", "ask", "read-only", "all"),
        flag("--offline"),
        click.Option(["--host"], default=DEFAULT_HOST),
        click.Option(["--port"], default=8765, type=IntegerRange(0, 65_535)),
        flag("--allow-remote"),
        choice("--async-mode", "eventlet", "threading", default="eventlet"),
        flag("--attach"),
        flag("--log"),
        flag("--follow"),
        click.Option(["--machine"], is_flag=False, flag_value="evident", type=OneOf(MACHINES)),
        _eager_option("--version", lambda: f"Onefold {version}"),
        _eager_option("--help", lambda: help_text(translator)),
    ]


def _eager_option(name: str, render: Callable[[], str]) -> click.Option:
    """Return an option that is answered at once, whatever else was said."""

    def answer(context: click.Context, _option: object, is_given: bool) -> None:
        if is_given:
            click.echo(render())
            context.exit(0)

    return click.Option([name], is_flag=True, expose_value=False, is_eager=True, callback=answer)
