"""A page that is loaded again, also in another language: what was open is, and nothing jumps."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.modules.git.person.repositories import run_git
from tests.page.request_holding import HeldRequests
from tests.page.served_page import ServedPage, message, send
from tests.page.test_files import edit, row
from tests.scripted_model import call_reply, text_reply

NOTE_SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries())
        shifts.push([value, ...sources.map(({ node }) => node?.className ?? node?.nodeName)]);
}).observe({ type: "layout-shift", buffered: true });
"""


def tabs(page: Page) -> Locator:
    return page.locator(".pane-tab .tab")


def opened(served_page: ServedPage) -> Page:
    """Return a page with two files open, and unsaved text in the one that is shown."""
    (served_page.project / "a.txt").write_text("one\ntwo\nthree\nfour\nfive\n")
    (served_page.project / "b.txt").write_text("b\n")
    page = served_page.open()
    page.on("dialog", lambda dialog: dialog.accept())  # it may be lost, says the browser
    for name in ("b.txt", "a.txt"):
        row(page, name).click()
        expect(tabs(page).last).to_have_text(name)
    expect(page.locator(".editor .cm-content")).to_contain_text("three")
    edit(page, "zero ")
    expect(page.locator(".pane-tab .dirty:visible")).to_have_count(1)
    return page


def test_another_language_leaves_the_files_open_and_what_was_typed(served_page: ServedPage) -> None:
    page = opened(served_page)
    page.get_by_role("button", name="中文").click()
    expect(message(page, "zh")).to_be_visible()
    expect(tabs(page)).to_have_text(["更改", "b.txt", "a.txt"])
    expect(page.locator(".pane-tab.shown")).to_contain_text("a.txt")
    expect(page.locator(".editor .cm-line").first).to_have_text("zero one")
    expect(page.locator(".pane-tab .dirty:visible")).to_have_count(1)


def test_what_was_typed_is_merged_with_what_changed_while_the_page_was_away(
    served_page: ServedPage,
) -> None:
    page = opened(served_page)
    page.goto("about:blank")
    (served_page.project / "a.txt").write_text("one\ntwo\nthree\nfour\nFIVE\n")
    page.go_back()
    lines = page.locator(".editor .cm-line")
    expect(lines).to_have_text(["zero one", "two", "three", "four", "FIVE", ""])
    expect(page.locator(".file-notice")).to_contain_text("Both changes are merged here")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".pane-tab .dirty:visible")).to_have_count(0)
    assert (served_page.project / "a.txt").read_text() == "zero one\ntwo\nthree\nfour\nFIVE\n"


def test_what_was_typed_outlives_its_file(served_page: ServedPage) -> None:
    page = opened(served_page)
    page.goto("about:blank")
    (served_page.project / "a.txt").unlink()
    page.go_back()
    expect(page.locator(".editor .cm-line").first).to_have_text("zero one")
    expect(page.locator(".file-notice")).to_contain_text("Saving creates it again")


def test_what_is_typed_before_the_first_session_is_there_stays(served_page: ServedPage) -> None:
    page = served_page.context().new_page()
    page.goto(served_page.server.url + served_page.server.authenticator.new_link())
    held = HeldRequests(page, "**/api/status")
    page.goto(f"{served_page.server.url}/?lang=en")
    message(page).fill("early")
    held.wait()
    held.release()
    expect(page).to_have_url(re.compile("/s/"))
    expect(message(page)).to_have_value("early")
    page.reload()
    expect(message(page)).to_have_value("early")


@pytest.mark.parametrize("width", [1440, 390])
def test_nothing_moves_when_the_page_is_loaded_again(served_page: ServedPage, width: int) -> None:
    (served_page.project / "a.py").write_text("one = 1\n")
    run_git("init", "--initial-branch=main", at=served_page.project)
    served_page.model.replies = [
        call_reply("modify_file", path="a.py", operation="replace", old="one", new="uno"),
        text_reply("# Done\n\n```python\nx = 1\n```\n\n" + "Words.\n\n" * 30),
    ]
    page = served_page.open(width=width)
    send(page, "go")
    expect(page.locator(".end")).to_have_count(1)
    page.add_init_script(NOTE_SHIFTS)
    held = HeldRequests(page, "**/changes/calls?**")
    with page.expect_response("**/git/head"):  # which is told, of the two, before the undo
        page.reload()
    expect(page.locator(".end")).to_be_in_viewport()
    held.wait()
    held.release()
    expect(page.locator(".end .undoing")).to_be_visible()
    expect(page.locator(".project")).to_have_text("project")
    expect(page.locator(".statusbar .branch")).to_have_text("main")  # comes last of all
    assert page.evaluate("shifts") == []
