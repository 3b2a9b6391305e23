"""Lines that are typed while a turn runs."""

from __future__ import annotations

import pytest

from modules.cli.beside import shown


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("/status", "/status"),
        ("/stax\x7ftus", "/status"),
        ("nothing\x15/fast", "/fast"),
        ("a\x1b[Ab\x1bOBc\x1b[1;5Dd", "abcd"),
        ("\x1b[200~two\nlines\x1b[201~", "two\nlines"),
        ("报告\x7f", "报"),
        ("\x7f\x7fa", "a"),
        ("a\tb\x07", "ab"),
    ],
)
def test_keys_make_a_line_as_in_an_editor(typed: str, text: str) -> None:
    assert shown(typed.encode()) == text
