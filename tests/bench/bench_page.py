"""Figures of the page in a real Chromium; by hand: `python3 -m tests.bench.bench_page`.

For both async modes: a reload in mid-answer up to the full picture, the first paint and the scripts
that come before it, a log of 3,000 events through a connection that breaks every 400 ms, and the
longest task while a tree of 100,000 files is opened, filtered, walked and scrolled.
"""

from __future__ import annotations

import gzip
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from modules.web.http.script_bundle import PageScripts
from modules.web.http.static_files import SCRIPTS_OF_THE_PAGE
from modules.web.servers.event_loop import AsyncMode
from tests.bench.longest_task import longest
from tests.bench.served_projects import (
    MODES,
    ROOT,
    ServedProject,
    fill_flat,
    fill_spread,
    row,
    serve_project,
)

CHROMIUM = "/usr/bin/chromium"
TURNS = 30
EVENTS = 3_000
BREAK = 400
"""Milliseconds between two broken connections."""
END = "The end of the story."

# Notes when all is there and the end is drawn, and when every reply is; each once it is painted.
PAINTED = """
(() => {
  const painted = (name) => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => { window[name] = performance.now(); };
    channel.port2.postMessage(0);
  });
  const strong = (reply) => reply?.querySelector("strong");
  const noting = (name, isThere) => {
    const look = () => isThere([...document.querySelectorAll(".reply")])
      ? painted(name) : requestAnimationFrame(look);
    requestAnimationFrame(look);
  };
  const isEnd = (reply) =>
    reply && [...reply.querySelectorAll("strong")].at(-1)?.textContent === "story";
  noting("picture", (replies) => isEnd(replies.at(-1)));
  noting("all", (replies) => isEnd(replies.at(-1)) && replies.every(strong));
})();
"""

# Follows a session with the page's own connection, which is broken again and again.
BROKEN = """
async ({ session, count, pause, base }) => {
  const { Connection } = await import(`${base}/js/net/connection.js`);
  const { loadSocket } = await import(`${base}/js/lib/vendor.js`);
  const told = { numbers: [], breaks: 0, texts: "" };
  let over;
  const ended = new Promise((resolve) => { over = resolve; });
  const connection = new Connection({
    link: () => {}, state: () => {}, session: () => {}, files: () => {}, failed: () => {},
    events: (_, events, { fresh }) => {
      if (fresh) Object.assign(told, { texts: "" });
      for (const event of events) {
        if (event.seq) told.numbers.push(event.seq);
        if (/^(Text|Thinking)Delta$/.test(event.type)) told.texts += event.text;
        if (event.type === "TurnFinished") over();
      }
    },
  });
  const { io } = await loadSocket();
  let socket;
  connection.open((options) => (socket = io(options)));
  connection.follow(session);
  await connection.command("send", { session, text: `events ${count}` });
  const breaking = setInterval(() => { told.breaks += 1; socket.io.engine?.close(); }, pause);
  await ended;
  clearInterval(breaking);
  socket.close();
  return told;
}
"""


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
        yield browser
        browser.close()


def open_page(browser: Browser, served: ServedProject, *scripts: str, session: str = "") -> Page:
    """Return the page, logged in, with *scripts* run before its own."""
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    for script in scripts:
        page.add_init_script(script)
    page.goto(json.loads(served.ask("POST", "/api/login-links", {}))["url"])
    page.goto(f"{served.url}/{f's/{session}' if session else ''}?lang=en")
    expect(page.locator(".dot")).to_have_attribute("data-link", "live", timeout=60_000)
    return page


def measure_paints(mode: AsyncMode, browser: Browser) -> None:
    with tempfile.TemporaryDirectory() as tmp, serve_project(mode, Path(tmp)) as served:
        page = browser.new_context().new_page()
        page.goto(served.link)
        row("first paint, nothing in any cache", mode, _first_paint(page), "ms", 400)
        page.context.close()
        session = served.new_session()
        for _ in range(TURNS):
            served.say(session, "go")
        served.say(session, "story", wait=False)
        page = open_page(browser, served, PAINTED, session=session)
        took = [_reload(page) for _ in range(7)]
        what = f"reload in mid-answer, {TURNS} turns before:"
        row(f"{what} the picture", mode, min(picture for picture, _ in took), "ms", 300)
        row(f"{what} every reply drawn", mode, min(drawn for _, drawn in took), "ms", None)
        page.context.close()
        served.ask("POST", f"/api/sessions/{session}/stop", {})


def _first_paint(page: Page) -> float:
    name = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
    page.wait_for_function(f"() => {name}")
    return float(page.evaluate(name))


def _reload(page: Page) -> tuple[float, float]:
    """Return the ms to the picture, and those until the replies further up are drawn as well."""
    page.wait_for_timeout(1000)  # the browser has put the scripts into its cache
    page.reload(wait_until="commit")
    while (all_drawn := page.evaluate("window.all ?? null")) is None:
        time.sleep(0.02)
    return float(page.evaluate("window.picture")), float(all_drawn)


def measure_scripts() -> None:
    """Weigh what comes before the first paint, each file packed by itself."""
    bundle = PageScripts(ROOT / "static", SCRIPTS_OF_THE_PAGE)
    names = ("js/early.js", "js/main.js", PageScripts.NAME)
    size = sum(len(gzip.compress(bundle.text(name).encode())) for name in names)
    row(f"scripts before the first paint ({len(names)} files), gzip", "", size / 1000, "kB", 69.5)


def measure_drops(mode: AsyncMode, browser: Browser) -> None:
    with tempfile.TemporaryDirectory() as tmp, serve_project(mode, Path(tmp)) as served:
        page = open_page(browser, served)
        base = page.locator("script[type=module]").get_attribute("src")
        assert base
        session = served.new_session()
        arguments = {
            "session": session,
            "count": EVENTS,
            "pause": BREAK,
            "base": base[: -len("/js/main.js")],
        }
        result = page.evaluate(BROKEN, arguments)
        page.context.close()
    came = [int(word) for word in result["texts"].split()]
    what = f"{EVENTS:,} events, {result['breaks']} broken connections:"
    row(f"{what} lost", mode, len(set(range(EVENTS)) - set(came)), "", 1)
    row(f"{what} doubled", mode, len(came) - len(set(came)), "", 1)
    row(
        f"{what} numbers doubled", mode, len(result["numbers"]) - len(set(result["numbers"])), "", 1
    )


def measure_tree(mode: AsyncMode, browser: Browser) -> None:
    for fill, folder in ((fill_flat, "flat"), (fill_spread, "d0500")):
        with tempfile.TemporaryDirectory() as tmp:
            fill(Path(tmp, "project"))
            with serve_project(mode, Path(tmp)) as served:
                page = open_page(browser, served)
                for what, work in WALK.items():
                    used = longest(page, partial(work, page, folder))
                    row(f"100,000 files ({folder}): longest task, {what}", mode, used, "ms", 50)
                page.context.close()


def _open(page: Page, _folder: str) -> None:
    page.reload()
    expect(page.get_by_role("tree", name="Files").get_by_role("treeitem").first).to_be_visible()


def _filter(page: Page, folder: str) -> None:
    rows = page.get_by_role("tree", name="Files")
    rows.focus()
    for _ in range(3):
        page.keyboard.press("PageDown")
    field = page.get_by_role("searchbox", name="Filter files")
    for text in ("file", "e09", "9", "txt"):
        field.fill(text)
        expect(rows.get_by_role("treeitem").first).to_contain_text(text)
    field.fill("file099999" if folder == "flat" else "file050042")
    expect(rows.get_by_role("treeitem")).to_have_count(1)


def _reveal(page: Page, _folder: str) -> None:
    page.get_by_role("tree", name="Files").get_by_role("treeitem").click()
    page.get_by_role("button", name="Reveal in the tree").click()
    expect(page.locator(".tree .node.current")).to_be_in_viewport()


# In the page: what Playwright is asked for is in the tasks of the page.
SCROLL = """
async () => {
  const tree = document.querySelector(".tree");
  tree.focus();
  for (let share = 0; share <= 1; share += 0.005) {
    tree.scrollTop = tree.scrollHeight * share;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
"""


def _scroll(page: Page, _folder: str) -> None:
    """Go through all of it, so that in the end much of it is known."""
    page.evaluate(SCROLL)
    page.keyboard.press("End")
    expect(page.locator(".tree .node.current")).to_be_in_viewport()
    page.keyboard.press("Home")


def _fold(page: Page, _folder: str) -> None:
    for _ in range(2):
        page.get_by_role("tree", name="Files").get_by_role("treeitem").first.click()
        page.wait_for_timeout(500)


WALK: dict[str, Callable[[Page, str], None]] = {
    "opening the page": _open,
    "filtering": _filter,
    "opening a file and revealing it": _reveal,
    "scrolling from end to end": _scroll,
    "closing and opening the first folder": _fold,
}


if __name__ == "__main__":
    expect.set_options(timeout=60_000)
    measure_scripts()
    with chromium() as shown:
        for each in MODES:
            measure_paints(each, shown)
            measure_drops(each, shown)
            measure_tree(each, shown)
