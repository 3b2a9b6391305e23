"""The recording of one minute in the terminal."""

from __future__ import annotations

import io
import re
import shlex
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from tests.modules.cli.terminal import CHECKOUT, PROMPT, PYTHON, Terminal
from tools.pictures.shop import FIX, project

WIDTH = 100
"""Columns of the terminal."""
HEIGHT = 30
"""Rows of it."""
LETTER_MS, LOOK_MS, END_MS = 60, 5500, 8000
"""Milliseconds that a letter, an answer and the end are shown."""
SCENES = (
    (FIX, "as it should be"),
    ("/diff", "+= price * count"),
    ("/undo", "Undid the changes"),
    ("/redo", "Restored the undone"),
    ("/why shop/cart.py:15", "turn 1"),
    ("!git status --short", "shop/cart.py"),
    ("/status", "Sandbox"),
)
"""What is typed, and what is on the screen when it is done."""
DARK = TerminalTheme(
    (27, 27, 32),
    (228, 228, 231),
    [
        (40, 44, 52), (224, 108, 117), (152, 195, 121), (229, 192, 123),
        (97, 175, 239), (198, 120, 221), (86, 182, 194), (171, 178, 191),
    ],
    [
        (118, 123, 133), (224, 108, 117), (152, 195, 121), (229, 192, 123),
        (97, 175, 239), (198, 120, 221), (86, 182, 194), (255, 255, 255),
    ],
)  # fmt: skip
WINDOW = """\
<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; width: 880px; background: {background}; color: {foreground} }}
header {{ padding: 16px 18px 0 }}
header i {{ display: inline-block; width: 12px; height: 12px }}
header i {{ margin-right: 8px; border-radius: 6px }}
pre {{ margin: 12px 18px 18px; font: 14px/1.2 "DejaVu Sans Mono", monospace; position: relative }}
pre b {{ position: absolute; width: 1ch; height: 1.2em; background: currentColor; opacity: .6 }}
</style>
<header><i style="background:#e06c75"></i><i style="background:#e5c07b"></i>\
<i style="background:#98c379"></i></header><pre>{code}</pre>
"""


@dataclass(frozen=True)
class Screen:
    """What a terminal shows, with its escapes for colours, and where its cursor is."""

    text: str
    column: int
    row: int


@dataclass
class Frame:
    """A screen, and for how many milliseconds it is shown."""

    screen: Screen
    duration: int


def take_recording(browser: Browser, path: Path) -> None:
    frames: list[Frame] = []
    with running() as terminal:
        frames.append(Frame(look(terminal), LOOK_MS))
        for line, end in SCENES:
            frames += typed(terminal, line)
            frames += answered(terminal, end)
    frames[-1].duration = END_MS
    pictures = drawn(browser, [frame.screen for frame in frames])
    first, *others = (few_colors(Image.open(io.BytesIO(picture))) for picture in pictures)
    durations = [frame.duration for frame in frames]
    first.save(
        path, save_all=True, append_images=others, duration=durations, loop=0, lossless=True,
        minimize_size=True, method=6,
    )  # fmt: skip


def few_colors(picture: Image.Image) -> Image.Image:
    """Return *picture* in 48 colours, which leaves a third of the bytes."""
    colors = picture.convert("RGB").quantize(48, dither=Image.Dither.NONE)
    return colors.convert("RGB")


def typed(terminal: Terminal, line: str) -> Iterator[Frame]:
    for letter in line:
        before = now = look(terminal)
        terminal.press("-l", letter)
        while now == before:
            now = look(terminal)
        yield Frame(now, LETTER_MS)


def answered(terminal: Terminal, end: str) -> Iterator[Frame]:
    """Send the line; yield each screen until the prompt is there again behind *end*."""
    terminal.press("Enter")
    shown: list[Screen] = []

    def is_done(screen: str) -> bool:
        now = look(terminal)
        if not shown or still(now) != still(shown[-1]):
            shown.append(now)
        behind = screen.rpartition(end)[2]
        return behind != screen and PROMPT in behind

    terminal.wait_for(is_done)
    yield from (Frame(screen, 2 * LETTER_MS) for screen in shown[:-1])
    yield Frame(look(terminal), LOOK_MS)


def still(screen: Screen) -> str:
    """Return what *screen* shows beside the wheel that turns while a task runs."""
    return re.sub("[\u2800-\u28ff]", "", screen.text)


def look(terminal: Terminal) -> Screen:
    where = ("display-message", "-p", "#{cursor_x} #{cursor_y}")
    *rows, cursor = terminal.tmux("capture-pane", "-p", "-e", ";", *where).splitlines()
    column, row = map(int, cursor.split())
    return Screen("\n".join(rows), column, row)


@contextmanager
def running() -> Iterator[Terminal]:
    """Yield a terminal at the first prompt of Onefold, begun in the project for the first time."""
    terminal = Terminal(f"onefold-{uuid.uuid4().hex[:8]}")
    with project() as (root, settings):
        variables = " ".join(shlex.quote(f"{name}={text}") for name, text in settings.items())
        program = f'env -i TERM="$TERM" {variables} {PYTHON} {CHECKOUT}/main.py --cli --offline'
        line = f"cd {shlex.quote(str(root))}; {program}"
        try:
            terminal.tmux("new-session", "-d", "-x", str(WIDTH), "-y", str(HEIGHT), line)
            terminal.wait_for_text(PROMPT)
            yield terminal
        finally:
            terminal.tmux("kill-server")


def drawn(browser: Browser, screens: list[Screen]) -> list[bytes]:
    """Return a picture of each of *screens*."""
    page = browser.new_page()
    pictures = []
    for screen in screens:
        console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
        console.print(Text.from_ansi(screen.text), soft_wrap=True)
        html = console.export_html(theme=DARK, code_format=WINDOW, inline_styles=True)
        height = 1.2 * len(screen.text.split("\n"))
        html = html.replace("<pre>", f'<pre style="height: {height}em">')
        cursor = f'<b style="left: {screen.column}ch; top: {1.2 * screen.row}em"></b>'
        page.set_content(html.replace("</pre>", f"{cursor}</pre>"))
        pictures.append(page.locator("body").screenshot())
    page.close()
    return pictures
