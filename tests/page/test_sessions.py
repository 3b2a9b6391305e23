"""Sessions on the page: forks with all that belongs to them, and those that run elsewhere."""

from __future__ import annotations

from playwright.sync_api import expect

from core.messages import Assistant, User
from modules.data_folder import DataFolder
from modules.sessions import Sessions
from tests.modules.web.test_held import run_elsewhere
from tests.page.stage import Stage, message, replies, send
from tests.scripted import call, say


def test_a_fork_can_undo_what_was_done_before_it(house: Stage) -> None:
    house.model.replies = [call("create_file", path="a.txt", content="x\n"), say("Made.")]
    page = house.open()
    send(page, "make it")
    expect(replies(page).last).to_have_text("Made.")
    assert (house.project / "a.txt").exists()
    before = page.url
    page.locator(".end").hover()
    page.get_by_role("button", name="Go on from here in a new session").click()
    expect(page).not_to_have_url(before)
    expect(page.locator(".notice")).to_contain_text("You are in a new session now")
    expect(replies(page)).to_have_text(["Made."])
    send(page, "/undo")
    expect(page.locator(".command").last).to_contain_text("Took back the changes of turn 1")
    assert not (house.project / "a.txt").exists()


def test_a_session_that_runs_elsewhere_is_read_along(house: Stage) -> None:
    path = DataFolder(house.project.parent / "data", house.project).sessions
    store = Sessions(path)
    session = store.create(model="m")
    store.append(session, 1, User("hi"))
    store.append(session, 1, Assistant("hello"))
    store.close()
    with run_elsewhere(path, session) as go_on:
        page = house.open()
        expect(replies(page)).to_have_text(["hello"])
        banner = page.get_by_role("alert")
        expect(banner).to_contain_text("You can only read this session here")
        expect(banner).to_contain_text("is open in another Onefold (process")
        send(page, "mine")
        expect(page.locator(".notice.bad")).to_contain_text("is open in another Onefold")
        expect(message(page)).to_have_value("mine")
        go_on("more")
        expect(replies(page)).to_have_text(["hello", "over there"])
        expect(message(page)).to_have_value("mine")
    house.model.replies = [say("here again")]
    message(page).press("Enter")
    expect(replies(page).last).to_have_text("here again")
    expect(banner).to_be_hidden()
