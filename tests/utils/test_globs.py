from __future__ import annotations

import pytest

from utils.globs import glob_filter


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
