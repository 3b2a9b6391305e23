"""Options of the command line, told and read by one table.

This needs no package: the help is there on a bare machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Literal, NamedTuple

from modules.translator import Translator
from utils.i18n import Phrase, phrase
from utils.system.own_command import own_name
from utils.text.fold import wrapped

_HELP_COLUMN = 34


@dataclass(frozen=True, slots=True)
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


class SubcommandSpec(NamedTuple):
    """A first word that is no message, and what it takes; options may follow it."""

    name: str
    help: Phrase
    choices: tuple[str, ...] = ()

    @property
    def head(self) -> str:
        return f"{self.name} [{'|'.join(self.choices)}]" if self.choices else self.name


SUBCOMMANDS = (
    SubcommandSpec("web", phrase("The same as --web.")),
    SubcommandSpec(
        "acp", phrase("Serve an editor: the Agent Client Protocol on standard input and output.")
    ),
    SubcommandSpec(
        "mcp",
        phrase("Serve other programs: the Model Context Protocol on standard input and output."),
    ),
    SubcommandSpec(
        "completion",
        phrase("Print what makes a shell complete this command line."),
        ("bash", "zsh", "fish"),
    ),
)


OPTIONS = (
    OptionSpec(("--cli",), phrase("A terminal session.")),
    OptionSpec(("--web",), phrase("Serve the browser page.")),
    OptionSpec(
        ("-p", "--print"),
        phrase("Do one task without a dialogue, print the answer, exit; - reads it."),
        "TEXT",
        argument="task",
    ),
    OptionSpec(
        ("--output",),
        phrase("With -p: what to print."),
        choices=("text", "json", "stream-json"),
        default="text",
    ),
    OptionSpec(
        ("--output-schema",),
        phrase("With -p: the answer is JSON that matches this JSON schema."),
        "FILE",
        completed_by="file",
    ),
    OptionSpec(
        ("--project",),
        phrase("The folder to work in; the current one unless said."),
        "DIR",
        completed_by="folder",
    ),
    OptionSpec(
        ("--resume",),
        phrase("Go on with a session; without ID, the newest of this folder."),
        "[ID]",
        bare="",
        completed_by="session",
    ),
    OptionSpec(
        ("--import",),
        phrase("Make a session of an old conversation_history.json; alone: and exit."),
        "FILE",
        argument="import_file",
        completed_by="file",
    ),
    OptionSpec(("--think",), phrase("Think in the first step of each task.")),
    OptionSpec(
        ("--fast",),
        phrase("Never think before acting, but for one call when a task goes in circles."),
    ),
    OptionSpec(("--model",), phrase("The model to ask."), "NAME", completed_by="model"),
    OptionSpec(
        ("--protocol",),
        phrase("How the model calls tools: the server's own way, or text blocks (VCP)."),
        choices=("native", "vcp"),
    ),
    OptionSpec(
        ("--approve",),
        phrase("What to ask before doing; guarded unless said."),
        choices=("guarded", "ask", "plan", "read-only", "all"),
    ),
    OptionSpec(("--budget",), phrase("What each task may cost, in US dollars."), "USD"),
    OptionSpec(
        ("--when",),
        phrase("When to ask the model; off-peak waits for its cheap hours."),
        choices=("off-peak", "now"),
    ),
    OptionSpec(
        ("--verify",), phrase("Let a task with -p end with 5 where the project's checks fail.")
    ),
    OptionSpec(("--no-verify",), phrase("Run no checks of the project at the end of a task.")),
    OptionSpec(
        ("--offline",), phrase("Use the built-in practice model: no key, no network, no AI.")
    ),
    OptionSpec(
        ("--host",), phrase("With --web: the address to serve on."), "ADDRESS", default="127.0.0.1"
    ),
    OptionSpec(
        ("--port",),
        phrase("With --web: the port; 8765."),
        "N",
        numbers=(0, 65_535),
        default=8765,
    ),
    OptionSpec(
        ("--allow-remote",), phrase("With --web: allow an address that other machines reach.")
    ),
    OptionSpec(
        ("--async-mode",),
        phrase("With --web: how to serve."),
        choices=("eventlet", "threading"),
        default="eventlet",
    ),
    OptionSpec(
        ("--plain",),
        phrase("For screen readers: write from top to bottom, draw nothing twice."),
    ),
    OptionSpec(
        ("--attach",),
        phrase("With --cli: join a session of the --web server that runs on --port."),
    ),
    OptionSpec(
        ("--log",),
        phrase("Write each request, call, answer and change to a log in the data folder."),
    ),
    OptionSpec(
        ("--trace",),
        phrase("Write OpenTelemetry spans to FILE, one JSON line each, nothing said in them."),
        "FILE",
    ),
    OptionSpec(("--follow",), phrase("Show that log as it grows, until Ctrl-C.")),
    OptionSpec(
        ("--machine",),
        phrase("This container or virtual machine is the agent's: no sandbox, no questions."),
        choices=("evident", "yes-this-one"),
        bare="evident",
    ),
    OptionSpec(
        ("--tools",),
        phrase("Try the tools without a model, in a scratch folder or the project; or all cases."),
        choices=("scratch", "project", "cases"),
        bare="scratch",
    ),
    OptionSpec(("--version",), phrase("Show the version.")),
    OptionSpec(("--help",), phrase("Show this.")),
)


def help_text(translator: Translator) -> str:
    """Return what `--help` says, in rows that fit the terminal."""
    import shutil  # only here: every start reads this file

    width = max(min(shutil.get_terminal_size().columns, 80) - 2, 50)
    about = translator.render(phrase("An agent that works inside one project folder."))
    usage = translator.render(
        phrase("Usage: {program} [OPTIONS] [MESSAGE | COMMAND]", program=own_name())
    )
    begin = translator.render(phrase("MESSAGE begins a dialogue in the terminal."))
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
