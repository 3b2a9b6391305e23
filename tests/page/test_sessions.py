"""Sessions on the page: forks with all that belongs to them, and those that run elsewhere."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from core.conversation.messages import Assistant, User
from modules.sessions.store import Sessions
from modules.storage.data_folder import DataFolder
from tests.modules.web.test_held import run_elsewhere
from tests.page.request_holding import HeldRequests, HeldSocket, wait_until_drawn
from tests.page.served_page import KEY, Gate, ServedPage, message, replies, send
from tests.page.test_races import new_session, talked
from tests.scripted_model import USED, call_reply, text_reply
from utils.llm.completion import Completion, Delta

ALL_SENT = "() => !Object.keys(sessionStorage).some((name) => name.includes('unsent'))"


def test_a_fork_can_undo_what_was_done_before_it(served_page: ServedPage) -> None:
    served_page.model.replies = [
        call_reply("create_file", path="a.txt", content="x\n"),
        text_reply("Made."),
    ]
    page = served_page.open()
    send(page, "make it")
    expect(replies(page).last).to_have_text("Made.")
    assert (served_page.project / "a.txt").exists()
    before = page.url
    page.locator(".end").hover()
    page.get_by_role("button", name="Fork from here").click()
    expect(page.locator(".notice")).to_contain_text("You are now in a new session")
    expect(page).not_to_have_url(before)
    expect(replies(page)).to_have_text(["Made."])
    send(page, "/undo")
    expect(page.locator(".command").last).to_contain_text("Undid the changes of turn 1")
    assert not (served_page.project / "a.txt").exists()


def test_a_session_that_runs_elsewhere_is_read_along(served_page: ServedPage) -> None:
    path = DataFolder(served_page.project.parent / "data", served_page.project).sessions
    store = Sessions(path)
    session = store.create(model="m")
    store.append(session, 1, User("hi"))
    store.append(session, 1, Assistant("hello"))
    store.close()
    with run_elsewhere(path, session) as go_on:
        page = served_page.open()
        expect(replies(page)).to_have_text(["hello"])
        banner = page.get_by_role("alert")
        expect(banner).to_contain_text("This session is read-only")
        expect(banner).to_contain_text("is open in another Onefold (process")
        send(page, "mine")
        expect(page.locator(".notice.bad")).to_contain_text("is open in another Onefold")
        expect(message(page)).to_have_value("mine")
        go_on("more")
        expect(replies(page)).to_have_text(["hello", "over there"])
        expect(message(page)).to_have_value("mine")
    served_page.model.replies = [text_reply("here again")]
    message(page).press("Enter")
    expect(replies(page).last).to_have_text("here again")
    expect(banner).to_be_hidden()


def listed(served_page: ServedPage, *names: str) -> Page:
    """Return a page with the list of sessions open, one for each of *names*, newest first."""
    served_page.model.replies = [text_reply("hello") for _ in names]
    page = served_page.open()
    for name in reversed(names):
        if page.locator(".end").count():
            page.get_by_role("button", name="New session", exact=True).click()
            expect(page.locator(".welcome")).to_be_visible()
        send(page, name)
        expect(page.locator(".end")).to_have_count(1)
    page.keyboard.press("Control+Shift+f")
    drawer = page.get_by_role("region", name="Sessions")
    expect(drawer.locator(".title")).to_have_text(list(names))
    return page


def test_the_list_keeps_the_focus_when_something_in_it_changes(served_page: ServedPage) -> None:
    page = listed(served_page, "first", "second", "third")
    drawer = page.get_by_role("region", name="Sessions")
    archive = drawer.get_by_role("button", name="Archive: second")
    archive.focus()
    third = drawer.locator(".session").nth(2).get_attribute("data-id")
    rename = "id => fetch(`/api/sessions/${id}`, {method: 'PATCH', body: '{\"title\": \"3\"}', "
    rename += f"headers: {{'Content-Type': 'application/json', {KEY}}}}}).then(a => a.status)"
    assert page.evaluate(rename, third) == 200
    expect(drawer.locator(".title", has_text=re.compile("^3$"))).to_be_visible()
    expect(archive).to_be_focused()
    page.keyboard.press("Enter")
    expect(drawer.locator(".session")).to_have_count(2)
    expect(drawer.locator(".session button:focus")).to_have_attribute(
        "aria-label", re.compile("^Archive: (third|first|3)$")
    )
    drawer.get_by_role("button", name="Rename: first").focus()
    page.keyboard.press("Enter")
    drawer.get_by_role("textbox", name="Title").fill("Un")
    page.keyboard.press("Enter")
    expect(drawer.get_by_role("button", name=re.compile("^Un"))).to_be_focused()


def test_leaving_the_title_stops_nothing_and_goes_back_to_it(served_page: ServedPage) -> None:
    gate = Gate()
    last = Completion("One two.", "", (), USED)
    served_page.model.replies = [[Delta("One "), gate, Delta("two."), last]]
    page = served_page.open()
    send(page, "slowly")
    expect(replies(page)).to_have_text("One ")
    page.locator(".log").focus()
    page.keyboard.press("F2")
    field = page.get_by_role("textbox", name="Title")
    expect(field).to_be_focused()
    field.fill("Wrong")
    page.keyboard.press("Escape")
    expect(page.locator(".topbar").get_by_role("button", name="slowly")).to_be_focused()
    gate.open()
    expect(replies(page)).to_have_text("One two.")
    expect(page.locator(".end.stopped")).to_have_count(0)
    page.keyboard.press("F2")
    field.fill("Right")
    page.keyboard.press("Enter")
    expect(page.locator(".topbar").get_by_role("button", name="Right")).to_be_focused()


def test_a_session_that_is_deleted_elsewhere_is_left_with_what_was_being_written(
    served_page: ServedPage,
) -> None:
    served_page.model.replies = [text_reply("hello"), text_reply("hello again")]
    page = served_page.open()
    send(page, "first")
    expect(page.locator(".end")).to_have_count(1)
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()  # what runs is not deleted
    page.locator(".composer textarea").fill("half a sent")
    gone = page.url.rpartition("/s/")[2].partition("?")[0]
    delete = "id => fetch(`/api/sessions/${id}`, {method: 'DELETE', headers: {"
    delete += f"{KEY}}}}}).then(answer => answer.status)"
    assert page.evaluate(delete, gone) == 204
    expect(page.locator(".notice")).to_contain_text("no longer exists")
    expect(page).not_to_have_url(re.compile(gone))
    expect(replies(page)).to_have_count(0)
    expect(message(page)).to_have_value("half a sent")
    message(page).press("Enter")
    expect(replies(page)).to_have_text("hello again")


def test_who_went_to_another_session_is_not_taken_from_it_by_a_new_one(
    served_page: ServedPage,
) -> None:
    page = talked(served_page, "first")
    first = page.url
    new_session(page)
    held = HeldRequests(page, "**/api/sessions", method="POST")
    page.keyboard.press("Alt+n")
    held.wait()
    page.go_back()
    expect(replies(page)).to_have_text("so first")
    with page.expect_response("**/api/sessions"):
        held.release()
    wait_until_drawn(page)
    expect(replies(page)).to_have_text("so first")
    assert page.url == first


def test_who_went_elsewhere_is_not_taken_from_there_by_a_command(served_page: ServedPage) -> None:
    page = talked(served_page, "first")
    first = page.url
    new_session(page)
    line = HeldSocket(page)
    line.hold('"/new"')
    send(page, "/new")
    line.wait()
    page.go_back()
    expect(replies(page)).to_have_text("so first")
    line.release()
    page.wait_for_function(ALL_SENT)
    expect(replies(page)).to_have_text("so first")
    assert page.url == first


def test_what_is_shown_is_stopped_though_a_new_session_is_on_its_way(
    served_page: ServedPage,
) -> None:
    served_page.model.replies = [[Delta("One "), Gate(), Completion("One ", "", (), USED)]]
    page = served_page.open()
    send(page, "slowly")
    expect(replies(page)).to_have_text("One ")
    held = HeldRequests(page, "**/api/sessions", method="POST")
    page.keyboard.press("Alt+n")
    held.wait()
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.locator(".end.stopped")).to_be_visible()
    held.release()
    expect(page.locator(".welcome")).to_be_visible()


def test_what_is_taken_back_goes_to_where_it_was_written(served_page: ServedPage) -> None:
    gate = Gate()
    served_page.model.replies = [[Delta("One "), gate, Completion("One ", "", (), USED)]]
    page = served_page.open()
    line = HeldSocket(page)
    send(page, "one")
    expect(replies(page)).to_have_text("One ")
    send(page, "two")
    line.hold('"drop"')
    page.get_by_role("button", name="Take back: two").click()
    line.wait()
    new_session(page)
    line.release()
    page.wait_for_function("() => Object.values(localStorage).includes('two')")
    expect(message(page)).to_have_value("")
    page.go_back()
    expect(message(page)).to_have_value("two")
    gate.open()
    expect(page.locator(".end")).to_have_count(1)


def test_escape_in_a_field_leaves_it_and_stops_nothing(served_page: ServedPage) -> None:
    gate = Gate()
    last = Completion("One two.", "", (), USED)
    served_page.model.replies = [[Delta("One "), gate, Delta("two."), last]]
    (served_page.project / "a.txt").touch()
    page = served_page.open()
    send(page, "slowly")
    expect(replies(page)).to_have_text("One ")
    field = page.get_by_role("searchbox", name="Filter files")
    field.fill("a")
    field.press("Escape")
    expect(field).to_have_value("")
    field.press("Escape")
    expect(page.get_by_role("tree", name="Files")).to_be_focused()
    page.get_by_label("Approval mode").focus()
    page.keyboard.press("Escape")
    expect(message(page)).to_be_focused()
    gate.open()
    expect(replies(page)).to_have_text("One two.")
    expect(page.locator(".end.stopped")).to_have_count(0)


def test_what_waits_for_the_server_outlives_a_reload_and_is_sent_once(
    served_page: ServedPage,
) -> None:
    served_page.model.replies = [text_reply("hello"), text_reply("hello again")]
    page = served_page.open()
    send(page, "first")
    expect(page.locator(".end")).to_have_count(1)
    silent = [True]
    page.route_web_socket(
        re.compile("socket.io"), lambda line: None if silent else line.connect_to_server()
    )
    page.reload()
    expect(replies(page)).to_have_text("hello")
    send(page, "second")
    expect(page.locator(".person.sending")).to_have_text("second")
    page.reload()
    expect(page.locator(".person.sending")).to_have_text("second")
    silent.clear()
    for _ in range(2):
        page.reload()
        expect(replies(page)).to_have_text(["hello", "hello again"])
        expect(page.locator(".person")).to_have_text(["first", "second"])
    assert len(served_page.model.requests) == 2
