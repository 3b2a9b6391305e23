"""Files that come from outside: dropped anywhere, with their folders, or pasted."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.page.request_holding import HeldRequests, intercept, wait_until
from tests.page.served_page import ServedPage, message
from tests.page.test_files import row

PASTE = """(files) => {
    const clipboardData = new DataTransfer();
    for (const [name, type] of files) clipboardData.items.add(new File(["x"], name, { type }));
    const event = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
    document.querySelector(".composer textarea").dispatchEvent(event);
}"""


@pytest.fixture
def page(served_page: ServedPage) -> Page:
    (served_page.project / "src").mkdir()
    return served_page.open()


NOTE_DROP = """() => {
    window.hasDropped = false;
    window.addEventListener("drop", () => (window.hasDropped = true), { capture: true });
}"""


class Drag:
    """Files that a person holds over the middle of an element, and may let go of there."""

    def __init__(self, page: Page, selector: str, *paths: Path) -> None:
        self._page = page
        self._wire = page.context.new_cdp_session(page)
        box = page.locator(selector).bounding_box()
        assert box
        place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
        self._event = {"data": data, **place}
        wait_until(page, lambda: not self._is_taken())  # what was dropped before is over
        self._send("dragEnter")
        while True:  # once at least: what the page makes of it has to have come back to the browser
            self._send("dragOver")
            if self._is_taken():
                break

    def drop(self) -> None:
        self._page.evaluate(NOTE_DROP)
        self._send("drop")
        # The browser says nothing of a drop that it took from the page.
        self._page.wait_for_function("() => window.hasDropped")

    def _is_taken(self) -> bool:
        taken: bool = self._page.evaluate("() => document.body.classList.contains('dropping')")
        return taken

    def _send(self, kind: str) -> None:
        self._wire.send("Input.dispatchDragEvent", {"type": kind, **self._event})


def drop(page: Page, selector: str, *paths: Path) -> None:
    """Let go of *paths* over the middle of the element, as a person would."""
    Drag(page, selector, *paths).drop()


def test_files_dropped_on_the_talk_are_named_in_the_message(
    page: Page, served_page: ServedPage, tmp_path: Path
) -> None:
    (tmp_path / "报告 1.txt").write_text("数据", encoding="utf-8")
    (tmp_path / "empty").touch()
    drop(page, ".log", tmp_path / "报告 1.txt", tmp_path / "empty")
    expect(message(page)).to_have_value('@"报告 1.txt" @empty ')
    assert (served_page.project / "报告 1.txt").read_text(encoding="utf-8") == "数据"
    assert (served_page.project / "empty").read_bytes() == b""


def test_what_is_dropped_counts_where_the_page_changes_beneath_it(
    page: Page, served_page: ServedPage, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("data")
    held = HeldRequests(page, "**/welcome.js")
    page.reload()
    held.wait()
    drag = Drag(page, ".log", tmp_path / "a.txt")
    held.release()
    expect(page.locator(".log .ideas")).to_be_visible()
    drag.drop()
    expect(message(page)).to_have_value("@a.txt ")
    assert (served_page.project / "a.txt").read_text() == "data"


def test_a_folder_is_dropped_with_all_that_is_in_it(
    page: Page, served_page: ServedPage, tmp_path: Path
) -> None:
    deep = tmp_path / "资料" / "deep" / "er"
    deep.mkdir(parents=True)
    for number in range(101):  # more than a browser hands out at once
        (deep / f"{number}.txt").write_text(str(number))
    (tmp_path / "资料" / "top.txt").write_text("top")
    drop(page, "[data-path=src]", tmp_path / "资料")
    told = page.locator(".notice", has_text="Added 102 files to the project.")
    expect(told).to_be_visible(timeout=60_000)
    assert (served_page.project / "src/资料/top.txt").read_text() == "top"
    assert len(list((served_page.project / "src/资料/deep/er").iterdir())) == 101
    expect(message(page)).to_have_value("")
    row(page, "src").click()
    expect(row(page, "资料")).to_be_visible()


def test_a_folder_without_files_is_said_to_have_none(page: Page, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    drop(page, ".topbar", tmp_path / "empty")
    expect(page.locator(".notice.bad")).to_contain_text("No readable file was dropped")


def test_what_is_dropped_or_pasted_without_a_server_is_not_lost_silently(
    page: Page, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("data")
    intercept(page, "**/tree/upload.js", lambda route: route.abort())
    told = page.locator(".notice.bad", has_text="The server does not answer.")
    drop(page, ".log", tmp_path / "a.txt")
    told.get_by_role("button", name="Close").click()
    expect(told).to_have_count(0)
    page.evaluate(PASTE, [["notes.txt", "text/plain"]])
    expect(told).to_be_visible()


def test_a_file_that_is_there_is_kept_unless_it_is_to_be_replaced(
    page: Page, served_page: ServedPage, tmp_path: Path
) -> None:
    (served_page.project / "a.txt").write_text("mine")
    (tmp_path / "a.txt").write_text("theirs")
    drop(page, ".log", tmp_path / "a.txt")
    page.get_by_role("alertdialog").get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("alertdialog")).to_have_count(0)
    assert (served_page.project / "a.txt").read_text() == "mine"
    (tmp_path / "src").mkdir()
    for place in (tmp_path, served_page.project):
        (place / "src" / "a.txt").write_text("")
    drop(page, ".log", tmp_path / "src")
    question = page.get_by_role("alertdialog")
    expect(question).to_contain_text("src/a.txt already exists. Replace it?")
    question.get_by_role("button", name="Cancel").click()
    expect(question).to_have_count(0)
    drop(page, ".log", tmp_path / "a.txt")
    page.get_by_role("alertdialog").get_by_role("button", name="Replace").click()
    expect(message(page)).to_have_value("@a.txt ")
    assert (served_page.project / "a.txt").read_text() == "theirs"
