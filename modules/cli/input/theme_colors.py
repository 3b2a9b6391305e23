"""The colors of a theme for what prompt_toolkit draws."""

from __future__ import annotations

from collections.abc import Hashable

from prompt_toolkit.styles import Attrs, StyleTransformation

from modules.cli.colors import Colors, Palette

_NAMES = {
    "ansired": "red",
    "ansigreen": "green",
    "ansiyellow": "yellow",
    "ansiblue": "blue",
    "ansimagenta": "magenta",
    "ansicyan": "cyan",
    "ansigray": "white",
    "ansibrightblack": "bright_black",
    "ansibrightred": "bright_red",
    "ansibrightgreen": "bright_green",
    "ansibrightyellow": "bright_yellow",
    "ansibrightblue": "bright_blue",
    "ansibrightmagenta": "bright_magenta",
    "ansibrightcyan": "bright_cyan",
    "ansiwhite": "bright_white",
}


class ThemeColors(StyleTransformation):
    """Puts the colors of the theme of *colors* in the place of the terminal's own."""

    def __init__(self, colors: Colors) -> None:
        self._colors = colors

    def transform_attrs(self, attrs: Attrs) -> Attrs:
        palette = self._colors.palette
        name = _NAMES.get(attrs.color or "")
        return attrs if palette is None or name is None else _painted(attrs, name, palette)

    def invalidation_hash(self) -> Hashable:
        return self._colors.theme


def _painted(attrs: Attrs, name: str, palette: Palette) -> Attrs:
    is_aside = name == "bright_black"
    is_bold = attrs.bold or (palette.is_bold and not is_aside)
    return attrs._replace(color=palette.color(name), bold=is_bold)
