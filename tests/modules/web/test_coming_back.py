"""The log is the truth: whatever breaks between server and page, nothing is lost or doubled."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from queue import Empty
from typing import Any

import pytest
import websocket

import core.deltas
import core.packet_log
from core.web_terminal import Packet
from tests.modules.web.serving import PATIENCE, Page, Served
from tests.scripted import USED, Item
from utils.api_client import Completion, Delta

Serve = Callable[..., AbstractContextManager[Served]]


def many(count: int, every: float) -> list[Item]:
    """A reply of *count* deltas of two kinds in turn, one every so many seconds."""
    items: list[Any] = []
    for n in range(count):
        items.append(Delta(f"{n} ") if n % 2 else Delta(thinking=f"{n} "))
        items.append(lambda stop: stop.wait(every) and None)
    words = [f"{n} " for n in range(count)]
    return [*items, Completion("".join(words[1::2]), "".join(words[::2]), (), USED)]


class Picture:
    """What a page makes of the events, and whether it ever got one twice or out of order."""

    def __init__(self, page: Page, session: str) -> None:
        self.page, self.session = page, session
        self.boot, self.last = "", 0
        self.texts = {"TextDelta": "", "ThinkingDelta": ""}
        self.snapshots = 0
        self.is_over = False

    def arrive(self) -> None:
        arrival = self.page.attach(self.session, self.boot, self.last)
        if arrival["mode"] == "snapshot":
            self.snapshots += 1
            self.texts = dict.fromkeys(self.texts, "")
        for event in arrival["events"]:
            self.apply(event)
        self.boot, self.last = arrival["boot"], arrival["head"]

    def apply(self, event: Packet) -> None:
        if event["type"] in self.texts:
            self.texts[event["type"]] += event["text"]
        self.is_over = self.is_over or event["type"] == "TurnFinished"

    def hear(self, seconds: float) -> None:
        """Apply what comes within so many seconds."""
        end = time.monotonic() + seconds
        while not self.is_over and (left := end - time.monotonic()) > 0:
            with suppress(Empty):
                name, packet = self.page.heard.get(timeout=left)
                if name == "ev" and packet["seq"] > self.last:
                    self.take(packet)

    def take(self, packet: Packet) -> None:
        if packet["seq"] != self.last + 1 or packet["boot"] != self.boot:
            self.arrive()
            return
        self.apply(packet)
        self.last = packet["seq"]


@pytest.mark.parametrize("kept", [2_048, 8], ids=["replayed", "by snapshot"])
def test_three_thousand_events_survive_a_connection_that_breaks(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    monkeypatch.setattr(core.packet_log, "KEPT", kept)
    monkeypatch.setattr(core.deltas, "FRAME", 0.0)
    with serve(many(3_000, 0.001)) as served, served.page() as page:
        session = served.new_session()
        picture = Picture(page, session)
        picture.arrive()
        page.call("send", session=session, cmd="c", text="go")
        breaks = 0
        while not picture.is_over:
            picture.hear(0.4)
            if not picture.is_over:
                page.break_off()
                page.connect()
                picture.arrive()
                breaks += 1
        words = [f"{n} " for n in range(3_000)]
        assert picture.texts == {
            "TextDelta": "".join(words[1::2]),
            "ThinkingDelta": "".join(words[::2]),
        }
        assert breaks > 2
        assert (picture.snapshots == 1) is (kept > 8)


def test_a_client_that_does_not_read_is_dropped(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("modules.web.sockets.BEHIND", 20)
    reply: list[Any] = []
    for _ in range(150):  # more than what two sockets hold on their way
        reply += [Delta("x" * 60_000), lambda stop: stop.wait(0.005) and None]
    done = Completion("x" * 9_000_000, "", (), USED)
    with serve([*reply, done]) as served, served.page() as page:
        session = served.new_session()
        page.attach(session)
        lazy = websocket.create_connection(
            f"ws://{served.host}/socket.io/?EIO=4&transport=websocket",
            header=served.token,
            sockopt=[(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)],
        )
        lazy.recv()
        lazy.send("40")
        lazy.recv()
        lazy.send(f'42["attach",{json.dumps({"session": session})}]')
        page.call("send", session=session, cmd="c", text="go")
        assert page.wait_for("TurnFinished")["why"] == "done"
        engine = served.server._socketio.server.eio
        end = time.monotonic() + PATIENCE
        while len(engine.sockets) > 1 and time.monotonic() < end:
            time.sleep(0.05)
        assert len(engine.sockets) == 1
        lazy.close()
