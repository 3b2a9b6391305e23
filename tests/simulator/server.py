"""HTTP server of the simulator: validates requests, plays the script, keeps the requests."""

from __future__ import annotations

import json
import socket
import ssl
import struct
import sys
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from tests.simulator import errors
from tests.simulator.cache import PromptCache, is_thinking, render_prompt, tokens
from tests.simulator.player import ConnectionDropped, Player, whole_reply
from tests.simulator.script import Drop, Part, Refuse, Stall, Step
from tests.simulator.validation import validation_error

_POLL_SECONDS = 0.02
_JSON = "application/json"


@dataclass
class ReceivedRequest:
    """One request to `/chat/completions`, whatever became of it.

    *refusal* is what it was refused with before the script was asked, None if it was valid.
    *usage* is what its reply told, if it came that far. *number* counts from 1.
    """

    number: int
    headers: Mapping[str, str]
    raw: bytes
    body: Any = None
    refusal: str | None = None
    usage: Mapping[str, Any] = field(default_factory=dict)

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body["messages"])

    @property
    def last_user(self) -> str:
        """The content of the last user message."""
        return str([m["content"] for m in self.messages if m["role"] == "user"][-1])

    @property
    def last_answer(self) -> str:
        """The content of the last tool message."""
        return str([m["content"] for m in self.messages if m["role"] == "tool"][-1])

    @property
    def is_thinking(self) -> bool:
        return is_thinking(self.body)


Choice = Callable[[ReceivedRequest], Step]
Script = Sequence[Step | Choice] | Choice


class Simulator:
    """Serves *script* (see the package) as DeepSeek's API while its `with` block lasts.

    *api_key*: the one that is accepted, None for any. *is_strict*: refuse a thinking request
    without `reasoning_content`, as some models do and others do not. *request_id*: end the
    message of a 400 with one, as the live API does. *is_validated*: see the package. *port* 0: any.
    *tls*: serve https with it.
    """

    def __init__(
        self,
        script: Script = (),
        *,
        api_key: str | None = None,
        is_strict: bool = True,
        request_id: bool = False,
        context_limit: int = 1_048_576,
        is_validated: bool = True,
        port: int = 0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.requests: list[ReceivedRequest] = []
        self.api_key = api_key
        self.is_strict = is_strict
        self.request_id = request_id
        self.context_limit = context_limit
        self.cache = PromptCache()
        self.closing = threading.Event()
        self._script = script
        self._position = 0
        self._is_validated = is_validated
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.simulator = self
        self._scheme = "https" if tls else "http"
        if tls:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_POLL_SECONDS,), daemon=True
        )

    @property
    def connections(self) -> int:
        """How many connections were ever made."""
        return len(self._server.sockets)

    def close_connections(self) -> None:
        """Close every connection, as a server does with one that was idle for too long."""
        for connection in self._server.sockets:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    @property
    def url(self) -> str:
        host = "localhost" if self._scheme == "https" else "127.0.0.1"
        return f"{self._scheme}://{host}:{self._server.server_port}"

    @property
    def is_finished(self) -> bool:
        """Whether every step of the script was played."""
        return callable(self._script) or self._position == len(self._script)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        if self._is_validated and error is None:
            self._validate_requests()

    def receive(self, headers: Mapping[str, str], raw: bytes, body: Any) -> ReceivedRequest:
        """Keep a request; its *body* is read by then, for whoever waits for it looks at it."""
        with self._lock:
            received = ReceivedRequest(len(self.requests) + 1, headers, raw, body)
            self.requests.append(received)
        return received

    def next_step(self, received: ReceivedRequest) -> tuple[Part, ...]:
        """Return the parts that answer *received*."""
        script: Any = self._script
        if not callable(script):
            with self._lock:
                if self._position == len(script):
                    return (Refuse(400, errors.body("The script has no step left.")),)
                script = script[self._position]
                self._position += 1
        step = script(received) if callable(script) else script
        return step if isinstance(step, tuple) else (step,)

    def _validate_requests(self) -> None:
        from tests.request_validation import recipe_error

        for received in self.requests:
            error_text = received.refusal or recipe_error(received.raw)
            assert error_text is None, f"request {received.number} is not valid: {error_text}"


class _Server(ThreadingHTTPServer):
    simulator: Simulator
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.sockets: list[socket.socket] = []

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        self.sockets.append(connection)
        return connection, address

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Take a client that goes away for granted."""
        if not isinstance(sys.exc_info()[1], OSError | ConnectionDropped):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "openresty"
    sys_version = ""
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        match self.path.removeprefix("/v1"):
            case "/models":
                listed = [
                    {"id": m, "object": "model", "owned_by": "deepseek"} for m in errors.MODELS
                ]
                self._answer(200, json.dumps({"object": "list", "data": listed}), _JSON)
            case "/user/balance":
                info = {"currency": "USD", "total_balance": "9.50"}
                balance = {"is_available": True, "balance_infos": [info]}
                self._answer(200, json.dumps(balance), _JSON)
            case _:
                self._answer(404, "", None)

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(length)
        if len(raw) < length:  # the client was killed while it sent this: nothing was asked
            self.close_connection = True
            return
        path = urlsplit(self.path).path.removeprefix("/v1").removeprefix("/beta")
        if path != "/chat/completions":
            self._answer(404, "", None)
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            body, problem = json.loads(raw), None
        except ValueError as error:
            body, problem = None, error
        received = self.server.simulator.receive(headers, raw, body)
        refusal = self._refusal(received, problem)
        if refusal:
            received.refusal = refusal.body
            self._refuse(refusal)
        else:
            self._play(received, self.server.simulator.next_step(received))

    def _refusal(self, received: ReceivedRequest, problem: ValueError | None) -> Refuse | None:
        """Return why the request gets no reply, before the script is asked.

        *problem* is why its body is no JSON.
        """
        simulator = self.server.simulator
        scheme, _, key = received.headers.get("authorization", "").partition(" ")
        if scheme != "Bearer" or not key:
            return Refuse(401, errors.NO_KEY)
        if simulator.api_key not in (None, key):
            return Refuse(401, errors.wrong_key(key))
        if not received.headers.get("content-type", "").startswith(_JSON):
            return Refuse(415, errors.NOT_JSON_TYPE)
        if problem:
            return Refuse(400, errors.NOT_JSON.format(detail=problem))
        error_text = validation_error(
            received.body, is_strict=simulator.is_strict, context_limit=simulator.context_limit
        )
        return Refuse(400, errors.body(error_text)) if error_text else None

    def _refuse(self, refusal: Refuse) -> None:
        key = self.headers.get("Authorization", "")
        body = errors.official(refusal.status, key) if refusal.body is None else refusal.body
        if refusal.status == 400 and self.server.simulator.request_id and body.startswith("{"):
            error = json.loads(body)["error"]
            body = errors.body(f"{error['message']} (request_id: {uuid.uuid4()})", error["type"])
        kind = "application/octet-stream" if refusal.status == 400 else _JSON
        if not body.startswith(("{", "[")):
            kind = "text/html" if body.startswith("<") else ""
        self._answer(refusal.status, body, kind or None, refusal.headers)

    def _answer(
        self, status: int, body: str, kind: str | None, headers: Mapping[str, str] | None = None
    ) -> None:
        data = body.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("x-ds-trace-id", uuid.uuid4().hex)
        if kind:
            self.send_header("Content-Type", kind)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _play(self, received: ReceivedRequest, parts: tuple[Part, ...]) -> None:
        match parts[0]:
            case Refuse():
                self._refuse(parts[0])
                return
            case Drop() if len(parts) == 1:
                self._drop()
                return
            case Stall() if len(parts) == 1:
                self._stall()
                return
        prompt, hit = self._read_prompt(received)
        if not received.body.get("stream"):
            reply = whole_reply(received.body, parts, prompt, hit)
            received.usage = reply["usage"]
            self._remember(received, reply["choices"][0]["message"])
            self._answer(200, json.dumps(reply, ensure_ascii=False), _JSON)
            return
        self._play_stream(received, parts, prompt, hit)

    def _play_stream(
        self, received: ReceivedRequest, parts: tuple[Part, ...], prompt: int, hit: int
    ) -> None:
        def remember() -> None:
            self._remember(received, player.message)

        said = (self._write, self._stall, remember)
        player = Player(received.body, parts, prompt, hit, *said)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("x-ds-trace-id", uuid.uuid4().hex)
        self.end_headers()
        try:
            player.play()
        except ConnectionDropped:
            self._drop()
            return
        received.usage = player.usage
        self._write(b"")

    def _read_prompt(self, received: ReceivedRequest) -> tuple[int, int]:
        """Return the tokens of the prompt and how many of them the cache knew."""
        text = render_prompt(received.body)
        return tokens(text), self.server.simulator.cache.hit(self._owner(received), text)

    def _remember(self, received: ReceivedRequest, message: Mapping[str, Any]) -> None:
        conversation = [*received.messages, message]
        text = render_prompt({**received.body, "messages": conversation})
        self.server.simulator.cache.remember(self._owner(received), text)

    def _owner(self, received: ReceivedRequest) -> object:
        body = received.body
        return received.headers["authorization"], body.get("user_id"), body["model"]

    def _write(self, data: bytes) -> None:
        """Send one chunk; an empty one ends the body."""
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def _stall(self) -> None:
        """Say nothing until the client goes away or the simulator ends; then drop the line."""
        self.connection.settimeout(_POLL_SECONDS)
        while not self.server.simulator.closing.is_set():
            try:
                if not self.connection.recv(1):
                    break
            except TimeoutError:
                continue
            except OSError:
                break
        self.close_connection = True
        raise ConnectionDropped

    def _drop(self) -> None:
        """Reset the connection."""
        self.close_connection = True
        linger = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.connection.close()
        raise ConnectionDropped

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - named by the base
        """Say nothing."""


def _listed(model: str) -> dict[str, str]:
    return {"id": model, "object": "model", "owned_by": "deepseek"}


def wait_for(is_true: Callable[[], bool], seconds: float = 120.0) -> None:
    """Wait until *is_true*; fail if that takes longer than *seconds*."""
    deadline = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.005)
