"""Figures of a long session in a real Chromium; by hand: `python3 -m tests.bench.bench_long`.

The longest task of the page while 5,000 messages are loaded, scrolled and written below, while a
file with 3 MB on one line is open, and in the last of ten tabs of one session that streams. A task
is counted by what it uses of a processor, so that what else the machine does is not in it.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from core.conversation.messages import Assistant, User
from modules.sessions.store import Sessions
from modules.storage.data_folder import DataFolder
from modules.web.servers.event_loop import AsyncMode
from tests.bench.bench_page import chromium, open_page
from tests.bench.longest_task import longest
from tests.bench.serve_project import ANSWER
from tests.bench.served_projects import MODES, row, serve_project

TURNS = 2_500
TABS = 10
LINE_BYTES = 3_000_000
LIMIT = 50
"""Milliseconds that a task may take while somebody scrolls and writes."""


def fill(folder: Path) -> str:
    """Make a project in *folder* with a long session; return that."""
    project = folder / "project"
    project.mkdir()
    (project / "line.txt").write_text("word " * (LINE_BYTES // 5))
    store = Sessions(DataFolder(folder / "data", project).sessions)
    session = store.create(model="obedient")
    for turn in range(1, TURNS + 1):
        store.append(session, turn, User(f"Question {turn}, 第 {turn} 个问题"))
        store.append(session, turn, Assistant(ANSWER))
    store.close()
    return session


# In the page: what Playwright waits for is asked again and again, in tasks as long as its log.
LOAD_ALL = """
async () => {
  const older = document.querySelector(".older");
  const idle = () => new Promise((resolve) => requestIdleCallback(resolve));
  while (!older.hidden) {
    older.click();
    while (older.disabled) await new Promise(requestAnimationFrame);
    await idle();
  }
}
"""


def load_all(page: Page) -> None:
    page.evaluate(LOAD_ALL)


JUMP = """
(at) => {
  const log = document.querySelector(".log");
  log.scrollTop = log.scrollHeight * at;
}
"""


def scroll(page: Page) -> None:
    page.mouse.move(700, 400)
    for by in (-1_200, 800):
        for _ in range(40):
            page.mouse.wheel(0, by)
            page.wait_for_timeout(16)
    for share in (0, 0.5, 0.1, 1):
        page.evaluate(JUMP, share)
        page.wait_for_timeout(100)


def write(page: Page) -> None:
    """Type where the focus is: what a locator looks for costs the page more than the typing."""
    page.keyboard.type("Hello, and 你好, what stands in it? ", delay=10)


def measure_session(mode: AsyncMode, browser: Browser) -> None:
    with tempfile.TemporaryDirectory() as tmp:
        session = fill(Path(tmp))
        with serve_project(mode, Path(tmp)) as served:
            page = open_page(browser, served, session=session)
            expect(page.locator(".reply").last).to_be_visible()

            def stream(page: Page) -> None:
                served.say(session, "tokens 3 100", wait=False)
                page.wait_for_timeout(3_000)

            composer = page.locator(".composer textarea")
            works = {"loading them all": load_all, "scrolling": scroll, "writing": write}
            for what, work in (works | {"streaming below": stream}).items():
                composer.focus()
                used = longest(page, partial(work, page))
                row(f"{2 * TURNS:,} messages: longest task, {what}", mode, used, "ms", LIMIT)
            composer.fill("")
            measure_line(mode, page)
            page.context.close()


def measure_line(mode: AsyncMode, page: Page) -> None:
    page.reload()
    expect(page.locator(".reply").last).to_be_visible()
    page.get_by_role("treeitem", name="line.txt").click()
    expect(page.locator(".cm-line").first).to_be_attached()
    for what, place in (("beside it", ".composer textarea"), ("in it", ".cm-content")):
        page.locator(place).focus()
        used = longest(page, partial(write, page))
        row(f"3 MB on one line: longest task, writing {what}", mode, used, "ms", LIMIT)


def measure_tabs(mode: AsyncMode, browser: Browser) -> None:
    with tempfile.TemporaryDirectory() as tmp, serve_project(mode, Path(tmp)) as served:
        session = served.new_session()
        first = open_page(browser, served, session=session)
        tabs = [first, *(first.context.new_page() for _ in range(TABS - 1))]
        for tab in tabs[1:]:
            tab.goto(first.url)
            expect(tab.locator(".dot")).to_have_attribute("data-link", "live")
        served.say(session, "tokens 8 100", wait=False)
        last = tabs[-1]
        expect(last.locator(".reply").last).to_be_visible()
        last.locator(".composer textarea").focus()
        used = longest(last, partial(write, last))
        row(f"{TABS} tabs of one that streams: longest task, writing", mode, used, "ms", LIMIT)
        first.context.close()


if __name__ == "__main__":
    expect.set_options(timeout=60_000)
    with chromium() as shown:
        for each in MODES:
            measure_session(each, shown)
            measure_tabs(each, shown)
