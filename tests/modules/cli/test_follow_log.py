"""`--follow` shows what another Onefold does while it does it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.simulator import Call, Say, Simulator

ROOT = Path(__file__).parents[3]


def environment(tmp_path: Path, **more: str) -> dict[str, str]:
    data = {"ONEFOLD_DATA_DIR": str(tmp_path / "data"), "DEEPSEEK_API_KEY": "sk-test"}
    return {**os.environ, **data, **more}


def command(tmp_path: Path, *argv: str) -> list[str]:
    return [sys.executable, str(ROOT / "main.py"), "--project", str(tmp_path / "demo"), *argv]


@contextmanager
def following(tmp_path: Path, **more: str) -> Iterator[subprocess.Popen[str]]:
    shown = subprocess.Popen(
        command(tmp_path, "--follow"),
        env=environment(tmp_path, **more),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield shown
    finally:
        shown.kill()
        shown.communicate()


@pytest.mark.parametrize(
    ("language", "waiting", "turn"),
    [("en", "Waiting for", "▶ turn 1: look"), ("zh", "等待", "▶ 第 1 轮：look")],
)
def test_a_task_is_seen_from_another_terminal(
    tmp_path: Path, language: str, waiting: str, turn: str
) -> None:
    (tmp_path / "demo").mkdir()
    with following(tmp_path, ONEFOLD_LANG=language) as shown:
        assert shown.stderr
        assert shown.stdout
        assert waiting in shown.stderr.readline()
        with Simulator([Call("list_files"), Say("It is empty.")]) as server:
            subprocess.run(
                command(tmp_path, "--log", "-p", "look"),
                env=environment(tmp_path, DEEPSEEK_BASE_URL=server.url),
                stdin=subprocess.DEVNULL,
                check=True,
                timeout=300,
            )
        lines: list[str] = []
        while not lines or "■ done" not in lines[-1]:
            lines.append(shown.stdout.readline())
        assert turn in lines[0]
        text = "".join(lines)
        for part in ("deepseek-flash", "⇒ list_files", "✓ list_files", "← It is empty."):
            assert part in text
        shown.send_signal(signal.SIGINT)
        rest, errors = shown.communicate(timeout=300)
        assert (rest, errors) == ("", "")


def test_nothing_is_written_unless_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    with Simulator([Say("Hi.")]) as server:
        subprocess.run(
            command(tmp_path, "-p", "hi"),
            env=environment(tmp_path, DEEPSEEK_BASE_URL=server.url),
            stdin=subprocess.DEVNULL,
            check=True,
            timeout=300,
        )
    assert not list((tmp_path / "data").rglob("operations*"))
    assert not list((tmp_path / "data").rglob("conversation_history.json"))


def test_a_project_that_is_not_there_is_told(tmp_path: Path) -> None:
    done = subprocess.run(
        command(tmp_path, "--follow"),
        env=environment(tmp_path),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 2
    assert "does not exist" in done.stderr
