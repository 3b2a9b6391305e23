"""The longest task of a page, by what it uses of a processor: other work is not in it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

TASKS = ("RunTask", "ThreadControllerImpl::RunTask")
CATEGORIES = ["toplevel", "disabled-by-default-devtools.timeline", "__metadata"]


def longest(page: Page, work: Callable[[], None]) -> float:
    """Return the milliseconds of a processor that the longest task of *work* used."""
    browser = page.context.browser
    assert browser
    with tempfile.TemporaryDirectory() as tmp:
        trace = Path(tmp, "trace.json")
        browser.start_tracing(page=page, path=trace, categories=CATEGORIES)
        work()
        page.wait_for_timeout(200)
        browser.stop_tracing()
        events: list[dict[str, Any]] = json.loads(trace.read_bytes())["traceEvents"]
    names = [each for each in events if each["name"] == "thread_name"]
    main = {
        (each["pid"], each["tid"]) for each in names if each["args"]["name"] == "CrRendererMain"
    }
    used = [
        min(each.get("tdur", each["dur"]), each["dur"])  # the clock of a processor may jump
        for each in events
        if each["name"] in TASKS and "dur" in each and (each["pid"], each["tid"]) in main
    ]
    return max(used, default=0) / 1_000
