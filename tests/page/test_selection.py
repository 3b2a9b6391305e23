"""Selected text, of a reply or of an open file: quoted, or noted on."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.page.served_page import ServedPage, message, replies, send
from tests.page.test_files import row
from tests.scripted_model import text_reply

SELECT = """paragraph => {
    const range = document.createRange();
    range.selectNodeContents(paragraph);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
}"""


def bar(page: Page) -> Locator:
    return page.get_by_role("toolbar", name="Selected text")


def test_a_part_of_a_reply_is_quoted(served_page: ServedPage) -> None:
    served_page.model.replies = [text_reply("First words.\n\nSecond words.")]
    page = served_page.open()
    send(page, "talk")
    expect(replies(page)).to_contain_text("Second words.")
    expect(page.locator(".end")).to_have_count(1)
    replies(page).locator("p").last.evaluate(SELECT)
    bar(page).get_by_role("button", name="Quote in message").click()
    expect(message(page)).to_have_value("> Second words.\n\n")
    expect(message(page)).to_be_focused()
    expect(bar(page)).to_be_hidden()


def test_a_note_on_a_reply_goes_with_its_words_into_the_message(served_page: ServedPage) -> None:
    served_page.model.replies = [text_reply("One claim."), text_reply("Right.")]
    page = served_page.open()
    send(page, "talk")
    expect(page.locator(".end")).to_have_count(1)
    replies(page).locator("p").evaluate(SELECT)
    expect(bar(page)).to_be_visible()
    page.keyboard.press("Alt+m")
    page.get_by_role("textbox", name="Note").fill("is wrong")
    page.keyboard.press("Enter")
    expect(message(page)).to_have_value("> One claim.\n\nis wrong")
    message(page).press("Enter")
    expect(replies(page).last).to_have_text("Right.")
    assert served_page.model.requests[-1][-1]["content"] == "> One claim.\n\nis wrong"


def test_lines_of_a_file_are_noted_and_quoted(served_page: ServedPage) -> None:
    (served_page.project / "a.py").write_text("one\ntwo\nthree\nfour\n")
    page = served_page.open()
    row(page, "a.py").click()
    page.locator(".editor .cm-content").click()
    page.keyboard.press("Control+Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Shift+ArrowDown")
    bar(page).get_by_role("button", name="Add note").click()
    page.get_by_role("textbox", name="Note").fill("mind these")
    page.get_by_role("form", name="Add note").get_by_role("button", name="Add note").click()
    expect(page.locator(".notice").last).to_contain_text("Note saved.")
    expect(row(page, "a.py, Note: 2-3: mind these")).to_be_visible()
    expect(page.locator(".editor .cm-lineNumbers")).to_contain_text("● 2● 34")
    expect(page.locator(".editor .cm-line.cm-noted")).to_have_text(["two", "three"])
    expect(page.locator(".editor .cm-noted").first).to_have_attribute("title", "mind these")
    page.locator(".editor .cm-content").click()
    page.keyboard.press("Control+Home")
    page.keyboard.press("Shift+End")
    expect(bar(page)).to_be_visible()
    page.keyboard.press("Alt+m")
    page.get_by_role("textbox", name="Note").fill("the first")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("form", name="Add note")).to_have_count(0)  # when it is noted
    send(page, "/note a.py")
    expect(page.locator(".command").last).to_contain_text("a.py:2-3")
    expect(page.locator(".command").last).to_contain_text("the first")
    page.locator(".editor .cm-content").click()
    page.keyboard.press("Control+Home")
    page.keyboard.press("Shift+ArrowDown")
    expect(bar(page)).to_be_visible()
    page.keyboard.press("Alt+q")
    expect(message(page)).to_have_value("In a.py, line 1:\n```\none\n```\n")


def test_the_mark_of_a_note_goes_along_and_says_when_its_line_changed(
    served_page: ServedPage,
) -> None:
    (served_page.project / "a.py").write_text("one\ntwo\nthree\nfour\n")
    page = served_page.open()
    send(page, "/note a.py:3 do not touch")
    row(page, "a.py, Note: 3: do not touch").click()
    marked = page.locator(".editor .cm-line.cm-noted")
    expect(marked).to_have_text(["three"])
    page.locator(".editor .cm-content").click()
    page.keyboard.press("Control+Home")
    page.keyboard.insert_text("new\n")
    expect(page.locator(".editor .cm-lineNumbers")).to_contain_text("● 4")
    expect(marked).to_have_text(["three"])
    page.keyboard.press("Control+s")
    expect(page.locator(".notice").last).to_contain_text("Saved.")
    (served_page.project / "a.py").write_text("new\none\ntwo\nTHREE\nfour\n")
    expect(marked).to_have_text(["THREE"])
    expect(marked).to_have_attribute("title", "do not touch (outdated: its lines have changed)")


def test_the_note_is_left_by_escape(served_page: ServedPage) -> None:
    served_page.model.replies = [text_reply("One claim.")]
    page = served_page.open()
    send(page, "talk")
    expect(page.locator(".end")).to_have_count(1)
    replies(page).locator("p").evaluate(SELECT)
    expect(bar(page)).to_be_visible()
    page.keyboard.press("Alt+m")
    page.get_by_role("textbox", name="Note").press("Escape")
    expect(bar(page)).to_be_hidden()
    expect(message(page)).to_have_value("")
