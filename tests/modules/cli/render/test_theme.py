"""The colors of the terminal: its own, or those of a theme."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console
from rich.text import Text

from modules.cli.colors import NAMES, PALETTES, Colors, Palette, ThemeName
from modules.cli.render.markdown import code
from modules.cli.render.theme import make_console


def drawn(colors: Colors, what: object) -> str:
    out = io.StringIO()
    console = make_console(out, width=40, colors=colors)
    console._color_system = Console(color_system="truecolor")._color_system
    console._force_terminal = True
    console.print(what, end="")
    return out.getvalue()


def painted(name: ThemeName) -> Palette:
    palette = PALETTES[name]
    assert palette
    return palette


def luminance(code: str) -> float:
    parts = (int(code[at : at + 2], 16) / 255 for at in (0, 2, 4))
    red, green, blue = ((p / 12.92) if p <= 0.04 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize(("theme", "background"), [("light", "ffffff"), ("dark", "1c1c1c")])
def test_every_color_is_readable_on_its_background(theme: ThemeName, background: str) -> None:
    palette, ground = painted(theme), luminance(background)
    for color in (palette.dim, *map(palette.color, NAMES)):
        light, dark = sorted((luminance(color), ground), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, color


def test_a_theme_takes_the_place_of_the_terminal_s_own_colors_at_once() -> None:
    colors = Colors()
    for style, own in (("green", "\x1b[32m"), ("bold yellow", "\x1b[1;33m"), ("dim", "\x1b[2m")):
        colors.theme = "auto"
        assert own in drawn(colors, Text("x", style))
        colors.theme = "light"
        assert "\x1b[2m" not in drawn(colors, Text("x", style))
        assert "38;2;" in drawn(colors, Text("x", style))
        colors.theme = "contrast"
        assert not re.search(r"\[2m|[34][0-8]m|38;", drawn(colors, Text("x", style)))
    colors.theme = "dark"
    assert "38;2;" in drawn(colors, code("def f(): return 1", "python"))
    assert "\x1b[1;39m" in drawn(Colors("contrast"), Text("x", "red"))
