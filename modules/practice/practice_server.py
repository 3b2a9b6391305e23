"""A server for the practice model: DeepSeek's wire, on this machine only, a function behind it."""

from __future__ import annotations

import json
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from modules.practice.chunks import END, ChunkBuilder, event, usage
from modules.practice.practice_reply import PracticeReply
from utils.text.tokens import estimate_tokens

_POLL_SECONDS = 0.1


Responder = Callable[[dict[str, Any]], PracticeReply]
"""Gets the body of a request, parsed; may be called from several threads."""


@contextmanager
def serve(answer: Responder) -> Iterator[str]:
    """Serve *answer* as a model on a free port of the loopback interface; yield the base URL."""

    class Handler(_Handler):
        reply_to = staticmethod(answer)

    with _Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(
            target=server.serve_forever, args=(_POLL_SECONDS,), name="practice-server", daemon=True
        )
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


class _Server(ThreadingHTTPServer):
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a client that disconnected; report anything else."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    reply_to: Responder

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        reply = self.reply_to(request)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for data in (*_stream(request, reply), b""):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - named by the base
        """Say nothing: the terminal belongs to somebody else."""


def _stream(request: Mapping[str, Any], reply: PracticeReply) -> Iterator[bytes]:
    is_thinking = (request.get("thinking") or {}).get("type") != "disabled"
    thinking = reply.thinking if is_thinking else ""
    chunks = ChunkBuilder(str(uuid.uuid4()), int(time.time()), str(request["model"]), is_thinking)
    calls = [(call.name, json.dumps(call.arguments, ensure_ascii=False)) for call in reply.calls]
    yield event(chunks.opening())
    yield from map(event, chunks.thinking(thinking))
    yield from map(event, chunks.text(reply.text))
    for index, (name, arguments) in enumerate(calls):
        call_id = f"call_{index:02d}_{uuid.uuid4().hex[:24]}"
        yield from map(event, chunks.call(index, call_id, name, arguments))
    reasoning = estimate_tokens(thinking)
    usage_object = usage(
        prompt=estimate_tokens(json.dumps([request.get("tools"), request["messages"]])),
        hit=0,
        completion=reasoning
        + estimate_tokens(reply.text)
        + sum(estimate_tokens(args) for _, args in calls),
        reasoning=reasoning if is_thinking else None,
    )
    yield event(chunks.closing("tool_calls" if calls else "stop", usage_object))
    yield END
