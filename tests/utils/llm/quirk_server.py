"""A server with one quirk, on loopback: a function answers its requests.

It plays one task: a call of `create_file` for `made.txt`, then the words "All done.".
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]
ARGUMENTS = json.dumps({"path": "made.txt", "content": "hi é你\n"}, ensure_ascii=False)
CONTENT = "hi é你\n"
ANSWER = "All done."


@dataclass(frozen=True)
class ReceivedRequest:
    """One request; *number* counts those to chat completions from 1, *headers* are in small
    letters."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Body
    number: int

    @property
    def messages(self) -> list[Body]:
        return list(self.body["messages"])

    @property
    def is_first(self) -> bool:
        """Whether the model has not spoken yet."""
        return all(message["role"] != "assistant" for message in self.messages)


@dataclass(frozen=True)
class Answer:
    """Response: *body* whole, or in *pieces* without a length; *interim* comes before its head."""

    status: int = 200
    body: bytes = b""
    pieces: Sequence[bytes] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    http: str = "HTTP/1.1"
    is_chunked: bool = False
    interim: bytes = b""


Respond = Callable[[ReceivedRequest], Answer]


def error_response(message: Any, status: int = 400, **headers: str) -> Answer:
    """The usual form of an error; *message* may be a whole body instead of a sentence."""
    error_body = message if not isinstance(message, str) else {"error": {"message": message}}
    return Answer(status, json.dumps(error_body).encode(), headers=headers)


def call(arguments: Any = ARGUMENTS, **more: Any) -> Body:
    function = {"name": "create_file", "arguments": arguments}
    return {"index": 0, "id": "call_1", "type": "function", "function": function, **more}


def chunk(delta: Body, finish: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    event = {"object": "chat.completion.chunk", "model": "m", "choices": [choice], **more}
    return b"data: " + json.dumps(event, ensure_ascii=False).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"


def default_events(asked: ReceivedRequest) -> list[bytes]:
    """The usual stream."""
    if asked.is_first:
        half = len(ARGUMENTS) // 2
        more = {"index": 0, "function": {"arguments": ARGUMENTS[half:]}}
        return [
            chunk({"role": "assistant", "tool_calls": [call(arguments=ARGUMENTS[:half])]}),
            chunk({"tool_calls": [more]}),
            chunk({}, "tool_calls"),
            DONE,
        ]
    return [chunk({"content": "All "}), chunk({"content": "done."}), chunk({}, "stop"), DONE]


def streamed_response(pieces: Sequence[bytes], **headers: str) -> Answer:
    return Answer(pieces=pieces, headers={"Content-Type": "text/event-stream", **headers})


def default_response(asked: ReceivedRequest) -> Answer:
    return (
        streamed_response(default_events(asked)) if asked.body.get("stream") else whole_reply(asked)
    )


def whole_reply(asked: ReceivedRequest) -> Answer:
    """The usual reply to a request without `stream`."""
    message: Body = {"role": "assistant", "content": ANSWER}
    if asked.is_first:
        message = {"role": "assistant", "content": None, "tool_calls": [call()]}
    finish = "tool_calls" if asked.is_first else "stop"
    reply_body = {"choices": [{"index": 0, "message": message, "finish_reason": finish}]}
    return Answer(
        body=json.dumps(reply_body).encode(), headers={"Content-Type": "application/json"}
    )


class QuirkServer:
    """Record of its requests: chat completions in *chat_requests*, others in *other_requests*."""

    def __init__(self, habit: Respond, look: Respond) -> None:
        self.chat_requests: list[ReceivedRequest] = []
        self.other_requests: list[ReceivedRequest] = []
        self.respond_to_chat, self.respond_to_other = habit, look
        self.url = ""

    def answer(self, method: str, path: str, headers: Mapping[str, str], raw: bytes) -> Answer:
        is_chat = path.partition("?")[0].rstrip("/").endswith("/chat/completions")
        requests = self.chat_requests if is_chat else self.other_requests
        body = json.loads(raw) if raw else {}
        requests.append(ReceivedRequest(method, path, headers, body, len(requests) + 1))
        return (self.respond_to_chat if is_chat else self.respond_to_other)(requests[-1])


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    quirk_server: QuirkServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Take a client that goes away for granted."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http

    def log_message(self, *_: Any) -> None: ...

    def do_GET(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._send(self.server.quirk_server.answer(self.command, self.path, headers, raw))

    do_POST = do_GET

    def _send(self, answer: Answer) -> None:
        self.protocol_version = answer.http
        self.wfile.write(answer.interim)
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.is_chunked:
            self.send_header("Transfer-Encoding", "chunked")
        elif answer.pieces:
            self.send_header("Connection", "close")
            self.close_connection = True
        else:
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)
        for piece in answer.pieces:
            size = b"%x\r\n" % len(piece)
            self.wfile.write(size + piece + b"\r\n" if answer.is_chunked else piece)
        if answer.is_chunked:
            self.wfile.write(b"0\r\n\r\n")


@contextmanager
def quirk_server(
    habit: Respond = default_response, look: Respond | None = None
) -> Iterator[QuirkServer]:
    """Serve *habit* at `/v1/chat/completions`, and *look* for whatever else is asked (404)."""
    with _Http(("127.0.0.1", 0), _Handler) as http:
        http.quirk_server = QuirkServer(habit, look or (lambda _: Answer(404)))
        http.quirk_server.url = f"http://127.0.0.1:{http.server_port}/v1"
        thread = threading.Thread(target=http.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield http.quirk_server
        finally:
            http.shutdown()
            thread.join()
