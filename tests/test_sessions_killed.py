"""Whenever the program is killed, nothing is lost, doubled, or run without leave."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests import killed_server, killed_terminal
from tests.campaign import seeded
from tests.session_kills import Kind, killed_session

KINDS: tuple[Kind, ...] = ("compaction", "approval", "queue")
TIMES = 3
"""Kills of one seed."""


@pytest.mark.parametrize("kind", KINDS)
@seeded(1)
def test_a_server_goes_on_whenever_it_is_killed(tmp_path: Path, kind: Kind, seed: int) -> None:
    with killed_session(tmp_path / "stage", kind) as env:
        killed_server.run_rounds(env, random.Random(f"{kind} {seed}"), TIMES)
    assert env.killed == TIMES


@pytest.mark.parametrize("kind", KINDS)
@seeded(1)
def test_a_dialogue_goes_on_whenever_it_is_killed(tmp_path: Path, kind: Kind, seed: int) -> None:
    with killed_session(tmp_path / "stage", kind) as env:
        killed_terminal.run_rounds(env, random.Random(f"{kind} {seed}"), TIMES)
    assert env.killed == TIMES
