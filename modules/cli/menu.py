"""What `main.py` asks when it was started without options, and what was answered last time."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import click

from modules.cli.options import Options
from modules.words import Words
from utils.kept_file import KeptFile
from utils.phrases import Problem, phrase


def choose(options: Options, words: Words, answers: Path) -> Options:
    """Ask for the screen, the mode and the folder; remember the answers in the file *answers*.

    Raises `Problem` when nobody can be asked.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Problem(phrase("Say --cli, --web or -p TEXT (--help lists the options)."))
    last = _last(answers)
    screen = _ask(words, phrase("Terminal or browser"), ["cli", "web"], last.get("screen", "cli"))
    mode = options.mode
    if mode is None:
        mode = _mode(_ask(words, phrase("Mode"), ["fast", "think"], last.get("mode", "fast")))
    project = options.project or click.prompt(
        words.say(phrase("Project folder")), default=last.get("project", str(Path.cwd()))
    )
    said = json.dumps({"screen": screen, "mode": mode, "project": project}, ensure_ascii=False)
    KeptFile(answers).change(lambda _: said.encode("utf-8", "surrogateescape"))
    return replace(options, cli=screen == "cli", web=screen == "web", mode=mode, project=project)


def _ask(words: Words, what: Any, choices: list[str], default: str) -> str:
    answer: str = click.prompt(words.say(what), type=click.Choice(choices), default=default)
    return answer


def _mode(answer: str) -> Literal["fast", "think"]:
    return "think" if answer == "think" else "fast"


def _last(answers: Path) -> dict[str, str]:
    """Return the answers of last time, none where they cannot be read."""
    try:
        said = json.loads(answers.read_bytes())
    except (OSError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}
