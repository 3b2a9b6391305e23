"""A folder whose names and contents want to be more than text: it stays text in every view."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Dialog, Page, Request, expect

from tests.page.request_holding import wait_until
from tests.page.served_page import ServedPage, replies, send
from tests.scripted_model import call_reply, calls_reply, text_reply

TAG = "<img src=x onerror=window.pwned=1>"
NAMES = {
    f"{TAG}.txt": f"{TAG}.txt",
    "a\"b'c&amp;.txt": "a\"b'c&amp;.txt",
    "two\nlines.txt": "two\\nlines.txt",
    "photo\u202egpj.txt": "photo\\u202egpj.txt",
    "\x1b[31mred\x1b[0m.txt": "\\x1b[31mred\\x1b[0m.txt",
    "-rf.txt": "-rf.txt",
    "javascript:window.pwned=1.txt": "javascript:window.pwned=1.txt",
    "${window.pwned=1}{{7*7}}.txt": "${window.pwned=1}{{7*7}}.txt",
    "zero\u200bwidth.txt": "zero\\u200bwidth.txt",
    f"{'long' * 60}.txt": f"{'long' * 60}.txt",
}
"""Names, and how each is shown."""
SCRIPT = "<script>window.pwned=1;parent.pwned=1;top.pwned=1</script>"
MARKDOWN = f"""# Hi {TAG}
{SCRIPT}
<a href="javascript:window.pwned=1" onclick="window.pwned=1">one</a>
[two](javascript:window.pwned=1)
[three](data:text/html,<script>window.pwned=1</script>) [four](vbscript:x)
![out](http://evil.example/leak.png) <img src="http://evil.example/leak2.png">
<iframe src="http://evil.example"></iframe><form action="http://evil.example"><button>go</button></form>
<svg onload="window.pwned=1"><use href="http://evil.example/x.svg#a"/></svg>
<style>body {{ display: none }}</style><b style="position:fixed;inset:0" id="app">bold</b>

```html{TAG}
{TAG}
```
"""
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" onload="window.pwned=1">'
    '<script>top.pwned=1</script><image href="http://evil.example/leak.png"/></svg>'
)
ANSI = "\x1b]0;title\x07\x1b[31mred\x1b[0m \x1b]8;;javascript:window.pwned=1\x07link\x1b]8;;\x07"
WATCHED = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  violations.push(`${event.violatedDirective} ${event.blockedURI}`));
"""
STRAY = """
[onerror], [onload], [onclick], img[src="x"], iframe:not([sandbox]), object, embed, form[action],
a[href^="javascript:"], a[href^="data:"], a[href^="vbscript:"], body script:not([src])
"""


@dataclass
class Watcher:
    """What a page did that it must not do."""

    page: Page
    seen: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("dialog", self._dialog)
        self.page.on("requestfinished", self._request)
        self.page.on("requestfailed", self._failed)

    def _dialog(self, dialog: Dialog) -> None:
        self.seen.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Request) -> None:
        if urlsplit(request.url).hostname not in ("127.0.0.1", None):
            self.seen.append(f"request {request.url}")

    def _failed(self, request: Request) -> None:
        if request.failure not in ("csp", "origin"):  # those never left the browser
            self.seen.append(f"{request.failure}: {request.url}")

    def check(self) -> None:
        """Fail if anything ran, left, or became an element that text must not become."""
        assert self.seen == []
        assert self.page.evaluate("window.pwned") is None
        assert self.page.locator(STRAY).count() == 0
        assert self.page.title().isprintable()


@pytest.fixture
def hostile(served_page: ServedPage) -> ServedPage:
    root = served_page.project
    for name in NAMES:
        (root / name).write_text(f"{TAG}\n{SCRIPT}\n")
    Path(os.fsdecode(os.fsencode(root) + b"/bad\xff\xfe.txt")).write_text("x\n")
    (root / "evil.md").write_text(MARKDOWN)
    (root / "evil.html").write_text(f"<h1>Seen</h1>{SCRIPT}{MARKDOWN}")
    (root / "evil.svg").write_text(SVG)
    (root / "evil.csv").write_text(f'name,"{TAG}"\n"{SCRIPT}",=cmd()\n')
    (root / "ansi.log.txt").write_text(ANSI)
    return served_page


def watched(served_page: ServedPage) -> tuple[Page, Watcher]:
    page = served_page.open()
    page.add_init_script(WATCHED)
    page.reload()
    expect(page.locator(".dot")).to_have_attribute("data-link", "live")
    return page, Watcher(page)


def test_names_show_as_text_wherever_files_are_named(hostile: ServedPage) -> None:
    page, watcher = watched(hostile)
    tree = page.get_by_role("tree", name="Files")
    for name, shown in {**NAMES, "bad": "bad\\udcff\\udcfe.txt"}.items():
        item = tree.get_by_role("treeitem", name=shown, exact=True)
        item.scroll_into_view_if_needed()
        item.click()
        expect(page.locator(".editor .cm-content")).to_contain_text("x" if name == "bad" else TAG)
        expect(page.locator(".pane-tab", has_text=shown)).to_be_visible()
        watcher.check()
    page.keyboard.press("Control+p")
    page.get_by_role("combobox", name="File name").fill(".txt")
    found = page.get_by_role("option")
    for shown in NAMES.values():
        expect(found.filter(has_text=shown)).not_to_have_count(0)
    watcher.check()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("textbox", name="Message").press_sequentially("@onerror")
    expect(page.locator(".completion li").first).to_contain_text(TAG)
    watcher.check()
    assert page.evaluate("window.violations") == []


def test_contents_are_shown_and_nothing_of_them_runs(hostile: ServedPage) -> None:
    page, watcher = watched(hostile)
    tree = page.get_by_role("tree", name="Files")
    for name in ("evil.md", "evil.html", "evil.svg", "evil.csv", "ansi.log.txt"):
        tree.get_by_role("treeitem", name=name, exact=True).click()
        if name in ("evil.md", "evil.html"):
            page.get_by_role("button", name="Preview").click()
        shown = "editor" if name.endswith(".txt") else "preview"
        expect(page.locator(f".{shown}:visible")).to_have_count(1)
        expect(page.locator(".pane")).to_contain_text(name)
        watcher.check()
        for frame in page.frames[1:]:
            assert frame.evaluate("window.pwned") is None
    expect(page.locator("h1", has_text="Seen")).to_have_count(0)


def test_nothing_of_a_talk_runs(hostile: ServedPage, tmp_path: Path) -> None:
    hostile.model.replies = [
        calls_reply(
            ("r", "read_file", json.dumps({"path": "evil.md"})),
            ("l", "list_files", "{}"),
            ("s", "search_text", json.dumps({"pattern": "pwned"})),
            thinking=f"{TAG} {SCRIPT}",
        ),
        call_reply("create_file", id="c", path=f"made {TAG}.md", content=f"{TAG}\n{SCRIPT}\n"),
        call_reply(
            "modify_file", id="m", path="evil.md", operation="replace", old="# Hi", new=f"# {TAG}"
        ),
        call_reply(
            "update_todos", id="t", todos=[{"title": f"{TAG}{SCRIPT}", "status": "completed"}]
        ),
        call_reply(
            "run_command",
            id="x",
            command=f"printf '%s' '{TAG}'; printf '\\033]0;x\\007\\033[31mred'",
        ),
        call_reply("no_such_tool", id="n", argument=TAG),
        text_reply(MARKDOWN),
    ]
    page, watcher = watched(hostile)
    send(page, f"{TAG} {SCRIPT}")
    expect(page.locator(".end")).to_have_count(1)
    for head in (".group .head[aria-expanded=false]", ".call .head[aria-expanded=false]"):
        page.locator(head).evaluate_all("all => all.forEach(each => each.click())")
    page.locator("details").evaluate_all("all => all.forEach(each => { each.open = true; })")
    expect(replies(page).get_by_role("heading", name="Hi")).to_be_visible()
    expect(page.locator(".person").first).to_contain_text(TAG)
    watcher.check()
    page.get_by_role("button", name="Changes", exact=True).first.click()
    expect(page.locator(".pane")).to_contain_text(f"made {TAG}.md")
    watcher.check()
    page.keyboard.press("Control+Shift+f")
    drawer = page.get_by_role("region", name="Sessions")
    expect(drawer.locator(".title").first).to_contain_text(TAG)
    drawer.get_by_role("searchbox").fill("pwned")
    expect(drawer.locator(".snippet").first).to_contain_text("pwned")
    watcher.check()
    # What is cleaned away is reported, too: as inline script that was not run.
    assert {told.split()[1] for told in page.evaluate("window.violations")} <= {"inline"}
    _check_export(hostile, tmp_path)


def _check_export(served_page: ServedPage, folder: Path) -> None:
    """Look at the exported page, which may run its own script and nothing else."""
    page = served_page.context().new_page()
    page.goto(served_page.server.url + served_page.server.authenticator.new_link())
    session = page.evaluate("fetch('/api/sessions').then(a => a.json())")["sessions"][0]["id"]
    export = page.evaluate(
        f"fetch('/api/sessions/{session}/export?format=html').then(a => a.text())"
    )
    file = folder / "talk.html"
    file.write_text(export)
    replay = served_page.context().new_page()
    watcher = Watcher(replay)
    replay.goto(file.as_uri())
    expect(replay.get_by_role("heading", name="Hi")).to_be_visible()
    replay.get_by_role("button", name="Replay").click()
    expect(replay.get_by_role("heading", name="Hi")).to_be_visible(timeout=60_000)
    assert watcher.seen == []
    assert replay.evaluate("window.pwned") is None
    assert replay.locator("#conversation").locator(STRAY).count() == 0


def test_a_question_about_a_hostile_name_shows_it(hostile: ServedPage) -> None:
    hostile.model.replies = [
        call_reply("create_file", path=f"{TAG}\u202e.md", content=SCRIPT),
        call_reply("run_command", id="x", command=f"echo '{TAG}' \u202e; : \x1b[2J"),
        text_reply("ok"),
    ]
    page, watcher = watched(hostile)
    page.get_by_label("Approval mode").select_option("ask")
    send(page, "do it")
    for shown in (f"{TAG}\\u202e.md", "\\x1b[2J"):
        group = page.get_by_role("group", name="Approval")
        expect(group).to_contain_text(shown)
        watcher.check()
        group.get_by_role("button", name="No", exact=True).click()
    expect(replies(page)).to_have_text("ok")
    watcher.check()
    assert page.evaluate("window.violations") == []


TURNED = "echo \u202e; rm x # \u2066\x1b[2J"
TURN = r"/[\u202a-\u202e\u2066-\u2069]/"
NO_TURN = f"""() => {{
    const fields = [...document.querySelectorAll("input")].map((each) => each.value);
    return [document.body.innerText, ...fields].join(" ").match({TURN});
}}"""


def test_no_text_turns_the_order_of_what_is_read(served_page: ServedPage) -> None:
    turned = "a\u202eb\u2069"
    served_page.model.replies = [
        calls_reply(("r", "no_such_tool", json.dumps({"x": turned})), thinking=turned),
        call_reply("update_todos", id="t", todos=[{"title": turned, "status": "completed"}]),
        call_reply("create_file", id="c", path="a.md", content=f"# {turned}\n\n    {turned}\n"),
        call_reply("run_command", id="x", command=TURNED),
        text_reply(f"{turned}\n\n# {turned}\n\n`{turned}`\n\n```\n{turned}\n```\n"),
    ]
    page = served_page.open(permissions=["clipboard-read", "clipboard-write"])
    page.get_by_label("Approval mode").select_option("ask")
    send(page, turned)
    group = page.get_by_role("group", name="Approval")
    expect(group).to_contain_text("a.md")
    group.get_by_role("button", name="Yes", exact=True).click()
    expect(group.locator("pre")).to_have_text("echo \\u202e; rm x # \\u2066\\x1b[2J")
    assert page.evaluate(NO_TURN) is None
    group.get_by_role("button", name="Copy").click()
    wait_until(page, lambda: page.evaluate("navigator.clipboard.readText()") == TURNED)
    group.get_by_role("button", name="Always", exact=True).click()
    expect(page.locator(".end")).to_have_count(1)
    page.locator(".call .head[aria-expanded=false]").evaluate_all(
        "all => all.forEach(e => e.click())"
    )
    page.locator("details").evaluate_all("all => all.forEach(each => { each.open = true; })")
    expect(replies(page).get_by_role("heading")).to_have_text("a\\u202eb\\u2069")
    assert page.evaluate(NO_TURN) is None
    served_page.model.replies = [call_reply("run_command", command=TURNED), text_reply("again")]
    send(page, "the pattern that was allowed is the one that was asked about")
    expect(replies(page).last).to_have_text("again")
