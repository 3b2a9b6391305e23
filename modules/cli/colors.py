"""The colors of the terminal: its own sixteen, which its owner chose, or those of a theme."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from utils.frozen import frozen

ThemeName = Literal["auto", "light", "dark", "contrast"]
NAMES = (
    *("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"),
    *("bright_black", "bright_red", "bright_green", "bright_yellow"),
    *("bright_blue", "bright_magenta", "bright_cyan", "bright_white"),
)
"""The sixteen, by their numbers."""


@frozen
class Palette:
    """Red, green and blue in hexadecimal by the name of a color; "" is the terminal's own text.

    *dim* takes the place of dim text, for which every terminal has another idea. Where *is_bold*
    what has a color is bold as well.
    """

    colors: Mapping[str, str]
    dim: str
    is_bold: bool = False

    def color(self, name: str) -> str:
        """Return what stands for the color *name*; bright ones are what the others are."""
        return self.colors.get(name) or self.colors.get(name.removeprefix("bright_"), "")


_LIGHT = Palette(
    {
        **{"black": "202124", "red": "b3261e", "green": "18713b", "yellow": "7a4a00"},
        **{"blue": "1558b0", "magenta": "8250a8", "cyan": "0b6a75", "white": "566464"},
        **{"bright_black": "566464", "bright_white": "202124"},
    },
    dim="566464",
)
_DARK = Palette(
    {
        **{"black": "9aa7a9", "red": "ff938a", "green": "61cc86", "yellow": "edb95e"},
        **{"blue": "85bcff", "magenta": "cfa3f0", "cyan": "4fcfbe", "white": "e3e9e9"},
        **{"bright_black": "9aa7a9", "bright_white": "ffffff"},
    },
    dim="9aa7a9",
)
_CONTRAST = Palette({}, dim="", is_bold=True)
PALETTES: Mapping[ThemeName, Palette | None] = {
    "auto": None,
    "light": _LIGHT,
    "dark": _DARK,
    "contrast": _CONTRAST,
}
"""Of a light and of a dark background, each at least 4.5 to 1 on it; the last is the terminal's own
text alone, which stands out on any."""


@dataclass(eq=False)
class Colors:
    """The colors of the screen, which all that draws shares; *theme* may change at any time."""

    theme: ThemeName = "auto"

    @property
    def palette(self) -> Palette | None:
        """The palette of the theme, None for the terminal's own colors."""
        return PALETTES[self.theme]
