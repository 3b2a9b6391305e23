"""The glass prompt on the page: the steps, what the model read in one, and what changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.page.accessibility import faults
from tests.page.served_page import ServedPage, replies, send
from tests.scripted_model import USED, Item, ScriptedModel
from utils.llm.completion import Completion, Delta
from utils.llm.prices import PriceList
from utils.waiting import Stop

PROMPT = {"en": "Prompt …", "zh": "提示…"}


def logged(model: ScriptedModel, **fields: Any) -> Callable[[Stop], None]:
    """Return what lets the request be seen as a server gets it: the scripted model has no wire."""

    def log(_: Stop) -> None:
        body = {"model": model.model, **fields, "messages": model.requests[-1], "stream": True}
        model.on_request(json.dumps(body).encode())

    return log


def reply(model: ScriptedModel, text: str, *, hit: int, sent: int) -> list[Item]:
    usage = replace(USED, prompt_tokens=sent, cache_hit_tokens=hit, cache_miss_tokens=sent - hit)
    return [logged(model), Delta(text), Completion(text, "", (), usage)]


def opened(house: ServedPage, language: str = "en", **options: Any) -> Page:
    """Return a page after two tasks, with the sheet open."""
    house.model.replies += [
        reply(house.model, "One 😀.", hit=0, sent=1_000),
        reply(house.model, "Two.", hit=990, sent=1_300),
    ]
    page = house.open(language=language, **options)
    send(page, "begin 😀😀 <b>here</b>")
    expect(replies(page)).to_have_text(["One 😀."])
    send(page, "and go on")
    expect(replies(page)).to_have_text(["One 😀.", "Two."])
    page.locator(".statusbar .context-words").click()
    page.get_by_role("button", name=PROMPT[language]).click()
    expect(page.locator(".prompt-steps li")).to_have_count(2)
    return page


def test_steps_are_listed_with_what_the_cache_had_and_why_not_more(served_page: ServedPage) -> None:
    page = opened(served_page)
    first, second = (page.locator(".prompt-steps li").nth(n) for n in (0, 1))
    expect(first).to_contain_text("1,000 tokens · 0 cached · 1,000 not cached · $0.001000")
    expect(first.locator(".why")).to_have_text("1,000: start of the session")
    expect(second).to_contain_text("1,300 tokens · 990 cached · 310 not cached")
    expect(second.locator(".why")).to_contain_text("300: new text at the end")
    expect(second.locator(".why")).to_contain_text("10: the server caches whole blocks only")
    expect(page.locator(".prompt-sheet")).to_contain_text("total: 2,300 tokens")
    width = "it => it.getBoundingClientRect().width"
    whole, hit = (second.locator(one).evaluate(width) for one in (".cache-bar", ".cache-bar .hit"))
    assert hit / whole == pytest.approx(990 / 1_300, abs=0.05)


def test_a_step_shows_its_parts_and_what_changed_since_the_one_before(
    served_page: ServedPage,
) -> None:
    page = opened(served_page)
    page.get_by_role("button", name="Show step 2").click()
    shown = page.locator(".prompt-shown")
    expect(shown).to_contain_text("Step 2 as the model read it")
    person = shown.locator(".prompt-part", has_text="person")
    expect(person.first.locator("summary")).to_contain_text("% cached")
    expect(person.first.locator("pre")).to_have_text("begin 😀😀 <b>here</b>")
    told = shown.locator(".prompt-part", has_text="instructions").first
    expect(told).not_to_have_attribute("open", "")
    look = "it => [it.offsetWidth, it.offsetHeight, getComputedStyle(it).backgroundColor]"
    colours = [swatch.evaluate(look) for swatch in shown.locator(".swatch").all()]
    assert {(width, height) for width, height, _ in colours} == {(10, 10)}
    assert len({colour for *_, colour in colours}) == 4  # instructions, context, person, model
    told.locator("summary").click()
    expect(told.locator("pre .hit")).to_be_visible()
    expect(told.locator("pre .miss")).to_have_text("")
    expect(person.last.locator("pre .miss")).to_have_text("and go on")
    expect(person.last.locator("summary")).to_contain_text("new in this step")
    page.get_by_role("button", name="Changes since the previous step").click()
    expect(shown).to_contain_text("What step 2 changed")
    expect(shown.locator(".prompt-part")).to_have_count(2)
    expect(page.get_by_role("button", name="All")).to_be_focused()


def test_the_sheet_speaks_chinese_and_fits_a_phone(served_page: ServedPage) -> None:
    page = opened(served_page, "zh", width=390, height=844)
    page.get_by_role("button", name="显示第 2 步").click()
    sheet = page.locator(".prompt-sheet")
    expect(sheet).to_contain_text("末尾的新内容")
    expect(sheet.locator(".prompt-shown")).to_contain_text("这一步新增")
    assert sheet.evaluate("it => it.scrollWidth <= it.clientWidth && it.clientWidth <= innerWidth")
    figures = sheet.locator(".prompt-steps button")
    assert figures.evaluate_all("all => all.every(it => it.scrollWidth <= it.clientWidth)")
    assert faults(page) == []


def test_the_command_draws_the_same_card_in_the_conversation(served_page: ServedPage) -> None:
    page = opened(served_page)
    page.keyboard.press("Escape")
    send(page, "/context 2 diff")
    card = page.locator(".command .card-prompt")
    expect(card.locator(".prompt-part")).to_have_count(2)
    expect(card).to_contain_text("300: new text at the end")


def test_the_table_of_steps_fits_beside_a_pane(served_page: ServedPage) -> None:
    served_page.model.tariff = PriceList().tariff("deepseek-flash")
    page = opened(served_page, width=1440)
    page.keyboard.press("Escape")
    send(page, "/context")
    card = page.locator(".command .card-table")
    expect(card).to_contain_text("¥")
    expect(card).to_contain_text("300: new text at the end")
    narrow = "it => { it.style.width = '530px'; return it.scrollWidth - it.clientWidth }"
    assert card.evaluate(narrow) == 0


def test_the_table_of_steps_is_a_list_on_a_phone(served_page: ServedPage) -> None:
    served_page.model.tariff = PriceList().tariff("deepseek-flash")
    page = opened(served_page, width=390, height=844)
    page.keyboard.press("Escape")
    send(page, "/context")
    card = page.locator(".command .card-table")
    expect(card).to_contain_text("300: new text at the end")
    assert card.evaluate("it => it.scrollWidth - it.clientWidth") == 0
    expect(card.locator("thead")).to_be_hidden()
    sent = card.locator("tbody tr").first.locator("[data-label=sent]")
    assert sent.evaluate("it => getComputedStyle(it, '::before').content") == '"sent "'
