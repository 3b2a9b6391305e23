"""A task on the real program, killed at random moments and resumed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from modules.files.writable import TEMPORARY_FILE
from modules.sessions.store import Sessions
from modules.storage.data_folder import DataFolder
from tests.simulator import Call, Say, Simulator, Step
from tests.simulator.server import ReceivedRequest

ROOT = Path(__file__).parents[1]
STEPS = 30
MARK = f"onefold-kill-test-{os.getpid()}"


def content(number: int) -> str:
    return "".join(f"part {number} line {line}\n" for line in range(200))


def next_step(request: ReceivedRequest) -> Step:
    """Return the first step of the task that was not answered as done yet."""
    done = _done(request)
    missing = [number for number in range(STEPS) if number not in done]
    if not missing:
        return Say("All parts are done.")
    number = missing[0]
    if number % 6 == 5:
        command = f"for i in 1 2 3 4 5; do echo {number} >> log.txt; sleep 0.01; done # {MARK}"
        return Call("run_command", command=command)
    return Call("create_file", path=_path(number), content=content(number), overwrite=True)


def _path(number: int) -> str:
    return f"parts/{number % 4}/part{number}.txt"


def _done(request: ReceivedRequest) -> set[int]:
    answers = {m["tool_call_id"]: m["content"] for m in request.messages if m["role"] == "tool"}
    done = set()
    for message in request.messages:
        for call in message.get("tool_calls", ()):
            answer = answers[call["id"]]
            arguments = json.loads(call["function"]["arguments"])
            if "was lost" in answer or "ended early" in answer:
                continue
            if "command" in arguments:
                done.add(int(arguments["command"].split("echo ")[1].split()[0]))
            else:
                done.add(int(arguments["path"].split("part")[-1].removesuffix(".txt")))
    return done


@dataclass
class Kills:
    """Kills the program *times* times in the folder *base*; `run` checks what is left each time."""

    base: Path
    times: int
    seed: int
    killed: int = 0
    finished: int = 0
    incidents: int = 0
    _record_counts: dict[str, int] = field(default_factory=dict)

    def run(self) -> None:
        self.project.mkdir(parents=True)
        rng = random.Random(self.seed)
        with Simulator(next_step) as server:
            longest = 3 * self._start_time() + 0.7  # on a slow machine as far into the task
            session = ""
            while self.killed < self.times or session or not self.finished:
                seconds = rng.uniform(0.2, longest) if self.killed < self.times else 0.0
                is_done = self._start(server.url, session, seconds)
                self._check(is_killed=not is_done)
                session = "" if is_done else self._newest()
                self.finished += is_done

    @property
    def project(self) -> Path:
        return self.base / "project"

    def _start_time(self) -> float:
        """Return how many seconds the program takes to begin, now and here."""
        began = time.monotonic()
        command = [sys.executable, str(ROOT / "main.py"), "-p", "/sessions"]
        environment = {**os.environ, "ONEFOLD_DATA_DIR": str(self.base / "data")}
        subprocess.run(
            command, cwd=self.project, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, check=True,
        )  # fmt: skip
        return time.monotonic() - began

    def _start(self, url: str, session: str, seconds: float) -> bool:
        """Run the program, killed after *seconds* unless these are 0; return whether it ended."""
        resume = ["--resume", session] if session else []
        command = [sys.executable, str(ROOT / "main.py"), *resume, "-p", "Make the parts."]
        environment = {
            **os.environ,
            "ONEFOLD_DATA_DIR": str(self.base / "data"),
            "DEEPSEEK_API_KEY": "sk-test",
            "DEEPSEEK_BASE_URL": url,
            "ONEFOLD_STEP_LIMIT": "100",
        }
        with subprocess.Popen(
            command, cwd=self.project, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) as process:  # fmt: skip
            try:
                _, errors = process.communicate(timeout=seconds or 600)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.communicate()
                self.killed += 1
                return False
        assert process.returncode == 0, errors.decode()
        return True

    def _newest(self) -> str:
        store = Sessions(DataFolder(self.base / "data", self.project).sessions)
        try:
            return next((info.id for info in store.sessions()), "")
        finally:
            store.close()

    def _check(self, *, is_killed: bool) -> None:
        """Nothing is half written, nothing is left running, nothing kept was lost.

        A file that was about to get its name may be there until the task goes on.
        """
        for path in self.project.rglob("*"):
            if is_killed and TEMPORARY_FILE.fullmatch(path.name):
                continue
            if path.is_file() and path.name != "log.txt":
                assert path.name.startswith("part"), f"left behind: {path}"
                number = int(path.stem.removeprefix("part"))
                assert path.read_text() == content(number), f"half written: {path}"
        self._wait_for_children()
        store = Sessions(DataFolder(self.base / "data", self.project).sessions)
        for info in store.sessions():
            count = len(store.load(info.id))
            assert count >= self._record_counts.get(info.id, 0)
            self._record_counts[info.id] = count
        assert store.warnings() == []
        store.close()

    def _wait_for_children(self) -> None:
        deadline = time.monotonic() + 60
        while running := marked_processes():
            assert time.monotonic() < deadline, f"still running: {running}"
            time.sleep(0.02)


def marked_processes() -> list[str]:
    """Return the command lines of all processes that bear the mark of this run."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if MARK in line:
                found.append(line)
    return found
