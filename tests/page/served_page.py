"""Fixture of the page in a real browser, on the real server and tools; the model is scripted."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from modules.web.server import WebServer
from tests.assembly import HermeticSettings
from tests.scripted_model import ScriptedModel
from tests.served_model import FixedModel
from tests.web_assembly import assembled_server
from utils.waiting import Stop

TIMEOUT_SECONDS = 60.0
"""Seconds; nothing passes later for it, only what is slow fails not."""
KEY = "'X-Onefold-Key': localStorage.getItem('onefold.key')"
"""The header of a change that a page asks for by itself."""
SETTINGS = HermeticSettings(
    context_limit=128_000,
    allow_unsandboxed=True,
    checkpoint_file_mb=1,
    checkpoint_total_mb=10,
    checkpoint_days=1,
)


class Gate:
    """Lets a scripted reply wait in mid-sentence until the test opens it, or the turn stops."""

    def __init__(self) -> None:
        self._open = threading.Event()

    def __call__(self, stop: Stop) -> None:
        while not self._open.wait(0.02) and not stop.is_set():
            pass

    def open(self) -> None:
        self._open.set()


@dataclass
class ServedPage:
    """A served project, and the browser to look at it with."""

    project: Path
    model: ScriptedModel
    server: WebServer
    browser: Browser

    def context(self, *, width: int = 1440, height: int = 900, **options: Any) -> BrowserContext:
        options = {
            "viewport": {"width": width, "height": height},
            "service_workers": "block",
        } | options
        context = self.browser.new_context(**options)
        context.set_default_timeout(TIMEOUT_SECONDS * 1000)
        return context

    def open(self, *, language: str = "en", **options: Any) -> Page:
        """Return a page that is logged in, in a browser profile of its own."""
        context = self.context(**options)
        link = self.server.url + self.server.authenticator.new_link()
        login = context.request.get(link, headers={"Accept": "text/html"}, max_redirects=0)
        key = urlsplit(login.headers["location"]).fragment
        page = context.new_page()
        page.goto(f"{self.server.url}/?lang={language}#{key}")
        # Who comes may write at once, or answer what waits: then the question has the focus.
        ready = page.locator(":is(.composer textarea, .approval):focus")
        expect(ready).to_be_attached(timeout=TIMEOUT_SECONDS * 1000)
        expect(page.locator(".dot")).to_have_attribute("data-link", "live")
        listed = page.locator(".files :is([role=treeitem], .tree-note:not([hidden]))")
        expect(listed.first).to_be_attached()
        return page


def message(page: Page, language: str = "en") -> Locator:
    return page.get_by_role("textbox", name="Message" if language == "en" else "消息", exact=True)


def send(page: Page, text: str) -> None:
    area = page.locator(".composer textarea")
    area.fill(text)
    area.press("Enter")


def replies(page: Page) -> Locator:
    return page.locator(".reply")


@contextmanager
def serve_page(tmp: Path, browser: Browser, **configured: Any) -> Iterator[ServedPage]:
    """Serve a project in *tmp* on a free port; again in the same place is a restart.

    *configured* is more of the `ServerConfig`.
    """
    root = tmp / "project"
    root.mkdir(exist_ok=True)
    model = ScriptedModel()
    server, config = assembled_server(
        *(tmp, lambda: model, SETTINGS),
        version="0",
        language="",
        model=FixedModel(),
        **configured,
    )
    thread = threading.Thread(target=server.run, name="server")
    thread.start()
    try:
        yield ServedPage(root, model, server, browser)
    finally:
        server.stop()
        thread.join(TIMEOUT_SECONDS)
        config.store.close()
        config.project.close()
