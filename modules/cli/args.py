"""The command line: what may be said on it, and what was."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal

import click

from modules.cli.option_specs import (
    OPTIONS,
    SUBCOMMANDS,
    OptionSpec,
    SubcommandSpec,
    help_text,
)
from modules.cli.shell_completion import (
    VARIABLE,
    Suggest,
    completion_script,
    message_argument,
    values_of,
)
from modules.cli.usage_errors import (
    IntegerRange,
    OneOf,
    choice_of,
    message_of,
    misuse,
    refuse_near_miss,
)
from modules.translator import Translator
from utils.frozen import frozen
from utils.i18n import BadUsage, UserError, phrase
from utils.system.own_command import own_name

MESSAGE = "MESSAGE"
EXCLUSIVE_PAIRS = [
    *(("--web", "--cli"), ("--web", "--attach"), ("--web", "-p"), ("--attach", "-p")),
    *(("--think", "--fast"), ("--import", "--resume"), ("--import", "--attach")),
    *(("--attach", "--log"), ("--follow", "--log"), ("--follow", "--import")),
    *(("--machine", "--approve"), ("--machine", "--attach"), ("--trace", "--attach")),
    *(("--follow", "--web"), ("--follow", "--cli"), ("--follow", "-p"), ("--follow", "--attach")),
    ("--verify", "--no-verify"),
    *(("--tools", other) for other in ("--web", "-p", "--attach", "--follow", "--resume", MESSAGE)),
    *(("--plain", other) for other in ("--web", "-p", "--attach", "--follow", "--tools")),
    *(("--budget", "--attach"), ("--when", "--attach")),
    *((MESSAGE, "--web"), (MESSAGE, "-p"), (MESSAGE, "--attach"), (MESSAGE, "--follow")),
]
"""Options of which only one can be meant."""

_OPTIONS_OF_THE_PAGE = ("--host", "--port", "--allow-remote", "--terminal", "--async-mode")


@frozen(kw_only=True)
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
    host: str | None
    port: int
    allow_remote: bool
    async_mode: str
    attach: bool
    offline: bool
    import_file: str | None = None
    log: bool = False
    follow: bool = False
    machine: str | None = None
    message: str | None = None
    output_schema: str | None = None
    trace: str | None = None
    tools: str | None = None
    protocol: str | None = None
    verify: bool = False
    no_verify: bool = False
    budget: str | None = None
    when: str | None = None
    plain: bool = False
    terminal: str | None = None

    @property
    def has_screen(self) -> bool:
        """Whether it is said on which screen to work."""
        has_text = self.task is not None or self.message is not None or self.tools is not None
        return has_text or self.cli or self.web or self.attach or self.plain

    @property
    def of_other_screens(self) -> list[str]:
        """The options that were said of a screen, or of what a client says for itself."""
        values = {
            "--cli": self.cli,
            "--web": self.web,
            "--attach": self.attach,
            "-p": self.task is not None,
            "--project": self.project is not None,
            "--resume": self.resume is not None,
            "--import": self.import_file is not None,
            "--follow": self.follow,
            "--output-schema": self.output_schema is not None,
            "--tools": self.tools is not None,
            "MESSAGE": self.message is not None,
        }
        said = [name for name, is_said in values.items() if is_said]
        of_the_page = [one for one in OPTIONS if one.names[0] in _OPTIONS_OF_THE_PAGE]
        return said + [one.names[0] for one in of_the_page if _is_given(one, asdict(self))]

    @property
    def is_command(self) -> bool:
        """Whether it needs no model: the task is a slash command, or the tools are tried."""
        return self.tools is not None or (self.task is not None and self.task.startswith("/"))


def parse(
    argv: Sequence[str],
    translator: Translator,
    *,
    version: Callable[[], str],
    suggest: Suggest = lambda _kind, _project: (),
) -> Args | int:
    """Return what *argv* says, or an exit code when it was answered already (``--help``).

    A shell that asks for completions is answered with what *suggest* knows, and the program ends.
    Raises `UserError` for bad usage.
    """
    command = click.Command(
        "onefold",
        params=[*_click_options(translator, version, suggest), message_argument()],
        callback=_build_args,
        add_help_option=False,
    )
    try:
        words = _without_subcommand(argv, command)
        if isinstance(words, int):
            return words
        result: Args | int = command.main(
            words, prog_name=own_name(), complete_var=VARIABLE, standalone_mode=False
        )
    except (click.UsageError, UserError) as error:
        why = error.message if isinstance(error, UserError) else misuse(error, command)
        raise BadUsage(phrase("{why} (--help lists the options)", why=why)) from None
    except click.exceptions.Exit as exit_request:
        return exit_request.exit_code
    except click.Abort:  # what click makes of Ctrl-C
        raise KeyboardInterrupt from None
    return result


def _without_subcommand(argv: Sequence[str], command: click.Command) -> list[str] | int:
    """Return *argv* with options in place of a subcommand, or an exit code when it has been done.

    It is one only as the very first word: behind `--` it is a message like any other.
    """
    for spec in SUBCOMMANDS:
        if argv and argv[0] == spec.name:
            break
    else:
        if len(argv) == 1 and not any(argv[0] in spec.names for spec in OPTIONS):
            refuse_near_miss(argv[0])
        return [*argv]
    if spec.takes:
        return _as_task(spec, argv[1:])
    if spec.choices:
        click.echo(completion_script(choice_of(spec, argv[1:]), command))
        return 0
    return [f"--{spec.name}", *argv[1:]]


def _as_task(spec: SubcommandSpec, words: Sequence[str]) -> list[str]:
    """Return the options that have the slash command of *spec*'s name do what *words* say.

    Those of its own stand before its first word that is none; what begins with a dash behind that
    is an option of ours.
    """
    own = 0
    while own < len(words) and (words[own][:1] != "-" or words[own] in spec.own_options):
        own += 2 if words[own] in spec.own_options and own + 1 < len(words) else 1
    return ["--print", " ".join([f"/{spec.name}", *words[:own]]), *words[own:]]


def _build_args(*, think: bool, fast: bool, message: tuple[str, ...], **values: Any) -> Args:
    """Return what was said. Raises `UserError` when two options do not go together."""
    text = message_of(message)
    _refuse_exclusive({"think": think, "fast": fast, **values}, has_message=text is not None)
    mode: Literal["fast", "think"] | None = "think" if think else "fast" if fast else None
    return Args(mode=mode, message=text, **values)


def _refuse_exclusive(values: Mapping[str, Any], *, has_message: bool) -> None:
    given = {name for option in OPTIONS if _is_given(option, values) for name in option.names}
    given |= {MESSAGE} if has_message else set()
    for one, other in EXCLUSIVE_PAIRS:
        if {one, other} <= given:
            raise BadUsage(
                phrase("{one} and {other} cannot be used together", one=one, other=other)
            )
    if "--host" in given and given & {"--cli", "--attach", "-p", MESSAGE}:
        raise BadUsage(phrase("{option} only works with {other}", option="--host", other="--web"))
    if "--terminal" in given and given & {"--cli", "--attach", "-p", "--tools", MESSAGE}:
        option, other = "--terminal", "--web"
        raise BadUsage(phrase("{option} only works with {other}", option=option, other=other))
    if "--output-schema" in given and "-p" not in given:
        option, other = "--output-schema", "-p"
        raise BadUsage(phrase("{option} only works with {other}", option=option, other=other))


def _is_given(option: OptionSpec, values: Mapping[str, Any]) -> bool:
    unsaid = False if option.is_flag else option.default
    return bool(values.get(option.destination, unsaid) != unsaid)


def _click_options(
    translator: Translator, version: Callable[[], str], suggest: Suggest
) -> list[click.Parameter]:
    """Return how each option is read."""
    answers = {
        "--version": lambda: f"Onefold {version()}",
        "--help": lambda: help_text(translator),
    }
    return [
        _eager_option(name, answers[name])
        if (name := option.names[0]) in answers
        else _click_option(option, suggest)
        for option in OPTIONS
    ]


def _click_option(option: OptionSpec, suggest: Suggest) -> click.Option:
    names = [*option.names, option.destination]
    propose = values_of(option.completed_by, suggest) if option.completed_by else None
    if option.is_flag:
        return click.Option(names, is_flag=True)
    if option.numbers:
        return click.Option(names, default=option.default, type=IntegerRange(*option.numbers))
    kind = OneOf(option.choices) if option.choices else None
    if option.bare is not None:
        return click.Option(
            names, is_flag=False, flag_value=option.bare, type=kind, shell_complete=propose
        )
    return click.Option(names, default=option.default, type=kind, shell_complete=propose)


def _eager_option(name: str, render: Callable[[], str]) -> click.Option:
    """Return an option that is answered at once, whatever else was said."""

    def answer(context: click.Context, _option: object, is_given: bool) -> None:
        if is_given:
            click.echo(render())
            context.exit(0)

    return click.Option([name], is_flag=True, expose_value=False, is_eager=True, callback=answer)
