"""Answers that come late, twice or in another order: nothing is lost or waits for ever."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.page.request_holding import HeldRequests, HeldSocket, intercept, wait_until_drawn
from tests.page.served_page import KEY, ServedPage, message, replies, send
from tests.page.test_changes import act
from tests.scripted_model import call_reply, text_reply

LATE_LOOKS = """
window.IntersectionObserver = class extends IntersectionObserver {
    constructor(told) {
        super((looks) => told([{ isIntersecting: !looks.at(-1).isIntersecting }, ...looks]));
    }
};
"""
LEAVE_AND_WRITE = """([name]) => {
    const row = [...document.querySelectorAll(".sessions .choose")]
        .find((each) => each.textContent.includes(name));
    row.click();
    const area = document.querySelector(".composer textarea");
    area.value = "typed at once";
    area.dispatchEvent(new Event("input"));
}"""


def talked(served_page: ServedPage, *texts: str) -> Page:
    """Return a page on a session in which *texts* were said and answered."""
    page = served_page.open()
    for number, text in enumerate(texts, start=1):
        served_page.model.replies.append(text_reply(f"so {text}"))
        send(page, text)
        expect(page.locator(".end")).to_have_count(number)
    return page


def new_session(page: Page) -> None:
    before = page.url
    page.get_by_role("button", name="New session", exact=True).click()
    expect(page).not_to_have_url(before)


def test_what_was_chosen_counts_for_what_is_sent_after_it(served_page: ServedPage) -> None:
    served_page.model.replies = [
        call_reply("run_command", command="echo hello"),
        text_reply("Done."),
    ]
    page = served_page.open()
    line = HeldSocket(page)
    line.hold("/approve ask")
    page.get_by_label("Approval mode").select_option("ask")
    line.wait()
    send(page, "run it")
    expect(page.locator(".person.sending")).to_have_text("run it")
    line.release()
    expect(page.get_by_role("group", name="Approval")).to_be_visible()
    told = [text for text in line.sent_messages if "/approve ask" in text or "run it" in text]
    assert ["/approve" in text for text in told] == [True, False]


def test_a_question_shows_though_its_card_could_not_be_had_at_first(
    served_page: ServedPage,
) -> None:
    served_page.model.replies = [
        call_reply("run_command", command="echo hello"),
        text_reply("Done."),
    ]
    page = served_page.open()
    intercept(page, "**/approval/question.js", lambda route: route.abort(), times=1)
    page.get_by_label("Approval mode").select_option("ask")
    with page.expect_event("requestfailed"):
        send(page, "run it")
    page.get_by_role("button", name="Yes").click()
    expect(replies(page)).to_have_text("Done.")


def test_what_is_sent_is_done_in_its_order(served_page: ServedPage) -> None:
    served_page.model.replies = [text_reply("first"), text_reply("second")]
    page = served_page.open()
    line = HeldSocket(page)
    line.hold('"one"')
    send(page, "one")
    line.wait()
    send(page, "two")
    expect(page.locator(".person.sending")).to_have_text(["one", "two"])
    line.release()
    expect(replies(page)).to_have_text(["first", "second"])
    expect(page.locator(".person .said")).to_have_text(["one", "two"])


def test_a_session_that_was_left_for_a_moment_goes_on(served_page: ServedPage) -> None:
    page = talked(served_page, "hello")
    line = HeldSocket(page)
    expect(replies(page)).to_have_text("so hello")
    line.hold('"detach"')
    new_session(page)
    line.wait()
    page.go_back()
    expect(page.locator(".welcome")).to_be_hidden()
    line.release()
    expect(replies(page)).to_have_text("so hello")
    served_page.model.replies = [text_reply("still here")]
    send(page, "again")
    expect(replies(page).last).to_have_text("still here")


def test_what_can_be_undone_shows_in_a_session_that_was_left_for_a_moment(
    served_page: ServedPage,
) -> None:
    served_page.model.replies = [
        call_reply("create_file", path="a.txt", content="x\n"),
        text_reply("Made."),
    ]
    page = served_page.open()
    line = HeldSocket(page)
    send(page, "make it")
    expect(act(page, "Undo: Create a.txt")).to_be_visible()
    line.hold('"attach"')
    new_session(page)
    line.wait()
    page.go_back()
    expect(replies(page)).to_have_text("Made.")
    expect(act(page, "Undo: Create a.txt")).to_be_visible()
    line.release()


def test_an_answer_that_breaks_off_is_asked_for_again(served_page: ServedPage) -> None:
    served_page.model.replies = [
        call_reply("create_file", path="a.txt", content="x\n"),
        text_reply("Made."),
    ]
    page = served_page.open()
    send(page, "make it")
    expect(act(page, "Undo: Create a.txt")).to_be_visible()
    cut = '{"revision": 1, "calls": ['
    intercept(page, "**/changes/calls?**", lambda route: route.fulfill(body=cut), times=1)
    page.reload()
    expect(act(page, "Undo: Create a.txt")).to_be_visible()


def test_changes_show_though_the_browser_told_late_that_they_are_looked_at(
    served_page: ServedPage,
) -> None:
    served_page.model.replies = [
        call_reply("create_file", path="a.txt", content="x\n"),
        text_reply("Made."),
    ]
    page = served_page.open()
    page.add_init_script(LATE_LOOKS)
    page.reload()
    send(page, "make it")
    expect(page.locator(".changes .total")).to_have_text("1 file changed")


def test_what_happened_while_the_line_was_lost_shows(served_page: ServedPage) -> None:
    (served_page.project / "a.txt").write_text("one\n")
    page = talked(served_page, "hello")
    other = served_page.open()
    other.goto(page.url)
    for tab in (page, other):
        tab.get_by_role("treeitem", name="a.txt").click()
        expect(tab.locator(".editor .cm-line").first).to_have_text("one")
    new_session(page)
    line = HeldSocket(page)
    expect(page.locator(".editor .cm-line").first).to_have_text("one")
    line.disconnect()
    (served_page.project / "a.txt").write_text("two\n")
    expect(other.locator(".editor .cm-line").first).to_have_text("two")
    served_page.model.replies = [
        call_reply("run_command", command="echo hello"),
        text_reply("Done."),
    ]
    other.get_by_label("Approval mode").select_option("ask")
    send(other, "run it")
    expect(other.get_by_role("group", name="Approval")).to_be_visible()
    line.reconnect()
    expect(page.locator(".editor .cm-line").first).to_have_text("two")
    expect(page.locator(".topbar .badge.asks")).to_have_text("1 needs you")


def test_a_list_of_sessions_is_no_older_than_what_was_told_meanwhile(
    served_page: ServedPage,
) -> None:
    page = talked(served_page, "first")
    held = HeldRequests(page, "**/api/sessions?archived=0")
    page.keyboard.press("Control+Shift+f")
    held.wait()
    drawer = page.get_by_role("region", name="Sessions")
    drawer.get_by_role("button", name="Rename: first").focus()
    page.keyboard.press("Enter")
    drawer.get_by_role("textbox", name="Title").fill("Better")
    page.keyboard.press("Enter")
    expect(drawer.locator(".title")).to_have_text("Better")
    with page.expect_response("**/api/sessions?archived=0"):
        held.release()
    wait_until_drawn(page)
    expect(drawer.locator(".title")).to_have_text("Better")
    expect(page.locator(".topbar .title")).to_have_text("Better")


def test_a_session_begun_before_the_others_are_known_is_not_left_for_them(
    served_page: ServedPage,
) -> None:
    talked(served_page, "before").context.close()
    page = served_page.context().new_page()
    page.goto(served_page.server.url + served_page.server.authenticator.new_link())
    expect(replies(page)).to_have_text("so before")
    page.evaluate("localStorage.removeItem('onefold.session')")
    held = HeldRequests(page, "**/api/status")
    page.goto(f"{served_page.server.url}/?lang=en")
    held.wait()
    page.keyboard.press("Alt+n")
    expect(page).to_have_url(re.compile("/s/"))
    begun = page.url
    held.release()
    expect(page.locator(".project")).to_have_text("project")
    assert page.url == begun
    expect(page.locator(".welcome")).to_be_visible()


def test_what_is_typed_as_a_session_opens_belongs_to_it(served_page: ServedPage) -> None:
    page = talked(served_page, "first")
    first = page.url
    new_session(page)
    served_page.model.replies = [text_reply("so second")]
    send(page, "second")
    expect(page.locator(".end")).to_have_count(1)
    page.keyboard.press("Control+Shift+f")
    expect(page.locator(".sessions .choose")).to_have_count(2)
    page.evaluate(LEAVE_AND_WRITE, ["first"])
    expect(replies(page)).to_have_text("so first")
    expect(message(page)).to_have_value("typed at once")
    page.reload()
    assert page.url == first
    expect(message(page)).to_have_value("typed at once")
    page.go_back()
    expect(replies(page)).to_have_text("so second")
    expect(message(page)).to_have_value("")


def test_a_session_that_could_not_be_begun_leaves_the_one_before_with_its_draft(
    served_page: ServedPage,
) -> None:
    page = talked(served_page, "first")
    message(page).fill("half a")
    intercept(page, "**/api/sessions", lambda route: route.abort(), times=1)
    page.keyboard.press("Alt+n")
    expect(page.locator(".notice.bad")).to_contain_text("does not answer")
    expect(message(page)).to_have_value("half a")
    message(page).press_sequentially(" thought")
    page.reload()
    expect(message(page)).to_have_value("half a thought")


def test_commands_complete_though_they_could_not_be_had_at_first(served_page: ServedPage) -> None:
    page = served_page.open()
    intercept(page, "**/api/commands", lambda route: route.abort(), times=1)
    with page.expect_event("requestfailed"):
        message(page).press_sequentially("/")
    message(page).press_sequentially("sta")
    expect(page.get_by_role("option", name="/status")).to_be_visible()


def test_what_is_completed_fits_what_was_typed_last(served_page: ServedPage) -> None:
    for name in ("aaa.txt", "apples.txt"):
        (served_page.project / name).touch()
    page = served_page.open()
    message(page).press_sequentially("see @a")
    expect(page.get_by_role("option", name="aaa.txt")).to_be_visible()
    held = HeldRequests(page, "**/api/files/list")
    page.evaluate(
        "fetch('/api/files/folder', {method: 'POST', body: '{\"path\": \"new\"}',"
        f" headers: {{'Content-Type': 'application/json', {KEY}}}}})"
    )
    expect(page.get_by_role("treeitem", name="new")).to_be_visible()  # what is known is old now
    message(page).press_sequentially("p")
    held.wait()
    message(page).press("Enter")
    held.release()
    expect(message(page)).to_have_value("see @apples.txt ")


def test_enter_sends_a_command_though_the_list_is_still_about_its_name(
    served_page: ServedPage,
) -> None:
    page = served_page.open()
    message(page).press_sequentially("/approve")
    expect(page.get_by_role("option", name="/approve")).to_be_visible()
    held = HeldRequests(page, "**/completions?**", times=len(" list"))
    message(page).press_sequentially(" list")
    held.wait(len(" list"))
    message(page).press("Enter")
    expect(page.locator(".command").last).to_contain_text("Nothing is always allowed.")
    held.release(-1)
    expect(message(page)).to_have_value("")


def test_a_search_that_fails_found_not_nothing(served_page: ServedPage) -> None:
    page = talked(served_page, "apples")
    page.keyboard.press("Control+Shift+f")
    drawer = page.get_by_role("region", name="Sessions")
    intercept(page, "**/api/search?**", lambda route: route.abort(), times=1)
    drawer.get_by_role("searchbox").fill("appl")
    expect(page.locator(".notice.bad")).to_contain_text("does not answer")
    expect(drawer).not_to_contain_text("No matches")
    drawer.get_by_role("searchbox").fill("apples")
    expect(drawer.locator(".snippet")).to_have_count(2)


def test_who_went_on_elsewhere_is_not_brought_back(served_page: ServedPage) -> None:
    (served_page.project / "b.txt").write_text("b\n")
    served_page.model.replies = [
        call_reply("create_file", path="a.txt", content="x\n"),
        text_reply("Made."),
    ]
    page = served_page.open()
    send(page, "make it")
    expect(page.locator(".end")).to_be_visible()
    undo = HeldRequests(page, "**/changes/undo", method="POST")
    act(page, "Undo: Create a.txt").click()
    undo.wait()
    message(page).focus()
    undo.release()
    expect(act(page, "Redo: Create a.txt")).to_be_enabled()
    expect(message(page)).to_be_focused()
    text = HeldRequests(page, "**/api/files/text?path=b.txt")
    page.keyboard.press("Control+p")
    page.get_by_role("combobox", name="File name").fill("b.t")
    expect(page.get_by_role("dialog").get_by_role("option")).to_have_text("b.txt")
    page.keyboard.press("Enter")
    text.wait()
    page.get_by_label("Filter files").focus()
    message(page).focus()  # where the focus was at first
    text.release()
    expect(page.locator(".editor .cm-line").first).to_have_text("b")
    wait_until_drawn(page)
    expect(message(page)).to_be_focused()
