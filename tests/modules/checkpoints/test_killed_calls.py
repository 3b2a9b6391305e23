"""Undo of a call that a kill cut short takes back what it did, and nothing that came after."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from core.events import Event, Warned
from modules.checkpoints.store.index import CallRecord, CheckpointIndex
from modules.files.project import Project
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.killed_call import die_in_a_call, wait_for_the_end_of_doubt
from tests.modules.checkpoints.folders import folder_state
from tests.modules.checkpoints.test_undo_family import family
from tests.scripted_model import call_reply, run_turn, text_reply

DONE = "call.txt"
"""The file that a call makes last, before it is killed."""


def prepared(base: Path) -> Path:
    root = base / "project"
    (root / "old").mkdir(parents=True)
    for name in ("a.txt", "b.txt", "c.txt", "old/d.txt"):
        (root / name).write_text(f"{name}\n")
    return root


def killed(base: Path, command: str) -> None:
    """Kill a call that does *command*, and wait until nothing can be its doing any more."""
    done = base / "project" / DONE
    die_in_a_call(base, f"{command}; echo made > {DONE}", done.exists)
    wait_for_the_end_of_doubt(base)


def warnings(events: list[Event]) -> str:
    return "\n".join(str(one.what) for one in events if isinstance(one, Warned))


def test_undo_leaves_what_others_did_after_the_kill(tmp_path: Path) -> None:
    root = prepared(tmp_path)
    before = folder_state(root)
    killed(tmp_path, "echo called >> a.txt; rm c.txt; mkdir sub; echo called > sub/e.txt")
    of_call = folder_state(root)
    (root / "new.txt").write_text("theirs\n")
    (root / "b.txt").write_text("theirs\n")
    (root / "link").symlink_to("a.txt")
    (root / "empty" / "deep").mkdir(parents=True)  # as what a sandbox mounts, a moment too late
    (root / "sub" / "theirs.txt").write_text("theirs\n")
    (root / "old" / "d.txt").rename(root / "old" / "moved.txt")
    with assembled_terminal(tmp_path) as env:
        env.terminal.resume()
        run_turn(env.terminal, "/undo")
        assert (root / "a.txt").read_text() == "a.txt\n"
        assert (root / "c.txt").read_text() == "c.txt\n"
        assert not (root / "sub" / "e.txt").exists()
        assert not (root / DONE).exists()
        assert (root / "new.txt").read_text() == "theirs\n"
        assert (root / "b.txt").read_text() == "theirs\n"
        assert (root / "link").is_symlink()
        assert not (root / "empty").exists()
        assert (root / "sub" / "theirs.txt").read_text() == "theirs\n"
        assert (root / "old" / "moved.txt").read_text() == "old/d.txt\n"
        assert not (root / "old" / "d.txt").exists()
        run_turn(env.terminal, "/redo")
        for name in ("a.txt", "sub/e.txt", DONE):
            assert folder_state(root)[name] == of_call[name]
        assert not (root / "c.txt").exists()
        run_turn(env.terminal, "/undo")
        assert folder_state(root)["a.txt"] == before["a.txt"]


def test_who_goes_on_is_told_what_undo_leaves(tmp_path: Path) -> None:
    root = prepared(tmp_path)
    killed(tmp_path, "echo called >> a.txt")
    with (root / "a.txt").open("a") as file:
        file.write("theirs\n")
    with assembled_terminal(tmp_path, text_reply("ok")) as env:
        env.terminal.resume()
        said = warnings(run_turn(env.terminal, "go on"))
        assert "Changed after the last call was cut short, so undo leaves it alone: a.txt" in said
        run_turn(env.terminal, "/undo")
        assert (root / "a.txt").read_text() == "a.txt\ncalled\ntheirs\n"
        assert not (root / DONE).exists()


def git(root: Path, *words: str) -> str:
    identity = ["-c", "user.name=One", "-c", "user.email=one@example.org"]
    done = subprocess.run(
        ["git", *identity, *words], cwd=root, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def test_a_commit_of_the_person_after_the_kill_stays(tmp_path: Path) -> None:
    root = prepared(tmp_path)
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "one")
    killed(tmp_path, "echo called >> a.txt")
    (root / "new.txt").write_text("theirs\n")
    git(root, "add", "new.txt")
    git(root, "commit", "-qm", "two")
    with assembled_terminal(tmp_path) as env:
        env.terminal.resume()
        run_turn(env.terminal, "/undo")
    assert git(root, "log", "--format=%s") == "two\none"
    assert git(root, "status", "--porcelain") == ""
    assert (root / "a.txt").read_text() == "a.txt\n"


def test_a_commit_of_the_call_goes_though_somebody_looked_at_it(tmp_path: Path) -> None:
    root = prepared(tmp_path)
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "one")
    project = Project(root)
    recorder = next(family(project, tmp_path))
    recorder.before_call("c1", 1)
    (root / "a.txt").write_text("called\n")
    git(root, "commit", "-qam", "two")
    recorder.close()  # with the call under way, as a kill leaves it
    wait_for_the_end_of_doubt(tmp_path)
    os.utime(root / "b.txt")
    git(root, "status")  # it writes the index anew
    recorders = family(project, tmp_path)
    next(recorders).undo("")
    recorders.close()
    project.close()
    assert git(root, "log", "--format=%s") == "one"
    assert (root / "a.txt").read_text() == "a.txt\n"


def second_session(env: AssembledTerminal) -> str:
    """Return the id of the session that was killed, once another one has done something."""
    run_turn(env.terminal, "write")
    return next(one.id for one in env.store.sessions() if one.id != env.terminal.session)


def test_undo_leaves_what_another_session_did_after_the_kill(tmp_path: Path) -> None:
    root = prepared(tmp_path)
    killed(tmp_path, "echo called >> a.txt")
    (root / "new.txt").write_text("theirs\n")
    shutil.copytree(root, tmp_path / "then")
    replies = [call_reply("create_file", path="second.txt", content="second\n"), text_reply("ok")]
    with assembled_terminal(tmp_path, *replies) as env:
        ended = second_session(env)
    with assembled_terminal(tmp_path) as env:
        env.terminal.resume(ended)
        run_turn(env.terminal, "/undo")
        assert (root / "second.txt").read_text() == "second\n"
        assert (root / "new.txt").read_text() == "theirs\n"
        assert (root / "a.txt").read_text() == "a.txt\n"
        assert not (root / DONE).exists()


def test_a_call_that_another_session_begins_meanwhile_is_none_that_a_kill_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project(prepared(tmp_path))
    recorders, others = family(project, tmp_path), family(project, tmp_path)
    recorder, other = next(recorders), next(others)
    other.on_session_changed("s2")
    find = CheckpointIndex.unended_calls_of_others
    begun: list[str] = []

    def find_late(index: CheckpointIndex, session: str) -> list[CallRecord]:
        if session == "s1" and not begun:
            begun.append(session)
            other.before_call("c2", 1)
        return find(index, session)

    monkeypatch.setattr(CheckpointIndex, "unended_calls_of_others", find_late)
    recorder.before_call("c1", 1)
    assert begun
    (project.root / "a.txt").write_text("called\n")
    other.after_call("c2", 1)
    assert [one.path for one in other.changes_of("c2")] == ["a.txt"]
    recorder.after_call("c1", 1)
    for one in (recorders, others):
        one.close()
    project.close()
