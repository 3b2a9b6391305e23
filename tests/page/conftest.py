"""One browser for all tests of the page, a fresh server for each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.page.served_page import TIMEOUT_SECONDS, ServedPage, serve_page

expect.set_options(timeout=TIMEOUT_SECONDS * 1000)
CHROMIUM = Path("/usr/bin/chromium")
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
def chromium() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        if os.environ.get("ONEFOLD_NO_SKIP"):
            pytest.fail("chromium is missing")
        pytest.skip("chromium is missing: the page was not tried")
    with sync_playwright() as playwright:
        options = [f"--disable-features={','.join(SWITCHED_OFF)}"]
        options += ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=options, timeout=TIMEOUT_SECONDS * 1000
        )
        yield browser
        browser.close()


@pytest.fixture
def served_page(tmp_path: Path, chromium: Browser) -> Iterator[ServedPage]:
    with serve_page(tmp_path, chromium) as served:
        yield served
        for context in chromium.contexts:
            context.close()
