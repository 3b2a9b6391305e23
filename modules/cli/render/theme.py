"""Looks of the terminal screen: one console, its colours, and the marks of Onefold."""

from __future__ import annotations

import sys
from typing import Any, TextIO

from rich.console import Console
from rich.style import Style
from rich.theme import Theme

from core.conversation.messages import ResultState
from modules.cli.colors import NAMES, Colors, Palette, ThemeName

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


class ThemedConsole(Console):
    """A console that draws in the colors of a theme, wherever a style comes from."""

    def __init__(self, colors: Colors, **options: Any) -> None:
        super().__init__(**options)
        self._colors = colors
        self._painted: dict[tuple[ThemeName, str | Style], Style] = {}

    def get_style(self, name: str | Style, *, default: Style | str | None = None) -> Style:
        """Return the style *name* in the colors of the theme that holds now."""
        palette = self._colors.palette
        if palette is None:
            return super().get_style(name, default=default)
        key = (self._colors.theme, name)
        if key not in self._painted:
            self._painted[key] = _painted(super().get_style(name, default=default), palette)
        return self._painted[key]


def _painted(style: Style, palette: Palette) -> Style:
    """Return *style* with the colors of *palette* in the place of the terminal's sixteen."""
    color = style.color
    if color is not None and color.is_system_defined and color.number is not None:
        bold = True if palette.is_bold else None
        return style + Style(color=_color(palette.color(NAMES[color.number])), dim=False, bold=bold)
    return style + Style(color=_color(palette.dim), dim=False) if style.dim else style


def _color(code: str) -> str:
    return f"#{code}" if code else "default"


def make_console(
    file: TextIO | None = None,
    *,
    width: int | None = None,
    is_plain: bool = False,
    colors: Colors | None = None,
) -> Console:
    """Return a console that takes no text for markup; *file* is standard output by default.

    What is no terminal is given lines as long as they are, one that *is_plain* has no colours.
    *colors* are the terminal's own without any.
    """
    if width is None and not (file or sys.stdout).isatty():
        width = UNLIMITED_WIDTH
    return ThemedConsole(
        colors or Colors(),
        file=file,
        width=width,
        theme=THEME,
        markup=False,
        emoji=False,
        highlight=False,
        no_color=True if is_plain else None,
    )
