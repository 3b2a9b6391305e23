"""Helpers of the browser benchmarks: a served project, folders to fill, rows of a table."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modules.web.servers.event_loop import AsyncMode

ROOT = Path(__file__).parents[2]
MODES: tuple[AsyncMode, ...] = ("eventlet", "threading")
RUNS = 3
"""Times each figure is taken; the least counts, since what else the machine does only adds."""
FILES = 100_000


@dataclass(frozen=True)
class ServedProject:
    """A server in a process of its own."""

    process: subprocess.Popen[str]
    url: str
    port: int
    token: str
    link: str

    def ask(self, method: str, path: str, body: Any = None) -> bytes:
        """Return the body of the answer, read to its end."""
        head = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, head, method=method)
        with urllib.request.urlopen(request, timeout=120) as answer:
            body_bytes: bytes = answer.read()
        return body_bytes

    def new_session(self) -> str:
        session: str = json.loads(self.ask("POST", "/api/sessions", {}))["id"]
        return session

    def say(self, session: str, text: str, *, wait: bool = True) -> None:
        """Send a message; with *wait* until its turn has ended."""
        path = f"/api/sessions/{session}/messages"
        self.ask("POST", path, {"text": text, "stream": wait})

    def cpu_seconds(self) -> float:
        """Return what the server's process alone has used of the processors."""
        return cpu_seconds(self.process.pid)


def cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serve_project(mode: AsyncMode, folder: Path) -> Iterator[ServedProject]:
    """Serve `project` in *folder*."""
    (folder / "project").mkdir(exist_ok=True)
    command = [sys.executable, "-m", "tests.bench.serve_project", mode, str(folder)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, text=True, **pipes) as process:  # type: ignore[call-overload]
        yield ServedProject(process, **json.loads(process.stdout.readline()))
        process.stdin.close()


def fill_spread(project: Path, files: int = FILES) -> None:
    """Put *files* into folders of a hundred."""
    for number in range(files):
        folder = project / f"d{number // 100:04}"
        if number % 100 == 0:
            folder.mkdir(parents=True)
        (folder / f"file{number:06}.txt").write_text(_text(number))


def fill_flat(project: Path, files: int = FILES) -> None:
    """Put *files* into the one folder `flat`."""
    (project / "flat").mkdir(parents=True)
    for number in range(files):
        (project / "flat" / f"file{number:06}.txt").write_text(_text(number))


def _text(number: int) -> str:
    return f"line one\nneedle {number}\n" if number % 1000 == 0 else f"plain {number}\ntext\n"


def row(what: str, where: str, value: float, unit: str, target: float | None) -> None:
    """Print one line of the table; *target* is what *value* must stay below."""
    wanted = "" if target is None else f"< {target:g} {unit}"
    verdict = "" if target is None else ("ok" if value < target else "MISSED")
    load = os.getloadavg()[0]
    sys.stdout.write(
        f"{what:52} {where:10} {value:9.1f} {unit:3} {wanted:12} {verdict:7} load {load:.1f}\n"
    )
    sys.stdout.flush()
