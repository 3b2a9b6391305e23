"""What others write after a kill is theirs, and not of the call that the kill has ended."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from modules.why.feature import Why
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.killed_call import die_in_a_call, wait_for_the_end_of_doubt
from tests.scripted_model import call_reply, run_turn, text_reply

LINES = "".join(f"line {number}\n" for number in range(1, 13))


def writers(env: AssembledTerminal, path: str) -> list[str]:
    why = env.terminal.features.find(Why)
    assert why is not None
    return [origin.writer for origin in why.trace(path).origins]


@pytest.mark.parametrize("is_asked_later", [False, True])
@pytest.mark.parametrize("name", ["a.txt", "moved.txt"])
def test_lines_of_others_are_theirs_and_those_of_the_call_are_its_own(
    name: str, is_asked_later: bool, tmp_path: Path
) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.txt").write_text(LINES)
    (root / "b.txt").write_text(LINES)
    die_in_a_call(tmp_path, "echo mine >> b.txt", lambda: "mine" in (root / "b.txt").read_text())
    wait_for_the_end_of_doubt(tmp_path)
    (root / "a.txt").write_text(LINES.replace("line 3\n", "theirs\n"))
    (root / "a.txt").rename(root / name)
    (root / "new.txt").write_text("theirs too\n")
    replies = [call_reply("run_command", command="touch c"), text_reply("ok")]
    with assembled_terminal(tmp_path, *replies) as env:
        env.terminal.resume()
        if is_asked_later:
            run_turn(env.terminal, "go on")
        assert writers(env, name) == ["before"] * 2 + ["others"] + ["before"] * 9
        assert writers(env, "b.txt") == ["before"] * 12 + ["call"]
        assert writers(env, "new.txt") == ["others"]


def test_what_the_call_wrote_stays_its_own_where_others_only_move_it(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.txt").write_text(LINES)
    (root / "b.txt").write_text(LINES)
    command = "echo mine >> a.txt; echo mine >> b.txt"
    die_in_a_call(tmp_path, command, lambda: "mine" in (root / "b.txt").read_text())
    wait_for_the_end_of_doubt(tmp_path)
    (root / "a.txt").rename(root / "moved.txt")
    (root / "b.txt").chmod(0o600)
    (root / "new.txt").write_text("theirs, with the time that it had elsewhere\n")
    os.utime(root / "new.txt", (1_000_000_000, 1_000_000_000))
    with assembled_terminal(tmp_path) as env:
        env.terminal.resume()
        assert writers(env, "moved.txt") == ["before"] * 12 + ["call"]
        assert writers(env, "b.txt") == ["before"] * 12 + ["call"]
        assert writers(env, "new.txt") == ["others"]


def test_what_another_session_did_after_the_kill_stays_its_own(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.txt").write_text(LINES)
    (root / "b.txt").write_text(LINES)
    die_in_a_call(tmp_path, "echo mine >> b.txt", lambda: "mine" in (root / "b.txt").read_text())
    replies = [call_reply("run_command", command="echo second >> a.txt"), text_reply("ok")]
    with assembled_terminal(tmp_path, *replies) as env:
        run_turn(env.terminal, "write")
        second = env.terminal.session
        killed = next(one.id for one in env.store.sessions() if one.id != second)
    wait_for_the_end_of_doubt(tmp_path)
    with (root / "a.txt").open("a") as file:
        file.write("theirs\n")
    replies = [call_reply("run_command", command="touch c"), text_reply("ok")]
    with assembled_terminal(tmp_path, *replies) as env:
        env.terminal.resume(killed)
        run_turn(env.terminal, "go on")
        assert writers(env, "a.txt") == ["before"] * 12 + ["call", "others"]
        why = env.terminal.features.find(Why)
        assert why is not None
        assert why.trace("a.txt").origins[12].session == second
