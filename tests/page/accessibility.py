"""What axe finds wrong with the page."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Locator, Page

_AXE = Axe().axe_script


def faults(page: Page, part: Locator | None = None, *, rule: str = "") -> list[Any]:
    """Return what axe finds wrong with *page* as it is now, or with a *part* of it.

    It looks by one *rule*, or by all.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(_AXE)
    options = {"resultTypes": ["violations"]} | ({"runOnly": [rule]} if rule else {})
    found = (part or page.locator(":root")).evaluate(
        "async (part, options) => (await axe.run(part, options)).violations", options
    )
    return [(each["id"], [node["target"] for node in each["nodes"]]) for each in found]
