"""An undo, a redo or a rewind that is killed is done to the end, or was never given."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.command_kills import COMMANDS, Kills, check

SEEDS = 3
"""Kills for each command here; `python -m tests.campaign` tries every moment that there is."""


@pytest.mark.parametrize("line", COMMANDS)
def test_a_kill_leaves_nothing_half_done(tmp_path: Path, line: str) -> None:
    kills = Kills(tmp_path / "base")
    moments = range(1, kills.changes_of(line) + 1)
    assert len(moments) > SEEDS
    for moment in random.Random(line).sample(moments, SEEDS):
        assert check(kills, line, moment)
