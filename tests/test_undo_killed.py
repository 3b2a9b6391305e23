"""An undo, a redo or a rewind that is killed is done to the end, or was never given."""

from __future__ import annotations

import random
from functools import cache

import pytest

from tests.campaign import seeded
from tests.command_kills import COMMANDS, CommandKills, check_kill


@pytest.fixture(scope="module")
def kills(tmp_path_factory: pytest.TempPathFactory) -> CommandKills:
    kills = CommandKills(tmp_path_factory.mktemp("kills") / "base")
    kills.changes_of = cache(kills.changes_of)  # type: ignore[method-assign]
    return kills


@pytest.mark.parametrize("line", COMMANDS)
@seeded(3)
def test_a_kill_leaves_nothing_half_done(kills: CommandKills, line: str, seed: int) -> None:
    moments = range(1, kills.changes_of(line) + 1)
    assert len(moments) > 3
    assert check_kill(kills, line, random.Random(f"{line} {seed}").choice(moments))
