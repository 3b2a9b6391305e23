"""Random actions of a page or a program while the server is killed: by socket and by HTTP."""

from __future__ import annotations

import json
import random
import re
import subprocess
import threading
import uuid
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException
from typing import Any, Protocol
from urllib.parse import urlsplit

import websocket

from tests.session_kills import TIMEOUT_SECONDS, KilledSession, kill, numbers_in, wait_until

Packet = dict[str, Any]


class ServerDied(Exception):
    """The server is gone."""


class HttpClient:
    """Client of the HTTP API."""

    def __init__(self, about: Packet) -> None:
        self._info = about

    def ask(self, method: str, path: str, **body: Any) -> Packet:
        server = urlsplit(self._info["url"])
        headers = {
            "Authorization": f"Bearer {self._info['token']}",
            "Content-Type": "application/json",
        }
        try:
            line = HTTPConnection(server.hostname or "", server.port, timeout=TIMEOUT_SECONDS)
            with closing(line):
                sent = json.dumps(body) if method == "POST" else None
                line.request(method, path, sent, headers)
                answer = line.getresponse()
                response: Packet = json.loads(answer.read())
        except (OSError, HTTPException, ValueError) as error:
            raise ServerDied from error
        return {"ok": answer.status < 400, **response}

    def do(self, session: str, name: str, **given: Any) -> Packet:
        path = f"/api/sessions/{session}"
        match name:
            case "send":
                return self.ask("POST", f"{path}/messages", stream=False, **given)
            case "answer":
                return self.ask("POST", f"{path}/confirm", **given)
            case "queue":
                del given["cmd"]
                return self.ask("POST", f"{path}/queue", item=given.pop("id"), **given)
            case _:
                return self.ask("POST", f"{path}/stop")

    def close(self) -> None:
        pass


class SocketClient:
    """Client of the socket, as the page has it."""

    def __init__(self, about: Packet) -> None:
        self._calls = 0
        address = about["url"].replace("http", "ws", 1).rstrip("/")
        token = {"Authorization": f"Bearer {about['token']}"}
        try:
            self._socket = websocket.create_connection(
                f"{address}/socket.io/?EIO=4&transport=websocket",
                header=token,
                timeout=TIMEOUT_SECONDS,
            )
            self._socket.recv()
            self._socket.send("40")
            self._socket.recv()
        except (OSError, websocket.WebSocketException) as error:
            raise ServerDied from error

    def do(self, session: str, name: str, **given: Any) -> Packet:
        self._calls += 1
        given = {"session": session, **given}
        try:
            self._socket.send(f"42{self._calls}{json.dumps([name, given])}")
            while True:
                received = str(self._socket.recv())
                if received == "2":
                    self._socket.send("3")
                if received.startswith(f"43{self._calls}["):
                    answer: Packet = json.loads(received[received.index("[") :])[0]
                    return answer
        except (OSError, websocket.WebSocketException) as error:
            raise ServerDied from error

    def close(self) -> None:
        self._socket.shutdown()  # type: ignore[no-untyped-call]


class ProtocolClient(Protocol):
    def do(self, session: str, name: str, **given: Any) -> Packet: ...
    def close(self) -> None: ...


class Server:
    """The server on *stage*, started to die right before its *change*."""

    def __init__(self, stage: KilledSession, change: int, port: int = 0) -> None:
        self.process = stage.start(change, "--web", "--port", str(port), stdout=subprocess.PIPE)
        self.info: Packet = {}
        assert self.process.stdout
        for line in self.process.stdout:
            if found := re.search(rb"http://127\.0\.0\.1:(\d+)/login", line):
                file = stage.base / "data" / f"server-{int(found[1])}.json"
                with suppress(OSError):
                    self.info = json.loads(file.read_bytes())
                break

    @property
    def is_ready(self) -> bool:
        return bool(self.info)

    def kill(self) -> None:
        """Kill what still lives."""
        kill(self.process)
        assert self.process.stdout
        self.process.stdout.close()


class Person:
    """Does things at random in the session of *server*, until it dies or they are through."""

    def __init__(self, stage: KilledSession, server: Server, rng: random.Random) -> None:
        self._stage, self._log, self._random = stage, stage.log, rng
        self._process = server.process
        self._http = HttpClient(server.info)
        by_socket = rng.random() < 0.5
        self._client: ProtocolClient = SocketClient(server.info) if by_socket else self._http
        rows = self._http.ask("GET", "/api/sessions")["sessions"]
        self.session: str = rows[0]["id"] if rows else self._create_session()

    def _create_session(self) -> str:
        return str(self._http.ask("POST", "/api/sessions")["id"])

    def close(self) -> None:
        self._client.close()

    def state(self) -> Packet:
        state: Packet = self._http.ask("GET", f"/api/sessions/{self.session}")["state"]
        return state

    def waiting(self) -> list[int]:
        return [n for item in self.state()["queue"] for n in numbers_in(item["text"])]

    def check_state(self) -> None:
        """Hold what the server shows, which has just begun, against the ledger."""

        def is_at_rest() -> bool:
            state = self.state()
            return bool(state["asked"]) or not state["running"]

        if not wait_until(is_at_rest, self._process):
            raise ServerDied
        state = self.state()
        assert not state["queue"] or state["paused"] or state["asked"], state
        self._stage.check(self.waiting())

    def act(self, times: int) -> None:
        for _ in range(times):
            match self._random.choice(_ACTS[self._stage.kind]):
                case "send":
                    self._send(now=False)
                case "now":
                    self._send(now=True)
                case "answer":
                    self._answer()
                case "drop":
                    self._rearrange("drop")
                case "move":
                    self._rearrange("move")
                case "compact":
                    self._do("send", text="/compact")
                case "finish":
                    self._finish()

    def _do(self, name: str, **given: Any) -> Packet:
        return self._client.do(self.session, name, cmd=uuid.uuid4().hex, **given)

    def _send(self, *, now: bool) -> None:
        number = self._log.next()
        self._log.sent.add(number)
        if self._do("send", text=self._stage.text(number), now=now)["ok"]:
            self._log.acknowledged.add(number)

    def _rearrange(self, operation: str) -> None:
        queue = self.state()["queue"]
        if not queue:
            return
        item = self._random.choice(queue)
        numbers = numbers_in(item["text"])
        if operation == "drop":
            self._log.taking_back.update(numbers)
        if self._do("queue", op=operation, id=item["id"], to=0)["ok"]:
            if operation == "drop":
                self._log.taken_back.update(numbers)
        else:
            self._log.taking_back.difference_update(numbers)

    def _answer(self) -> None:
        """Wait until something is asked, and say yes or no."""
        if not self.state()["running"]:
            return
        asked: list[str] = []

        def is_asked() -> bool:
            state = self.state()
            asked[:] = state["asked"]
            return bool(asked) or not state["running"]

        if not wait_until(is_asked, self._process):
            raise ServerDied
        if asked:
            yes = self._random.random() < 0.7
            if yes:
                self._log.approved.update(self._stage.responder.asked_tasks[-1:])
            self._do("answer", call_id=asked[0], yes=yes, reason="" if yes else "not now")

    def _finish(self) -> None:
        """Wait until nothing runs, saying yes to everything."""
        while self.state()["running"]:
            self._answer()


_ACTS = {
    "queue": ("send", "send", "send", "now", "drop", "move", "finish"),
    "approval": ("send", "answer", "answer", "answer", "now"),
    "compaction": ("send", "finish", "compact", "finish"),
}


def run_rounds(stage: KilledSession, rng: random.Random, times: int) -> None:
    """Start the server *times* times and kill it each time, then look what the next one shows."""
    for round_ in range(times + 1):
        is_last = round_ == times
        by_change = not is_last and rng.random() < 0.6
        server = Server(stage, rng.randint(1, 120) if by_change else 0)
        timer = threading.Timer(rng.uniform(0, 2.5), server.process.kill)
        try:
            if server.is_ready:
                _round(stage, server, rng, timer, by_time=not by_change and not is_last)
        except ServerDied:
            pass
        finally:
            timer.cancel()
            server.kill()
        stage.killed += not is_last


def _round(
    stage: KilledSession,
    server: Server,
    rng: random.Random,
    timer: threading.Timer,
    *,
    by_time: bool,
) -> None:
    person = Person(stage, server, rng)
    try:
        person.check_state()
        if by_time:
            timer.start()
        person.act(12)
        if server.process.poll() is None and rng.random() < 0.3:
            person._finish()
    finally:
        person.close()
