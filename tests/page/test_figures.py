"""Figures on the page: charts of what was spent, its table and CSV, and the bar of the context."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.page.accessibility import faults
from tests.page.served_page import ServedPage, replies, send
from tests.page.test_glass_prompt import reply
from tests.scripted_model import text_reply

PARTS = {
    "en": ["From cache", "Not from cache", "Tokens out"],
    "zh": ["缓存命中", "缓存未命中", "输出 token"],
}
DETAILS = {"en": "Details", "zh": "详情"}
FIGURES = {"en": "Usage …", "zh": "用量统计…"}


def opened(served_page: ServedPage, language: str = "en", **options: object) -> Page:
    """Return a page after two turns, with the sheet of figures open."""
    served_page.model.replies = [text_reply("One."), text_reply("Two.")]
    page = served_page.open(language=language, **options)
    send(page, "begin")
    expect(replies(page)).to_have_text(["One."])
    send(page, "and go on")
    expect(replies(page)).to_have_text(["One.", "Two."])
    expect(page.locator(".end")).to_have_count(2)
    page.locator(".statusbar").get_by_role("button", name=DETAILS[language]).click()
    page.get_by_role("button", name=FIGURES[language]).click()
    expect(page.locator(".chart")).to_have_count(3)
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("language", "width"), [("en", 1440), ("zh", 390)])
def test_what_was_spent_is_drawn(
    served_page: ServedPage, language: str, width: int, scheme: str
) -> None:
    page = opened(served_page, language, width=width, color_scheme=scheme)
    sheet = page.locator(".figures-sheet")
    tokens = sheet.get_by_role("img").first
    words = tokens.get_attribute("aria-label")
    assert words
    assert words.endswith(". 1: 110; 2: 110")
    heights = tokens.locator("rect").evaluate_all(
        "all => all.map(it => +it.getAttribute('height'))"
    )
    assert [round(each / heights[0], 2) for each in heights[:3]] == [1, 0.67, 0.17]
    expect(sheet.locator(".chart").first.locator(".legend > *")).to_have_text(PARTS[language])
    expect(sheet.locator("tbody tr")).to_have_count(2)
    expect(sheet.locator("tbody tr").first).to_contain_text("$0.0010")
    assert faults(page) == []
    assert sheet.evaluate("it => it.scrollWidth <= it.clientWidth && it.clientWidth <= innerWidth")
    for by in ("session", "day", "model"):
        page.locator(f"[data-by={by}]").press("Enter")
        expect(page.locator(f"[data-by={by}]")).to_have_attribute("aria-pressed", "true")
        expect(sheet.locator("tbody tr")).to_have_count(1)
        expect(sheet.locator("tbody tr")).to_contain_text("$0.0020")
    expect(sheet.locator("tbody th")).to_have_text("scripted")
    assert faults(page) == []


def test_figures_are_kept_as_csv(served_page: ServedPage) -> None:
    page = opened(served_page)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download as CSV").click()
    assert download.value.suggested_filename == "onefold-turn.csv"
    text = Path(download.value.path()).read_bytes().decode("utf-8-sig")
    assert text.split("\r\n") == [
        "Turn,Requests,Tokens in,From cache,Tokens out,Cost",
        "1,1,100,60,10,0.001",
        "2,1,100,60,10,0.001",
        "",
    ]


def test_the_bar_of_the_context_opens_what_the_model_read(served_page: ServedPage) -> None:
    served_page.model.replies = [reply(served_page.model, "One.", hit=0, sent=1_000)]
    page = served_page.open()
    send(page, "begin")
    expect(page.locator(".end")).to_have_count(1)
    page.locator(".statusbar").get_by_role("button", name="Details").click()
    bar = page.get_by_role("button", name="Show what the model read")
    expect(bar).to_be_visible()
    widths = bar.locator(".part").evaluate_all("all => all.map(it => parseFloat(it.style.width))")
    assert sum(widths) > 0
    assert faults(page) == []
    bar.press("Enter")
    expect(page.get_by_role("dialog", name="What the model read")).to_be_visible()
