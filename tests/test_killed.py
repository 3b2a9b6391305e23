"""The program is killed at random moments; nothing is lost, and the task goes on."""

from __future__ import annotations

from pathlib import Path

from tests.campaign import seeded
from tests.kills import Kills


@seeded(1)
def test_a_task_goes_on_whenever_it_is_killed(tmp_path: Path, seed: int) -> None:
    kills = Kills(tmp_path / "base", times=10, seed=seed)
    kills.run()
    assert kills.killed == 10
    assert kills.finished >= 1
