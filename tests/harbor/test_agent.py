"""What the agent of Harbor runs in the environment of a task, run here, and what is made of it."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from integrations.harbor.onefold_harbor.atif import SHOWN_ONLY, main, read_events, to_trajectory
from integrations.harbor.onefold_harbor.shell import SESSION, STREAM, install_command, run_command
from tests.harbor.atif_rules import broken_rules
from tests.simulator import Call, CallText, Cut, Refuse, Say, Simulator, Step, Think

ROOT = Path(__file__).parents[2]
SCRIPT: list[Step] = [
    (Think("Ha"), Cut()),  # asked for once more: this thought never was
    (Think("Hm."), Say("I look."), Call("read_file", path="a.txt"), Call("read_file", path="no")),
    CallText("read_file", '{"path": "a.txt', id="call_broken"),
    Call("run_command", command="echo made >made.txt; cat made.txt"),
    Say("Done."),
]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with `onefold` where its install puts it, and a project with a file."""
    programs = tmp_path / "home" / ".local" / "bin"
    programs.mkdir(parents=True)
    onefold = programs / "onefold"
    onefold.write_text(
        f'#!/bin/sh\nexec {shlex.join([sys.executable, str(ROOT / "main.py")])} "$@"\n'
    )
    onefold.chmod(0o755)
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "a.txt").write_text("one\n")
    (tmp_path / "logs").mkdir()
    return tmp_path


def bash(home: Path, command: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run *command* as Harbor does."""
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        cwd=home / "app",
        env={**os.environ, "HOME": str(home / "home"), "ONEFOLD_BOOTSTRAP": "0", **more},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def run_task(
    home: Path, script: list[Step], instruction: str, *options: str
) -> tuple[subprocess.CompletedProcess[str], Simulator]:
    command = run_command(instruction, PurePosixPath(home / "logs"), list(options))
    with Simulator(script) as server:
        ended = bash(
            home,
            command,
            ONEFOLD_DATA_DIR=str(home / "data"),
            DEEPSEEK_BASE_URL=server.url,
            DEEPSEEK_API_KEY="sk-test",
            ONEFOLD_RETRIES="1",
        )
    return ended, server


def test_a_run_becomes_a_trajectory_that_keeps_the_rules(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ended, _ = run_task(home, SCRIPT, "-- look at $(this) & 'that'", "--think")
    assert (ended.returncode, (home / "app" / "made.txt").read_text()) == (0, "made\n")
    stream, session = home / "logs" / STREAM, home / "logs" / SESSION
    assert main([str(stream), str(session)]) == 0
    made = json.loads(capsys.readouterr().out)
    assert broken_rules(made) == []
    system, place, asked, looked, *_, said = made["steps"]
    assert [step["source"] for step in (system, place, asked)] == ["system", "system", "user"]
    assert "This machine is yours" in place["message"]
    assert asked["message"] == "-- look at $(this) & 'that'"
    assert (looked["reasoning_content"], looked["message"]) == ("Hm.", "I look.")
    assert [call["arguments"] for call in looked["tool_calls"]] == [
        {"path": "a.txt"},
        {"path": "no"},
    ]
    read, missing = looked["observation"]["results"]
    assert read["content"].endswith("one")
    assert missing["extra"] == {"state": "failed", "error_code": "not_found"}
    assert said["message"] == "Done."
    results = [
        one for step in made["steps"] for one in step.get("observation", {}).get("results", [])
    ]
    assert results[-1]["content"].startswith("exit code 0")
    assert_totals(made)


def assert_totals(trajectory: dict[str, Any]) -> None:
    totals = trajectory["final_metrics"]
    metrics = [step["metrics"] for step in trajectory["steps"] if "metrics" in step]
    for total, one in (
        ("total_prompt_tokens", "prompt_tokens"),
        ("total_completion_tokens", "completion_tokens"),
        ("total_cached_tokens", "cached_tokens"),
    ):
        assert totals[total] == sum(step[one] for step in metrics) > 0
    assert totals["total_cost_usd"] == pytest.approx(sum(step["cost_usd"] for step in metrics))
    assert totals["total_steps"] == len(trajectory["steps"])


def test_a_run_that_was_killed_leaves_a_trajectory_too(home: Path) -> None:
    run_task(home, SCRIPT, "look", "--think")
    text = (home / "logs" / STREAM).read_text()
    whole = len(read_events(text))
    cut = text[: text.index('"type": "ToolFinished"', len(text) // 2) + 30]  # within a line
    events = read_events(cut)
    assert 0 < len(events) < whole
    made = to_trajectory(events, version="1")
    assert made is not None
    assert broken_rules(made) == []
    assert made["notes"] == SHOWN_ONLY
    assert_totals(made)
    assert to_trajectory(read_events(""), version="1") is None
    with pytest.raises(ValueError, match="Expecting"):
        read_events("{broken\n{}")


@pytest.mark.parametrize(
    ("script", "options", "code", "told"),
    [
        ([Refuse(401)], [], 1, "key"),
        ([Call("list_files"), Say("x")], ["--nonsense"], 2, "--nonsense"),
    ],
)
def test_a_run_that_fails_says_why(
    home: Path, script: list[Step], options: list[str], code: int, told: str
) -> None:
    command = run_command("look", PurePosixPath(home / "logs"), options)
    with Simulator(script) as server:
        ended = bash(
            home,
            command,
            ONEFOLD_DATA_DIR=str(home / "data"),
            DEEPSEEK_BASE_URL=server.url,
            DEEPSEEK_API_KEY="sk-test",
        )
    assert ended.returncode == code
    assert told in ended.stdout


def test_an_instruction_is_never_a_command_of_ours(home: Path) -> None:
    _, server = run_task(home, [Say("I see.")], "/help me: /app is broken")
    assert server.requests[0].last_user == "The task:\n\n/help me: /app is broken"


def test_a_limit_that_was_reached_is_no_failure(home: Path) -> None:
    command = run_command("look", PurePosixPath(home / "logs"), [])
    with Simulator([Call("list_files"), Call("list_files"), Say("x")]) as server:
        ended = bash(
            home,
            command,
            ONEFOLD_STEP_LIMIT="1",
            ONEFOLD_DATA_DIR=str(home / "data"),
            DEEPSEEK_BASE_URL=server.url,
            DEEPSEEK_API_KEY="sk-test",
        )
    assert ended.returncode == 0
    last = read_events((home / "logs" / STREAM).read_text())[-1]
    assert (last["type"], last["status"]) == ("Result", "step_limit")


def test_a_wheel_is_installed_without_uv(home: Path) -> None:
    wheel = home / "onefold-0.0.1-py3-none-any.whl"
    info = "onefold-0.0.1.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("stand_in.py", "def main():\n    print('Onefold 0.0.1 (stand-in)')\n")
        archive.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: onefold\nVersion: 0.0.1\n"
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/entry_points.txt", "[console_scripts]\nonefold = stand_in:main\n")
        archive.writestr(f"{info}/RECORD", "")
    programs = home / "programs"  # python3 and what the commands need, but no uv
    programs.mkdir()
    (programs / "python3").symlink_to(sys.executable)
    (home / "home" / ".local" / "bin" / "onefold").unlink()
    path = f"{programs}{os.pathsep}/usr/bin{os.pathsep}/bin"
    ended = bash(home, install_command(str(wheel)), PATH=path, PIP_NO_INDEX="1")
    assert (ended.returncode, ended.stdout.strip()) == (0, "Onefold 0.0.1 (stand-in)")
