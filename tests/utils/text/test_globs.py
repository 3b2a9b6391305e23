from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utils.text.globs import PatternTooComplex, glob_filter, without_backtracking


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("*.py", ["a.py", "x/a.py", ".py"], ["a.pyc", "a.py/x"]),
        ("/*.py", ["a.py"], ["x/a.py"]),
        ("./src/*", ["src/a"], ["src/a/b", "xsrc/a"]),
        ("src/**", ["src/a", "src/a/b"], ["src", "x/src/a"]),
        ("**/a", ["a", "x/a", "x/y/a"], ["ba"]),
        ("a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["ab", "a/xb"]),
        ("*.{js,ts}", ["a.js", "x/a.ts"], ["a.jts", "a.{js,ts}"]),
        ("a{b,c{d,e}}", ["ab", "acd", "ace"], ["ac"]),
        ("a,b", ["a,b"], ["a"]),
        ("[a-c]?", ["ax", "c中"], ["dx", "a", "a/"]),
        ("[!a]", ["b"], ["a", "/"]),
        ("[", ["["], ["a"]),
        ("[z-a]", ["[z-a]"], ["z"]),
        (r"\*", ["*"], ["a"]),
        ("a.b", ["a.b"], ["axb"]),
        ("a\nb*", ["a\nbc"], ["ab"]),
        ("{", ["{"], ["a"]),
    ],
)
def test_patterns_fit_as_in_a_shell(pattern: str, yes: list[str], no: list[str]) -> None:
    fits = glob_filter(pattern)
    assert [path for path in (*yes, *no) if fits(path)] == yes


def test_case_can_be_ignored() -> None:
    assert glob_filter("readme.*", ignore_case=True)("docs/README.md")
    assert not glob_filter("readme.*")("docs/README.md")


PIECES = st.lists(
    st.sampled_from(["[^/]*", "a", "b", "[^/]", "[ab]", "/", r"\.", "(?:.+/)?"]), max_size=8
)


@given(PIECES, st.text("ab./", max_size=9))
def test_deciding_early_changes_no_match(pieces: list[str], path: str) -> None:
    expression = "".join(pieces)
    expected = re.fullmatch(expression, path) is not None
    assert (re.fullmatch(without_backtracking(expression), path) is not None) is expected


@pytest.mark.parametrize("piece", ["*a", "*?", "*[a]", "*?[!b]"])
def test_a_pattern_of_many_stars_comes_to_an_end(piece: str) -> None:
    assert not glob_filter(piece * 30 + "*b")("a" * 200)


@pytest.mark.parametrize(
    "pattern", ["**a" * 15 + "b", "**/*a" * 6 + "b", "{*a,*b}" * 6 + "c", "{a,aa}" * 30 + "b"]
)
def test_a_pattern_that_nobody_means_is_refused(pattern: str) -> None:
    with pytest.raises(PatternTooComplex):
        glob_filter(pattern)


def test_a_row_of_stars_is_two() -> None:
    assert not glob_filter("*" * 30 + "b")("a" * 100)
    assert glob_filter("***/b")("a/c/b")
