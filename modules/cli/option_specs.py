"""Options of the command line, told and read by one table.

This needs no package: the help is there on a bare machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY
from typing import Literal

from modules.translator import Translator
from utils.frozen import frozen
from utils.i18n import Phrase, phrase
from utils.system.own_command import own_name
from utils.text.fold import wrapped

_HELP_COLUMN = 34


@frozen
class OptionSpec:
    """An option: what it is for, and how it is read. Without a value, choices or numbers: a flag.

    *value* stands for the value in the help, *bare* is it where none is said, and *argument* the
    name of it in `Args`, if that is not the option's own. A shell completes the value with what
    *completed_by* names.
    """

    names: tuple[str, ...]
    help: Phrase
    value: str = ""
    _: KW_ONLY
    choices: tuple[str, ...] = ()
    numbers: tuple[int, int] | None = None
    default: str | int | None = None
    bare: str | None = None
    argument: str = ""
    completed_by: Literal["", "folder", "file", "session", "model"] = ""

    @property
    def is_flag(self) -> bool:
        return not (self.value or self.choices)

    @property
    def destination(self) -> str:
        return self.argument or self.names[-1].strip("-").replace("-", "_")

    @property
    def head(self) -> str:
        value = f"[{'|'.join(self.choices)}]" if self.choices else self.value
        return f"{', '.join(self.names)} {value}".rstrip()


@frozen
class SubcommandSpec:
    """A first word that is no message, and what it takes; options may follow it."""

    name: str
    help: Phrase
    choices: tuple[str, ...] = ()
    takes: str = ""
    """What stands behind it where that is no choice, as the help shows it."""
    own_options: tuple[str, ...] = ()
    """Options with a value that belong to what it *takes*."""

    @property
    def head(self) -> str:
        behind = f"[{'|'.join(self.choices)}]" if self.choices else self.takes
        return f"{self.name} {behind}".rstrip()


SUBCOMMANDS = (
    SubcommandSpec("web", phrase("Same as --web.")),
    SubcommandSpec(
        "acp",
        phrase(
            "Serve an editor with the Agent Client Protocol (ACP) on standard input and output."
        ),
    ),
    SubcommandSpec(
        "mcp",
        phrase(
            "Serve other programs with the Model Context Protocol (MCP) on standard input "
            "and output."
        ),
    ),
    SubcommandSpec(
        "race",
        phrase(
            "Do a task N times in copies of the folder and take the best; as -p “/race N TASK”."
        ),
        takes="N TASK",
        own_options=("--models", "--modes"),
    ),
    SubcommandSpec(
        "completion",
        phrase("Print the shell completion script."),
        ("bash", "zsh", "fish"),
    ),
)


OPTIONS = (
    OptionSpec(("--cli",), phrase("Start a terminal session.")),
    OptionSpec(("--web",), phrase("Start the web page.")),
    OptionSpec(
        ("-p", "--print"),
        phrase("Do one task, print the answer and exit; - reads it from standard input."),
        "TEXT",
        argument="task",
    ),
    OptionSpec(
        ("--output",),
        phrase("With -p: the output format."),
        choices=("text", "json", "stream-json"),
        default="text",
    ),
    OptionSpec(
        ("--output-schema",),
        phrase("With -p: answer with JSON that matches this JSON schema."),
        "FILE",
        completed_by="file",
    ),
    OptionSpec(
        ("--project",),
        phrase("The project folder (default: the current folder)."),
        "DIR",
        completed_by="folder",
    ),
    OptionSpec(
        ("--resume",),
        phrase("Resume a session; without ID, the newest in this folder."),
        "[ID]",
        bare="",
        completed_by="session",
    ),
    OptionSpec(
        ("--import",),
        phrase(
            "Import an old conversation_history.json as a session. Without other options, "
            "exit afterwards."
        ),
        "FILE",
        argument="import_file",
        completed_by="file",
    ),
    OptionSpec(("--think",), phrase("Think once, in the first step of each task.")),
    OptionSpec(
        ("--fast",),
        phrase("Act without thinking first, except once when a task goes in circles."),
    ),
    OptionSpec(("--model",), phrase("The model to use."), "NAME", completed_by="model"),
    OptionSpec(
        ("--protocol",),
        phrase("How the model calls tools: natively, or in text blocks (VCP)."),
        choices=("native", "vcp"),
    ),
    OptionSpec(
        ("--approve",),
        phrase("The approval mode: what to ask about first (default: guarded)."),
        choices=("guarded", "ask", "plan", "read-only", "all"),
    ),
    OptionSpec(("--budget",), phrase("The cost limit per task, in US dollars."), "USD"),
    OptionSpec(
        ("--when",),
        phrase("When to run; off-peak waits for the model's cheap hours."),
        choices=("off-peak", "now"),
    ),
    OptionSpec(("--verify",), phrase("With -p: exit with code 5 if the project's checks fail.")),
    OptionSpec(("--no-verify",), phrase("Do not run the project's checks after a task.")),
    OptionSpec(
        ("--offline",), phrase("Use the built-in practice model: no key, no network, no AI.")
    ),
    OptionSpec(("--host",), phrase("With --web: the address to listen on."), "ADDRESS"),
    OptionSpec(
        ("--port",),
        phrase("With --web: the port (default: 8765)."),
        "N",
        numbers=(0, 65_535),
        default=8765,
    ),
    OptionSpec(
        ("--allow-remote",),
        phrase("With --web: let paired phones and computers connect over TLS, and no others."),
    ),
    OptionSpec(
        ("--terminal",),
        phrase(
            "With --web: let the page open your shell; remote if other machines can reach the page."
        ),
        choices=("local", "remote"),
        bare="local",
    ),
    OptionSpec(
        ("--async-mode",),
        phrase("With --web: the server type."),
        choices=("eventlet", "threading"),
        default="eventlet",
    ),
    OptionSpec(
        ("--plain",),
        phrase("For screen readers: write from top to bottom, draw nothing twice."),
    ),
    OptionSpec(
        ("--attach",),
        phrase("With --cli: join a session on the --web server at --port."),
    ),
    OptionSpec(
        ("--log",),
        phrase("Log every request, call, result and file change in the data folder."),
    ),
    OptionSpec(
        ("--trace",),
        phrase("Write OpenTelemetry spans to FILE as JSON lines, without the conversation."),
        "FILE",
        completed_by="file",
    ),
    OptionSpec(("--follow",), phrase("Follow that log until Ctrl-C.")),
    OptionSpec(
        ("--machine",),
        phrase("Give the agent this whole container or virtual machine: no sandbox, no questions."),
        choices=("evident", "yes-this-one"),
        bare="evident",
    ),
    OptionSpec(
        ("--tools",),
        phrase(
            "Test the tools without a model, in a scratch folder or the project; or run all cases."
        ),
        choices=("scratch", "project", "cases"),
        bare="scratch",
    ),
    OptionSpec(("--version",), phrase("Show the version.")),
    OptionSpec(("--help",), phrase("Show this help.")),
)


def help_text(translator: Translator) -> str:
    """Return what `--help` says, in rows that fit the terminal."""
    import shutil  # only here: every start reads this file

    width = max(min(shutil.get_terminal_size().columns, 80) - 2, 50)
    about = translator.render(phrase("A coding agent that works inside one project folder."))
    usage = translator.render(
        phrase("Usage: {program} [OPTIONS] [MESSAGE | COMMAND]", program=own_name())
    )
    begin = translator.render(phrase("MESSAGE starts a session in the terminal."))
    commands = [row for spec in SUBCOMMANDS for row in _rows(spec, translator, width)]
    options = [row for spec in OPTIONS for row in _rows(spec, translator, width)]
    return "\n".join(
        (
            *(usage, "", f"  {about}", f"  {begin}", ""),
            *(translator.render(phrase("Commands:")), *commands, ""),
            *(translator.render(phrase("Options:")), *options),
        )
    )


def _rows(spec: OptionSpec | SubcommandSpec, translator: Translator, width: int) -> Iterator[str]:
    """Yield the head of *spec* and, beside it or below, what it is for."""
    head = f"  {spec.head:{_HELP_COLUMN - 2}}"
    if len(spec.head) > _HELP_COLUMN - 4:
        yield head.rstrip()
        head = " " * _HELP_COLUMN
    for line in wrapped(translator.render(spec.help), width - _HELP_COLUMN):
        yield f"{head}{line}"
        head = " " * _HELP_COLUMN
