"""Everything is found by Ctrl+K, and every key that it names can be another one."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.page.accessibility import faults
from tests.page.request_holding import HeldRequests
from tests.page.served_page import ServedPage, message, replies, send
from tests.page.test_races import new_session
from tests.scripted_model import text_reply


def palette(page: Page, words: str) -> None:
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Find anything")
    field.fill(words)
    expect(page.get_by_role("dialog").get_by_role("option").first).to_be_visible()


def option(page: Page, words: str) -> Locator:
    name = page.locator("b", has_text=re.compile(f"^{re.escape(words)}$"))
    return page.get_by_role("dialog").get_by_role("option").filter(has=name)


def test_actions_files_sessions_settings_and_commands_are_found(served_page: ServedPage) -> None:
    (served_page.project / "notes.txt").write_text("one\n")
    served_page.model.replies = [text_reply("so first")]
    page = served_page.open()
    send(page, "first talk")
    expect(page.locator(".end")).to_have_count(1)
    new_session(page)
    palette(page, "")
    expect(option(page, "New session")).to_contain_text("Alt+N")
    assert faults(page) == []
    page.keyboard.press("Escape")
    palette(page, "notes.t")
    option(page, "notes.txt").click()
    expect(page.locator(".editor .cm-line").first).to_have_text("one")
    palette(page, "first talk")
    option(page, "first talk").click()
    expect(replies(page)).to_have_text("so first")
    palette(page, "step_limit")
    option(page, "step_limit").click()
    expect(page.get_by_role("searchbox", name="Find a setting")).to_have_value("step_limit")
    page.keyboard.press("Escape")
    palette(page, "/status")
    option(page, "/status").click()
    expect(message(page)).to_have_value("/status ")


def test_a_symbol_is_found_by_its_name_and_opened_at_its_line(served_page: ServedPage) -> None:
    (served_page.project / "shop.py").write_text(
        "# one\n\nclass Till:\n    def charge(self): ...\n"
    )
    page = served_page.open()
    palette(page, "charge")
    option(page, "Till.charge").click()
    expect(page.locator(".editor .cm-activeLine")).to_have_text("    def charge(self): ...")


def test_a_choice_stays_when_symbols_come_behind_it(served_page: ServedPage) -> None:
    for name in ("quince_a.txt", "quince_b.txt"):
        (served_page.project / name).write_text("one\n")
    (served_page.project / "shop.py").write_text("class Quince: ...\n")
    page = served_page.open()
    held = HeldRequests(page, "**/api/symbols*")
    palette(page, "quince")
    options = page.get_by_role("dialog").get_by_role("option")
    expect(options).to_have_count(2)
    chosen = page.get_by_role("dialog").get_by_role("option", selected=True)
    page.keyboard.press("ArrowDown")
    expect(chosen).to_contain_text("quince_b.txt")
    held.wait()
    held.release()
    expect(option(page, "Quince")).to_be_visible()
    expect(chosen).to_contain_text("quince_b.txt")


def test_no_letter_is_lost_while_the_palette_is_on_its_way(served_page: ServedPage) -> None:
    page = served_page.open()
    held = HeldRequests(page, "**/search/commands.js")
    page.keyboard.press("Control+k")
    page.keyboard.type("choose the")
    held.wait()
    page.keyboard.type(" model")
    held.release()
    field = page.get_by_role("combobox", name="Find anything")
    expect(field).to_have_value("choose the model")
    expect(page.get_by_role("dialog").get_by_role("option")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Model")).to_be_visible()
    expect(message(page)).to_have_value("")


def test_a_key_is_changed_kept_and_put_back(served_page: ServedPage) -> None:
    page = served_page.open()
    page.locator(".log").focus()
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keyboard shortcuts")
    change = sheet.get_by_role("button", name="Go to the message box", exact=False).first
    change.click()
    page.keyboard.press("Control+p")
    expect(sheet.get_by_role("status")).to_contain_text("is already used for “Open a file”")
    change.click()
    page.keyboard.press("x")
    expect(sheet.get_by_role("status")).to_contain_text("is needed for typing")
    change.click()
    page.keyboard.press("Control+c")
    expect(sheet.get_by_role("status")).to_contain_text("is needed for editing")
    change.click()
    page.keyboard.press("Control+Alt+x")
    expect(sheet.get_by_role("status")).to_have_text("Saved: Ctrl+Alt+X.")
    page.keyboard.press("Escape")
    page.reload()
    page.locator(".log").focus()
    page.keyboard.press("Control+l")
    expect(page.locator(".log")).to_be_focused()
    page.keyboard.press("Control+Alt+x")
    expect(message(page)).to_be_focused()
    page.locator(".log").focus()
    page.keyboard.press("?")
    sheet.get_by_role("button", name="Default of Go to the message box", exact=True).click()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+l")
    expect(message(page)).to_be_focused()


def test_what_sends_a_message_is_changed_and_nothing_typed_is_lost(served_page: ServedPage) -> None:
    page = served_page.open()
    page.locator(".log").focus()
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keyboard shortcuts")
    for name, key in (
        ("Stop and send now", "Control+Shift+Enter"),
        ("Send; while", "Control+Enter"),
    ):
        sheet.get_by_role("button", name=name).first.click()
        page.keyboard.press(key)
        expect(sheet.get_by_role("status")).to_contain_text("Saved: ")
    page.keyboard.press("Escape")
    message(page).focus()
    page.keyboard.type("one")
    page.keyboard.press("Enter")
    page.keyboard.type("two")
    expect(message(page)).to_have_value("one\ntwo")
    page.keyboard.press("Control+Enter")
    expect(message(page)).to_have_value("")
    expect(page.locator(".log .person").last).to_contain_text("two")


@pytest.mark.parametrize("key", ["Control+k", "Control+p"])
def test_a_file_is_opened_at_the_line_behind_its_name(served_page: ServedPage, key: str) -> None:
    (served_page.project / "shop.py").write_text("one\ntwo\nthree\n")
    page = served_page.open()
    page.keyboard.press(key)
    field = page.locator("dialog.palette input")
    field.fill("shop.py:")
    expect(option(page, "shop.py")).to_be_visible()
    field.fill("shop.py:2:5")
    expect(option(page, "shop.py:2")).to_be_visible()
    field.press("Enter")
    expect(page.locator(".editor .cm-activeLine")).to_have_text("two")


def test_what_is_named_so_comes_before_what_only_tells_of_it(served_page: ServedPage) -> None:
    page = served_page.open()
    palette(page, "export")
    expect(page.get_by_role("dialog").get_by_role("option").first).to_contain_text("/export")
    palette(page, "keyboard shortcuts")
    page.locator("dialog.palette input").press("Enter")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
