"""Frames on other origins stay as they are: nobody but the browser could put their scroll back."""

from __future__ import annotations

import pytest
from playwright.sync_api import Frame, Page, expect

from tests.page.request_holding import wait_until
from tests.page.served_page import ServedPage
from tests.page.test_files import row
from tests.page.test_previews import pdf

TALL = "<!doctype html><title>Tall</title><p style='height: 4000px'>top</p><p>end</p>"
SCROLL = (
    "at => new Promise(over => { addEventListener('scroll', over, {once: true}); scrollTo(0, at) })"
)
REDRAWN = """async (steps) => {
    const main = document.querySelector("script[type=module]").src;
    const { keyed } = await import(main.replace("main.js", "lib/dom.js"));
    const list = document.body.appendChild(document.createElement("div"));
    const draw = keyed(list, String, () => ({ element: document.createElement("iframe") }));
    draw([1, 2, 3, 4]);
    const before = [...list.children].map((frame) => [frame, frame.contentWindow]);
    for (const step of steps) draw(step);
    // A frame that was taken out and put in again has another window.
    return before.every(([frame, its]) => !frame.isConnected || frame.contentWindow === its);
}"""


@pytest.fixture
def page(served_page: ServedPage) -> Page:
    (served_page.project / "tall.html").write_text(TALL)
    (served_page.project / "a.pdf").write_bytes(pdf("Hello"))
    (served_page.project / "other.txt").write_text("other\n")
    return served_page.open()


def running(page: Page) -> Frame:
    return next(one for one in page.frames if one.url.endswith("/tall.html"))


def test_a_page_that_runs_keeps_its_place_behind_another_tab(page: Page) -> None:
    row(page, "tall.html").click()
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Run its scripts").click()
    expect(page.frame_locator("iframe.previewed").get_by_text("top")).to_be_visible()
    running(page).evaluate(SCROLL, 1234)
    row(page, "other.txt").click()
    expect(page.locator(".editor .cm-content")).to_have_text("other")
    expect(page.locator("iframe.previewed")).to_be_hidden()
    page.locator(".pane-tab", has_text="Changes").get_by_role("button").first.click()
    expect(page.locator(".editor .cm-content")).to_have_count(0)
    page.locator(".pane-tab", has_text="tall.html").get_by_role("button").first.click()
    expect(page.locator("iframe.previewed")).to_be_visible()
    assert running(page).evaluate("scrollY") == 1234
    page.get_by_role("button", name="Close tall.html").click()
    expect(page.locator("iframe.previewed")).to_have_count(0)


def test_what_is_shown_without_its_text_stays_until_its_bytes_change(
    page: Page, served_page: ServedPage
) -> None:
    row(page, "a.pdf").click()
    shown = page.locator("iframe.preview")
    expect(shown).to_be_visible()
    shown.evaluate("it => (it.dataset.first = 'yes')")
    asked: list[str] = []
    fresh = served_page.project.parent / "fresh.pdf"
    page.on("response", lambda answer: asked.append(answer.request.method))

    def is_asked() -> bool:
        fresh.write_bytes(pdf("Hello"))  # as it was, and never half of it
        fresh.replace(served_page.project / "a.pdf")
        return asked.count("HEAD") > 1

    wait_until(page, is_asked)
    expect(shown).to_have_attribute("data-first", "yes")
    (served_page.project / "a.pdf").write_bytes(pdf("World"))
    expect(page.locator("iframe.preview:not([data-first])")).to_be_visible()


@pytest.mark.parametrize(
    "steps",
    [[[2, 3, 4]], [[1, 3, 4], [3, 4]], [[4, 3, 2, 1], [2, 1, 4, 3]]],
    ids=["the first goes", "one after another goes", "they change places"],
)
def test_a_list_that_is_drawn_again_moves_no_frame(page: Page, steps: list[list[int]]) -> None:
    assert page.evaluate(REDRAWN, steps) is True
