"""Lines that are typed while a turn runs."""

from __future__ import annotations

import os

import pytest

from modules.cli.input.keyboard import TypedAhead
from modules.cli.input.typeahead import TypeAheadListener


@pytest.mark.parametrize("is_asking", [False, True])
def test_a_command_is_run_unless_a_question_has_the_keyboard(is_asking: bool) -> None:
    """What the question hears and does not take for its answer waits for the next prompt."""
    ran: list[str] = []
    kept: list[str] = []
    ahead = TypedAhead()
    reader, writer = os.pipe()  # a keyboard on which nobody types: we say what was heard
    beside = TypeAheadListener(
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
