from __future__ import annotations

import pytest

from utils.text.lines import (
    cut_middle,
    first_names,
    format_size,
    lines_of,
    nearest_block,
    numbered,
)


def test_of_many_names_the_first_are_listed() -> None:
    assert first_names([]) == ""
    assert first_names(["a", "b"], 2) == "a, b"
    assert first_names(["a"] * 1_234, 2) == "a, a … (+1,232)"


def test_lines_end_at_newlines_only() -> None:
    assert lines_of("a\x0cb\u2028c\n\nd") == ["a\x0cb\u2028c", "", "d"]
    assert lines_of("a\n") == ["a"]
    assert lines_of("") == []
    assert numbered(["a", "b"], 9) == "9│a\n10│b"


def test_the_middle_is_cut_out() -> None:
    assert cut_middle("abc", 3) == "abc"
    assert cut_middle("a" * 10 + "b" * 10, 6) == "aaa\n… 14 characters left out …\nbbb"


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (9_940, "9.9 kB"), (9_960, "10 kB"),
     (999_499, "999 kB"), (999_500, "1.0 MB"), (10**12, "1.0 TB"), (10**16, "10000 TB")],
)  # fmt: skip
def test_sizes_are_said_in_words(size: int, words: str) -> None:
    assert format_size(size) == words


def test_the_nearest_block_is_found_in_any_language() -> None:
    lines = ["一些其他的话", "第二行", "返回最大的数值", "最后一行", "nothing"]
    assert nearest_block(lines, ["返回最小的数值"]) == range(2, 3)
    assert nearest_block(lines, ["zzz"]) is None
    assert nearest_block([], ["x"]) is None
    assert nearest_block(lines, ["", "  "]) is None
