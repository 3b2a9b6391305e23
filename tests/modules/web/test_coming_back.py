"""The log is the truth: whatever breaks between server and page, nothing is lost or doubled."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, closing
from math import inf
from typing import Any

import pytest
import websocket

import core.conversation.deltas
import core.conversation.event_log
from core.conversation.transcript import Packet
from tests.modules.sandbox.sandbox_home import wait_until
from tests.modules.web.serving import TIMEOUT_SECONDS, Page, RunningServer
from tests.scripted_model import USED, Item
from utils.api_client import Completion, Delta
from utils.waiting import Stop

Serve = Callable[..., AbstractContextManager[RunningServer]]


BREAKS = 4
PORTION = 600
"""Deltas between two breaks of the connection."""
PARTS = 150
PART = 6_000
"""Characters of a large delta."""
SOCKET_BYTES = 4_096
"""Size of the buffers on the way to a client that does not read."""


def many(at_end: Callable[[Stop], None]) -> list[Item]:
    """A reply of deltas of two kinds in turn; *at_end* is called between two portions."""
    items: list[Any] = []
    words = [f"{n} " for n in range((BREAKS + 1) * PORTION)]
    for n, word in enumerate(words):
        items += [at_end] if n and n % PORTION == 0 else []
        items.append(Delta(word) if n % 2 else Delta(thinking=word))
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

    def hear(self, last: float = inf) -> None:
        """Apply what comes until there is the event numbered *last*, or the turn is over."""
        while self.last < last and not self.is_over:
            name, packet = self.page.messages.get(timeout=TIMEOUT_SECONDS)
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
    monkeypatch.setattr(core.conversation.event_log, "MAX_PACKETS", kept)
    monkeypatch.setattr(core.conversation.deltas, "FRAME_SECONDS", 0.0)
    is_there, goes_on = threading.Semaphore(0), threading.Semaphore(0)

    def at_end(_: Stop) -> None:
        is_there.release()
        assert goes_on.acquire(timeout=TIMEOUT_SECONDS)

    with serve(many(at_end)) as served, served.page() as page:
        session = served.new_session()
        picture = Picture(page, session)
        picture.arrive()
        page.call("send", session=session, cmd="c", text="go")
        for number in range(BREAKS):
            picture.hear(number * PORTION + PORTION // 2)
            page.break_connection()
            assert is_there.acquire(timeout=TIMEOUT_SECONDS)
            goes_on.release()
            page.connect()
            picture.arrive()
        picture.hear()
        words = [f"{n} " for n in range((BREAKS + 1) * PORTION)]
        assert picture.texts == {
            "TextDelta": "".join(words[1::2]),
            "ThinkingDelta": "".join(words[::2]),
        }
        if kept > 8:
            assert picture.snapshots == 1
        else:  # a page that lags at a break may miss less than is kept at the next
            assert picture.snapshots > 1


def test_a_client_that_does_not_read_is_dropped(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("modules.web.socketio.handlers.MAX_LAG", 40)
    monkeypatch.setattr(core.conversation.deltas, "FRAME_SECONDS", 0.0)
    has_come = threading.Semaphore(9)
    reply: list[Any] = []
    for _ in range(PARTS):  # more than what two sockets hold on their way
        reply += [lambda _: has_come.acquire(timeout=TIMEOUT_SECONDS) and None, Delta("x" * PART)]
    done = Completion("x" * PART * PARTS, "", (), USED)
    with serve([*reply, done]) as served, served.page() as page, ExitStack() as stack:
        session = served.new_session()
        page.attach(session)
        listening = served.server._listen_socket
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BYTES)
        lazy = stack.enter_context(
            closing(
                websocket.create_connection(
                    f"ws://{served.host}/socket.io/?EIO=4&transport=websocket",
                    header=served.token,
                    sockopt=[(socket.SOL_SOCKET, socket.SO_RCVBUF, SOCKET_BYTES)],
                )
            )
        )
        lazy.recv()
        lazy.send("40")
        lazy.recv()
        lazy.send(f'42["attach",{json.dumps({"session": session})}]')
        page.call("send", session=session, cmd="c", text="go")
        parts = 0
        while parts < PARTS:  # a page that reads is never behind, however slow it is
            joined = len(page.wait_for("TextDelta")["text"]) // PART
            has_come.release(joined)
            parts += joined
        assert page.wait_for("TurnFinished")["why"] == "done"
        engine = served.server._socketio.server.eio

        def is_alone() -> bool:
            return sum(not each.closed for each in list(engine.sockets.values())) == 1

        assert wait_until(is_alone, TIMEOUT_SECONDS)
