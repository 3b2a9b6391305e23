"""How deep a task goes, on the page: a word in the status bar, the rules behind it, the stops."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.page.served_page import ServedPage, replies, send
from tests.scripted_model import call_reply, text_reply

CHOICES = ["Continue", "Revise", "Roll back"]


def test_the_depth_of_the_last_task_stands_in_the_status_bar(served_page: ServedPage) -> None:
    served_page.model.replies = [text_reply("You are welcome."), text_reply("Done.")]
    page = served_page.open()
    depth = page.locator(".statusbar .depth")
    send(page, "thanks!")
    expect(depth).to_have_text("social")
    depth.click()
    expect(
        page.get_by_text("Only thanks, a greeting, a goodbye, praise or small talk")
    ).to_be_visible()
    send(page, "fix the failing test")
    expect(replies(page).last).to_contain_text("Done.")
    expect(depth).to_be_hidden()


def test_a_decision_is_offered_in_the_language_of_the_page(served_page: ServedPage) -> None:
    asked = call_reply("ask_person", question="数据放进数据库。", choices=CHOICES)
    served_page.model.replies = [asked, text_reply("好了。")]
    page = served_page.open(language="zh")
    page.locator(".composer textarea").fill("重新设计认证系统")
    page.locator(".composer textarea").press("Enter")
    choices = page.locator(".approval.question .choices button")
    expect(choices).to_have_text(["1继续", "2修改方案", "3回滚"])
    choices.first.click()
    expect(replies(page).last).to_contain_text("好了。")
    assert "The person answers: Continue" in served_page.model.requests[-1][-1]["content"]


def test_the_card_of_a_question_of_ours_says_what_is_asked(served_page: ServedPage) -> None:
    failing = call_reply("read_file", path="gone.txt")
    served_page.model.replies = [failing, text_reply("It is not there."), text_reply("Left out.")]
    page = served_page.open()
    send(page, "redesign the architecture of the authentication")
    card = page.locator(".call[data-state=asked]")
    expect(card.locator(".target")).to_have_text("The last step failed (read_file).")
    page.get_by_role("button", name="Skip").first.click()
    expect(replies(page).last).to_contain_text("Left out.")
