"""Answers that come late, twice or in another order: nothing is lost or waits for ever."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.page.held import Held, Line, drawn, intercept
from tests.page.stage import KEY, Stage, message, replies, send
from tests.page.test_changes import act
from tests.scripted import call, say

LATE_LOOKS = """
window.IntersectionObserver = class extends IntersectionObserver {
    constructor(told) {
        super((looks) => told([{ isIntersecting: !looks.at(-1).isIntersecting }, ...looks]));
    }
};
"""
LEAVE_AND_WRITE = """([name]) => {
    const row = [...document.querySelectorAll("dialog .choose")]
        .find((each) => each.textContent.includes(name));
    row.click();
    const area = document.querySelector(".composer textarea");
    area.value = "typed at once";
    area.dispatchEvent(new Event("input"));
}"""


def talked(house: Stage, *texts: str) -> Page:
    """Return a page on a session in which *texts* were said and answered."""
    page = house.open()
    for number, text in enumerate(texts, start=1):
        house.model.replies.append(say(f"so {text}"))
        send(page, text)
        expect(page.locator(".end")).to_have_count(number)
    return page


def new_session(page: Page) -> None:
    before = page.url
    page.get_by_role("button", name="New session", exact=True).click()
    expect(page).not_to_have_url(before)


def test_what_was_chosen_counts_for_what_is_sent_after_it(house: Stage) -> None:
    house.model.replies = [call("run_command", command="echo hello"), say("Done.")]
    page = house.open()
    line = Line(page)
    line.hold("/approve ask")
    page.get_by_label("Approval mode").select_option("ask")
    line.wait()
    send(page, "run it")
    expect(page.locator(".person.sending")).to_have_text("run it")
    line.let_go()
    expect(page.get_by_role("group", name="Approval")).to_be_visible()
    told = [text for text in line.said if "/approve ask" in text or "run it" in text]
    assert ["/approve" in text for text in told] == [True, False]


def test_a_question_shows_though_its_card_could_not_be_had_at_first(house: Stage) -> None:
    house.model.replies = [call("run_command", command="echo hello"), say("Done.")]
    page = house.open()
    intercept(page, "**/approval/question.js", lambda route: route.abort(), times=1)
    page.get_by_label("Approval mode").select_option("ask")
    with page.expect_event("requestfailed"):
        send(page, "run it")
    page.get_by_role("button", name="Yes").click()
    expect(replies(page)).to_have_text("Done.")


def test_what_is_sent_is_done_in_its_order(house: Stage) -> None:
    house.model.replies = [say("first"), say("second")]
    page = house.open()
    line = Line(page)
    line.hold('"one"')
    send(page, "one")
    line.wait()
    send(page, "two")
    expect(page.locator(".person.sending")).to_have_text(["one", "two"])
    line.let_go()
    expect(replies(page)).to_have_text(["first", "second"])
    expect(page.locator(".person .said")).to_have_text(["one", "two"])


def test_a_session_that_was_left_for_a_moment_goes_on(house: Stage) -> None:
    page = talked(house, "hello")
    line = Line(page)
    expect(replies(page)).to_have_text("so hello")
    line.hold('"detach"')
    new_session(page)
    line.wait()
    page.go_back()
    expect(page.locator(".welcome")).to_be_hidden()
    line.let_go()
    expect(replies(page)).to_have_text("so hello")
    house.model.replies = [say("still here")]
    send(page, "again")
    expect(replies(page).last).to_have_text("still here")


def test_what_can_be_undone_shows_in_a_session_that_was_left_for_a_moment(house: Stage) -> None:
    house.model.replies = [call("create_file", path="a.txt", content="x\n"), say("Made.")]
    page = house.open()
    line = Line(page)
    send(page, "make it")
    expect(act(page, "Undo: Create a.txt")).to_be_visible()
    line.hold('"attach"')
    new_session(page)
    line.wait()
    page.go_back()
    expect(replies(page)).to_have_text("Made.")
    expect(act(page, "Undo: Create a.txt")).to_be_visible()
    line.let_go()


def test_an_answer_that_breaks_off_is_asked_for_again(house: Stage) -> None:
    house.model.replies = [call("create_file", path="a.txt", content="x\n"), say("Made.")]
    page = house.open()
    send(page, "make it")
    expect(act(page, "Undo: Create a.txt")).to_be_visible()
    cut = '{"revision": 1, "calls": ['
    intercept(page, "**/changes/calls?**", lambda route: route.fulfill(body=cut), times=1)
    page.reload()
    expect(act(page, "Undo: Create a.txt")).to_be_visible()


def test_changes_show_though_the_browser_told_late_that_they_are_looked_at(house: Stage) -> None:
    house.model.replies = [call("create_file", path="a.txt", content="x\n"), say("Made.")]
    page = house.open()
    page.add_init_script(LATE_LOOKS)
    page.reload()
    send(page, "make it")
    expect(page.locator(".changes .total")).to_have_text("1 file changed")


def test_what_happened_while_the_line_was_lost_shows(house: Stage) -> None:
    (house.project / "a.txt").write_text("one\n")
    page = talked(house, "hello")
    other = house.open()
    other.goto(page.url)
    for tab in (page, other):
        tab.get_by_role("treeitem", name="a.txt").click()
        expect(tab.locator(".editor .cm-line").first).to_have_text("one")
    new_session(page)
    line = Line(page)
    expect(page.locator(".editor .cm-line").first).to_have_text("one")
    line.cut()
    (house.project / "a.txt").write_text("two\n")
    expect(other.locator(".editor .cm-line").first).to_have_text("two")
    house.model.replies = [call("run_command", command="echo hello"), say("Done.")]
    other.get_by_label("Approval mode").select_option("ask")
    send(other, "run it")
    expect(other.get_by_role("group", name="Approval")).to_be_visible()
    line.mend()
    expect(page.locator(".editor .cm-line").first).to_have_text("two")
    expect(page.locator(".topbar .badge.asks")).to_have_text("1 needs you")


def test_a_list_of_sessions_is_no_older_than_what_was_told_meanwhile(house: Stage) -> None:
    page = talked(house, "first")
    held = Held(page, "**/api/sessions?archived=0")
    page.keyboard.press("Control+k")
    held.wait()
    drawer = page.get_by_role("dialog", name="Sessions")
    drawer.get_by_role("button", name="Rename: first").focus()
    page.keyboard.press("Enter")
    drawer.get_by_role("textbox", name="Title").fill("Better")
    page.keyboard.press("Enter")
    expect(drawer.locator(".title")).to_have_text("Better")
    with page.expect_response("**/api/sessions?archived=0"):
        held.let_go()
    drawn(page)
    expect(drawer.locator(".title")).to_have_text("Better")
    expect(page.locator(".topbar .title")).to_have_text("Better")


def test_a_session_begun_before_the_others_are_known_is_not_left_for_them(house: Stage) -> None:
    talked(house, "before").context.close()
    page = house.context().new_page()
    page.goto(house.server.url + house.server.access.new_link())
    expect(replies(page)).to_have_text("so before")
    page.evaluate("localStorage.removeItem('onefold.session')")
    held = Held(page, "**/api/status")
    page.goto(f"{house.server.url}/?lang=en")
    held.wait()
    page.keyboard.press("Alt+n")
    expect(page).to_have_url(re.compile("/s/"))
    begun = page.url
    held.let_go()
    expect(page.locator(".project")).to_have_text("project")
    assert page.url == begun
    expect(page.locator(".welcome")).to_be_visible()


def test_what_is_typed_as_a_session_opens_belongs_to_it(house: Stage) -> None:
    page = talked(house, "first")
    first = page.url
    new_session(page)
    house.model.replies = [say("so second")]
    send(page, "second")
    expect(page.locator(".end")).to_have_count(1)
    page.keyboard.press("Control+k")
    expect(page.locator("dialog .choose")).to_have_count(2)
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
    house: Stage,
) -> None:
    page = talked(house, "first")
    message(page).fill("half a")
    intercept(page, "**/api/sessions", lambda route: route.abort(), times=1)
    page.keyboard.press("Alt+n")
    expect(page.locator(".notice.bad")).to_contain_text("does not answer")
    expect(message(page)).to_have_value("half a")
    message(page).press_sequentially(" thought")
    page.reload()
    expect(message(page)).to_have_value("half a thought")


def test_commands_complete_though_they_could_not_be_had_at_first(house: Stage) -> None:
    page = house.open()
    intercept(page, "**/api/commands", lambda route: route.abort(), times=1)
    with page.expect_event("requestfailed"):
        message(page).press_sequentially("/")
    message(page).press_sequentially("sta")
    expect(page.get_by_role("option", name="/status")).to_be_visible()


def test_what_is_completed_fits_what_was_typed_last(house: Stage) -> None:
    for name in ("aaa.txt", "apples.txt"):
        (house.project / name).touch()
    page = house.open()
    message(page).press_sequentially("see @a")
    expect(page.get_by_role("option", name="aaa.txt")).to_be_visible()
    held = Held(page, "**/api/files/list")
    page.evaluate(
        "fetch('/api/files/folder', {method: 'POST', body: '{\"path\": \"new\"}',"
        f" headers: {{'Content-Type': 'application/json', {KEY}}}}})"
    )
    expect(page.get_by_role("treeitem", name="new")).to_be_visible()  # what is known is old now
    message(page).press_sequentially("p")
    held.wait()
    message(page).press("Enter")
    held.let_go()
    expect(message(page)).to_have_value("see @apples.txt ")


def test_a_search_that_fails_found_not_nothing(house: Stage) -> None:
    page = talked(house, "apples")
    page.keyboard.press("Control+k")
    drawer = page.get_by_role("dialog", name="Sessions")
    intercept(page, "**/api/search?**", lambda route: route.abort(), times=1)
    drawer.get_by_role("searchbox").fill("appl")
    expect(page.locator(".notice.bad")).to_contain_text("does not answer")
    expect(drawer).not_to_contain_text("Nothing found")
    drawer.get_by_role("searchbox").fill("apples")
    expect(drawer.locator(".snippet")).to_have_count(2)


def test_who_went_on_elsewhere_is_not_brought_back(house: Stage) -> None:
    (house.project / "b.txt").write_text("b\n")
    house.model.replies = [call("create_file", path="a.txt", content="x\n"), say("Made.")]
    page = house.open()
    send(page, "make it")
    undo = Held(page, "**/changes/undo", method="POST")
    act(page, "Undo: Create a.txt").click()
    undo.wait()
    message(page).focus()
    undo.let_go()
    expect(act(page, "Redo: Create a.txt")).to_be_enabled()
    expect(message(page)).to_be_focused()
    text = Held(page, "**/api/files/text?path=b.txt")
    page.keyboard.press("Control+p")
    page.get_by_role("combobox", name="Name of a file").fill("b.t")
    expect(page.get_by_role("dialog").get_by_role("option")).to_have_text("b.txt")
    page.keyboard.press("Enter")
    text.wait()
    page.get_by_label("Filter files").focus()
    message(page).focus()  # where the focus was at first
    text.let_go()
    expect(page.locator(".editor .cm-line").first).to_have_text("b")
    drawn(page)
    expect(message(page)).to_be_focused()
