"""A program that is killed in the midst of a call, and the time after it that is surely others'."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from modules.checkpoints.store.heartbeat import Heartbeat
from tests.modules.sandbox.sandbox_home import wait_until
from tests.simulator import Call, Say, Simulator

ROOT = Path(__file__).parents[1]


def die_in_a_call(base: Path, command: str, is_done: Callable[[], bool]) -> None:
    """Let a program die while its call of *command* runs, once that has done what it does."""
    with Simulator([Call("run_command", command=f"{command}; sleep 60"), Say("x")]) as server:
        argv = [sys.executable, "main.py", "--project", os.fspath(base / "project")]
        environment = {
            **os.environ,
            "ONEFOLD_DATA_DIR": os.fspath(base / "data"),
            "ONEFOLD_BOOTSTRAP": "0",
            "DEEPSEEK_API_KEY": "sk-test",
            "DEEPSEEK_BASE_URL": server.url,
        }
        with subprocess.Popen(
            [*argv, "--approve", "all", "-p", "go"],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        ) as process:
            try:
                assert wait_until(is_done)
            finally:
                process.send_signal(signal.SIGKILL)


def wait_for_the_end_of_doubt(base: Path) -> None:
    """Wait until what is changed can only be others', by the clock of the disk."""
    (alive,) = base.rglob("alive")
    end = Heartbeat(alive).end_of_doubt()
    assert end is not None
    probe = base / "now"

    def is_later() -> bool:
        probe.touch()
        return probe.stat().st_ctime_ns > end

    assert wait_until(is_later)
