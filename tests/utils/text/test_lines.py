from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from utils.text.lines import (
    cut_middle,
    difference,
    lines_of,
    listed,
    nearest_block,
    numbered,
    size_in_words,
)


def test_a_difference_counts_its_lines() -> None:
    change = difference("a\nb\nc\n", "a\nB\nB2\nc\n")
    assert (change.diff, change.added, change.removed) == (
        "@@ -1,3 +1,4 @@\n a\n-b\n+B\n+B2\n c",
        2,
        1,
    )
    assert difference("a\n", "a\n").diff == ""


def test_a_missing_newline_at_the_end_is_shown() -> None:
    assert difference("a", "a\n").diff == "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a"


def test_a_long_difference_is_cut_with_a_count() -> None:
    change = difference("", "x\n" * 50)
    assert change.cut(10) == "\n".join(["@@ -0,0 +1,50 @@", *["+x"] * 9, "… 41 more lines"])
    assert change.cut(51) == change.diff


texts = some.lists(some.sampled_from(["a", "b", "", "+c", "-d", "\x0c"]), max_size=12).map(
    "\n".join
)


@given(before=texts, after=texts)
def test_patch_makes_the_new_text_of_the_old(
    tmp_path_factory: pytest.TempPathFactory, before: str, after: str
) -> None:
    change = difference(before, after)
    if not change.diff:
        assert before == after
        return
    folder = tmp_path_factory.mktemp("patch")
    (folder / "f").write_text(before)
    patch = f"--- f\n+++ f\n{change.diff}\n"
    command = ["git", "apply", "--unidiff-zero", "--whitespace=nowarn", "-"]
    patch = f"diff --git a/f b/f\n--- a/f\n+++ b/f\n{change.diff}\n"
    subprocess.run(command, input=patch, text=True, cwd=folder, check=True)
    result = Path(folder / "f")
    assert (result.read_text() if result.exists() else "") == after


def test_of_many_names_the_first_are_listed() -> None:
    assert listed([]) == ""
    assert listed(["a", "b"], 2) == "a, b"
    assert listed(["a"] * 1_234, 2) == "a, a … (+1,232)"


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
    assert size_in_words(size) == words


def test_the_nearest_block_is_found_in_any_language() -> None:
    lines = ["一些其他的话", "第二行", "返回最大的数值", "最后一行", "nothing"]
    assert nearest_block(lines, ["返回最小的数值"]) == range(2, 3)
    assert nearest_block(lines, ["zzz"]) is None
    assert nearest_block([], ["x"]) is None
    assert nearest_block(lines, ["", "  "]) is None
