"""Programs use git where the index is split in two, and what they did is taken back."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from modules.files.git.index_file import read_index, same_index
from tests.modules.checkpoints.folders import checkpoints
from tests.modules.sandbox.git.test_stand_in import home, person
from tests.modules.sandbox.sandbox_home import SandboxHome

__all__ = ["home"]


@pytest.fixture
def split(home: SandboxHome) -> SandboxHome:
    person(home, "config", "core.splitIndex", "true")
    person(home, "update-index", "--split-index")
    assert list(home.project.glob(".git/sharedindex.*"))
    return home


def _status(home: SandboxHome) -> tuple[str, ...]:
    questions = ("status --porcelain=v2 --branch", "ls-files --stage", "for-each-ref", "stash list")
    return tuple(person(home, *question.split()) for question in questions)


def _stage_more(home: SandboxHome) -> None:
    (home.project / "f").write_text("staged\n")
    (home.project / "n").write_text("new\n")
    person(home, "add", "f", "n")


@pytest.mark.as_root
@pytest.mark.parametrize("has_staged", [False, True])
def test_git_is_used_there_and_undone(
    split: SandboxHome, tmp_path: Path, *, has_staged: bool
) -> None:
    if has_staged:
        _stage_more(split)
    before = _status(split)
    with checkpoints(split.project, tmp_path / "store") as points:
        first = points.take()
        result = split.bash(
            "set -e; git stash -q || true; git switch -qc b; echo x >> f; git commit -qam x;"
            " git status --short"
        )
        assert (result.exit_code, result.notes, result.output) == (0, (), "")
        after = _status(split)  # by a git that splits the index again
        undone = points.undo(first.id, points.take().id)
        assert not undone.skipped
        assert _status(split) == before
        assert not points.undo(undone.before, undone.after).skipped
        assert _status(split) == after
    assert person(split, "fsck", "--strict", "--no-dangling") == ""


@pytest.mark.as_root
def test_git_is_used_in_a_linked_tree_that_is_split(split: SandboxHome) -> None:
    person(split, "worktree", "add", "-q", "tree", "-b", "tree")
    person(split, "-C", "tree", "update-index", "--split-index")
    assert list(split.project.glob(".git/worktrees/tree/sharedindex.*"))
    result = split.bash("cd tree; echo x >> f; git commit -qam x; git status --short")
    assert (result.exit_code, result.notes, result.output) == (0, (), "")
    assert person(split, "log", "-1", "--format=%s", "tree", "--") == "x\n"


@pytest.mark.parametrize("version", ["2", "4"])
def test_a_split_index_is_read_as_git_reads_it(home: SandboxHome, version: str) -> None:
    rng = random.Random(7)
    git = home.project / ".git"
    files = [home.project / f"{number:03}" for number in range(300)]
    for path in files:
        path.write_text(f"{path.name}\n")
    person(home, "add", ".")
    person(home, "update-index", "--index-version", version)
    person(home, "config", "splitIndex.maxPercentChange", "100")
    person(home, "update-index", "--split-index")
    for path in rng.sample(files, 90):
        if rng.random() < 0.3:
            person(home, "rm", "-qf", "--cached", path.name)
        else:
            path.write_text("other\n")
            person(home, "update-index", path.name)
    (home.project / "a new one").touch()
    person(home, "update-index", "--add", "a new one")
    split = (git / "index").read_bytes()
    person(home, "update-index", "--no-split-index")
    whole = (git / "index").read_bytes()
    assert b"link" in split
    assert len(read_index(whole)) > 200

    def read_beside(name: str) -> bytes | None:
        return (git / name).read_bytes()

    assert same_index(split, whole, read_beside)
    assert not same_index(split, whole)
    person(home, "rm", "-qf", "--cached", "f")
    assert not same_index(split, (git / "index").read_bytes(), read_beside)
    for place in range(0, len(split), 7):
        cut = split[:place] + split[place + 1 :]
        assert not same_index(cut[:-20] + bytes(20), whole, read_beside)
