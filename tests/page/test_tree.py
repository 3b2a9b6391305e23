"""The tree of large folders: told in parts, found everywhere, never of a while ago."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, Request, expect

from tests.page.request_holding import HeldRequests, intercept
from tests.page.served_page import ServedPage, message, replies, send
from tests.page.test_files import row
from tests.scripted_model import call_reply, text_reply

MANY = 3_000
PART = 500


@pytest.fixture
def asked() -> list[str]:
    """What the page asked of the folder `many`: the beginnings of parts, or names."""
    return []


@pytest.fixture
def page(served_page: ServedPage, asked: list[str]) -> Page:
    (served_page.project / "many").mkdir()
    for number in range(MANY):
        (served_page.project / "many" / f"f{number:05}").write_text(f"{number}\n")
    (served_page.project / "zebra.txt").touch()
    page = served_page.open()

    def note(request: Request) -> None:
        if found := re.search(r"/api/files\?path=many&.*(?:start|around)=(\w+)", request.url):
            asked.append(found[1])

    page.on("request", note)
    return page


def test_a_large_folder_comes_in_parts(page: Page, asked: list[str]) -> None:
    row(page, "many").click()
    expect(row(page, "f00003")).to_have_attribute("aria-setsize", str(MANY))
    assert set(asked) == {"0"}
    tree = page.get_by_role("tree", name="Files")
    tree.evaluate("e => { e.scrollTop = e.scrollHeight / 2; }")
    expect(row(page, "f01500")).to_have_attribute("aria-posinset", "1501")
    assert set(asked) <= {"0", "1000", "1500"}
    assert page.locator(".node").count() < 100


def test_the_keyboard_goes_where_nothing_was_listed_yet(page: Page) -> None:
    row(page, "many").click()
    expect(row(page, "f00003")).to_be_visible()
    page.get_by_role("tree").focus()
    page.keyboard.press("End")
    expect(page.locator(".node.current")).to_have_attribute("data-path", "zebra.txt")
    page.keyboard.press("ArrowUp")
    expect(page.locator(".node.current")).to_have_attribute("data-path", f"many/f{MANY - 1:05}")
    page.keyboard.press("PageUp")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".node.current")).to_have_attribute("data-path", "many")
    page.keyboard.press("ArrowLeft")
    expect(row(page, "zebra.txt")).to_be_visible()


def test_a_file_far_down_is_revealed(page: Page, asked: list[str]) -> None:
    expect(row(page, "many")).to_be_visible()
    page.keyboard.press("Control+p")
    page.get_by_role("combobox", name="File name").fill("f02345")
    expect(page.get_by_role("dialog").get_by_role("option")).to_have_count(1)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Reveal in the tree").click()
    expect(row(page, "f02345")).to_be_in_viewport()
    expect(page.locator(".node.current")).to_have_attribute("data-path", "many/f02345")
    assert "f02345" in asked
    assert len(set(asked)) <= 3


def test_who_writes_on_is_not_taken_to_the_file_that_is_revealed(page: Page) -> None:
    expect(row(page, "many")).to_be_visible()
    page.keyboard.press("Control+p")
    page.get_by_role("combobox", name="File name").fill("f02345")
    expect(page.get_by_role("dialog").get_by_role("option")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator(".editor")).to_be_focused()
    held = HeldRequests(page, "**/api/files?path=many&**around=f02345**")
    page.get_by_role("button", name="Reveal in the tree").click()
    held.wait()
    message(page).focus()
    held.release()
    expect(row(page, "f02345")).to_be_in_viewport()
    expect(message(page)).to_be_focused()


def test_what_is_in_sight_far_down_follows_what_changes(
    page: Page, served_page: ServedPage
) -> None:
    served_page.model.replies = [
        call_reply("create_file", path="many/f02000b", content="x\n"),
        text_reply("Made."),
    ]
    row(page, "many").click()
    expect(row(page, "f00003")).to_be_visible()
    tree = page.get_by_role("tree", name="Files")
    tree.evaluate("e => { e.scrollTop = 28 * 2000; }")
    expect(row(page, "f02000")).to_be_visible()
    send(page, "make it")
    expect(replies(page)).to_have_text("Made.")
    expect(row(page, "f02000b")).to_be_visible()
    expect(row(page, "f02000b")).to_have_attribute("aria-setsize", str(MANY + 1))


def test_the_filter_follows_what_changes(page: Page, served_page: ServedPage) -> None:
    served_page.model.replies = [
        call_reply("create_file", path="new/zebu.txt", content="x\n"),
        text_reply("Made."),
    ]
    page.get_by_role("searchbox", name="Filter files").fill("zeb")
    expect(page.get_by_role("treeitem")).to_have_count(1)
    send(page, "make it")
    expect(page.get_by_role("treeitem")).to_have_count(2)


def test_a_folder_that_another_program_makes_is_no_hidden_one(
    page: Page, served_page: ServedPage
) -> None:
    expect(row(page, "many")).to_be_visible()
    (served_page.project / "new").mkdir()
    (served_page.project / "new" / "a.txt").touch()
    expect(row(page, "new")).to_be_visible()
    (served_page.project / "new" / "sub").mkdir()
    (served_page.project / "new" / "sub" / "b.txt").touch()
    row(page, "new").click()
    row(page, "sub").click()
    expect(row(page, "b.txt")).to_be_visible()


def test_a_page_that_is_loaded_again_brings_its_picture(served_page: ServedPage) -> None:
    served_page.model.replies = [text_reply("All `</script>` **there**.")]
    page = served_page.open()
    send(page, "hello")
    expect(page.locator(".end")).to_have_count(1)
    intercept(page, "**/socket.io/**", lambda route: route.abort())
    fetched: list[Any] = []
    page.on("response", lambda answer: fetched.append(answer) if ".js" in answer.url else None)
    page.reload()
    expect(replies(page)).to_have_text("All </script> there.")
    assert fetched
    page.unroute("**/socket.io/**")
    expect(page.locator(".dot")).to_have_attribute("data-link", "live")
    expect(replies(page)).to_have_count(1)
