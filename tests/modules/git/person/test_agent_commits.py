"""The log tells which commits were the agent's, by what checkpoints hold."""

from __future__ import annotations

from pathlib import Path

from core.cards import TableCard
from tests.modules.git.person.repositories import (
    commit_file,
    make_repository,
    opened,
    person_git,
    run_git,
)
from tests.scripted_model import call_reply, run_turn, text_reply


def marks(base: Path) -> dict[str, int | None]:
    """Return the turn by subject of each commit, None where it was not the agent's."""
    with opened(base) as here:
        git = person_git(here)
        known = git.agent_commits.marks()
        log = run_git("log", "--format=%H %s", at=here.root).splitlines()
    turns = {one.partition(" ")[2]: known.get(one.partition(" ")[0]) for one in log}
    return {subject: mark.turn if mark else None for subject, mark in turns.items()}


def test_commits_of_calls_are_marked_by_turn_and_those_of_the_person_are_not(
    tmp_path: Path,
) -> None:
    root = make_repository(tmp_path / "project")
    commit_file(root, "a.txt", "one\n", "By hand")
    assert marks(tmp_path) == {"By hand": None}
    script = call_reply("git_commit", message="By the agent"), text_reply("Done.")
    with opened(tmp_path, *script) as here:
        here.terminal.approval.mode = "all"
        (root / "a.txt").write_text("two\n")
        run_turn(here.terminal, "commit it")
        (root / "a.txt").write_text("three\n")
        git = person_git(here)
        git.stage([])
        git.commit("On the page")
        card = git.git("log")
        assert isinstance(card, TableCard)
        told = {str(row[4]): str(row[2]) for row in card.rows}
        assert told == {"On the page": "", "By the agent": "agent, turn 1", "By hand": ""}
    commit_file(root, "a.txt", "four\n", "By hand later")
    assert marks(tmp_path) == {
        "By hand later": None, "On the page": None, "By the agent": 1, "By hand": None
    }  # fmt: skip


def test_commits_of_a_linked_work_tree_are_marked(tmp_path: Path) -> None:
    main = make_repository(tmp_path / "main")
    commit_file(main, "a.txt", "one\n", "By hand")
    run_git("worktree", "add", "-q", "-b", "side", str(tmp_path / "project"), at=main)
    root = tmp_path / "project"
    (root / "a.txt").write_text("two\n")
    script = call_reply("git_commit", message="By the agent"), text_reply("Done.")
    with opened(tmp_path, *script) as here:
        here.terminal.approval.mode = "all"
        run_turn(here.terminal, "commit it")
    assert marks(tmp_path) == {"By the agent": 1, "By hand": None}
