"""Lines that are typed while a turn runs."""

from __future__ import annotations

import os

import pytest

from modules.cli.beside import Beside, shown
from modules.cli.keyboard import TypedAhead


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


@pytest.mark.parametrize("is_asking", [False, True])
def test_a_command_is_run_unless_a_question_has_the_keyboard(is_asking: bool) -> None:
    """What the question hears and does not take for its answer waits for the next prompt."""
    ran: list[str] = []
    kept: list[str] = []
    ahead = TypedAhead()
    reader, writer = os.pipe()  # a keyboard on which nobody types: we say what was heard
    beside = Beside(
        reader,
        ahead,
        may_listen=lambda: not is_asking,
        is_wanted=lambda line: line == "/status",
        run=ran.append,
        show=lambda _: None,
        keep=kept.append,
    )
    with beside.listening():
        ahead.add(b"/status\r")
    os.close(reader)
    os.close(writer)
    assert (ran, kept) == (([], ["/status"]) if is_asking else (["/status"], []))
