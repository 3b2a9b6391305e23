"""Whenever the program is killed, nothing is lost, doubled, or run without leave."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests import killed_print, killed_server, killed_terminal
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


def test_a_paste_to_a_program_that_just_died_leaves_the_terminal_there() -> None:
    pane = killed_terminal.Pane()
    try:
        pane.run(["/bin/true"], {})
        pane.kill()
        pane.type_paste("too late")
        assert pane.is_dead
    finally:
        pane.close()


@pytest.mark.parametrize("kind", KINDS)
@seeded(1)
def test_a_dialogue_goes_on_whenever_it_is_killed(tmp_path: Path, kind: Kind, seed: int) -> None:
    with killed_session(tmp_path / "stage", kind) as env:
        killed_terminal.run_rounds(env, random.Random(f"{kind} {seed}"), TIMES)
    assert env.killed == TIMES


@seeded(1)
def test_one_task_after_the_other_goes_on_whenever_one_is_killed(tmp_path: Path, seed: int) -> None:
    kind = KINDS[seed % len(KINDS)]
    with killed_session(tmp_path / "stage", kind) as env:
        killed_print.run_rounds(env, random.Random(f"print {kind} {seed}"), TIMES)
    assert env.killed == TIMES


@seeded(1)
def test_a_session_goes_on_whenever_a_terminal_that_joined_it_is_killed(
    tmp_path: Path, seed: int
) -> None:
    kind = KINDS[seed % len(KINDS)]
    with killed_session(tmp_path / "stage", kind) as env:
        killed_terminal.run_attached_rounds(env, random.Random(f"joined {kind} {seed}"), TIMES)
    assert env.killed == TIMES
