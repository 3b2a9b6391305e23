"""Figures of the browser's server; by hand: `python3 -m tests.bench.bench_web`.

For both async modes: the delay of tokens to 50 pages on one stream, and what share of a core the
server's process takes for that; the longest pause of a heartbeat while 100,000 files are listed
and searched. The server, the pages and what measures are processes of their own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import websocket

from modules.web.servers.event_loop import AsyncMode
from tests.bench.served_projects import (
    MODES,
    ROOT,
    RUNS,
    ServedProject,
    fill_flat,
    fill_spread,
    row,
    serve_project,
)

PAGES = 50
SECONDS = 10
RATE = 100
BEAT = 0.02


def fan_out(mode: AsyncMode) -> None:
    delays, shares = [], []
    for _ in range(RUNS):
        with tempfile.TemporaryDirectory() as tmp, serve_project(mode, Path(tmp)) as served:
            delay, share = _one_stream(served)
            delays.append(delay)
            shares.append(share)
    what = f"{PAGES} pages, {RATE} tokens/s on one stream:"
    row(f"{what} p99", mode, min(delays), "ms", 60)
    row(f"{what} the server", mode, min(shares), "%", 20)


def _one_stream(served: ServedProject) -> tuple[float, float]:
    """Return the p99 of the delays in ms, and the percentage of a core that the server took."""
    session = served.new_session()
    given = [str(served.port), served.token, session, str(PAGES)]
    command = [sys.executable, "-m", "tests.bench.web_listeners", *given]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as pages:
        assert pages.stdout
        pages.stdout.readline()
        used, began = served.cpu_seconds(), time.monotonic()
        served.say(session, f"tokens {SECONDS} {RATE}", wait=False)
        delays = json.loads(pages.stdout.read())
        share = (served.cpu_seconds() - used) / (time.monotonic() - began)
    assert len(delays) == PAGES * SECONDS * RATE
    return delays[int(len(delays) * 0.99)], 100 * share


def heartbeats(mode: AsyncMode) -> None:
    for fill, folder in ((fill_spread, "d0001"), (fill_flat, "flat")):
        with tempfile.TemporaryDirectory() as tmp:
            fill(Path(tmp, "project"))
            with serve_project(mode, Path(tmp)) as served:
                _heartbeat(mode, served, folder)


def _heartbeat(mode: AsyncMode, served: ServedProject, folder: str) -> None:
    session = served.new_session()

    def list_all() -> None:
        for path in ("/api/files", f"/api/files?path={folder}", "/api/files/list"):
            served.ask("GET", path)

    def search() -> None:
        served.say(session, "search")

    with pinging(served) as pauses:
        for what, work in (("listed", list_all), ("searched", search)):
            longest = min(_longest(pauses, work) for _ in range(RUNS))
            row(f"heartbeat while 100,000 files are {what} ({folder})", mode, longest, "ms", 150)


def _longest(pauses: list[float], work: Callable[[], None]) -> float:
    """Return the longest of the *pauses* in ms that were noted during *work*."""
    pauses.clear()
    work()
    time.sleep(5 * BEAT)
    return 1000 * max(pauses)


@contextmanager
def pinging(served: ServedProject) -> Iterator[list[float]]:
    """Ask the server something small all the time; yield how many seconds each answer took."""
    page = websocket.create_connection(
        f"ws://127.0.0.1:{served.port}/socket.io/?EIO=4&transport=websocket",
        header={"Authorization": f"Bearer {served.token}"},
    )
    page.recv()
    page.send("40")
    page.recv()
    pauses: list[float] = []
    over = threading.Event()

    def ping() -> None:
        while not over.wait(BEAT):
            sent = time.monotonic()
            page.send('421["detach",{"session":"x"}]')
            while not (said := str(page.recv())).startswith("431"):
                if said == "2":
                    page.send("3")
            pauses.append(time.monotonic() - sent)

    thread = threading.Thread(target=ping)
    thread.start()
    try:
        yield pauses
    finally:
        over.set()
        thread.join()
        page.close()


if __name__ == "__main__":
    for each in MODES:
        fan_out(each)
        heartbeats(each)
