"""A page that is loaded again, also in another language: what was open is, and nothing jumps."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.page.held import Held
from tests.page.stage import Stage, message, send
from tests.page.test_files import edit, row
from tests.scripted import call, say

NOTE_SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries())
        shifts.push([value, ...sources.map(({ node }) => node?.className ?? node?.nodeName)]);
}).observe({ type: "layout-shift", buffered: true });
"""


def tabs(page: Page) -> Locator:
    return page.locator(".pane-tab .tab")


def opened(house: Stage) -> Page:
    """Return a page with two files open, and unsaved text in the one that is shown."""
    (house.project / "a.txt").write_text("one\ntwo\nthree\nfour\nfive\n")
    (house.project / "b.txt").write_text("b\n")
    page = house.open()
    page.on("dialog", lambda dialog: dialog.accept())  # it may be lost, says the browser
    for name in ("b.txt", "a.txt"):
        row(page, name).click()
        expect(tabs(page).last).to_have_text(name)
    expect(page.locator(".editor .cm-content")).to_contain_text("three")
    edit(page, "zero ")
    expect(page.locator(".pane-tab .dirty:visible")).to_have_count(1)
    return page


def test_another_language_leaves_the_files_open_and_what_was_typed(house: Stage) -> None:
    page = opened(house)
    page.get_by_role("button", name="中文").click()
    expect(message(page, "zh")).to_be_visible()
    expect(tabs(page)).to_have_text(["更改", "b.txt", "a.txt"])
    expect(page.locator(".pane-tab.shown")).to_contain_text("a.txt")
    expect(page.locator(".editor .cm-line").first).to_have_text("zero one")
    expect(page.locator(".pane-tab .dirty:visible")).to_have_count(1)


def test_what_was_typed_is_merged_with_what_changed_while_the_page_was_away(house: Stage) -> None:
    page = opened(house)
    page.goto("about:blank")
    (house.project / "a.txt").write_text("one\ntwo\nthree\nfour\nFIVE\n")
    page.go_back()
    lines = page.locator(".editor .cm-line")
    expect(lines).to_have_text(["zero one", "two", "three", "four", "FIVE", ""])
    expect(page.locator(".file-notice")).to_contain_text("both changes are in the text now")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".pane-tab .dirty:visible")).to_have_count(0)
    assert (house.project / "a.txt").read_text() == "zero one\ntwo\nthree\nfour\nFIVE\n"


def test_what_was_typed_outlives_its_file(house: Stage) -> None:
    page = opened(house)
    page.goto("about:blank")
    (house.project / "a.txt").unlink()
    page.go_back()
    expect(page.locator(".editor .cm-line").first).to_have_text("zero one")
    expect(page.locator(".file-notice")).to_contain_text("saving makes it again")


def test_what_is_typed_before_the_first_session_is_there_stays(house: Stage) -> None:
    page = house.context().new_page()
    page.goto(house.server.url + house.server.access.new_link())
    held = Held(page, "**/api/status")
    page.goto(f"{house.server.url}/?lang=en")
    message(page).fill("early")
    held.wait()
    held.let_go()
    expect(page).to_have_url(re.compile("/s/"))
    expect(message(page)).to_have_value("early")
    page.reload()
    expect(message(page)).to_have_value("early")


@pytest.mark.parametrize("width", [1440, 390])
def test_nothing_moves_when_the_page_is_loaded_again(house: Stage, width: int) -> None:
    (house.project / "a.py").write_text("one = 1\n")
    house.model.replies = [
        call("modify_file", path="a.py", operation="replace", old="one", new="uno"),
        say("# Done\n\n```python\nx = 1\n```\n\n" + "Words.\n\n" * 30),
    ]
    page = house.open(width=width)
    send(page, "go")
    expect(page.locator(".end")).to_have_count(1)
    page.add_init_script(NOTE_SHIFTS)
    page.reload()
    expect(page.locator(".end")).to_be_in_viewport()
    expect(page.locator(".end .undoing")).to_be_visible()  # comes last of all
    expect(page.locator(".project")).to_have_text("project")
    assert page.evaluate("shifts") == []
