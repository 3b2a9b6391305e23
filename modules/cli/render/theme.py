"""Looks of the terminal screen: one console, its colours, and the marks of Onefold."""

from __future__ import annotations

import sys
from typing import TextIO

from rich.console import Console
from rich.theme import Theme

from core.conversation.messages import ResultState

# Names of the terminal's own sixteen colours: its owner chose them to be readable.
THEME = Theme(
    {
        "markdown.h1": "bold underline",
        "markdown.h2": "bold",
        "markdown.h3": "bold",
        "markdown.h4": "bold dim",
        "markdown.h5": "bold dim",
        "markdown.h6": "bold dim",
        "markdown.code": "cyan",
        "markdown.code_block": "none",
        "markdown.link": "underline",
        "markdown.link_url": "blue",
        "markdown.block_quote": "italic dim",
        "markdown.table.border": "dim",
        "markdown.table.header": "bold",
        "markdown.sign": "dim",
    }
)

MARKS: dict[ResultState, tuple[str, str]] = {
    "done": ("✓", "green"),
    "failed": ("✗", "red"),
    "refused": ("⊘", "yellow"),
    "stopped": ("■", "yellow"),
}
"""The sign of each end of a call, and its style."""

UNLIMITED_WIDTH = 10_000
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


def make_console(
    file: TextIO | None = None, *, width: int | None = None, is_plain: bool = False
) -> Console:
    """Return a console that takes no text for markup; *file* is standard output by default.

    What is no terminal is given lines as long as they are, one that *is_plain* has no colours.
    """
    if width is None and not (file or sys.stdout).isatty():
        width = UNLIMITED_WIDTH
    return Console(
        file=file,
        width=width,
        theme=THEME,
        markup=False,
        emoji=False,
        highlight=False,
        no_color=True if is_plain else None,
    )
