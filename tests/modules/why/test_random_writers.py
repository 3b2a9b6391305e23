"""Four writers at random: nearly every line is said to come from where it does."""

from __future__ import annotations

import random
from pathlib import Path

from tests.assembly import assembled_terminal
from tests.campaign import seeded
from tests.modules.why.four_writers import FourWriters

_STEPS = 30


@seeded(3)
def test_of_a_thousand_lines_of_four_writers_one_is_wrong_at_most(
    seed: int, tmp_path: Path
) -> None:
    wrong = total = 0
    with assembled_terminal(tmp_path, runs_shell_escapes=True) as env:
        writers = FourWriters(env, random.Random(seed))
        writers.begin()
        for number in range(_STEPS):
            writers.step()
            if number % 5 == 4:
                some_wrong, some = writers.wrong()
                wrong, total = wrong + some_wrong, total + some
    assert wrong <= total / 1_000, f"{wrong} of {total} lines"
