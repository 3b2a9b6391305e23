"""The items of a memory that people edit by hand."""

from __future__ import annotations

from datetime import date

import pytest

from modules.memory.memory_items import blocks_of, item_line, items_of, parse_line, with_item

DAY = date(2026, 2, 19)
TEXT = """# MEMORY
> kept by hand

## Facts
- [2026-02-19] name: WiseClaw Core
- undated

## 偏好
* [2026-02-19] 简洁、直接

## Todos
- [ ] write the tests

## Other things
- preference: [2026-02-19] tabs
- [2026-13-40] no date

A paragraph
of two lines.
"""


def test_category_and_date_are_read() -> None:
    assert [(item.category, item.date, item.text) for item in items_of(TEXT)] == [
        ("fact", DAY, "name: WiseClaw Core"),
        ("fact", None, "undated"),
        ("preference", DAY, "简洁、直接"),
        ("todo", None, "[ ] write the tests"),
        ("preference", DAY, "tabs"),
        ("fact", None, "[2026-13-40] no date"),
    ]


def test_paragraphs_are_blocks_as_well() -> None:
    texts = [block.text for block in blocks_of(TEXT)]
    assert texts[0] == "> kept by hand"
    assert texts[-1] == "A paragraph of two lines."
    assert len(texts) == 8


@pytest.mark.parametrize(
    ("category", "after"),
    [
        ("fact", "- undated\n"),
        ("preference", "* [2026-02-19] 简洁、直接\n"),
        ("todo", "- [ ] write the tests\n"),
    ],
)
def test_a_new_one_stands_last_of_its_category(category: str, after: str) -> None:
    added = with_item(TEXT.encode(), item_line(category, DAY, "new")).decode()
    assert added == TEXT.replace(after, f"{after}- [2026-02-19] new\n")


def test_a_category_without_a_heading_gets_one() -> None:
    added = with_item(TEXT.encode(), item_line("pattern", DAY, "new")).decode()
    assert added == f"{TEXT}\n## Patterns\n\n- [2026-02-19] new\n"
    again = with_item(added.encode(), "pattern: newer").decode()
    assert again == f"{added}- newer\n"


def test_an_empty_section_takes_its_first_item_below_a_gap() -> None:
    assert with_item(b"# Memory\n\n## Facts\n\n## Todos\n", "one").decode() == (
        "# Memory\n\n## Facts\n\n- one\n## Todos\n"
    )


@pytest.mark.parametrize("item", items_of(TEXT))
def test_a_line_is_read_as_it_is_written(item: object) -> None:
    line = item.line  # type: ignore[attr-defined]
    assert item_line(*parse_line(line)) == line


def test_a_hundred_thousand_items_are_read_in_one_pass() -> None:
    """Each looked through all before it for an id: a file of 100 kB took 40 seconds."""
    items = blocks_of("- same\n" * 50_000 + "".join(f"\nword {n}\n" for n in range(50_000)))
    assert len(items) == 100_000
    assert len({item.id for item in items[50_000:]}) == 50_000
