"""The command line: what may be said on it, and what was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import click

from modules.words import Words
from utils.phrases import Problem, phrase


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


def parse(argv: Sequence[str], words: Words, *, version: str) -> Options | int:
    """Return what *argv* says, or an exit code when it was answered already (``--help``).

    Raises `Problem` for bad usage.
    """
    command = click.Command(
        "onefold",
        params=_parameters(words, version),
        callback=lambda **said: Options(**said),
        help=words.say(phrase("An agent that works inside one project folder.")),
        add_help_option=False,
    )
    try:
        result: Options | int = command.main(
            list(argv), prog_name="python3 main.py", standalone_mode=False
        )
    except click.UsageError as error:
        why = error.format_message()
        raise Problem(phrase("{why} (--help lists the options)", why=why)) from None
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.Abort:  # what click makes of Ctrl-C
        raise KeyboardInterrupt from None
    return result


def _parameters(words: Words, version: str) -> list[click.Parameter]:
    say = words.say

    def option(*names: str, **more: Any) -> click.Option:
        more["help"] = say(more["help"])
        return click.Option(list(names), **more)

    return [
        option("--cli", is_flag=True, help=phrase("A terminal session.")),
        option("--web", is_flag=True, help=phrase("Serve the browser page.")),
        option(
            "--project",
            metavar="DIR",
            help=phrase("The folder to work in; the current one unless said."),
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
            "--resume",
            metavar="[ID]",
            is_flag=False,
            flag_value="",
            help=phrase("Go on with a session; without ID, the newest of this folder."),
        ),
        option(
            "-p",
            "--print",
            "task",
            metavar="TEXT",
            help=phrase("Do one task without a dialogue, print the answer, exit; - reads it."),
        ),
        option(
            "--output",
            type=click.Choice(["text", "json", "stream-json"]),
            default="text",
            help=phrase("With -p: what to print."),
        ),
        option(
            "--approve",
            type=click.Choice(["guarded", "ask", "read-only", "all"]),
            help=phrase("What to ask before doing; guarded unless said."),
        ),
        option("--host", default="127.0.0.1", help=phrase("With --web: the address to serve on.")),
        option("--port", default=8765, type=int, help=phrase("With --web: the port; 8765.")),
        option(
            "--allow-remote",
            is_flag=True,
            help=phrase("With --web: allow an address that other machines reach."),
        ),
        option(
            "--async-mode",
            type=click.Choice(["eventlet", "threading"]),
            default="eventlet",
            help=phrase("With --web: how to serve."),
        ),
        option(
            "--attach",
            is_flag=True,
            help=phrase("With --cli: join a session of the --web server that runs on --port."),
        ),
        option(
            "--offline",
            is_flag=True,
            help=phrase("Use the built-in practice model: no key, no network, no AI."),
        ),
        click.Option(
            ["--version"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=lambda context, _, asked: _answer(context, f"Onefold {version}", asked),
            help=say(phrase("Show the version.")),
        ),
        click.Option(
            ["--help"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=lambda context, _, asked: _answer(context, context.get_help(), asked),
            help=say(phrase("Show this.")),
        ),
    ]


def _answer(context: click.Context, text: str, asked: bool) -> None:
    if asked:
        click.echo(text)
        context.exit(0)
