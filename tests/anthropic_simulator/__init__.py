"""Simulator of Anthropic's Messages API: plays scripts, rejects what the API rejects.

A script is a list of replies, one for each request: the `events` of a stream, or a `ErrorResponse`.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tests.anthropic_simulator.cache import PromptCache
from tests.anthropic_simulator.validation import validation_error

Event = dict[str, Any]


@dataclass(frozen=True)
class ErrorResponse:
    """An error response in place of a reply."""

    status: int
    kind: str
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Hang:
    """These events, and then silence until the client goes away."""

    events: Sequence[Event] = ()


Reply = Sequence[Event | bytes] | ErrorResponse | Hang
RespondTo = Callable[[Mapping[str, Any]], Reply]


def text(value: str, index: int = 0) -> list[Event]:
    """Return the events of one block of text, in two pieces."""
    half = len(value) // 2
    halves = [{"type": "text_delta", "text": one} for one in (value[:half], value[half:])]
    return block(index, {"type": "text", "text": ""}, *halves)


def thinking(value: str, signature: str, index: int = 0) -> list[Event]:
    return block(index, {"type": "thinking", "thinking": "", "signature": ""},
                 {"type": "thinking_delta", "thinking": value},
                 {"type": "signature_delta", "signature": signature})  # fmt: skip


def call(call_id: str, name: str, arguments: str, index: int = 0) -> list[Event]:
    """Return the events of a call; with *arguments* "" none come, as of one without any."""
    half = len(arguments) // 2
    pieces = [one for one in (arguments[:half], arguments[half:]) if one] or [""]
    deltas = [{"type": "input_json_delta", "partial_json": one} for one in pieces]
    start = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
    return block(index, start, *deltas)


def block(index: int, start: Event, *deltas: Event) -> list[Event]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def reply(*blocks: list[Event], stop: str | None = "end_turn", **usage: int) -> list[Event]:
    """Return a whole stream; *usage* is added to that of the request."""
    begin = {"input_tokens": 0, "output_tokens": 1} | usage
    message: Event = {"id": "msg_1", "type": "message", "role": "assistant", "content": [],
               "model": "claude", "stop_reason": None, "usage": begin}  # fmt: skip
    end = {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None},
           "usage": {"output_tokens": usage.get("output_tokens", 7)}}  # fmt: skip
    return [
        {"type": "message_start", "message": message},
        {"type": "ping"},
        *(event for one in blocks for event in one),
        end,
        {"type": "message_stop"},
    ]


class AnthropicSimulator:
    """Serves *script* while its `with` block lasts; *models* are the rows of its list."""

    def __init__(
        self,
        script: Sequence[Reply | RespondTo] = (),
        *,
        models: Sequence[Mapping[str, Any]] = (),
        key: str = "sk-ant-0123456789",
    ) -> None:
        self.models = models
        self.key = key
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self.cache_hits: list[int] = []
        self.rejections: list[str] = []
        self.client_disconnected = threading.Event()
        """Set when a client goes away in the midst of a reply."""
        self._cache = PromptCache()
        self._script = list(script)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.simulator = self  # type: ignore[attr-defined]
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def is_finished(self) -> bool:
        return not self._script

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        assert not self.rejections, self.rejections

    def answer(self, body: dict[str, Any], headers: Mapping[str, str]) -> Reply:
        """Return what answers a request; the usage of its cache is put into a reply."""
        self.headers.append(headers)
        self.bodies.append(body)  # last, for that is what a test waits for
        if headers.get("authorization") != f"Bearer {self.key}":
            return ErrorResponse(401, "authentication_error", "invalid x-api-key")
        if rejection := validation_error(body):
            self.rejections.append(rejection)
            return ErrorResponse(400, "invalid_request_error", rejection)
        step = self._script.pop(0)
        reply = step(body) if callable(step) else step
        if isinstance(reply, ErrorResponse | Hang):
            return reply
        usage = self._cache.take(body)
        self.cache_hits.append(usage["cache_read_input_tokens"])
        return [_add_usage(event, usage) for event in reply]


def _add_usage(event: Event | bytes, usage: Mapping[str, int]) -> Event | bytes:
    if isinstance(event, bytes) or event["type"] != "message_start":
        return event
    message = event["message"]
    if message["usage"]["input_tokens"]:
        return event  # the test says its own
    return {**event, "message": {**message, "usage": message["usage"] | usage}}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: object) -> None: ...

    @property
    def simulator(self) -> AnthropicSimulator:
        return self.server.simulator  # type: ignore[attr-defined,no-any-return]

    def do_GET(self) -> None:
        self._send_json(200, {"data": list(self.simulator.models), "has_more": False})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path != "/v1/messages" or self.headers.get("anthropic-version") is None:
            self._send_json(404, {"type": "error", "error": {"type": "not_found_error"}})
            return
        reply = self.simulator.answer(body, dict(self.headers.items()))
        if isinstance(reply, ErrorResponse):
            error = {"type": reply.kind, "message": reply.message}
            self._send_json(reply.status, {"type": "error", "error": error}, reply.headers)
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        with suppress(OSError):
            for event in reply.events if isinstance(reply, Hang) else reply:
                self.wfile.write(_to_sse(event))
            if isinstance(reply, Hang):
                self.wfile.flush()
                self.connection.settimeout(60)
                if self.connection.recv(1) == b"":
                    self.simulator.client_disconnected.set()
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)

    def _send_json(
        self, status: int, value: object, headers: Mapping[str, str] | None = None
    ) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        for name, said in {"content-type": "application/json", **(headers or {})}.items():
            self.send_header(name, said)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _to_sse(event: Event | bytes) -> bytes:
    if isinstance(event, bytes):
        return event
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
