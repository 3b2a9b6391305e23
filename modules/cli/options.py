"""The command line: what may be said on it, and what was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import click

from modules.cli.usage import Command, OneOf, Whole, misuse
from modules.words import Words
from utils.phrases import Phrase, Problem, phrase


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

    @property
    def is_command(self) -> bool:
        """Whether the task is a slash command, which needs no model."""
        return self.task is not None and self.task.startswith("/")


def parse(argv: Sequence[str], words: Words, *, version: str) -> Options | int:
    """Return what *argv* says, or an exit code when it was answered already (``--help``).

    Raises `Problem` for bad usage.
    """
    option = partial(_option, words)
    command = Command(
        "onefold",
        words,
        params=[*_screens(option), *_work(option), *_service(option), *_answers(option, version)],
        callback=lambda **said: _checked(Options(**said)),
        help=words.say(phrase("An agent that works inside one project folder.")),
    )
    try:
        result: Options | int = command.main(
            list(argv), prog_name="python3 main.py", standalone_mode=False
        )
    except (click.UsageError, Problem) as error:
        why = error.what if isinstance(error, Problem) else misuse(error, command)
        raise Problem(phrase("{why} (--help lists the options)", why=why)) from None
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.Abort:  # what click makes of Ctrl-C
        raise KeyboardInterrupt from None
    return result


def _checked(options: Options) -> Options:
    """Return *options*. Raises `Problem` when two of them want different things."""
    screens = {
        "--web": options.web,
        "--cli": options.cli or options.attach,
        "-p": options.task is not None,
    }
    said = [name for name, is_said in screens.items() if is_said]
    if "--web" in said and len(said) > 1:
        raise Problem(phrase("{one} and {other} exclude each other", one=said[0], other=said[1]))
    if options.attach and options.task is not None:
        raise Problem(phrase("{one} and {other} exclude each other", one="--attach", other="-p"))
    return options


Option = Callable[..., click.Option]


def _option(words: Words, *names: str, help: Phrase, **more: Any) -> click.Option:  # noqa: A002
    return click.Option(list(names), help=words.say(help), **more)


def _screens(option: Option) -> list[click.Option]:
    """Return the options that say which screen there is, or that there is none."""
    return [
        option("--cli", is_flag=True, help=phrase("A terminal session.")),
        option("--web", is_flag=True, help=phrase("Serve the browser page.")),
        option(
            "-p",
            "--print",
            "task",
            metavar="TEXT",
            help=phrase("Do one task without a dialogue, print the answer, exit; - reads it."),
        ),
        option(
            "--output",
            type=OneOf(["text", "json", "stream-json"]),
            default="text",
            help=phrase("With -p: what to print."),
        ),
    ]


def _work(option: Option) -> list[click.Option]:
    """Return the options that say where and how to work."""
    return [
        option(
            "--project",
            metavar="DIR",
            help=phrase("The folder to work in; the current one unless said."),
        ),
        option(
            "--resume",
            metavar="[ID]",
            is_flag=False,
            flag_value="",
            help=phrase("Go on with a session; without ID, the newest of this folder."),
        ),
        option(
            "--think",
            "mode",
            flag_value="think",
            help=phrase("Think in the first step of each task."),
        ),
        option("--fast", "mode", flag_value="fast", help=phrase("Never think before acting.")),
        option("--model", metavar="NAME", help=phrase("The model to ask.")),
        option(
            "--approve",
            type=OneOf(["guarded", "ask", "read-only", "all"]),
            help=phrase("What to ask before doing; guarded unless said."),
        ),
        option(
            "--offline",
            is_flag=True,
            help=phrase("Use the built-in practice model: no key, no network, no AI."),
        ),
    ]


def _service(option: Option) -> list[click.Option]:
    """Return the options that say where the page is served, or found."""
    return [
        option(
            "--host",
            metavar="ADDRESS",
            default="127.0.0.1",
            help=phrase("With --web: the address to serve on."),
        ),
        option(
            "--port",
            metavar="N",
            default=8765,
            type=Whole(0, 65_535),
            help=phrase("With --web: the port; 8765."),
        ),
        option(
            "--allow-remote",
            is_flag=True,
            help=phrase("With --web: allow an address that other machines reach."),
        ),
        option(
            "--async-mode",
            type=OneOf(["eventlet", "threading"]),
            default="eventlet",
            help=phrase("With --web: how to serve."),
        ),
        option(
            "--attach",
            is_flag=True,
            help=phrase("With --cli: join a session of the --web server that runs on --port."),
        ),
    ]


def _answers(option: Option, version: str) -> list[click.Option]:
    """Return the options that are answered at once, whatever else was said."""

    def answered_by(text: Callable[[click.Context], str]) -> dict[str, Any]:
        def answer(context: click.Context, _option: object, asked: bool) -> None:
            if asked:
                click.echo(text(context))
                context.exit(0)

        return {"is_flag": True, "expose_value": False, "is_eager": True, "callback": answer}

    return [
        option(
            "--version",
            help=phrase("Show the version."),
            **answered_by(lambda _: f"Onefold {version}"),
        ),
        option("--help", help=phrase("Show this."), **answered_by(click.Context.get_help)),
    ]
