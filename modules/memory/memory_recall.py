"""Recall of the items of a long memory that fit the words of a task.

An item is worth what its words have in common with the task (BM25 of SQLite's FTS5; Chinese by
pairs of characters), more where it is a preference, and less as it grows old: half of the part that
age decides is gone after 30 days. Preferences fill up what is left, newest first: they hold for
every task.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Sequence
from datetime import date

from modules.memory.memory_items import MemoryItem

MOST_ITEMS = 5
HALF_LIFE_DAYS = 30
_AGE_SHARE = 0.5  # of an item's worth that age decides: words count however old they are
_LEAST_SHARE = 0.2  # of the best one's worth that an item must have to be told
_CATEGORY_WEIGHTS = {"preference": 1.3, "fact": 1.2, "todo": 1.1, "pattern": 1.0}
_MAX_TERMS = 200
_TERM = re.compile(r"[^\W_]+", re.UNICODE)
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_STOP_WORD = re.compile(
    "a|an|and|are|as|at|be|by|can|do|does|for|from|has|have|how|i|in|is|it|me|my|of|on|or|our|"
    "please|should|that|the|this|to|use|uses|was|we|what|when|where|which|will|with|you|your"
)


def recall(items: Sequence[MemoryItem], task: str, today: date) -> list[MemoryItem]:
    """Return at most `MOST_ITEMS` of *items*, in their order: those worth most for *task*."""
    worth = _worth(items, task, today)
    least = _LEAST_SHARE * max(worth.values(), default=0.0)
    fitting = [place for place in worth if worth[place] >= least]
    chosen = sorted(fitting, key=lambda place: (-worth[place], place))[:MOST_ITEMS]
    by_age = sorted(range(len(items)), key=lambda place: _age(items[place], today))
    others = [p for p in by_age if items[p].category == "preference" and p not in chosen]
    chosen += others[: MOST_ITEMS - len(chosen)]
    return [items[place] for place in sorted(chosen)]


def terms_of(text: str) -> list[str]:
    """Return the words of *text* that are worth searching for, Chinese ones as pairs."""
    found: list[str] = []
    for word in _TERM.findall(_HAN.sub(lambda run: f" {' '.join(_pairs(run[0]))} ", text)):
        if _HAN.match(word):
            found.append(word)
        else:
            parts = _CAMEL.sub(" ", word).split()
            found += [part.lower() for part in ([word, *parts] if len(parts) > 1 else parts)]
    return [term for term in found if not _STOP_WORD.fullmatch(term)]


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def _worth(items: Sequence[MemoryItem], task: str, today: date) -> dict[int, float]:
    """Return how much each item that shares a word with *task* is worth, by its place."""
    terms = list(dict.fromkeys(terms_of(task)))[:_MAX_TERMS]
    if not terms:
        return {}
    connection = sqlite3.connect(":memory:")
    try:
        if not _make_index(connection):
            return {}
        connection.executemany(
            "INSERT INTO item(rowid, words) VALUES (?, ?)",
            [(place, " ".join(terms_of(item.text))) for place, item in enumerate(items)],
        )
        query = " OR ".join(f'"{term}"' for term in terms)
        rows = connection.execute("SELECT rowid, bm25(item) FROM item WHERE item MATCH ?", (query,))
        return {place: -rank * _weight(items[place], today) for place, rank in rows}
    finally:
        connection.close()


def _make_index(connection: sqlite3.Connection) -> bool:
    """Make the table `item`; return whether this SQLite can."""
    try:
        connection.execute(
            "CREATE VIRTUAL TABLE item USING fts5(words, tokenize='porter unicode61')"
        )
    except sqlite3.OperationalError as error:
        if not str(error).startswith("no such module"):
            raise
        return False
    return True


def _weight(item: MemoryItem, today: date) -> float:
    freshness = math.exp2(-_age(item, today) / HALF_LIFE_DAYS)
    return _CATEGORY_WEIGHTS[item.category] * (1 - _AGE_SHARE + _AGE_SHARE * freshness)


def _age(item: MemoryItem, today: date) -> int:
    """Return the days since *item* was remembered; one without a date is a year old."""
    return max((today - item.date).days, 0) if item.date else 365
