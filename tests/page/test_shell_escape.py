"""Commands of the person's own, typed in the message box."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.page.request_holding import wait_until
from tests.page.served_page import ServedPage, message, replies, send
from tests.scripted_model import text_reply


def test_a_typed_command_runs_and_stands_there_after_a_reload(served_page: ServedPage) -> None:
    page = served_page.open()
    message(page).press_sequentially("!echo hi there; touch ran")
    message(page).press("Enter")
    wait_until(page, (served_page.project / "ran").exists)
    card = page.locator(".tool, .call").filter(has_text="echo hi there").first
    expect(card).to_be_visible()
    page.reload()
    expect(page.get_by_text("!echo hi there").first).to_be_visible()
    served_page.model.replies.append(text_reply("I see."))
    send(page, "and?")
    expect(replies(page).last).to_have_text("I see.")
    assert "\nhi there\n" in str([one["content"] for one in served_page.model.requests[0]][2])


def test_what_is_pasted_is_a_message_and_never_run(served_page: ServedPage) -> None:
    served_page.model.replies += [text_reply("No."), text_reply("No again.")]
    page = served_page.open()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("navigator.clipboard.writeText('!touch ran')")
    message(page).press("Control+V")
    expect(message(page)).to_have_value(" !touch ran")
    message(page).press("Enter")
    expect(replies(page)).to_have_text("No.")
    assert not (served_page.project / "ran").exists()
    message(page).press("!")
    page.evaluate("navigator.clipboard.writeText('touch ran')")
    message(page).press("Control+V")
    message(page).press("Enter")
    wait_until(page, (served_page.project / "ran").exists)


def test_a_question_mark_shows_the_keys_and_the_memory_mark_remembers(
    served_page: ServedPage,
) -> None:
    page = served_page.open()
    send(page, "?")
    keys = page.get_by_role("dialog")
    expect(keys.get_by_text("Open a file")).to_be_visible()
    page.keyboard.press("Escape")
    expect(keys).to_have_count(0)
    send(page, "# use tabs")
    expect(page.get_by_text("Remembered", exact=True)).to_be_visible()
    send(page, "/memory")
    expect(page.get_by_role("cell", name="use tabs")).to_be_visible()
    page.reload()
    expect(page.get_by_text("Remembered", exact=True)).to_be_visible()
    expect(keys).to_have_count(0)


def test_a_pasted_heading_is_a_message(served_page: ServedPage) -> None:
    served_page.model.replies += [text_reply("One."), text_reply("Two.")]
    page = served_page.open()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for text, value in (("# Plan", " # Plan"), ("# Plan\n- one", "# Plan\n- one")):
        page.evaluate("text => navigator.clipboard.writeText(text)", text)
        message(page).press("Control+V")
        expect(message(page)).to_have_value(value)
        message(page).press("Enter")
    expect(replies(page).last).to_have_text("Two.")
