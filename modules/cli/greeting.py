"""The first lines of a dialogue. Drawn without rich, which need not be loaded to see a prompt."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from prompt_toolkit import print_formatted_text
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.utils import get_cwidth

from core.main_terminal import MainTerminal
from modules.words import Words
from utils.clean import clean, visible
from utils.fold import folded
from utils.phrases import Text, phrase


def greet(terminal: MainTerminal, words: Words, header: Sequence[Text] = ()) -> None:
    """Say where we are and how to go on, then the lines of *header*."""
    mode = phrase("thinks once") if terminal.mode == "think" else phrase("fast")
    is_practice = terminal.is_practice
    model = words.say(phrase("practice model, no AI")) if is_practice else terminal.model.model
    lines: list[tuple[str, str]] = [
        ("bold ansicyan", "Onefold"),
        ("bold", f"  {visible(terminal.project)}"),
        ("ansibrightblack", " · "),
        ("ansiyellow" if is_practice else "ansibrightblack", clean(model)),
        ("ansibrightblack", f" · {words.say(mode)}"),
    ]
    keys = phrase("/help lists the commands · @ names a file · Ctrl-C stops, twice leaves")
    width = shutil.get_terminal_size().columns
    for text in (*header, keys):
        for row in fitted(clean(words.say(text)), width):
            lines += [("", "\n"), ("ansibrightblack", row)]
    print_formatted_text(FormattedText(lines), end="\n\n")


def fitted(text: str, width: int) -> list[str]:
    """Return *text* in rows of *width* cells, broken at its dots, a longer part at its words."""
    rows: list[str] = []
    for part in text.split(" · "):
        if rows and get_cwidth(f"{rows[-1]} · {part}") <= width:
            rows[-1] += f" · {part}"
        else:
            rows += folded(part, width)
    return rows
