"""The command line: what may be said on it, and what was."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import click

from modules.cli.option_table import PROGRAM, help_text
from modules.cli.usage import Command, OneOf, Whole, misuse
from modules.words import Words
from utils.phrases import Problem, phrase

EXCLUSIVE = [
    *(("--web", "--cli"), ("--web", "--attach"), ("--web", "-p"), ("--attach", "-p")),
    *(("--think", "--fast"), ("--import", "--resume"), ("--import", "--attach")),
    *(("--attach", "--log"), ("--follow", "--log"), ("--follow", "--import")),
    *(("--follow", "--web"), ("--follow", "--cli"), ("--follow", "-p"), ("--follow", "--attach")),
]
"""Options of which only one can be meant."""
HOST = "127.0.0.1"


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the command line said; None (or False) where it said nothing."""

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

    @property
    def has_screen(self) -> bool:
        """Whether it is said on which screen to work."""
        return self.task is not None or self.cli or self.web or self.attach

    @property
    def is_command(self) -> bool:
        """Whether the task is a slash command, which needs no model."""
        return self.task is not None and self.task.startswith("/")


def parse(argv: Sequence[str], words: Words, *, version: str) -> Options | int:
    """Return what *argv* says, or an exit code when it was answered already (``--help``).

    Raises `Problem` for bad usage.
    """
    command = Command(
        "onefold",
        params=_params(words, version),
        callback=_checked,
        add_help_option=False,
    )
    try:
        result: Options | int = command.main(list(argv), prog_name=PROGRAM, standalone_mode=False)
    except (click.UsageError, Problem) as error:
        why = error.what if isinstance(error, Problem) else misuse(error, command)
        raise Problem(phrase("{why} (--help lists the options)", why=why)) from None
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.Abort:  # what click makes of Ctrl-C
        raise KeyboardInterrupt from None
    return result


def _checked(*, think: bool, fast: bool, **said: Any) -> Options:
    """Return what was said. Raises `Problem` when two options do not go together."""
    options = Options(mode="think" if think else "fast" if fast else None, **said)
    _check(options, {"--think": think, "--fast": fast})
    return options


def _check(options: Options, flags: Mapping[str, bool]) -> None:
    said = {
        **flags,
        "--web": options.web,
        "--cli": options.cli,
        "--attach": options.attach,
        "-p": options.task is not None,
        "--resume": options.resume is not None,
        "--import": options.import_file is not None,
        "--log": options.log,
        "--follow": options.follow,
    }
    for one, other in EXCLUSIVE:
        if said[one] and said[other]:
            raise Problem(phrase("{one} and {other} exclude each other", one=one, other=other))
    if options.host != HOST and (options.cli or options.attach or options.task is not None):
        raise Problem(phrase("{option} is for {other} only", option="--host", other="--web"))


def _params(words: Words, version: str) -> list[click.Parameter]:
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
        click.Option(["--host"], default=HOST),
        click.Option(["--port"], default=8765, type=Whole(0, 65_535)),
        flag("--allow-remote"),
        choice("--async-mode", "eventlet", "threading", default="eventlet"),
        flag("--attach"),
        flag("--log"),
        flag("--follow"),
        _answered("--version", lambda: f"Onefold {version}"),
        _answered("--help", lambda: help_text(words)),
    ]


def _answered(name: str, text: Callable[[], str]) -> click.Option:
    """Return an option that is answered at once, whatever else was said."""

    def answer(context: click.Context, _option: object, asked: bool) -> None:
        if asked:
            click.echo(text())
            context.exit(0)

    return click.Option([name], is_flag=True, expose_value=False, is_eager=True, callback=answer)
