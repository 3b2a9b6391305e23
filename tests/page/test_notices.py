"""Notices: they stay while somebody reads them, and say what could not be loaded."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.page.request_holding import intercept
from tests.page.served_page import ServedPage, message
from tests.page.test_files import row

NOT_LOADED = {
    "en": "Not loaded: the server does not answer. Try again, or reload the page.",
    "zh": "未能加载：服务器没有回应。请重试，或重新加载页面。",
}
LONGER_THAN_ANY = 9000
"""Milliseconds after which no notice is left that nobody looks at."""


def refuse_a_name(page: Page) -> None:
    """Give a file the name of another, which a notice tells."""
    row(page, "a.txt").click(button="right")
    page.get_by_role("menuitem", name="Rename").click()
    page.keyboard.press("Control+a")
    page.keyboard.type("b.txt")
    page.keyboard.press("Enter")
    expect(page.locator(".notice.bad")).to_be_visible()
    page.keyboard.press("Escape")


@pytest.mark.parametrize("by", ["pointer", "focus"])
def test_a_notice_stays_while_somebody_is_at_it(served_page: ServedPage, by: str) -> None:
    for name in ("a.txt", "b.txt"):
        (served_page.project / name).write_text(name)
    page = served_page.open()
    page.clock.install()
    refuse_a_name(page)
    notice = page.locator(".notice.bad")
    if by == "pointer":
        notice.hover()
    else:
        notice.get_by_role("button").focus()
    page.clock.run_for(LONGER_THAN_ANY)
    expect(notice).to_be_visible()
    if by == "pointer":
        page.mouse.move(5, 5)
    else:
        message(page).focus()
    page.clock.run_for(1000)
    expect(notice).to_be_visible()  # for its whole time again
    page.clock.run_for(LONGER_THAN_ANY)
    expect(notice).to_have_count(0)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("key", ["Control+k", "Control+,", "?"])
def test_what_could_not_be_loaded_is_told_and_comes_with_the_next_press(
    served_page: ServedPage, language: str, key: str
) -> None:
    page = served_page.open(language=language)
    page.locator(".log").focus()
    script = "**/{commands,settings_sheet,shortcuts_sheet}.js"
    intercept(page, script, lambda route: route.abort())
    for _ in range(2):
        with page.expect_event("pageerror"):
            page.keyboard.press(key)
        expect(page.locator(".notice.bad")).to_have_text(NOT_LOADED[language])
    expect(page.locator(".notice")).to_have_count(1)
    expect(page.locator("dialog[open]")).to_have_count(0)
    page.unroute(script)
    page.keyboard.press(key)
    expect(page.locator("dialog[open]")).to_be_visible()


def test_a_file_whose_editor_did_not_come_is_read_once_it_is_opened_again(
    served_page: ServedPage,
) -> None:
    (served_page.project / "a.txt").write_text("the text")
    page = served_page.open()
    intercept(page, "**/editor/editor.js", lambda route: route.abort())
    row(page, "a.txt").click()
    expect(page.locator(".file-body")).to_contain_text("The server does not answer.")
    page.unroute("**/editor/editor.js")
    row(page, "a.txt").click()
    expect(page.locator(".cm-content")).to_have_text("the text")
