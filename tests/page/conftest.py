"""One browser for all tests of the page, a fresh server for each; what a failed one saw."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserType, Error, Page, Request, expect, sync_playwright

from tests.page.served_page import TIMEOUT_SECONDS, ServedPage, serve_page

SNAPSHOT_SECONDS = 10.0
LAST_REQUESTS = 30
expect.set_options(timeout=TIMEOUT_SECONDS * 1000)
SWITCHED_OFF = (
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup"),
    *("AimEnabled", "AvoidCorsURLLoaderRestartOnRedirect", "AvoidUnnecessaryBeforeUnloadCheckSync"),
    *("DestroyProfileOnBrowserClose", "HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades"),
    *("LensOverlay", "MediaRouter", "NetworkTimeServiceQuerying", "OptimizationHints"),
    *("PaintHolding", "PreconnectToSearch", "ThirdPartyStoragePartitioning"),
)
"""Features of Chromium: first two pages of its address bar, which each window would load, though no
window is seen here, at the cost of half a second of work each; the others are those that Playwright
switches off, for Chromium heeds only the last list that it is given."""


@pytest.fixture(scope="session")
def browsers() -> Iterator[BrowserType]:
    with sync_playwright() as playwright:
        yield playwright.chromium


@pytest.fixture(scope="session")
def chromium(browsers: BrowserType) -> Iterator[Browser]:
    """Chromium without the windows that nobody sees here: it needs a fifth less work."""
    with _launched(browsers, "chromium-headless-shell") as browser:
        yield browser


@contextmanager
def _launched(browsers: BrowserType, name: str) -> Iterator[Browser]:
    program = shutil.which(name)
    if program is None:
        if os.environ.get("ONEFOLD_NO_SKIP"):
            pytest.fail(f"{name} is missing")
        pytest.skip(f"{name} is missing: the page was not tried")
    options = [f"--disable-features={','.join(SWITCHED_OFF)}"]
    options += ["--no-sandbox"] if os.geteuid() == 0 else []
    browser = browsers.launch(executable_path=program, args=options, timeout=TIMEOUT_SECONDS * 1000)
    yield browser
    browser.close()


@pytest.fixture
def served_page(tmp_path: Path, chromium: Browser) -> Iterator[ServedPage]:
    with serve_page(tmp_path, chromium) as served:
        yield served
        for context in chromium.contexts:
            context.close()


@pytest.fixture
def served_to_whole_chromium(tmp_path: Path, browsers: BrowserType) -> Iterator[ServedPage]:
    """Serve a page to Chromium as people have it: it shows notifications, and PDFs."""
    with _launched(browsers, "chromium") as browser, serve_page(tmp_path, browser) as served:
        yield served


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tell with a failure what its pages showed, asked for and complained of at that moment."""
    report = yield
    browser = item.funcargs.get("chromium") if isinstance(item, pytest.Function) else None
    if report.failed and report.when == "call" and isinstance(browser, Browser):
        pages = [page for context in browser.contexts for page in context.pages]
        for number, page in enumerate(pages, start=1):
            report.sections.append((f"page {number}, {page.url}", seen_on(page)))
    return report


def seen_on(page: Page) -> str:
    """Return what *page* shows as screen readers have it, its last requests, and its complaints."""
    parts: list[Callable[[], Iterable[object]]] = [
        lambda: [page.locator("body").aria_snapshot(timeout=SNAPSHOT_SECONDS * 1000)],
        lambda: map(outcome, page.requests()[-LAST_REQUESTS:]),
        lambda: [f"{one.type}: {one.text}" for one in page.console_messages()],
        page.page_errors,
    ]
    lines: list[object] = []
    for part in parts:
        try:
            lines += part()
        except Error as error:  # the page is stuck, or gone
            lines.append(error)
    return "\n".join(map(str, lines))


def outcome(request: Request) -> str:
    answer = request.existing_response
    became = answer.status if answer else request.failure or "no answer yet"
    return f"{request.method} {request.url}: {became}"
