"""A commit in the midst of a merge, a rebase or a cherry-pick that stopped at conflicts."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from core.tools import ToolError
from tests.modules.git.test_commit import commit, git, root

__all__ = ["root"]


@pytest.fixture(params=["merge", "cherry-pick"])
def stopped(root: Path, request: pytest.FixtureRequest) -> Path:
    """The project, where a conflict in `a.txt` is not resolved."""
    commit(root)
    git("checkout", "-qb", "side", at=root)
    (root / "a.txt").write_bytes(b"theirs\r\n")
    commit(root)
    git("checkout", "-q", "-", at=root)
    (root / "a.txt").write_bytes(b"ours\r\n")
    commit(root)
    with pytest.raises(subprocess.CalledProcessError):
        git(request.param, "side", at=root)
    assert "<<<<<<< " in (root / "a.txt").read_text()
    return root


@pytest.mark.parametrize("paths", [(), ("a.txt",)])
def test_markers_are_not_committed(stopped: Path, paths: tuple[str, ...]) -> None:
    before = git("log", "--format=%H", at=stopped), git("ls-files", "--stage", at=stopped)
    with pytest.raises(ToolError, match=r"Conflict markers are left in a\.txt: resolve"):
        commit(stopped, *paths)
    assert before == (git("log", "--format=%H", at=stopped), git("ls-files", "-s", at=stopped))


def test_what_was_resolved_is_committed_staged_or_not(stopped: Path) -> None:
    (stopped / "a.txt").write_text("both\n=======\n")
    commit(stopped)
    assert git("show", "HEAD:a.txt", at=stopped) == "both\n=======\n"
    assert git("status", "--porcelain", at=stopped) == ""


def test_markers_that_were_staged_are_meant(stopped: Path) -> None:
    git("add", "a.txt", at=stopped)
    commit(stopped)
    assert "<<<<<<< " in git("show", "HEAD:a.txt", at=stopped)
