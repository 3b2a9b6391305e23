"""Markdown as it looks: every number whole, every level deeper than the last, no word lost."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.page.accessibility import faults
from tests.page.served_page import ServedPage, replies, send
from tests.scripted_model import text_reply

NUMBERS = [(1, 3), (9, 10), (97, 102), (998, 1_001), (123_456_789, 123_456_790)]
LISTS = "\n\nthen\n\n".join(
    "\n".join(f"{number}. step" for number in range(first, last + 1)) for first, last in NUMBERS
)
ROOM = """list => {
    const number = document.createElement("span");
    number.textContent = `${list.start + list.childElementCount - 1}. `;
    number.style.whiteSpace = "pre";
    list.lastElementChild.append(number);
    const width = number.getBoundingClientRect().width;
    number.remove();
    return parseFloat(getComputedStyle(list).paddingLeft) - width;
}"""


def left(item: Locator) -> float:
    box = item.bounding_box()
    assert box
    return box["x"]


@pytest.mark.parametrize("width", [1440, 390])
def test_the_numbers_of_a_list_have_room_for_all_their_digits(
    served_page: ServedPage, width: int
) -> None:
    served_page.model.replies = [text_reply(LISTS)]
    page = served_page.open(width=width)
    send(page, "count")
    lists = replies(page).locator("ol")
    expect(lists).to_have_count(len(NUMBERS))
    expect(page.locator(".end")).to_have_count(1)
    assert [each.evaluate(ROOM) >= 0 for each in lists.all()] == [True] * len(NUMBERS)


def test_what_stands_under_a_task_stands_further_in(served_page: ServedPage) -> None:
    tasks = "- [x] one\n  - [ ] two\n    - [ ] three\n  - plain\n\n- loose\n\n  - [ ] under it\n"
    served_page.model.replies = [text_reply(tasks)]
    page = served_page.open()
    send(page, "plan")
    expect(page.locator(".end")).to_have_count(1)
    boxes = replies(page).get_by_role("checkbox")
    expect(boxes).to_have_count(4)
    one, two, three, under = [left(box) for box in boxes.all()]
    assert two - one >= 20
    assert three - two >= 20
    assert under == two
    plain = replies(page).locator("li", has_text="plain").last
    assert left(plain) > left(boxes.first) + 20


def test_footnotes_and_alerts_are_drawn(served_page: ServedPage) -> None:
    served_page.model.replies = [
        text_reply(
            "Said so[^1], and so[^2]. A set of `[^a]` or [^a-z] is none.\n"
            "[^1]: Smith,\n    London\n[^2]: in *Some Book*\n\n[^n]: named\n\n"
            "> [!WARNING]\n> It **bites**.\n\n> [!tip]\n>\n> - one\n\n> [!NOTED] as it is\n"
        )
    ]
    page = served_page.open()
    send(page, "cite")
    expect(page.locator(".end")).to_have_count(1)
    expect(replies(page).locator(".block > p")).to_have_text(
        [
            "Said so1, and so2. A set of [^a] or [^a-z] is none.",
            "1 Smith, London",
            "2 in Some Book",
            "[^n]: named",
        ]
    )
    expect(replies(page).locator("sup")).to_have_text(["1", "2", "1", "2"])
    expect(replies(page).locator("blockquote")).to_have_text(
        [
            re.compile(r"^Warning\s*It bites\.\s*$"),
            re.compile(r"^Tip\s*one\s*$"),
            "[!NOTED] as it is",
        ]
    )
    expect(replies(page).locator("[data-alert=warning] strong")).to_have_text("bites")
    expect(replies(page).locator("a")).to_have_count(0)
    assert faults(page) == []
