"""Options as `--help` lists them. This needs no package: the help is there on a bare machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from modules.translator import Translator
from utils.i18n import Phrase, phrase
from utils.text.fold import wrapped

PROGRAM = "python3 main.py"
_HELP_COLUMN = 34


@dataclass(frozen=True, slots=True)
class OptionSpec:
    """An option: its names, what it is for, and what stands for its value, "" if it has none."""

    names: tuple[str, ...]
    help: Phrase
    value: str = ""

    @property
    def head(self) -> str:
        return f"{', '.join(self.names)} {self.value}".rstrip()


OPTIONS = (
    OptionSpec(("--cli",), phrase("A terminal session.")),
    OptionSpec(("--web",), phrase("Serve the browser page.")),
    OptionSpec(
        ("-p", "--print"),
        phrase("Do one task without a dialogue, print the answer, exit; - reads it."),
        "TEXT",
    ),
    OptionSpec(("--output",), phrase("With -p: what to print."), "[text|json|stream-json]"),
    OptionSpec(
        ("--project",), phrase("The folder to work in; the current one unless said."), "DIR"
    ),
    OptionSpec(
        ("--resume",),
        phrase("Go on with a session; without ID, the newest of this folder."),
        "[ID]",
    ),
    OptionSpec(
        ("--import",),
        phrase("Make a session of an old conversation_history.json; alone: and exit."),
        "FILE",
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
        "[guarded|ask|read-only|all]",
    ),
    OptionSpec(
        ("--offline",), phrase("Use the built-in practice model: no key, no network, no AI.")
    ),
    OptionSpec(("--host",), phrase("With --web: the address to serve on."), "ADDRESS"),
    OptionSpec(("--port",), phrase("With --web: the port; 8765."), "N"),
    OptionSpec(
        ("--allow-remote",), phrase("With --web: allow an address that other machines reach.")
    ),
    OptionSpec(("--async-mode",), phrase("With --web: how to serve."), "[eventlet|threading]"),
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
        "[evident|yes-this-one]",
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
