"""Of a long memory the model is told what fits the task."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from modules.memory.memory_items import MemoryItem
from modules.memory.memory_recall import MOST_ITEMS, recall, terms_of
from tests.modules.memory import labelled_memories, later_memories

TODAY = date(2026, 11, 23)


def item(id_: str, text: str, category: str = "fact", days: int = 0) -> MemoryItem:
    return MemoryItem(id_, text, category, TODAY - timedelta(days=days), 0, 0)


def recalled(items: list[MemoryItem], task: str) -> list[str]:
    return [one.id for one in recall(items, task, TODAY)]


@pytest.mark.parametrize(
    ("memories", "queries", "least"),
    [
        (labelled_memories.MEMORIES, labelled_memories.QUERIES, 100),
        (later_memories.MEMORIES, later_memories.QUERIES, 60),
    ],
)
def test_nine_of_ten_labelled_queries_find_their_memory(
    memories: dict[str, tuple[str, str]], queries: list[tuple[str, str]], least: int
) -> None:
    items = [
        item(key, text, category, days=37 * place % 400)
        for place, (key, (category, text)) in enumerate(memories.items())
    ]
    found = [key in recalled(items, task) for task, key in queries]
    print(f"recall at {MOST_ITEMS}: {sum(found)} of {len(found)}")  # noqa: T201
    assert len(queries) >= least
    assert sum(found) >= 0.9 * len(found)


def test_it_is_five_at_most() -> None:
    items = [item(str(n), f"the server number {n}") for n in range(50)]
    assert len(recalled(items, "restart the server")) == MOST_ITEMS


def test_of_two_that_fit_alike_the_newer_and_the_preference_count_more() -> None:
    items = [
        *(item(f"old{n}", "the server is slow", days=90) for n in range(5)),
        item("new", "the server is slow", days=1),
        item("preferred", "the server is slow", "preference", days=1),
    ]
    assert {"new", "preferred"} <= set(recalled(items, "the slow server"))


def test_words_count_however_old_they_are() -> None:
    items = [
        item("old", "alembic makes the migrations", days=3_000),
        *(item(str(n), f"the weather on day {n} is fine") for n in range(20)),
    ]
    assert recalled(items, "write a migration") == ["old"]


def test_preferences_fill_up_newest_first() -> None:
    items = [item(str(n), f"likes {n}", "preference", days=n) for n in range(9)]
    assert recalled([*items, item("fits", "ports of the proxy")], "proxy") == [*"0123", "fits"]


def test_a_task_without_words_finds_preferences_alone() -> None:
    assert recalled([item("a", "b"), item("c", "d", "preference")], "?! …") == ["c"]
    assert recalled([], "anything") == []
    assert recalled([item("q", 'say "NEAR(" OR *')], '"NEAR(" OR * AND NOT -') == ["q"]


def test_words_are_taken_apart() -> None:
    assert terms_of("test_user getUserName 数据库迁移 我") == [
        *("test", "user", "getusername", "get", "user", "name"),
        *("数据", "据库", "库迁", "迁移", "我"),
    ]
