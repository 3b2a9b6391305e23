"""The line below the prompt, in windows of any width."""

from __future__ import annotations

import pytest

from modules.cli.input.status_line import fitting, status_line
from modules.translator import Translator

WHOLE = "  some-model · fast · a-project · guarded · context 12 % · $0.0100"


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (len(WHOLE), WHOLE),
        (len(WHOLE) - 1, WHOLE.removesuffix(" · $0.0100")),
        (30, "  some-model · fast"),
        (5, "  some-model"),
    ],
)
def test_a_narrow_window_shows_whole_facts(width: int, shown: str) -> None:
    line = status_line(
        Translator("en", {}),
        model="some-model",
        is_practice=False,
        mode="fast",
        project="a-project",
        approval="guarded",
        context=(12, 100),
        cost=0.01,
    )
    assert "".join(part[1] for part in fitting(line, width)) == shown
