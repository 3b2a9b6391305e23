"""Writing in a line so long that only a piece of it is drawn."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.page.served_page import ServedPage

LENGTH = 200_000
WRITTEN_BY_BROWSER = """() => {
    window.written = [];
    document.addEventListener("input", (event) => written.push(event.composedPath()[0].className));
}"""


@pytest.fixture
def page(served_page: ServedPage) -> Page:
    (served_page.project / "long.txt").write_text("x" * LENGTH + "\nshort")
    page = served_page.open()
    page.get_by_role("treeitem", name="long.txt").click()
    page.locator(".editor .cm-content").focus()
    page.keyboard.press("Control+Home")
    page.evaluate(WRITTEN_BY_BROWSER)
    return page


def test_what_is_typed_into_a_long_line_is_not_read_back_from_the_page(
    page: Page, served_page: ServedPage
) -> None:
    """Reading back and comparing the line took most of the time of each key."""
    page.keyboard.type("abc")
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.insert_text("你好")
    expect(page.locator(".cm-line").first).to_contain_text("ab你好xxx")
    assert page.evaluate("written") == []
    page.keyboard.press("Control+End")
    page.keyboard.type("er")
    expect(page.locator(".cm-line").last).to_have_text("shorter")
    assert page.evaluate("written.length") == 2, "a short line is the browser's"
    page.keyboard.press("Control+s")
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_hidden()
    text = (served_page.project / "long.txt").read_text()
    assert text == f"ab你好{'x' * LENGTH}\nshorter"


CORRECT = """(words) => {
    const content = document.querySelector(".editor").shadowRoot?.querySelector(".cm-content")
        ?? document.querySelector(".editor .cm-content");
    const text = document.createTreeWalker(content, NodeFilter.SHOW_TEXT).nextNode();
    const word = { startContainer: text, startOffset: 0, endContainer: text, endOffset: 3 };
    content.dispatchEvent(new InputEvent("beforeinput", {
        inputType: "insertText", data: words, bubbles: true, composed: true, cancelable: true,
        targetRanges: [new StaticRange(word)],
    }));
}"""


def test_a_keyboard_that_corrects_the_last_word_of_a_long_line_replaces_it(page: Page) -> None:
    """A phone's keyboard names the word by the target of the event: the cursor stands behind it."""
    page.keyboard.type("teh")
    page.evaluate(CORRECT, "the")
    expect(page.locator(".cm-line").first).to_contain_text("thexxx")
    expect(page.locator(".cm-line").first).not_to_contain_text("teh")
    page.keyboard.type("n")
    expect(page.locator(".cm-line").first).to_contain_text("thenxxx")


def test_typing_in_a_long_line_is_one_step_of_undo(page: Page) -> None:
    page.keyboard.type("one two")
    page.keyboard.press("Control+z")
    expect(page.locator(".cm-line").first).not_to_contain_text("o")
    page.keyboard.press("Control+y")
    expect(page.locator(".cm-line").first).to_contain_text("one twoxxx")


def test_an_input_method_writes_into_a_long_line(page: Page) -> None:
    method = page.context.new_cdp_session(page)
    for text in ("n", "ni", "你"):
        composed = {"text": text, "selectionStart": len(text), "selectionEnd": len(text)}
        method.send("Input.imeSetComposition", composed)
    method.send("Input.insertText", {"text": "你"})
    expect(page.locator(".cm-line").first).to_contain_text("你xxx")
