"""Standard streams that are closed, full or no longer read: no traceback, and the right code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FULL = "Onefold: Cannot write the output: No space left on device.\n"


def run(
    tmp_path: Path, line: str, *, stdin: str = "", **more: str
) -> subprocess.CompletedProcess[str]:
    """Run the shell *line*, in which `onefold` is the program."""
    (tmp_path / "project").mkdir(exist_ok=True)
    begin = f'onefold() {{ "{sys.executable}" "{ROOT / "main.py"}" --offline "$@"; }}; '
    return subprocess.run(
        ["bash", "-c", f"{begin}{line}"],
        cwd=tmp_path / "project",
        env={**os.environ, "ONEFOLD_DATA_DIR": str(tmp_path / "data"), **more},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


TASKS = ["--help", "--version", "-p /help", "-p 'find x'", "-p 'find x' --output json", "--cli"]


@pytest.mark.parametrize("task", TASKS)
def test_a_reader_that_went_away_is_no_failure(tmp_path: Path, task: str) -> None:
    line = f"onefold {task} | true; exit ${{PIPESTATUS[0]}}"
    ended = run(tmp_path, line, stdin="find x\n")
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize(
    ("task", "unbuffered"), [*((task, "") for task in TASKS), ("--help", "1"), ("--cli", "1")]
)
def test_a_full_output_is_told(tmp_path: Path, task: str, unbuffered: str) -> None:
    ended = run(
        tmp_path, f"onefold {task} >/dev/full", stdin="find x\n", PYTHONUNBUFFERED=unbuffered
    )
    assert (ended.returncode, ended.stderr) == (1, FULL)


@pytest.mark.parametrize("task", TASKS)
def test_closed_streams_are_done_without(tmp_path: Path, task: str) -> None:
    assert run(tmp_path, f"onefold {task} >&- <&- 2>&-").returncode == 0
    written = [path for path in (tmp_path / "data" / "projects").rglob("*") if path.is_file()]
    assert not [path for path in written if b"Usage" in path.read_bytes()]


@pytest.mark.parametrize("to", ["/dev/full", "&-"])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_an_error_that_nobody_can_read_keeps_its_code(
    tmp_path: Path, to: str, unbuffered: str
) -> None:
    ended = run(tmp_path, f"onefold --nonsense 2>{to}", PYTHONUNBUFFERED=unbuffered)
    assert ended.returncode == 2


def test_without_a_standard_input_there_is_nobody_to_ask(tmp_path: Path) -> None:
    ended = run(tmp_path, "onefold <&-")
    assert ended.returncode == 2
    assert ended.stderr.startswith("Onefold: Use --cli")
    assert run(tmp_path, "onefold -p - <&-").returncode == 2


@pytest.mark.parametrize("settings", [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "latin-1"}])
@pytest.mark.parametrize("task", ["-p 'find x'", "--cli", "-p 'find x' --output stream-json"])
def test_any_name_can_be_shown_in_any_encoding(
    tmp_path: Path, task: str, settings: dict[str, str]
) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "报告.txt").write_text("x\n")
    (tmp_path / "project" / os.fsdecode(b"bad\xff.txt")).write_text("x\n")
    ended = run(
        tmp_path, f"onefold {task} | cat -v", stdin="find x\n", ONEFOLD_LANG="zh", **settings
    )
    assert ended.stderr == ""
    assert ".txt" in ended.stdout
