"""Options of the command line, told and read by one table.

This needs no package: the help is there on a bare machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass

from modules.translator import Translator
from utils.i18n import Phrase, phrase
from utils.text.fold import wrapped

PROGRAM = "python3 main.py"
_HELP_COLUMN = 34


@dataclass(frozen=True, slots=True)
class OptionSpec:
    """An option: what it is for, and how it is read. Without a value, choices or numbers: a flag.

    *value* stands for the value in the help, *bare* is it where none is said, and *argument* the
    name of it in `Args`, if that is not the option's own.
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
        ("--project",), phrase("The folder to work in; the current one unless said."), "DIR"
    ),
    OptionSpec(
        ("--resume",),
        phrase("Go on with a session; without ID, the newest of this folder."),
        "[ID]",
        bare="",
    ),
    OptionSpec(
        ("--import",),
        phrase("Make a session of an old conversation_history.json; alone: and exit."),
        "FILE",
        argument="import_file",
    ),
    OptionSpec(("--think",), phrase("Think in the first step of each task.")),
    OptionSpec(
        ("--fast",),
        phrase("Never think before acting, but for one call when a task goes in circles."),
    ),
    OptionSpec(("--model",), phrase("The model to ask."), "NAME"),
    OptionSpec(
        ("--approve",),
        phrase("What to ask before doing; guarded unless said."),
        choices=("guarded", "ask", "read-only", "all"),
    ),
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
        ("--attach",),
        phrase("With --cli: join a session of the --web server that runs on --port."),
    ),
    OptionSpec(
        ("--log",),
        phrase("Write each request, call, answer and change to a log in the data folder."),
    ),
    OptionSpec(("--follow",), phrase("Show that log as it grows, until Ctrl-C.")),
    OptionSpec(
        ("--machine",),
        phrase("This container or virtual machine is the agent's: no sandbox, no questions."),
        choices=("evident", "yes-this-one"),
        bare="evident",
    ),
    OptionSpec(("--version",), phrase("Show the version.")),
    OptionSpec(("--help",), phrase("Show this.")),
)


def help_text(translator: Translator) -> str:
    """Return what `--help` says, in rows that fit the terminal."""
    import shutil  # only here: every start reads this file

    width = max(min(shutil.get_terminal_size().columns, 80) - 2, 50)
    about = translator.render(phrase("An agent that works inside one project folder."))
    usage = (
        f"{translator.render(phrase('Usage: '))}{PROGRAM} {translator.render(phrase('[OPTIONS]'))}"
    )
    options = [row for option in OPTIONS for row in _rows(option, translator, width)]
    return "\n".join([usage, "", f"  {about}", "", translator.render(phrase("Options:")), *options])


def _rows(option: OptionSpec, translator: Translator, width: int) -> Iterator[str]:
    """Yield the head of *option* and, beside it or below, what it is for."""
    head = f"  {option.head:{_HELP_COLUMN - 2}}"
    if len(option.head) > _HELP_COLUMN - 4:
        yield head.rstrip()
        head = " " * _HELP_COLUMN
    for line in wrapped(translator.render(option.help), width - _HELP_COLUMN):
        yield f"{head}{line}"
        head = " " * _HELP_COLUMN
