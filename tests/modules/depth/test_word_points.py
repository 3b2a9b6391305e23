"""Points of words tell a line, and what they were learned from gives the same table each time."""

# ruff: noqa: RUF001 - Chinese has its own punctuation
from __future__ import annotations

import pytest

from core.loop.depth import Depth
from modules.depth.line_rules import judge
from modules.depth.line_signs import signs_of
from modules.depth.word_points import DEPTHS, plain_words, tally
from tools.depth_points import TABLE, learn, written

LINES: list[tuple[str, Depth, float]] = [
    *(("thanks a lot", "social", 1.0), ("thanks again", "social", 1.0)),
    *(("which port is it?", "brief", 1.0), ("which branch is it?", "brief", 1.0)),
    *(("fix the label", "standard", 1.0), ("fix the footer", "standard", 1.0)),
    *(("migrate all tables", "deep", 1.0), ("migrate all servers", "deep", 1.0)),
]


def test_a_word_gives_the_most_to_the_depth_of_its_lines() -> None:
    table = learn(LINES)
    for word, depth in (("thanks", 0), ("which", 1), ("fix", 2), ("migrate", 3)):
        assert max(table[word]) == table[word][depth] > 0
    assert "label" not in table  # one line says too little


def test_the_same_lines_give_the_same_table() -> None:
    assert written(learn(LINES)) == written(learn(LINES))


def test_the_table_that_is_kept_can_be_read() -> None:
    head, *rows = TABLE.read_text(encoding="utf-8").splitlines()
    assert head.split("\t") == ["sign", *DEPTHS]
    signs = [row.split("\t")[0] for row in rows]
    assert signs == sorted(set(signs))
    assert all(any(map(int, row.split("\t")[1:])) for row in rows)


def test_the_words_that_told_a_line_are_told() -> None:
    judged = judge("migrate the whole backend to Rust")
    assert (judged.depth, judged.rule) == ("deep", "big-work")
    assert judged.words == plain_words("migrate the whole backend to Rust")
    assert {"migrate", "whole", "rust"} & set(judged.words)


def test_signs_are_words_where_they_stand_and_the_shape() -> None:
    assert {"fix", "^fix", "the label", "(any)"} <= signs_of("Please fix the label")
    assert {"?$", "(code)"} <= signs_of("Is a/b used?")
    assert {"把", "^把", "好$"} <= signs_of("把它弄好")


def test_shape_alone_tells_of_nothing() -> None:
    assert tally("zzyzx").words == ()
    assert judge("zzyzx").depth == "standard"


@pytest.mark.parametrize(
    "line",
    [
        *("frobnicate the zzyzx", "thanks, zzyzx the gadget", "great, quux every widget"),
        *(
            "haha, zorch an axis",
            "动之前先检查限位",
            "哈哈，设成红色",
            "谢谢，关掉它",
            "好呀，写一首",
        ),
    ],
)
def test_an_order_in_unknown_words_is_a_task(line: str) -> None:
    assert judge(line).depth == "standard"
