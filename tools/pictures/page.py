"""Pictures of the page: light, dark, and on a phone."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect

from tools.pictures.shop import FIX, WRITE, project

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 120_000
"""Milliseconds for the page to show what it is asked for."""
DESK: ViewportSize = {"width": 1440, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}


def take_page(browser: Browser, folder: Path) -> None:
    """Put `browser.png`, `browser-dark.png` and `phone.png` into *folder*."""
    expect.set_options(timeout=PATIENCE)
    with project() as (root, settings), served(root, settings) as link:
        context = browser.new_context(viewport=DESK, device_scale_factor=2, color_scheme="light")
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.goto(link)
        for line in ("/focus shop/cart.py", "/note shop/cart.py prices are in cents"):
            say(page, line)
        say(page, f"{WRITE}, then {FIX}")
        expect(page.locator(".end")).to_have_count(1)
        for name in ("shop", "tests"):
            page.get_by_role("treeitem", name=re.compile(name)).first.click()
        expect(page.get_by_role("treeitem", name=re.compile("test_cart.py"))).to_be_visible()
        message(page).focus()
        page.screenshot(path=folder / "browser.png")
        page.emulate_media(color_scheme="dark")
        page.reload()
        expect(page.locator(".end")).to_have_count(1)
        expect(page.locator(".pane .diff").last).to_be_visible()
        page.screenshot(path=folder / "browser-dark.png")
        page.emulate_media(color_scheme="light")
        page.set_viewport_size(PHONE)
        page.reload()
        expect(page.locator(".end")).to_have_count(1)
        page.screenshot(path=folder / "phone.png")
        context.close()


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
