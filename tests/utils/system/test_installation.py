"""Where Onefold was put, what it is called there, and of which commit it is."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from utils.system import own_command as commands
from utils.system.installation import commit_of, platform_data_folder


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    return subprocess.run(
        ["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    folder.mkdir()
    git(folder, "init", "--quiet")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "first")
    return folder


def test_the_commit_is_that_of_the_branch_loose_packed_or_left(checkout: Path) -> None:
    head = git(checkout, "rev-parse", "HEAD")[:7]
    assert commit_of(checkout) == head
    git(checkout, "pack-refs", "--all")
    assert commit_of(checkout) == head
    git(checkout, "checkout", "--quiet", "--detach")
    assert commit_of(checkout) == head


def test_a_worktree_has_a_commit_of_its_own(checkout: Path, tmp_path: Path) -> None:
    git(checkout, "worktree", "add", "--quiet", "-b", "other", str(tmp_path / "other"))
    git(tmp_path / "other", "commit", "--quiet", "--allow-empty", "--message", "second")
    assert commit_of(tmp_path / "other") == git(tmp_path / "other", "rev-parse", "HEAD")[:7]
    assert commit_of(tmp_path / "other") != commit_of(checkout)


def test_what_was_built_says_its_commit_and_a_bare_folder_none(tmp_path: Path) -> None:
    assert commit_of(tmp_path) == ""
    (tmp_path / "COMMIT").write_text("abc1234\n")
    assert commit_of(tmp_path) == "abc1234"


def test_each_platform_has_its_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    mac = tmp_path / "Library" / "Application Support" / "onefold"
    assert platform_data_folder({}, "darwin") == mac
    assert platform_data_folder({}, "linux") == tmp_path / ".local" / "share" / "onefold"
    assert platform_data_folder({"XDG_DATA_HOME": "/d"}, "linux") == Path("/d/onefold")
    assert platform_data_folder({"XDG_DATA_HOME": "d"}, "linux").is_relative_to(tmp_path)
    assert platform_data_folder({"LOCALAPPDATA": "/l"}, "win32") == Path("/l/onefold")


def test_the_command_to_show_is_one_that_starts_this_very_program(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(commands, "is_installed", lambda _root: True)
    program = tmp_path / "bin" / "onefold"
    program.parent.mkdir()
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(program.parent))

    def shown(started: Path) -> str:
        monkeypatch.setattr(sys, "argv", [str(started)])
        return commands.own_command("--cli")

    assert shown(program) == "onefold --cli"
    (tmp_path / "CACHEDIR.TAG").touch()  # as that of `uvx`, which no shell finds by its name
    assert shown(program) == f"{program} --cli"
    (tmp_path / "CACHEDIR.TAG").unlink()
    monkeypatch.setenv("PATH", "/nowhere")
    assert shown(program) == f"{program} --cli"
    assert shown(tmp_path / "onefold.pyz") == f"python3 {tmp_path}/onefold.pyz --cli"
    assert shown(tmp_path / "__main__.py") == f"{shlex.quote(sys.executable)} -m onefold --cli"
