"""The first lines of a dialogue. Drawn without rich, which need not be loaded to see a prompt."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from prompt_toolkit import print_formatted_text
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.utils import get_cwidth

from core.main_terminal import MainTerminal
from modules.translator import Translator
from utils.i18n import Text, phrase
from utils.text.clean import clean, visible
from utils.text.fold import wrapped

_DIM = "ansibrightblack"


def greet(terminal: MainTerminal, translator: Translator, header: Sequence[Text] = ()) -> None:
    """Say where we are and how to go on, then the lines of *header*."""
    mode = phrase("thinks once") if terminal.mode == "think" else phrase("fast")
    is_practice = terminal.is_practice
    model = (
        translator.render(phrase("practice model, no AI")) if is_practice else terminal.model.model
    )
    width = shutil.get_terminal_size().columns
    lines = [("bold ansicyan", "Onefold"), ("bold", f"  {visible(terminal.project)}")]
    for style, part in (
        ("ansiyellow" if is_practice else _DIM, model),
        (_DIM, translator.render(mode)),
    ):
        lines = append_part(lines, style, clean(part), width)
    keys = phrase("/help lists the commands · @ mentions a file · Ctrl-C stops, twice quits")
    for text in (*header, keys):
        for row in fit_rows(clean(translator.render(text)), width):
            lines += [("", "\n"), (_DIM, row)]
    print_formatted_text(FormattedText(lines), end="\n\n", include_default_pygments_style=False)


def append_part(
    lines: list[tuple[str, str]], style: str, part: str, width: int
) -> list[tuple[str, str]]:
    """Return *lines* with *part* behind a dot, or in a row of its own where that is too narrow."""
    row = "".join(text for _, text in lines).rpartition("\n")[2]
    is_fitting = get_cwidth(f"{row} · {part}") <= width
    return [*lines, (_DIM, " · " if is_fitting else "\n"), (style, part)]


def fit_rows(text: str, width: int) -> list[str]:
    """Return *text* in rows of *width* cells, broken at its dots, a longer part at its words."""
    rows: list[str] = []
    for part in text.split(" · "):
        if rows and get_cwidth(f"{rows[-1]} · {part}") <= width:
            rows[-1] += f" · {part}"
        else:
            rows += wrapped(part, width)
    return rows
