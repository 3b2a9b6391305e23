"""Receipts below an answer, which turn grey while one looks."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.page.served_page import ServedPage, send
from tests.scripted_model import call_reply, text_reply

CHECK = "python3 -m unittest discover -s tests"
TEST = """import unittest
from pathlib import Path

class TextTest(unittest.TestCase):
    def test_text(self):
        self.assertEqual(Path("a.txt").read_text(), "good\\n")
"""


def test_a_receipt_turns_grey_when_its_file_changes(served_page: ServedPage) -> None:
    (served_page.project / "tests").mkdir()
    (served_page.project / "tests/test_text.py").write_text(TEST)
    served_page.model.replies += [
        call_reply("create_file", path="a.txt", content="good\n"),
        text_reply("I verified it, and the tests pass."),
    ]
    page = served_page.open()
    send(page, "Write a.txt")
    receipts = page.get_by_role("list", name="Receipts").get_by_role("listitem")
    expect(receipts).to_have_text([f"{CHECK} passed (exit code 0)"])
    expect(receipts.first).to_have_class("green")
    (served_page.project / "a.txt").write_text("bad\n")
    expect(receipts).to_have_text([f"{CHECK} is out of date: a.txt changed"])
    expect(receipts.first).to_have_class("grey")
    page.reload()
    expect(receipts).to_have_text([f"{CHECK} is out of date: a.txt changed"])


def test_a_claim_that_nothing_supports_is_marked(served_page: ServedPage) -> None:
    served_page.model.replies += [text_reply("All 12 tests passed.")]
    page = served_page.open()
    send(page, "Do the tests pass?")
    receipts = page.get_by_role("list", name="Receipts").get_by_role("listitem")
    expect(receipts).to_have_text(["No run supports this: All 12 tests passed."])
