"""What differs between two texts, whoever asks."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from utils.text.line_diff import LineChange, differing, line_changes, text_diff, with_ends


def test_a_difference_counts_its_lines() -> None:
    change = text_diff("a\nb\nc\n", "a\nB\nB2\nc\n")
    assert (change.diff, change.added, change.removed) == (
        "@@ -1,3 +1,4 @@\n a\n-b\n+B\n+B2\n c",
        2,
        1,
    )
    assert text_diff("a\n", "a\n").diff == ""


def test_a_missing_newline_at_the_end_is_shown() -> None:
    assert text_diff("a", "a\n").diff == "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a"


def test_a_long_difference_is_cut_with_a_count() -> None:
    change = text_diff("", "x\n" * 50)
    assert change.truncated(10) == "\n".join(["@@ -0,0 +1,50 @@", *["+x"] * 9, "… 41 more lines"])
    assert change.truncated(51) == change.diff


texts = some.lists(some.sampled_from(["a", "b", "", "+c", "-d", "\x0c"]), max_size=12).map(
    "\n".join
)


@given(before=texts, after=texts)
def test_patch_makes_the_new_text_of_the_old(
    tmp_path_factory: pytest.TempPathFactory, before: str, after: str
) -> None:
    change = text_diff(before, after)
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


@given(before=texts, after=texts, exact_up_to=some.sampled_from([0, 20_000]))
def test_the_changes_make_the_new_lines_of_the_old(
    before: str, after: str, exact_up_to: int
) -> None:
    old, new = with_ends(before), with_ends(after)
    assert "".join(old) == before
    made, done = list[str](), 0
    for change in line_changes(old, new, exact_up_to=exact_up_to) or ():
        made += old[done : change.start] + new[change.new_start : change.new_end]
        assert len(made) == change.new_end
        done = change.end
    assert made + old[done:] == new


@given(before=texts, after=texts)
def test_what_differs_is_within_the_one_change_that_spans_it(before: str, after: str) -> None:
    old, new = with_ends(before), with_ends(after)
    span = differing(old, new)
    for change in line_changes(old, new) or ():
        assert span.start <= change.start <= change.end <= span.end
        assert span.new_start <= change.new_start <= change.new_end <= span.new_end
    assert (span.removed == span.added == 0) == (before == after)


def test_more_lines_than_can_be_compared_are_not() -> None:
    old, new = ["a", "b", "z"], ["a", "c", "d", "z"]
    assert line_changes(old, new, most=3) == [LineChange(1, 2, 1, 3)]
    assert line_changes(old, new, most=2) is None
    assert differing(old, new) == LineChange(1, 2, 1, 3)
