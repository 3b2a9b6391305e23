"""What a message names with an `@`, on the page: its cost before it is sent, and its content."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.page.served_page import ServedPage, message, send
from tests.scripted_model import text_reply


def test_the_cost_of_a_file_is_said_and_then_it_is_read_once(served_page: ServedPage) -> None:
    (served_page.project / "notes.txt").write_text("first\nsecond\n" * 100)
    served_page.model.replies = [text_reply("They say two things.")]
    page = served_page.open()
    message(page).fill("sum up @notes.txt")
    cost = page.locator(".mention-cost")
    expect(cost).to_have_text("Adds @notes.txt: about 394 tokens")
    message(page).fill("sum up")
    expect(cost).to_have_count(0)
    send(page, "sum up @notes.txt for me")
    expect(page.locator(".end")).to_have_count(1)
    expect(cost).to_have_count(0)
    expect(page.locator(".card, .call").filter(has_text="notes.txt").first).to_be_visible()
    [request] = served_page.model.requests
    assert sum("199│first" in str(one["content"]) for one in request) == 1


def test_enter_sends_what_is_named_whole_and_completes_what_is_not(served_page: ServedPage) -> None:
    for name in ("a.py", "a.pyi", "other.py"):
        (served_page.project / name).write_text("one = 1\n")
    served_page.model.replies = [text_reply("Read."), text_reply("Read again.")]
    page = served_page.open()
    area, choices = message(page), page.locator(".completion")
    area.press_sequentially("sum up @a.py")
    expect(choices).to_be_visible()
    area.press("Enter")
    expect(page.locator(".reply").last).to_have_text("Read.")
    assert "sum up @a.py" in str(served_page.model.requests[-1])

    area.press_sequentially("now @oth")
    expect(choices).to_be_visible()
    area.press("Enter")
    expect(area).to_have_value("now @other.py ")
    area.fill("")

    area.press_sequentially("now @a.py")
    expect(choices.get_by_role("option")).to_have_count(2)
    area.press("ArrowDown")
    area.press("Enter")  # who chose another one wants that
    expect(area).to_have_value("now @a.pyi ")
    area.press("Enter")
    expect(page.locator(".reply").last).to_have_text("Read again.")
