"""What opens over the page: only what is meant to close it does."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.page.served_page import ServedPage


def test_a_dialog_is_closed_by_a_click_beside_it_only(served_page: ServedPage) -> None:
    page = served_page.open()
    page.keyboard.press("Control+,")
    sheet = page.get_by_role("dialog", name="Settings")
    field = sheet.get_by_role("searchbox")
    field.fill("budget")
    words, edge = field.bounding_box(), sheet.bounding_box()
    assert words
    assert edge
    page.mouse.click(edge["x"] + 5, words["y"])  # on its margin
    page.mouse.move(words["x"] + words["width"] / 2, words["y"] + 10)
    page.mouse.down()
    page.mouse.move(edge["x"] - 50, words["y"] + 10)  # as words are marked to their beginning
    page.mouse.up()
    expect(sheet).to_be_visible()
    expect(field).to_have_value("budget")
    page.mouse.click(edge["x"] - 50, words["y"])
    expect(page.locator("dialog")).to_have_count(0)


def test_a_click_on_the_margin_of_a_question_is_no_answer(served_page: ServedPage) -> None:
    page = served_page.open()
    page.evaluate(
        """async () => {
            const { confirmed } = await import("/static/js/dialogs/dialog.js");
            window.answered = "nothing yet";
            confirmed("Really?", "Do it").then((answer) => (window.answered = answer));
        }"""
    )
    question = page.get_by_role("alertdialog")
    question.click(position={"x": 5, "y": 5})
    expect(question).to_be_visible()
    assert page.evaluate("window.answered") == "nothing yet"
    page.mouse.click(5, 5)
    expect(question).to_have_count(0)
    assert page.evaluate("window.answered") is False
