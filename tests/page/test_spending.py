"""Costs on the page: caps, the clock of cheap hours, and what a task has cost."""

from __future__ import annotations

import re
from dataclasses import replace

from playwright.sync_api import expect

from tests.page.served_page import ServedPage, send
from tests.scripted_model import USED, call_reply, text_reply
from utils.llm.completion import Completion
from utils.llm.prices import PriceList, Tariff


class AlwaysDear(Tariff):
    """Dear hours that end in an hour, whenever that is asked."""

    def off_peak_from(self, timestamp: float) -> float:
        return timestamp + 3_600


def test_a_task_waits_with_a_clock_until_it_is_stopped_or_need_not(
    served_page: ServedPage,
) -> None:
    flash = PriceList().tariff("deepseek-flash")
    assert flash
    served_page.model.tariff = AlwaysDear(flash.price, 2.0, ((0, 24),))
    served_page.model.replies.append(text_reply("At last."))
    page = served_page.open()
    send(page, "/when off-peak")
    expect(page.locator(".command")).to_contain_text("cheap hours")
    send(page, "hi")
    waiting = page.locator(".remark.waiting")
    expect(waiting).to_contain_text("Waiting for cheap hours")
    expect(waiting).to_contain_text("min")
    page.reload()
    expect(waiting).to_contain_text("left")
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.locator(".end.stopped")).to_be_visible()
    expect(waiting).to_have_count(0)
    send(page, "/when now")
    send(page, "hi again")
    expect(page.locator(".reply")).to_contain_text("At last.")


def test_a_budget_is_said_and_changed_and_the_cost_stands_below_a_task(
    served_page: ServedPage,
) -> None:
    served_page.model.tariff = PriceList().tariff("deepseek-flash")
    todos = [{"title": "one", "status": "pending"}]
    step = call_reply("update_todos", todos=todos)
    assert isinstance(step[-1], Completion)
    step[-1] = replace(step[-1], usage=replace(USED, cost_usd=0.3))
    served_page.model.replies += [step, text_reply("Done.")]
    page = served_page.open()
    send(page, "/budget 0.1")
    expect(page.locator(".command")).to_contain_text("$0.1")
    send(page, "plan")
    end = page.locator(".end.budget")
    expect(end).to_contain_text("/budget 0.2")
    end.get_by_role("button", name="Continue").click()
    expect(page.locator(".reply")).to_contain_text("Done.")
    expect(page.locator("footer.end").last).to_contain_text("$")


def test_the_switch_says_what_it_costs_before_it_is_made(served_page: ServedPage) -> None:
    served_page.model.tariff = PriceList().tariff("deepseek-flash")
    reply = text_reply("Read.")
    assert isinstance(reply[-1], Completion)
    reply[-1] = replace(reply[-1], usage=replace(USED, prompt_tokens=20_000, completion_tokens=0))
    served_page.model.replies.append(reply)
    page = served_page.open()
    send(page, "read it all")
    expect(page.locator("footer.end").last).to_be_visible()
    switch = page.get_by_role("button", name="Fast", exact=True)
    expect(switch).to_have_attribute("title", re.compile("20,000 tokens of this conversation"))
    expect(switch).to_have_attribute("title", re.compile(r"\$0\.00\d+ \(¥0\.0\d+\) more"))
    switch.click()
    expect(page.get_by_role("button", name="Think", exact=True)).to_be_visible()
    expect(page.get_by_text("20,000 tokens of this conversation").first).to_be_visible()
