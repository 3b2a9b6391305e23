"""Four writers at random: every line that can be told is said to come from where it does."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.assembly import assembled_terminal
from tests.campaign import seeded
from tests.modules.why.four_writers import FourWriters, Wrong

_STEPS = 30


@pytest.mark.parametrize(
    ("repeated", "newline", "least_told"), [(0.0, "\n", 1.0), (0.1, "\n", 0.9), (0.2, "\r\n", 0.6)]
)
@seeded(2)
def test_of_a_thousand_lines_of_four_writers_one_is_wrong_at_most(
    seed: int, repeated: float, newline: str, least_told: float, tmp_path: Path
) -> None:
    found: list[Wrong] = []
    with assembled_terminal(tmp_path, runs_shell_escapes=True) as env:
        writers = FourWriters(env, random.Random(seed), repeated, newline=newline)
        writers.begin()
        for number in range(_STEPS):
            writers.step()
            if number % 5 == 4:
                found.append(writers.wrong())
    wrong, impossible, _, told, total = (sum(counts) for counts in zip(*found, strict=True))
    assert told >= least_told * total
    assert wrong <= told / 1_000, f"{wrong} of {told} lines"
    assert impossible <= total / 1_000, f"{impossible} of {total} lines"
