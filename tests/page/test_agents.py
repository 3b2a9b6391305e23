"""The board on the page: it tells what works, asks and costs; a helper is stopped alone there."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.page.accessibility import faults
from tests.page.served_page import Gate, ServedPage, message, replies, send
from tests.scripted_model import call_reply, text_reply


def open_board(page: Page) -> None:
    page.keyboard.press("Control+k")
    page.keyboard.type("agents: what")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="At work in this project")).to_be_visible()


def test_the_board_tells_what_works_answers_and_stops(served_page: ServedPage) -> None:
    gate = Gate()
    served_page.model.replies = [
        call_reply("delegate", id="d1", task="find the colour"),
        call_reply("ask_person", id="c2", question="Which colour?", choices=["red", "blue"]),
        [gate, *text_reply("It is blue.")],
        text_reply("Without it, then."),
    ]
    page = served_page.open()
    send(page, "paint it")
    expect(page.get_by_role("group", name="Question")).to_be_visible()
    first = page.url
    page.keyboard.press("Alt+n")
    expect(page).not_to_have_url(first)
    expect(message(page)).to_be_focused()
    send(page, "/agents")
    board = page.get_by_role("dialog", name="At work in this project")
    rows = board.get_by_role("listitem")
    session = rows.filter(has=page.get_by_text("paint it", exact=True))
    helper = rows.filter(has=page.get_by_text("find the colour", exact=True))
    expect(session.locator(".state")).to_have_text("asks")
    expect(helper.locator(".now")).to_contain_text("asks ask_person Which colour? $")
    expect(helper).to_have_attribute("data-depth", "1")
    expect(helper.get_by_role("button", name="Stop find the colour")).to_be_hidden()
    this_one = rows.filter(has=page.get_by_text("session (this one)", exact=True))
    expect(this_one.locator(".now")).to_have_text("idle $0")
    assert faults(page) == []

    helper.get_by_role("button", name="Answer find the colour").click()
    expect(page).to_have_url(first)
    page.get_by_role("group", name="Question").get_by_role("button", name="blue").click()
    open_board(page)
    expect(session.locator(".state")).to_have_text("working")
    helper.get_by_role("button", name="Stop find the colour").click()
    expect(helper).to_have_count(0)
    expect(session.locator(".state")).to_have_text("idle")
    expect(board.locator("button:focus")).to_be_attached()  # what had it is gone
    page.keyboard.press("Escape")
    expect(replies(page).last).to_have_text("Without it, then.")
