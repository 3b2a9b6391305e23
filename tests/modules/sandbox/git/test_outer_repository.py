"""A project that is a folder of a larger repository: git is not there, and it is said why."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from core.tools import ToolError
from modules.files.git.git_runs import git_for
from modules.sandbox.backends import selftest
from tests.modules.sandbox.sandbox_home import SandboxHome

pytestmark = pytest.mark.as_root
SAID = "is a folder of the git repository in"


@pytest.fixture
def package(sandbox_home: SandboxHome) -> SandboxHome:
    """The project has no repository of its own, its parent has."""
    (sandbox_home.project / ".git").rename(sandbox_home.project.parent / ".git")
    return sandbox_home


@pytest.mark.parametrize("tier", ["A", "C"])
def test_a_run_is_told_where_the_repository_is(
    package: SandboxHome, tier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if tier == "C":
        monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
    above = package.project.parent
    notes = package.bash("git status").notes
    assert [f"{SAID} {above}," in str(note) for note in notes] == [True]
    assert package.bash("echo git status").notes == ()
    assert package.bash("cd /tmp; git status").notes == notes  # it can be no other's


def test_where_there_is_one_nothing_is_said_of_others(sandbox_home: SandboxHome) -> None:
    subprocess.run(["git", "init", "-q", sandbox_home.project.parent], check=True)
    assert sandbox_home.bash("cd /tmp; git status").notes == ()
    assert sandbox_home.bash("git status").exit_code == 0


def test_no_second_repository_is_advised(package: SandboxHome, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=SAID):
        git_for(package.project, None)
    (tmp_path / "apart").mkdir()
    with pytest.raises(ToolError, match="git init creates one"):
        git_for(tmp_path / "apart", None)


def test_a_bare_repository_beside_the_file_that_names_it_is_said_to_be_read_only(
    sandbox_home: SandboxHome,
) -> None:
    project = sandbox_home.project
    (project / ".git").rename(project / ".bare")
    (project / ".git").write_text("gitdir: ./.bare\n")
    notes = notes_of(sandbox_home, "git update-ref refs/heads/x $(git mktree < /dev/null)")
    assert [note.startswith("Here .git is read-only to programs") for note in notes] == [True]
    assert notes_of(sandbox_home, "git status") == []


def test_a_repository_elsewhere_that_names_no_folder_is_out_of_reach_and_it_is_said_why(
    sandbox_home: SandboxHome, tmp_path: Path
) -> None:
    project, elsewhere = sandbox_home.project, tmp_path / "elsewhere"
    (project / ".git").rename(elsewhere)
    (project / ".git").write_text(f"gitdir: {elsewhere}\n")
    said = "does not name this folder in return"
    assert [said in note for note in notes_of(sandbox_home, "git status")] == [True]
    with pytest.raises(ToolError, match=said):
        git_for(project, None)
    subprocess.run(["git", "config", "core.worktree", project], cwd=project, check=True)
    assert sandbox_home.bash("git status").exit_code == 0
    assert git_for(project, None)


def notes_of(home: SandboxHome, code: str) -> list[str]:
    return [str(note) for note in home.bash(code).notes]
