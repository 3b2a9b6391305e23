"""What `main.py` asks when it was started without options, and what was answered last time."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Literal

import click

from modules.cli.args import Args
from modules.cli.input.startup_questions import ask, ask_which, somebody_is_there
from modules.translator import Translator
from utils.i18n import UserError, phrase
from utils.system.shared_file import SharedFile


def choose(options: Args, words: Translator, answers: Path) -> Args:
    """Ask for the screen, the mode and the folder; remember the answers in the file *answers*.

    Raises `UserError` when nobody can be asked.
    """
    if not somebody_is_there():
        raise UserError(phrase("Say --cli, --web or -p TEXT (--help lists the options)."))
    last = _last(answers)
    screen = ask_which(
        words, phrase("Terminal or browser"), ["cli", "web"], last.get("screen", "cli")
    )
    mode = options.mode or _mode(
        ask_which(words, phrase("Mode"), ["fast", "think"], last.get("mode", "fast"))
    )
    project = options.project or _folder(words, last.get("project", ""))
    said = json.dumps({"screen": screen, "mode": mode, "project": project}, ensure_ascii=False)
    SharedFile(answers).change(lambda _: said.encode("utf-8", "surrogateescape"))
    return replace(options, cli=screen == "cli", web=screen == "web", mode=mode, project=project)


def _folder(words: Translator, last: str) -> str:
    """Return the whole path of a folder that is there; *last* is offered, or the current one."""
    default = last if Path(last).is_absolute() and Path(last).is_dir() else str(Path.cwd())
    while True:
        folder = Path(ask(words, phrase("Project folder"), default=default)).expanduser()
        if folder.is_dir():
            return str(folder.absolute())
        click.echo(words.say(phrase("There is no folder {path}.", path=str(folder))))


def _mode(answer: str) -> Literal["fast", "think"]:
    return "think" if answer == "think" else "fast"


def _last(answers: Path) -> dict[str, str]:
    """Return the answers of last time, none where they cannot be read."""
    try:
        said = json.loads(answers.read_bytes())
    except (OSError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}
