"""What somebody meets on macOS and on Windows, as far as it can be played here."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
Ended = subprocess.CompletedProcess[str]


def start(module: str, *arguments: str, data: Path, **environment: str) -> Ended:
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        env=os.environ | {"ONEFOLD_DATA_DIR": str(data), "ONEFOLD_LANG": "en"} | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "the project"
    folder.mkdir()
    return folder


@pytest.fixture
def task_on_macos(tmp_path: Path, project: Path) -> Callable[..., str]:
    """Return what does a task of the practice model there, and says what was printed."""

    def run(text: str, *options: str) -> str:
        options = ("--project", str(project), "--offline", *options, "-p", text)
        ended = start("tests.as_macos", str(project), *options, data=tmp_path / "data")
        assert (ended.returncode, ended.stderr) == (0, "")
        return ended.stdout

    return run


def names_in(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def files_of(folder: Path) -> dict[str, str]:
    return {file.name: file.read_text() for file in folder.iterdir()}


def test_files_get_another_case_on_macos_and_back(
    project: Path, task_on_macos: Callable[..., str]
) -> None:
    task_on_macos("make notes.txt with hello")
    (project / "Folder").mkdir()
    task_on_macos("rename notes.txt to NOTES.txt then rename Folder to folder", "--resume")
    assert names_in(project) == ["NOTES.txt", "folder"]
    task_on_macos("/undo", "--resume")
    assert names_in(project) == ["Folder", "notes.txt"]
    task_on_macos("/redo", "--resume")
    assert names_in(project) == ["NOTES.txt", "folder"]


def test_a_changed_file_that_got_another_case_on_macos_comes_back_whole(
    project: Path, task_on_macos: Callable[..., str]
) -> None:
    (project / "notes.txt").write_text("one\n")
    task_on_macos('in notes.txt replace "one" with "two" then rename notes.txt to Notes.txt')
    assert files_of(project) == {"Notes.txt": "two\n"}
    task_on_macos("/undo", "--resume")
    assert files_of(project) == {"notes.txt": "one\n"}


def test_a_name_of_other_case_is_the_same_file_on_macos(
    project: Path, task_on_macos: Callable[..., str]
) -> None:
    (project / "notes.txt").write_text("mine\n")
    assert "mine" in task_on_macos("show NOTES.TXT")
    assert "exists already" in task_on_macos("make Notes.txt with other")
    (project / "other.txt").write_text("other\n")
    task_on_macos("rename other.txt to NOTES.txt")
    assert files_of(project) == {"notes.txt": "mine\n", "other.txt": "other\n"}


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_windows_is_told_what_onefold_is(option: str, tmp_path: Path) -> None:
    ended = start("tests.as_windows", option, data=tmp_path / "data")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith("Onefold " if option == "--version" else "Usage: ")


@pytest.mark.parametrize(
    "arguments", [("-p", "hello", "--offline"), (), ("web",), ("--cli",), ("mcp",), ("acp",)]
)
def test_windows_itself_is_told_to_start_onefold_in_wsl(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    ended = start("tests.as_windows", *arguments, data=tmp_path / "data")
    assert (ended.returncode, ended.stdout, ended.stderr) == (
        2,
        "",
        "Onefold: On Windows use WSL: install it (wsl --install) and start Onefold there.\n",
    )
    assert not (tmp_path / "data").exists()


def test_a_chinese_windows_is_told_in_chinese(tmp_path: Path) -> None:
    ended = start("tests.as_windows", data=tmp_path / "data", ONEFOLD_LANG="zh")
    assert "WSL" in ended.stderr
    assert "请使用 WSL" in ended.stderr
