"""The heartbeat goes on as long as any call runs, and its time never goes back meanwhile."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from modules.checkpoints.store.heartbeat import Heartbeat
from tests.modules.sandbox.sandbox_home import wait_until

LONG_AGO = 1_000_000_000
"""In nanoseconds since the epoch."""


@pytest.fixture
def heartbeat(tmp_path: Path) -> Iterator[Heartbeat]:
    made = Heartbeat(tmp_path / "alive")
    yield made
    made.close()


def test_it_beats_until_the_last_of_the_calls_at_once_has_ended(
    heartbeat: Heartbeat, tmp_path: Path
) -> None:
    path = tmp_path / "alive"
    heartbeat.begin()
    heartbeat.begin()
    heartbeat.end()
    os.utime(path, ns=(LONG_AGO, LONG_AGO))
    assert wait_until(lambda: path.stat().st_mtime_ns > LONG_AGO)
    heartbeat.end()
    assert not heartbeat.is_beating


def test_at_rest_it_beats_for_no_call_that_was_left(heartbeat: Heartbeat) -> None:
    heartbeat.begin()
    heartbeat.begin()
    heartbeat.rest()
    assert not heartbeat.is_beating
    heartbeat.end()
    heartbeat.begin()
    assert heartbeat.is_beating


def test_a_clock_that_goes_back_in_a_call_makes_nothing_of_it_anothers(
    heartbeat: Heartbeat, tmp_path: Path
) -> None:
    path = tmp_path / "alive"
    heartbeat.begin()
    later = path.stat().st_mtime_ns + 3_600 * 10**9  # what the clock said before
    os.utime(path, ns=(later, later))
    heartbeat.begin()
    assert (heartbeat.end_of_doubt() or 0) > later
    heartbeat.end()
    heartbeat.end()
    heartbeat.begin()  # what was before is over
    assert LONG_AGO < (heartbeat.end_of_doubt() or 0) < later


def test_what_cannot_be_touched_leaves_no_time(tmp_path: Path) -> None:
    heartbeat = Heartbeat(tmp_path / "gone" / "alive")
    heartbeat.begin()
    assert heartbeat.end_of_doubt() is None
    heartbeat.close()
