"""What a button or a remark is called, so that people and programs find the one they mean."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.page.served_page import Gate, ServedPage, replies, send
from tests.scripted_model import USED, call_reply, text_reply
from utils.i18n import phrase
from utils.llm.completion import Completion, Delta, Retry


def named(page: Page, word: str) -> list[str]:
    """Return the names of all buttons in sight whose name has *word* in it."""
    return page.get_by_role("button", name=word).all_inner_texts()


def stopped_call(served_page: ServedPage) -> Page:
    """Return a page with a call of `sleep` that was stopped, and an edit of a file before it."""
    (served_page.project / "a.txt").write_text("old\n")
    served_page.model.replies = [
        call_reply("modify_file", path="a.txt", operation="replace", old="old", new="new"),
        call_reply("run_command", id="c2", command="sleep 600"),
    ]
    page = served_page.open()
    send(page, "sleep")
    stop = page.get_by_role("button", name="Stop")
    expect(page.locator(".call[data-state=running]")).to_contain_text("sleep 600")
    stop.click()
    expect(page.locator(".end.stopped")).to_have_count(1)
    return page


def test_a_button_is_the_only_one_whose_name_has_its_word(served_page: ServedPage) -> None:
    gate = Gate()
    page = stopped_call(served_page)
    expect(page.locator(".call .sign").last).to_have_attribute("title", "interrupted")
    page.get_by_label("Approval mode").select_option("ask")
    served_page.model.replies = [
        call_reply(
            "modify_file", id="c3", path="a.txt", operation="replace", old="new", new="newer"
        ),
        [Delta("and"), gate, Completion("and on", "", (), USED)],
    ]
    send(page, "again")
    expect(page.get_by_role("button", name="Edit")).to_be_enabled()
    for word in ("Stop", "Yes", "Always", "Edit"):
        assert len(named(page, word)) == 1, (word, named(page, word))
    page.get_by_role("button", name="Yes").click()
    expect(replies(page).last).to_contain_text("and")
    assert len(named(page, "Stop")) == 1
    gate.open()
    expect(page.locator(".end")).to_have_count(2)
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    assert named(page, "Stop") == []
    assert len(named(page, "Send")) == 1


def test_only_the_last_turn_can_be_gone_on_with(served_page: ServedPage) -> None:
    page = stopped_call(served_page)
    goes_on = page.get_by_role("button", name="Continue")
    served_page.model.replies = [text_reply("Fine.")]
    send(page, "/status")
    expect(page.locator(".command")).to_have_count(1)
    expect(goes_on).to_be_visible()
    right = "each => each.getBoundingClientRect().right"
    bar = page.locator(".end.stopped")
    assert bar.evaluate(right) - goes_on.evaluate(right) < 16
    goes_on.dblclick()
    expect(replies(page).last).to_have_text("Fine.")
    expect(page.locator(".end")).to_have_count(2)
    expect(page.locator(".person")).to_have_count(2)
    expect(goes_on).to_be_hidden()
    page.reload()
    expect(page.locator(".end")).to_have_count(2)
    expect(goes_on).to_be_hidden()


def test_a_retry_is_told_in_two_parts(served_page: ServedPage) -> None:
    gate = Gate()
    retry = Retry(phrase("500 Internal Server Error"), 1, 0.6)
    used = USED.__class__(100, 60, 40, 1, 0, 1, 0.001)
    served_page.model.replies = [[retry, gate, Delta("Hi"), Completion("Hi", "", (), used)]]
    page = served_page.open()
    send(page, "hi")
    expect(page.locator(".remark")).to_have_text(
        "500 Internal Server Error · Retrying in 0.6 s (attempt 1)"
    )
    gate.open()
    expect(page.locator(".end")).to_contain_text("1 token of output")


def test_the_end_of_a_file_is_told_of_in_the_language_of_the_page(served_page: ServedPage) -> None:
    served_page.model.replies = [
        call_reply("create_file", path="a.txt", content="one"),
        text_reply("好。"),
    ]
    page = served_page.open(language="zh")
    send(page, "写")
    expect(replies(page).last).to_have_text("好。")
    end = page.locator(".pane .diff .meta .text")
    expect(end).to_have_text("文件末尾没有换行符")
    expect(end).to_be_visible()  # the pane shows only once it is known to have something
    page.keyboard.press("Control+j")  # then the change stands in the talk
    expect(page.locator(".call .diff .meta .text")).to_have_text("文件末尾没有换行符")
