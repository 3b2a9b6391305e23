"""The program is killed at random moments; the long form is `python -m tests.campaign 500`."""

from __future__ import annotations

from pathlib import Path

from tests.campaign import Campaign


def test_a_task_goes_on_whenever_it_is_killed(tmp_path: Path) -> None:
    campaign = Campaign(tmp_path / "base", kills=25, seed=11)
    campaign.run()
    assert campaign.killed == 25
    assert campaign.finished >= 1
