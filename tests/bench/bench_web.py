"""Figures of the browser server; run it alone: `python3 -m tests.bench.bench_web`.

Prints, for both async modes: the delay of events to 50 pages on one stream and the share of a core
that takes; the longest pause of a heartbeat while 100,000 files are listed; how long a page that
comes in mid-answer takes to the full picture.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import websocket

from modules.web.hub import AsyncMode, load_eventlet
from tests.modules.web.serving import Served, serving
from tests.scripted import USED, Item
from utils.api_client import Completion, Delta

PAGES = 50
SECONDS = 10
TOKENS_A_SECOND = 100
FILES = 100_000
ADDRESS = "ws://{host}/socket.io/?EIO=4&transport=websocket"


class Raw:
    """A page without a library: it only counts what comes, and when."""

    def __init__(self, served: Served, session: str = "") -> None:
        self.socket = websocket.create_connection(
            ADDRESS.format(host=served.host), header=served.token
        )
        self.socket.recv()
        self.socket.send("40")
        self.socket.recv()
        if session:
            self.socket.send(f'420["attach",{{"session":"{session}"}}]')

    def texts(self) -> Iterator[str]:
        while True:
            text = str(self.socket.recv())
            if text == "2":
                self.socket.send("3")
            else:
                yield text


def tokens() -> list[Item]:
    """A reply that tells in every token when it was sent."""
    items: list[Any] = []
    for _ in range(SECONDS * TOKENS_A_SECOND):
        items.append(_Now())
        items.append(lambda stop: stop.wait(1 / TOKENS_A_SECOND) and None)
    return [*items, Completion("x", "", (), USED)]


class _Now(Delta):
    """A delta whose text is the time at which it is read."""

    def __getattribute__(self, name: str) -> Any:
        return f"{time.monotonic():.6f} " if name == "text" else super().__getattribute__(name)


def fan_out(mode: AsyncMode) -> None:
    with tempfile.TemporaryDirectory() as tmp, serving(mode, Path(tmp), tokens()) as served:
        session = served.new_session()
        delays: list[float] = []
        readers = [
            threading.Thread(target=_measure, args=(Raw(served, session), delays))
            for _ in range(PAGES)
        ]
        for reader in readers:
            reader.start()
        body = {"text": "go", "stream": False}
        used = time.process_time()
        served.ask("POST", f"/api/sessions/{session}/messages", body)
        for reader in readers:
            reader.join()
        used = time.process_time() - used
    delays.sort()
    p99 = delays[int(len(delays) * 0.99)]
    _print(mode, f"{PAGES} pages, {TOKENS_A_SECOND} tokens/s on one stream")
    _print("", f"delay p50 {1000 * statistics.median(delays):.0f} ms, p99 {1000 * p99:.0f} ms")
    _print("", f"{100 * used / SECONDS:.0f} % of a core, the {PAGES} clients included")


def _measure(page: Raw, delays: list[float]) -> None:
    for text in page.texts():
        now = time.monotonic()
        if '"TextDelta"' in text:
            _, _, rest = text.partition('"text":"')
            delays += [now - float(t) for t in rest.partition('"')[0].split()]
        if '"TurnFinished"' in text:
            return


def heartbeat(mode: AsyncMode) -> None:
    with tempfile.TemporaryDirectory() as tmp:
        for n in range(FILES):
            folder = Path(tmp, "project", f"d{n // 100}")
            if n % 100 == 0:
                folder.mkdir(parents=True)
            (folder / f"file{n}.txt").touch()
        with serving(mode, Path(tmp)) as served, pinging(served) as pauses:
            time.sleep(0.5)
            began = time.monotonic()
            for path in ("/api/files", "/api/files/list", "/api/files?path=d1"):
                served.server._listing.outdated()
                assert served.ask("GET", path).status == 200
            took = time.monotonic() - began
    _print(mode, f"longest pause of a heartbeat {1000 * max(pauses):.0f} ms")
    _print("", f"while {FILES:,} files were listed three times in {took:.1f} s")


@contextmanager
def pinging(served: Served) -> Iterator[list[float]]:
    """Ask the server something small every 20 ms; yield the list of how long each answer took."""
    page, pauses, over = Raw(served), [0.0], threading.Event()
    answers = page.texts()

    def ping() -> None:
        while not over.wait(0.02):
            sent = time.monotonic()
            page.socket.send('421["detach",{"session":"x"}]')
            while not next(answers).startswith("431"):
                pass
            pauses.append(time.monotonic() - sent)

    thread = threading.Thread(target=ping)
    thread.start()
    try:
        yield pauses
    finally:
        over.set()
        thread.join()


def reload(mode: AsyncMode) -> None:
    """A page that comes back in the middle of a long answer after many turns."""
    text = "word " * 40_000
    middle: list[Any] = [Delta(text), lambda stop: stop.wait(30) and None]
    replies: list[list[Any]] = [[Delta("answer " * 200), Completion("answer " * 200, "", (), USED)]]
    with (
        tempfile.TemporaryDirectory() as tmp,
        serving(mode, Path(tmp), *replies * 30, [*middle]) as served,
    ):
        session = served.new_session()
        path = f"/api/sessions/{session}/messages"
        for _ in range(30):
            served.ask("POST", path, {"text": "go"})
        served.ask("POST", path, {"text": "go", "stream": False})
        time.sleep(0.3)
        began = time.monotonic()
        page = Raw(served, session)
        size = next(len(t) for t in page.texts() if t.startswith("430"))
        took = time.monotonic() - began
    _print(mode, f"reload in mid-answer: {1000 * took:.0f} ms to the picture of {size:,} bytes")


def _print(mode: str, text: str) -> None:
    sys.stdout.write(f"{mode:10} {text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    load_eventlet()
    modes: tuple[AsyncMode, ...] = ("eventlet", "threading")
    for mode in modes:
        fan_out(mode)
        heartbeat(mode)
        reload(mode)
