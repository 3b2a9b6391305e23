"""Who has only a keyboard is never left standing in the middle of nowhere."""

from __future__ import annotations

from typing import Literal

import pytest
from playwright.sync_api import expect

from tests.page.request_holding import HeldRequests, HeldSocket
from tests.page.served_page import KEY, Gate, ServedPage, message, replies, send
from tests.scripted_model import USED, text_reply
from utils.llm.completion import Completion, Delta


def test_a_file_that_is_opened_by_its_name_is_gone_on_with(served_page: ServedPage) -> None:
    (served_page.project / "notes.txt").write_text("one\n")
    page = served_page.open()
    page.keyboard.press("Control+p")
    page.get_by_role("combobox", name="File name").fill("notes")
    expect(page.get_by_role("option", name="notes.txt")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator(".editor")).to_be_focused()
    page.keyboard.type("zero ")
    expect(page.locator(".editor .cm-line").first).to_have_text("zero one")


Role = Literal["combobox", "searchbox", "textbox"]
LEADS = [
    ("Control+p", "search/palette", "combobox", "File name"),
    ("Control+k", "search/commands", "combobox", "Find anything"),
    ("Control+Shift+f", "", "searchbox", "Search all sessions"),  # there from the beginning on
    ("F2", "", "textbox", "Title"),  # so is this one, with the rows of the sessions
]


@pytest.mark.parametrize(("keys", "script", "role", "name"), LEADS)
def test_what_is_typed_right_after_a_key_goes_where_the_key_leads(
    served_page: ServedPage, keys: str, script: str, role: Role, name: str
) -> None:
    page = served_page.open()
    if keys == "F2":
        page.locator(".log").focus()  # for who writes a message it is a key like others
    held = HeldRequests(page, f"**/{script}.js") if script else None
    page.keyboard.press(keys)
    page.keyboard.type("no")
    if held:
        held.wait()
    page.keyboard.type("tes")
    if held:
        held.release()
    field = page.get_by_role(role, name=name)
    expect(field).to_have_value("notes")
    expect(field).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(":focus").and_(field)).to_have_count(0)
    expect(message(page)).to_have_value("")
    if keys != "F2":
        expect(message(page)).to_be_focused()
    assert served_page.model.requests == []


def test_a_key_before_the_list_on_the_left_is_there_opens_no_second_one(
    served_page: ServedPage,
) -> None:
    page = served_page.open()
    held = HeldRequests(page, "**/sessions/sessions.js")
    page.reload(wait_until="commit")
    held.wait()
    expect(message(page)).to_be_focused()
    page.keyboard.press("Control+Shift+f")
    page.keyboard.type("notes")
    held.release()
    field = page.get_by_role("searchbox", name="Search all sessions")
    expect(field).to_have_value("notes")
    expect(field).to_be_focused()


def test_a_focus_that_was_moved_meanwhile_stays_where_it_is(served_page: ServedPage) -> None:
    served_page.model.replies = [text_reply("hello")]
    page = served_page.open()
    send(page, "first")
    row = page.locator(".session .choose")
    expect(row).to_have_count(1)
    held = HeldRequests(page, "**/sessions/sessions.js")
    page.reload()
    held.wait()
    page.keyboard.press("Control+Shift+f")
    button = page.get_by_role("button", name="New session", exact=True)
    button.focus()
    held.release()
    expect(row).to_have_count(1)
    expect(button).to_be_focused()
    page.keyboard.press("Control+Shift+f")
    expect(page.get_by_role("searchbox", name="Search all sessions")).to_be_focused()


def test_a_title_that_is_typed_before_the_session_is_there_is_not_lost(
    served_page: ServedPage,
) -> None:
    page = served_page.open()
    line = HeldSocket(page)
    send(page, "/status")
    expect(page.locator(".log")).to_contain_text("Session")
    line.hold("attach")
    page.keyboard.press("Alt+n")
    line.wait()
    page.locator(".log").focus()
    page.keyboard.press("F2")
    page.keyboard.type("notes")
    line.release()
    title = page.get_by_role("textbox", name="Title")
    expect(title).to_have_value("notes")
    expect(title).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="notes", exact=True).first).to_be_visible()


def test_escape_takes_a_key_back_though_its_field_does_not_come(served_page: ServedPage) -> None:
    page = served_page.open()
    held = HeldRequests(page, "**/search/commands.js")
    page.keyboard.press("Control+k")
    held.wait()
    page.keyboard.press("Escape")
    page.keyboard.type("so far")
    expect(message(page)).to_have_value("so far")
    held.release()


def test_enter_before_the_list_is_there_opens_what_was_meant_and_sends_nothing(
    served_page: ServedPage,
) -> None:
    for name in ("a.txt", "b.txt"):
        (served_page.project / name).write_text(f"{name}\n")
    page = served_page.open()
    held = HeldRequests(page, "**/search/palette.js")
    page.keyboard.press("Control+p")
    page.keyboard.type("b.t")
    page.keyboard.press("Enter")
    held.wait()
    held.release()
    expect(page.locator(".editor .cm-line").first).to_have_text("b.txt")
    assert served_page.model.requests == []


def test_what_is_typed_behind_enter_goes_where_it_leads(served_page: ServedPage) -> None:
    page = served_page.open()
    held = HeldRequests(page, "**/search/commands.js")
    page.keyboard.press("Control+k")
    page.keyboard.type("settings")
    page.keyboard.press("Enter")
    page.keyboard.type("step_limit")
    held.wait()
    held.release()
    field = page.get_by_role("searchbox", name="Find a setting")
    expect(field).to_have_value("step_limit")
    expect(field).to_be_focused()
    expect(page.get_by_role("dialog")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(message(page)).to_have_value("")


def test_a_list_that_still_searches_takes_what_is_typed_behind_enter_for_no_word_of_it(
    served_page: ServedPage,
) -> None:
    page = served_page.open()
    held = HeldRequests(page, "**/api/settings")
    page.keyboard.press("Control+k")
    held.wait()
    page.get_by_role("combobox", name="Find anything").fill("/status")
    page.keyboard.press("Enter")
    page.keyboard.type("now")
    held.release()
    expect(message(page)).to_have_value("/status now")
    expect(message(page)).to_be_focused()


def test_what_is_typed_before_a_file_is_there_goes_into_it(served_page: ServedPage) -> None:
    for name in ("a.txt", "b.txt"):
        (served_page.project / name).write_text(f"{name}\n")
    page = served_page.open()
    held = HeldRequests(page, "**/api/files/text?*", times=2)
    page.keyboard.press("Control+p")
    page.keyboard.type("a.t")
    page.keyboard.press("Enter")
    held.wait()
    page.keyboard.press("Control+p")  # another one was meant
    page.keyboard.type("b.t")
    page.keyboard.press("Enter")
    held.wait(2)
    page.keyboard.type("so ")
    held.release(1)
    expect(page.locator(".editor .cm-line").first).to_have_text("so b.txt")
    expect(page.locator(".editor")).to_be_focused()
    expect(message(page)).to_have_value("")
    held.release(0)


def test_escape_before_a_list_is_there_leaves_all_as_it_was(served_page: ServedPage) -> None:
    page = served_page.open()
    message(page).fill("so ")
    held = HeldRequests(page, "**/search/commands.js")
    page.keyboard.press("Control+k")
    page.keyboard.type("x")
    page.keyboard.press("Escape")
    held.wait()
    held.release()
    expect(message(page)).to_be_focused()
    page.keyboard.type("far")
    expect(message(page)).to_have_value("so far")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_dialog_that_is_asked_for_twice_before_its_script_came_is_there_once(
    served_page: ServedPage,
) -> None:
    page = served_page.open()
    page.locator(".log").focus()
    held = HeldRequests(page, "**/shortcuts_sheet.js")
    page.keyboard.press("?")
    held.wait()
    page.keyboard.press("?")
    held.release()
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)


def test_what_is_typed_right_after_a_dialog_is_closed_counts(served_page: ServedPage) -> None:
    page = served_page.open()
    message(page).focus()
    page.keyboard.press("Control+,")
    expect(page.get_by_role("dialog", name="Settings")).to_be_visible()
    close_and_type = """() => {
        document.querySelector("dialog").close();
        document.execCommand("insertText", false, "on with it");
    }"""  # with nothing between, as keys may come that wait already
    page.evaluate(close_and_type)
    expect(message(page)).to_have_value("on with it")


def test_the_file_that_is_opened_fits_what_was_typed_last(served_page: ServedPage) -> None:
    for name in ("a.txt", "b.txt"):
        (served_page.project / name).write_text(f"{name}\n")
    page = served_page.open()
    page.keyboard.press("Control+p")
    expect(page.get_by_role("dialog").get_by_role("option")).to_have_text(["a.txt", "b.txt"])
    held = HeldRequests(page, "**/api/files/list")
    page.evaluate(
        "fetch('/api/files/folder', {method: 'POST', body: '{\"path\": \"new\"}',"
        f" headers: {{'Content-Type': 'application/json', {KEY}}}}})"
    )
    expect(page.locator("[data-path=new]")).to_be_attached()  # what is known is old now
    page.get_by_role("combobox", name="File name").fill("b.t")
    held.wait()
    page.keyboard.press("Enter")
    held.release()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator(".editor .cm-line").first).to_have_text("b.txt")


def test_what_is_moved_up_in_the_queue_keeps_the_focus(served_page: ServedPage) -> None:
    gate = Gate()
    last = Completion("One.", "", (), USED)
    served_page.model.replies = [
        [Delta("One."), gate, last],
        *(text_reply("Next.") for _ in range(3)),
    ]
    page = served_page.open()
    send(page, "first")
    expect(replies(page)).to_have_text("One.")
    words = page.locator(".queue .words")
    for number, text in enumerate(("a", "b", "c")):
        send(page, text)
        expect(words).to_have_count(number + 1)
    earlier = page.get_by_role("button", name="Earlier: c")
    earlier.focus()
    page.keyboard.press("Enter")
    expect(words).to_have_text(["a", "c", "b"])
    expect(earlier).to_be_focused()
    gate.open()
    expect(replies(page)).to_have_count(4)


def test_option_on_a_mac_types_its_letter_while_something_is_written(
    served_page: ServedPage,
) -> None:
    """Also Alt with Ctrl, as AltGr is on some systems; elsewhere on the page they are shortcuts."""
    page = served_page.open()
    page.add_init_script("Object.defineProperty(navigator, 'platform', {value: 'MacIntel'})")
    page.reload()
    area = message(page)
    expect(area).to_be_focused()
    pressed = """([key, code, options]) => !document.activeElement.dispatchEvent(
        new KeyboardEvent("keydown", {key, code, altKey: true, bubbles: true, cancelable: true,
            composed: true, ...options}))"""
    typed = [
        *(("π", "KeyP", {}), ("œ", "KeyQ", {}), ("µ", "KeyM", {}), ("Dead", "KeyN", {})),
        ("@", "KeyK", {"ctrlKey": True, "modifierAltGraph": True}),
    ]
    assert [page.evaluate(pressed, list(one)) for one in typed] == [False] * len(typed)
    expect(area).to_be_focused()
    page.locator(".log").focus()
    assert page.evaluate(pressed, ["π", "KeyP", {}])
    expect(page.get_by_label("Approval mode")).to_have_value("plan")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Alt is the Option key.")
