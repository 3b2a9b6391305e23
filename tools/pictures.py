"""Draws the pictures of the README, `docs/terminal.png` and `docs/browser.png`: `make pictures`.

Both are of the real program with its practice model, at work in a small project made for them: the
terminal in tmux, the page in Chromium. With a folder as its argument the pictures are put there.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from tests.modules.cli.terminal import CHECKOUT, PROMPT, PYTHON, Terminal

ROOT = Path(__file__).resolve().parents[1]
WIDTH = 100
"""Columns of the terminal."""
PATIENCE = 120_000
"""Milliseconds for the page to show what it is asked for."""
FIX = 'in shop/cart.py replace "+= price" with "+= price * count", then run check.py'
WRITE = 'make docs/prices.md with "Prices are in cents."'
CART = '''\
"""What somebody wants to buy."""


class Cart:
    def __init__(self):
        self.items = []

    def add(self, name, price, count=1):
        self.items.append((name, price, count))

    def total(self):
        """Return the sum in cents."""
        total = 0
        for name, price, count in self.items:
            total += price
        return total
'''
CHECK = """\
from shop.cart import Cart

cart = Cart()
cart.add("tea", 350, 3)
cart.add("milk", 120)
total = cart.total() / 100
print(f"3 tea, 1 milk: {total:.2f}, " + ("as it should be" if total == 11.7 else "not 11.70"))
"""
PROJECT = {
    "README.md": "# A shop\n",
    "check.py": CHECK,
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1.0"\n',
    "shop/__init__.py": "",
    "shop/cart.py": CART,
    "shop/orders.py": '"""What was bought."""\n',
    "tests/__init__.py": "",
    "tests/test_cart.py": '"""Tests of the cart."""\n',
}
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
body {{ margin: 0; display: inline-block; background: {background}; color: {foreground} }}
header {{ padding: 16px 18px 0 }}
header i {{ display: inline-block; width: 12px; height: 12px }}
header i {{ margin-right: 8px; border-radius: 6px }}
pre {{ margin: 0; padding: 12px 18px 18px; font: 14px/1.2 "DejaVu Sans Mono", monospace }}
</style>
<header><i style="background:#e06c75"></i><i style="background:#e5c07b"></i>\
<i style="background:#98c379"></i></header><pre>{code}</pre>
"""


def main() -> int:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs"
    with chromium() as browser:
        take_terminal(browser, folder / "terminal.png")
        take_page(browser, folder / "browser.png")
    return 0


@contextmanager
def chromium() -> Iterator[Browser]:
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=options)
        yield browser
        browser.close()


@contextmanager
def project() -> Iterator[tuple[Path, dict[str, str]]]:
    """Make the project; yield it with the settings to start in it as if for the first time."""
    with tempfile.TemporaryDirectory() as base:
        root = Path(base, "shop")
        for name, text in PROJECT.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        git = ["git", "-C", str(root), "-c", "user.name=A", "-c", "user.email=a@example.org"]
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "Begin a shop"]):
            subprocess.run([*git, *words], check=True)  # noqa: S603 - in a folder of our own
        settings = {
            "PATH": os.defpath,  # no toolchains of whoever draws them
            "HOME": base,
            "ONEFOLD_BOOTSTRAP": "0",
            "ONEFOLD_DATA_DIR": f"{base}/data",
            "ONEFOLD_LANG": "en",
            "LANG": "C.UTF-8",
        }
        yield root, settings


def take_terminal(browser: Browser, path: Path) -> None:
    terminal = Terminal(f"onefold-{uuid.uuid4().hex[:8]}")
    with project() as (root, settings):
        variables = " ".join(shlex.quote(f"{name}={text}") for name, text in settings.items())
        program = f'env -i TERM="$TERM" {variables} {PYTHON} {CHECKOUT}/main.py --cli --offline'
        try:
            line = f"cd {shlex.quote(str(root))}; {program}"
            terminal.tmux("new-session", "-d", "-x", str(WIDTH), "-y", "60", line)
            terminal.wait_for_text(PROMPT)
            terminal.press("-l", FIX)
            terminal.press("Enter")
            terminal.see_prompt_after("as it should be")
            terminal.press("/undo", "Enter")
            terminal.see_prompt_after("Took back the changes")
            shown = terminal.tmux("capture-pane", "-p", "-e")
        finally:
            terminal.tmux("kill-server")
    draw(browser, shown.rstrip(), path)


def draw(browser: Browser, shown: str, path: Path) -> None:
    """Draw what a terminal has *shown*, with its escapes for colours, into *path*."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(shown), soft_wrap=True)
    html = console.export_html(theme=DARK, code_format=WINDOW, inline_styles=True)
    page = browser.new_page(device_scale_factor=2)
    page.set_content(html)
    page.locator("body").screenshot(path=path)
    page.close()


def take_page(browser: Browser, path: Path) -> None:
    with project() as (root, settings), served(root, settings) as link:
        page = browser.new_page(viewport={"width": 1440, "height": 900}, device_scale_factor=2)
        page.set_default_timeout(PATIENCE)
        expect.set_options(timeout=PATIENCE)
        page.goto(link)
        for line in ("/focus shop/cart.py", "/note shop/cart.py prices are in cents"):
            say(page, line)
        say(page, f"{WRITE}, then {FIX}")
        expect(page.locator(".end")).to_have_count(1)
        for folder in ("shop", "tests"):
            page.get_by_role("treeitem", name=re.compile(folder)).first.click()
        expect(page.get_by_role("treeitem", name=re.compile("test_cart.py"))).to_be_visible()
        message(page).focus()
        page.screenshot(path=path)
        page.close()


def say(page: Page, line: str) -> None:
    message(page).fill(line)
    message(page).press("Enter")
    expect(message(page)).to_have_value("")


def message(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Message", exact=True)


@contextmanager
def served(root: Path, settings: dict[str, str]) -> Iterator[str]:
    """Serve *root*; yield the link to log in with."""
    command = [sys.executable, str(ROOT / "main.py"), "--web", "--offline", "--port", "0"]
    with subprocess.Popen(  # noqa: S603 - our own program
        command, cwd=root, env=settings, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None  # noqa: S101 - for the type checker
        try:
            said = iter(process.stdout.readline, "")
            links = (re.search(r"http://\S+/login\?token=\S+", line) for line in said)
            yield next(found[0] for found in links if found)
        finally:
            process.terminate()


if __name__ == "__main__":
    sys.exit(main())
