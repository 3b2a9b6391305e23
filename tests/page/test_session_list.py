"""The list of sessions on the left: what it says of each, and what is done to one or several."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.page.request_holding import wait_until
from tests.page.served_page import Gate, ServedPage, replies, send
from tests.page.test_races import new_session
from tests.scripted_model import USED, call_reply, text_reply
from utils.llm.completion import Completion, Delta


def talked(served_page: ServedPage, *names: str) -> Page:
    """Return a page on which there is a session for each of *names*, the last one shown."""
    served_page.model.replies = [text_reply(f"### so **[{name}](a.py)**") for name in names]
    page = served_page.open()
    for name in names:
        if name != names[0]:
            new_session(page)
        send(page, name)
        expect(page.locator(".end")).to_have_count(1)
    expect(side(page).locator(".session")).to_have_count(len(names))
    return page


def side(page: Page) -> Locator:
    return page.get_by_role("region", name="Sessions")


def row(page: Page, title: str) -> Locator:
    return side(page).locator(".session", has=page.locator(".title", has_text=title))


def show_acts(session: Locator) -> None:
    """Have what can be done with a session shown, wherever its row goes; the mouse stays behind."""
    session.locator(".choose").focus()


def test_a_session_is_recognised_by_its_last_words_and_its_cost(served_page: ServedPage) -> None:
    page = talked(served_page, "first", "second")
    expect(row(page, "first").locator(".last")).to_have_text("so first")
    expect(row(page, "first")).to_contain_text("1 turn")
    expect(row(page, "first")).to_contain_text("$")
    row(page, "first").locator(".choose").click()
    expect(replies(page)).to_have_text("so first")
    expect(row(page, "first").locator("[aria-current=true]")).to_be_visible()


def test_pins_and_tags_are_the_same_in_each_tab(served_page: ServedPage) -> None:
    page = talked(served_page, "first", "second", "third")
    other = served_page.open()
    show_acts(row(page, "first"))
    page.get_by_role("button", name="Pin: first").click()
    page.get_by_role("button", name="Tags: first").click()
    field = page.get_by_role("textbox", name="Tags")
    field.fill("#work later")
    field.press("Enter")
    for each in (page, other):
        expect(side(each).locator("section").first.locator("h2")).to_have_text("Pinned")
        expect(side(each).locator(".title").first).to_have_text("first")
        expect(row(each, "first")).to_contain_text("#work · #later")
    other.get_by_role("button", name="#work", exact=True).click()
    expect(side(other).locator(".title")).to_have_text(["first"])
    other.get_by_role("button", name="#work", exact=True).click()
    expect(side(other).locator(".title")).to_have_count(3)
    send(page, "/sessions")
    expect(page.locator(".command").last).to_contain_text("pinned")
    expect(page.locator(".command").last).to_contain_text("#work #later")


def test_a_row_stays_while_its_title_or_tags_are_typed(served_page: ServedPage) -> None:
    page = talked(served_page, "first", "second")
    other = served_page.open()
    show_acts(row(page, "first"))
    page.get_by_role("button", name="Tags: first").click()
    field = page.get_by_role("textbox", name="Tags")
    field.fill("later")
    show_acts(row(other, "first"))
    other.get_by_role("button", name="Pin: first").click()
    expect(side(other).locator("section").first.locator("h2")).to_have_text("Pinned")
    show_acts(row(other, "second"))
    other.get_by_role("button", name="Rename: second").click()
    other.get_by_role("textbox", name="Title").fill("Better")
    other.get_by_role("textbox", name="Title").press("Enter")
    expect(page.locator(".topbar .title")).to_have_text("Better")  # told after the pin
    expect(field).to_be_focused()
    field.press("Enter")
    expect(side(page).locator("section").first.locator("h2")).to_have_text("Pinned")
    expect(row(page, "first")).to_contain_text("#later")
    expect(row(page, "first").locator(".choose")).to_be_focused()


def test_what_ended_while_another_session_was_shown_is_unread(served_page: ServedPage) -> None:
    gate = Gate()
    last = Completion("One two.", "", (), USED)
    served_page.model.replies = [[Delta("One "), gate, Delta("two."), last]]
    page = served_page.open()
    send(page, "slowly")
    expect(replies(page)).to_have_text("One ")
    new_session(page)
    expect(row(page, "slowly").locator(".spinner")).to_be_visible()
    gate.open()
    expect(row(page, "slowly").get_by_role("img", name="unread")).to_be_visible()
    expect(row(page, "slowly").locator(".last")).to_have_text("One two.")
    row(page, "slowly").locator(".choose").click()
    expect(replies(page)).to_have_text("One two.")
    expect(row(page, "slowly").get_by_role("img", name="unread")).to_have_count(0)


def test_several_sessions_are_archived_and_deleted_at_once(served_page: ServedPage) -> None:
    page = talked(served_page, "first", "second", "third", "fourth")
    choosing = page.get_by_role("button", name="Choose several")
    choosing.click()
    page.get_by_role("checkbox", name="Choose first").check()
    row(page, "second").locator(".choose").click()
    expect(side(page)).to_contain_text("2 chosen")
    side(page).get_by_role("button", name="Archive", exact=True).click()
    expect(side(page).locator(".title")).to_have_text(["fourth", "third"])
    expect(page.get_by_role("checkbox")).to_have_count(0)
    page.get_by_role("button", name="Archived").click()
    expect(side(page).locator(".title")).to_have_text(["second", "first"])
    choosing.click()
    for name in ("first", "second"):
        page.get_by_role("checkbox", name=f"Choose {name}").check()
    side(page).get_by_role("button", name="Delete", exact=True).click()
    asked = page.get_by_role("alertdialog", name="Delete 2 sessions for good?")
    asked.get_by_role("button", name="Delete").click()
    expect(side(page).locator(".title")).to_have_count(0)
    page.get_by_role("button", name="Archived").click()
    expect(side(page).locator(".title")).to_have_text(["fourth", "third"])


def test_the_list_stays_folded_as_it_was_left(served_page: ServedPage) -> None:
    page = talked(served_page, "first")
    fold = side(page).get_by_role("button", name="Sessions", exact=True)
    fold.click()
    expect(fold).to_have_attribute("aria-expanded", "false")
    expect(row(page, "first")).to_be_hidden()
    page.reload()
    expect(fold).to_have_attribute("aria-expanded", "false")
    expect(row(page, "first")).to_be_hidden()
    page.keyboard.press("Control+Shift+f")
    expect(side(page).get_by_role("searchbox")).to_be_focused()
    expect(row(page, "first")).to_be_visible()


def test_a_pane_with_nothing_to_show_takes_no_room(served_page: ServedPage) -> None:
    served_page.model.replies = [
        text_reply("hello"),
        call_reply("create_file", path="a.txt", content="x\n"),
        text_reply("Made."),
    ]
    page = served_page.open()
    pane = page.get_by_role("region", name="Files and changes")
    expect(page.locator(".page")).to_have_class(re.compile("no-pane"))
    send(page, "hello")
    expect(page.locator(".end")).to_have_count(1)
    expect(pane).to_be_hidden()
    page.keyboard.press("Control+j")
    expect(pane).to_be_visible()
    page.keyboard.press("Control+j")
    expect(pane).to_be_hidden()
    page.reload()
    page.keyboard.press("Control+j")
    expect(pane).to_be_visible()
    page.keyboard.press("Control+j")
    page.evaluate("localStorage.removeItem('onefold.pane')")  # as of who never closed it
    page.reload()
    expect(page.locator(".end")).to_have_count(1)
    expect(pane).to_be_hidden()
    send(page, "make it")
    expect(replies(page).last).to_have_text("Made.")
    expect(pane).to_contain_text("a.txt")
    new_session(page)
    expect(pane).to_be_hidden()


def test_on_a_phone_what_is_touched_is_large_enough(served_page: ServedPage) -> None:
    served_page.model.replies = [call_reply("run_command", command="echo hi"), text_reply("hello")]
    page = served_page.open(width=390, height=844, has_touch=True, is_mobile=True)
    send(page, "first")
    expect(page.locator(".end")).to_have_count(1)
    page.locator(".topbar").get_by_role("button", name=re.compile("^Sessions")).tap()
    drawer = page.get_by_role("dialog", name="Sessions")
    expect(drawer.locator(".session")).to_have_count(1)
    small = "all => all.filter(e => e.offsetParent && !(e.getBoundingClientRect().height >= 44"
    small += " && e.getBoundingClientRect().width >= 44)).map(e => e.outerHTML)"
    wait_until(page, lambda: not drawer.locator("button, summary").evaluate_all(small))
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)
    touched = page.locator("button, summary, select, .brand")
    wait_until(page, lambda: not touched.evaluate_all(small))


def test_the_middle_of_a_row_without_last_words_is_no_button_of_it(served_page: ServedPage) -> None:
    served_page.model.replies = [text_reply("one")]
    page = served_page.open()
    send(page, "go")
    expect(page.locator(".session .last")).to_have_text("one")
    page.locator(".session .last").evaluate("line => line.remove()")
    shown = page.locator(".session .choose")
    shown.hover()
    expect(page.locator(".session .acts")).to_have_css("opacity", "1")
    shown.click(trial=True)
