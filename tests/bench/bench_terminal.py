"""The terminal's own time, memory and tokens: `python -m tests.bench.bench_terminal`."""

from __future__ import annotations

import http.client
import json
import os
import pty
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tests.simulator import Call, Say, Simulator, Step
from tests.simulator.cache import render_prompt
from utils.text.tokens import estimate_tokens

ROOT = Path(__file__).parents[2]
RUNS = 5


class RequestTimes(NamedTuple):
    """Times of a request's first byte, its last byte and its reply, on the monotonic clock."""

    began: float
    arrived: float
    sent: float


@dataclass
class Server:
    """The instant server in a process of its own, and the times that it prints of each request."""

    process: subprocess.Popen[str]
    url: str

    def next_request(self) -> RequestTimes:
        """Wait for the next request and return its times."""
        assert self.process.stdout
        return RequestTimes(*map(float, self.process.stdout.readline().split()))


@contextmanager
def instant_server() -> Iterator[Server]:
    command = [sys.executable, "-m", "tests.bench.instant_server"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        port = process.stdout.readline().strip()
        try:
            yield Server(process, f"http://127.0.0.1:{port}")
        finally:
            process.kill()


def environment(data: str, url: str) -> dict[str, str]:
    return {**os.environ, "ONEFOLD_DATA_DIR": data, "DEEPSEEK_API_KEY": "k", "ONEFOLD_LANG": "en",
            "DEEPSEEK_BASE_URL": url, "ONEFOLD_STEP_LIMIT": "1000"}  # fmt: skip


def run_task(
    text: str, url: str, folder: Path, name: str = "project"
) -> tuple[dict[str, object], float]:
    """Run one task; return its JSON and the peak memory of the process in MiB."""
    project = folder / name
    project.mkdir(parents=True, exist_ok=True)
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "main.py"), "-p", text, "--output", "json"],
        cwd=project, env=environment(str(folder / "data"), url), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout
    output = process.stdout.read()
    process.stdout.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    return json.loads(output), usage.ru_maxrss / 1024


def time_to_prompt(folder: Path) -> float:
    """Return the seconds from the launch of the dialogue to its prompt on a real terminal."""
    project = folder / "project"
    project.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(project)
        env = environment(str(folder / "data"), "http://127.0.0.1:9") | {"TERM": "xterm-256color"}
        os.execve(sys.executable, [sys.executable, str(ROOT / "main.py"), "--cli"], env)
    seen = b""
    while "›".encode() not in seen:
        piece = os.read(terminal, 65_536)
        if b"\x1b[6n" in piece:  # where is the cursor?
            os.write(terminal, b"\x1b[1;1R")
        seen += piece
    seconds = time.monotonic() - began
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    os.close(terminal)
    return seconds


def time_of_version() -> float:
    """Return the seconds that `--version` takes."""
    began = time.monotonic()
    subprocess.run(
        [sys.executable, str(ROOT / "main.py"), "--version"],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    return time.monotonic() - began


def bare_reader(url: str, deltas: int) -> float:
    """Return the seconds that the standard library takes to read and parse the same stream."""
    host = url.removeprefix("http://")
    body = json.dumps({"messages": [{"role": "user", "content": f"deltas {deltas}"}]})
    began = time.monotonic()
    connection = http.client.HTTPConnection(host)
    connection.request("POST", "/chat/completions", body, {"Content-Type": "application/json"})
    texts = []
    for line in connection.getresponse():
        if line.startswith(b"data: {"):
            texts.append(json.loads(line[6:])["choices"][0]["delta"].get("content") or "")
    connection.close()
    assert len("".join(texts)) > deltas
    return time.monotonic() - began


CLIENT = """
import sys, time
from utils.api_client import ApiClient, Completion
from utils.waiting import Stop
client = ApiClient(sys.argv[1], "k", model="m")
client.warm()
began = time.monotonic()
question = [{"role": "user", "content": f"deltas {sys.argv[2]}"}]
*_, last = client.stream(question, [], think=False, stop=Stop())
print(time.monotonic() - began)
"""


def our_reader(url: str, deltas: int) -> float:
    """Return the seconds that our client takes to read the stream, the SDK being loaded."""
    command = [sys.executable, "-c", CLIENT, url, str(deltas)]
    return float(
        subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    )


def row(name: str, value: str, target: str = "") -> None:
    sys.stdout.write(f"{name:<62} {value:>16}   {target}\n")
    sys.stdout.flush()


def median(values: list[float]) -> float:
    return statistics.median(values)


def start(folder: Path) -> None:
    row("--version", f"{median([time_of_version() for _ in range(RUNS)]):.3f} s", "0.10 s")
    prompts = [time_to_prompt(folder / "prompt") for _ in range(RUNS)]
    row("time to the prompt", f"{median(prompts):.3f} s", "0.25 s")
    firsts = []
    with instant_server() as server:
        for _ in range(RUNS):
            began = time.monotonic()
            run_task("hi", server.url, folder / "first")
            firsts.append(server.next_request().arrived - began)
    row("launch to the first request of -p", f"{median(firsts):.3f} s", "0.45 s")


def steps(folder: Path) -> None:
    with instant_server() as server:
        _, peak = run_task("steps 500", server.url, folder / "steps")
        requests = [server.next_request() for _ in range(501)]
    between = list(zip(requests, requests[1:], strict=False))
    whole = [after.arrived - before.sent for before, after in between]
    ours = [after.began - before.sent for before, after in between]
    row("time per step, 500 steps", f"{1000 * median(whole):.1f} ms", "10 ms")
    row("growth: last 50 over first 50 steps, until the request begins", growth(ours), "1.0")
    row("the same until the server has read it, which grows with it", growth(whole))
    row("peak memory over 500 steps", f"{peak:.0f} MiB", "90 MiB")


def growth(gaps: list[float]) -> str:
    return f"{median(gaps[-50:]) / median(gaps[1:51]):.2f}"


def tokens(folder: Path) -> None:
    script: list[Step] = []
    for n in range(17):
        script += [
            Call("create_file", path=f"f{n}.txt", content=f"line {n}\n" * 10),
            Call("read_file", path=f"f{n}.txt"),
            Call("modify_file", path=f"f{n}.txt", operation="append", new="more\n"),
        ]
    with Simulator([*script[:49], Say("done")], is_validated=False) as server:
        result, _ = run_task("do it", server.url, folder / "tokens")
        body = server.requests[0].body
        prompts = [render_prompt(request.body) for request in server.requests]
    with Simulator([Say("ok"), Say("ok")], is_validated=False) as server:
        run_task("hello there", server.url, folder / "one")
        run_task("hello there", server.url, folder / "two", "other")
        first, second = (render_prompt(request.body) for request in server.requests)
    head = json.dumps(body["messages"][0]) + json.dumps(body["tools"])
    row("system text and tools, bytes / 4", f"{len(head.encode()) // 4}", "3000")
    row("system text and tools, estimated tokens", f"{estimate_tokens(head)}", "3000")
    missed = len(prompts[0]) + sum(
        len(after) - len(os.path.commonprefix([before, after]))
        for before, after in zip(prompts, prompts[1:], strict=False)
    )
    row("50 steps: missed over new, by exact prefix", f"{missed / len(prompts[-1]):.2f}", "1.05")
    usage = result["usage"]
    assert isinstance(usage, dict)
    units = usage["cache_miss_tokens"] / (len(prompts[-1]) / 4)
    row("50 steps: missed over new, hits in units of 128 tokens", f"{units:.2f}")
    shared = len(os.path.commonprefix([first, second])) / len(second)
    row("first request in another folder, found cached", f"{100 * shared:.0f} %", "95 %")


def stream() -> None:
    with instant_server() as server:
        for deltas in (2_000, 20_000):
            bare, ours = [], []
            for _ in range(RUNS):
                bare.append(bare_reader(server.url, deltas))
                ours.append(our_reader(server.url, deltas))
            ratio = median([a / b for a, b in zip(ours, bare, strict=True)])
            row(f"{deltas} deltas: ours {median(ours):.3f} s, bare {median(bare):.3f} s",
                f"{ratio:.2f}", "1.5")  # fmt: skip


def main() -> None:
    load = os.getloadavg()[0]
    sys.stdout.write(f"{RUNS} runs each, medians; load {load:.1f} on {os.cpu_count()} processors\n")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        start(folder)
        steps(folder)
        tokens(folder)
        stream()
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    row("largest of all processes", f"{peak:.0f} MiB")


if __name__ == "__main__":
    main()
