"""Benchmark of a call in the sandbox: `python -m tests.bench.bench_sandbox`.

Each is timed 30 times, one after the other in turns, so that a busy machine slows all alike.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from modules.sandbox.backends.bubblewrap import CLEAN_ENVIRONMENT
from modules.sandbox.backends.known_tier import BWRAP_PATHS
from modules.sandbox.home.program_home import ProgramHome
from modules.sandbox.sandbox import Limits, Program, Sandbox
from utils.waiting import Stop

ROUNDS = 30
PYTHON = "/usr/bin/python3"
SYSTEM = ("--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib",
          "/lib", "--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev",
          "--unshare-all", "--die-with-parent")  # fmt: skip


def bare() -> None:
    subprocess.run([PYTHON, "-c", "pass"], env=CLEAN_ENVIRONMENT, check=True)


def minimal() -> None:
    program = next(str(place) for place in BWRAP_PATHS if place.is_file())
    subprocess.run([program, *SYSTEM, PYTHON, "-c", "pass"], env=CLEAN_ENVIRONMENT, check=True)


def _run(sandbox: Sandbox) -> None:
    for _ in sandbox.run(Program("python", "pass"), Limits(), Stop()):
        pass


def _wait_for_spare(sandbox: Sandbox) -> None:
    end = time.monotonic() + 10
    while sandbox._warm._execution is None and time.monotonic() < end:
        time.sleep(0.01)


def _retry_after(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def measure(sandbox: Sandbox) -> dict[str, list[float]]:
    """Return the seconds of each round by what was done."""
    rounds: dict[str, list[float]] = {}
    _run(sandbox)
    for _ in range(ROUNDS):
        _wait_for_spare(sandbox)
        acts: list[tuple[str, Callable[[], object]]] = [
            ("warm run_python", lambda: _run(sandbox)),
            ("bare python3 -c pass", bare),
            ("minimal bwrap + python3", minimal),
        ]
        for name, act in acts:
            rounds.setdefault(name, []).append(_retry_after(act))
        sandbox._warm.discard()
        rounds.setdefault("cold run_python", []).append(_retry_after(lambda: _run(sandbox)))
    return rounds


def main() -> None:
    with tempfile.TemporaryDirectory() as base:
        project, data = Path(base, "project"), Path(base, "data")
        project.mkdir()
        data.mkdir()
        if "--plain" not in sys.argv:
            subprocess.run(["git", "init", "-q", str(project)], check=True)
        home = ProgramHome(data / "home", max_size=10**9)
        sandbox = Sandbox(project, cache_folder=data, home=home)
        before = os.getloadavg()[0]
        _print_line(f"tier {sandbox.report().name}; load {before:.1f} on {os.cpu_count()} cores")
        medians = {}
        for name, seconds in measure(sandbox).items():
            medians[name] = statistics.median(seconds)
            least = min(seconds) * 1000
            _print_line(f"{name:26} median {medians[name] * 1000:6.1f} ms   least {least:6.1f} ms")
        ratio = medians["cold run_python"] / medians["minimal bwrap + python3"]
        _print_line(f"cold / minimal bwrap: {ratio:.2f} (at most 2)")
        ratio = medians["warm run_python"] / medians["bare python3 -c pass"]
        _print_line(f"warm / bare python3:  {ratio:.2f} (below 1)")
        _print_line(f"load at the end {os.getloadavg()[0]:.1f}")
        sandbox._warm.discard()


def _print_line(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
