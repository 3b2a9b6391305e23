"""Receipts below an answer, which turn grey while one looks."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Locator, Page, expect

from modules.web.files.watcher import FolderWatcher
from tests.page.served_page import ServedPage, send
from tests.scripted_model import call_reply, text_reply

CHECK = "python3 -m unittest discover -s tests"
TEST = """import unittest
from pathlib import Path

class TextTest(unittest.TestCase):
    def test_text(self):
        self.assertEqual(Path("a.txt").read_text(), "good\\n")
"""


def checked(served_page: ServedPage) -> None:
    """Let the model write a file that the project's test is green with."""
    (served_page.project / "tests").mkdir()
    (served_page.project / "tests/test_text.py").write_text(TEST)
    served_page.model.replies += [
        call_reply("create_file", path="a.txt", content="good\n"),
        text_reply("I verified it, and the tests pass."),
    ]


def receipts_of(page: Page) -> Locator:
    return page.get_by_role("list", name="Receipts").get_by_role("listitem")


def test_a_receipt_turns_grey_when_its_file_changes(served_page: ServedPage) -> None:
    checked(served_page)
    page = served_page.open()
    send(page, "Write a.txt")
    receipts = receipts_of(page)
    expect(receipts).to_have_text([f"{CHECK} passed (exit code 0)"])
    expect(receipts.first).to_have_class("green")
    (served_page.project / "a.txt").write_text("bad\n")
    expect(receipts).to_have_text([f"{CHECK} is outdated: a.txt changed"])
    expect(receipts.first).to_have_class("grey")
    page.reload()
    expect(receipts).to_have_text([f"{CHECK} is outdated: a.txt changed"])


def test_a_check_that_finds_nothing_to_run_says_so(served_page: ServedPage) -> None:
    (served_page.project / "Makefile").write_text("test:\n\t@echo Ran 0 tests\n")
    served_page.model.replies += [
        call_reply("create_file", path="a.txt", content="good\n"),
        text_reply("Done."),
    ]
    page = served_page.open()
    send(page, "Write a.txt")
    expect(receipts_of(page)).to_have_text(["make test found no tests (exit code 0)"])


def test_a_file_that_changes_before_it_is_watched_is_told(served_page: ServedPage) -> None:
    checked(served_page)
    page = served_page.open()
    send(page, "Write a.txt")
    expect(receipts_of(page).first).to_have_class("green")
    session = page.url.rpartition("/")[2].partition("?")[0]
    listing = served_page.server._listing
    told: list[Any] = []
    watch = FolderWatcher(listing._project, listing, lambda *packet: told.append(packet[2]))
    answer = page.request.get(f"{served_page.server.url}/api/sessions/{session}/receipts").json()
    assert [one["state"] for one in answer["receipts"]] == ["green"]
    (served_page.project / "tests/test_text.py").write_text(TEST + "\n")
    watch.watch("page", [], answer["files"])
    watch.poll()
    assert "tests/test_text.py" in [one["path"] for packet in told for one in packet["paths"]]


def test_a_claim_that_nothing_supports_is_marked(served_page: ServedPage) -> None:
    served_page.model.replies += [text_reply("All 12 tests passed.")]
    page = served_page.open()
    send(page, "Do the tests pass?")
    expect(receipts_of(page)).to_have_text(["Not verified by a run: All 12 tests passed."])
