"""Files that change while they are listed, read or saved: what shows in the end is what is true."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.page.request_holding import (
    HeldRequests,
    HeldSocket,
    intercept,
    wait_until,
    wait_until_drawn,
)
from tests.page.served_page import KEY, ServedPage, replies, send
from tests.page.test_files import edit, row
from tests.scripted_model import call_reply, text_reply

ROOT = re.compile(r"/api/files\?path=&")
WRITE = f"""async ([path, text]) => {{
    const {{ hash }} = await (await fetch(`/api/files/text?path=${{path}}`)).json();
    const body = JSON.stringify({{ path, text, base: hash ?? null }});
    const headers = {{ "Content-Type": "application/json", {KEY} }};
    return (await fetch("/api/files/text", {{ method: "PUT", body, headers }})).status;
}}"""


def written_by_hand(page: Page, path: Path, text: str) -> None:
    """Have a person write the file in the root elsewhere; the page was told when this returns."""
    with page.expect_response(ROOT):
        assert page.evaluate(WRITE, [path.name, text]) == 200


def test_a_file_that_comes_while_its_folder_is_listed_shows(served_page: ServedPage) -> None:
    (served_page.project / "src").mkdir()
    served_page.model.replies = [
        call_reply("create_file", path="src/new.py", content="x\n"),
        text_reply("Made."),
    ]
    page = served_page.open()
    held = HeldRequests(page, "**/api/files?path=src&**")
    row(page, "src").click()
    held.wait()
    send(page, "make it")
    expect(replies(page)).to_have_text("Made.")
    held.release()
    expect(row(page, "new.py")).to_be_visible()


def test_a_folder_that_could_not_be_listed_can_be_opened_again(served_page: ServedPage) -> None:
    (served_page.project / "src").mkdir()
    (served_page.project / "src" / "a.py").touch()
    page = served_page.open()
    expect(row(page, "src")).to_be_visible()
    intercept(page, "**/api/files?path=src&**", lambda route: route.abort(), times=1)
    with page.expect_event("requestfailed"):
        row(page, "src").click()
    expect(row(page, "src")).to_have_attribute("aria-expanded", "false")
    row(page, "src").click()
    expect(row(page, "a.py")).to_be_visible()


def test_an_open_file_is_watched_whatever_came_before(served_page: ServedPage) -> None:
    (served_page.project / "src").mkdir()
    (served_page.project / "a.txt").write_text("one\n")
    page = served_page.open()
    line = HeldSocket(page)
    line.hold('"watch"')
    row(page, "src").click()
    line.wait()
    row(page, "a.txt").click()
    expect(page.locator(".editor .cm-line").first).to_have_text("one")
    wait_until_drawn(page)
    line.release()
    wait_until(
        page, lambda: any('"watch"' in said and "a.txt" in said for said in line.sent_messages)
    )
    (served_page.project / "a.txt").write_text("two\n")
    expect(page.locator(".editor .cm-line").first).to_have_text("two")
    order = ["a.txt" in said for said in line.sent_messages if '"watch"' in said and "src" in said]
    assert order == sorted(order)


def test_what_is_typed_while_a_save_is_under_way_is_saved_as_well(served_page: ServedPage) -> None:
    file = served_page.project / "a.txt"
    file.write_text("one\n")
    page = served_page.open()
    row(page, "a.txt").click()
    edit(page, "zero ")
    held = HeldRequests(page, "**/api/files/text", method="PUT")
    page.keyboard.press("Control+s")
    held.wait()
    page.keyboard.type("and more ")
    page.keyboard.press("Control+s")
    held.release()
    expect(page.locator(".pane-tab .dirty:visible")).to_have_count(0)
    assert file.read_text() == "zero and more one\n"


def test_what_is_typed_into_a_file_that_could_be_read_at_last_stays(
    served_page: ServedPage,
) -> None:
    file = served_page.project / "a.txt"
    file.write_text("one\n")
    page = served_page.open()
    held = HeldRequests(page, "**/api/files/text?path=a.txt", times=1)
    row(page, "a.txt").click()
    held.wait()
    for text in ("two\n", "three\n"):
        written_by_hand(page, file, text)
    again = HeldRequests(page, "**/api/files/text?path=a.txt", times=2)
    held.release(is_lost=True)
    again.wait()
    wait_until_drawn(page)
    again.release()
    edit(page, "mine ")
    again.wait(2)
    with page.expect_response("**/api/files/text?path=a.txt"):
        again.release(1)
    wait_until_drawn(page)
    expect(page.locator(".editor .cm-line").first).to_have_text("mine three")


def test_a_note_is_added_once_however_often_it_is_confirmed(served_page: ServedPage) -> None:
    (served_page.project / "a.txt").write_text("one\n")
    page = served_page.open()
    page.get_by_role("treeitem", name="a.txt").click()
    page.locator(".editor .cm-content").click()
    page.keyboard.press("Control+a")
    noted: list[str] = []
    page.on("request", lambda asked: noted.append(asked.url) if "/note" in asked.url else None)
    page.get_by_role("toolbar", name="Selected text").get_by_text("Add note").click()
    field = page.get_by_role("textbox", name="Note")
    field.fill("mind this")
    held = HeldRequests(page, "**/api/files/note", method="PUT")
    field.press("Enter")
    held.wait()
    field.press("Enter")
    held.release()
    expect(page.get_by_role("treeitem", name="a.txt, Note: 1: mind this")).to_be_visible()
    expect(field).to_have_count(0)
    assert len(noted) == 1
