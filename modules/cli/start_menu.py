"""The questions of `main.py` when it was started without options, with the answers of last time."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Literal

import click

from modules.cli.args import Args
from modules.cli.input.startup_questions import ask_choice, ask_text, is_interactive
from modules.translator import Translator
from utils.i18n import UserError, phrase
from utils.system.shared_file import SharedFile


def ask_how_to_start(options: Args, translator: Translator, answers_file: Path) -> Args:
    """Ask for the screen, the mode and the folder; remember the answers in the file *answers_file*.

    Raises `UserError` when nobody can be asked.
    """
    if not is_interactive():
        raise UserError(phrase("Use --cli, --web or -p TEXT (--help lists the options)."))
    last_answers = _last_answers(answers_file)
    screen = ask_choice(
        translator, phrase("Terminal or browser"), ["cli", "web"], last_answers.get("screen", "cli")
    )
    mode = options.mode or _mode(
        ask_choice(translator, phrase("Mode"), ["fast", "think"], last_answers.get("mode", "fast"))
    )
    project = options.project or _ask_folder(translator, last_answers.get("project", ""))
    encoded = json.dumps({"screen": screen, "mode": mode, "project": project}, ensure_ascii=False)
    SharedFile(answers_file).change(lambda _: encoded.encode("utf-8", "surrogateescape"))
    return replace(options, cli=screen == "cli", web=screen == "web", mode=mode, project=project)


def _ask_folder(translator: Translator, last: str) -> str:
    """Return the whole path of a folder that is there; *last* is offered, or the current one."""
    default = last if Path(last).is_absolute() and Path(last).is_dir() else str(Path.cwd())
    while True:
        folder = Path(ask_text(translator, phrase("Project folder"), default=default)).expanduser()
        if folder.is_dir():
            return str(folder.absolute())
        click.echo(translator.render(phrase("Folder not found: {path}", path=str(folder))))


def _mode(answer: str) -> Literal["fast", "think"]:
    return "think" if answer == "think" else "fast"


def _last_answers(answers_file: Path) -> dict[str, str]:
    """Return the answers of last time, none where they cannot be read."""
    try:
        said = json.loads(answers_file.read_bytes())
    except (OSError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}
