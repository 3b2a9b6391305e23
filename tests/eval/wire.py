"""The wire of an attempt: a proxy on loopback that counts tokens, in front of a model's server."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

_POLL_SECONDS = 0.05
_PIECE_BYTES = 65_536
_OF_A_CONNECTION = frozenset({"connection", "keep-alive", "transfer-encoding", "host"})
_LEFT_OUT = _OF_A_CONNECTION | {"accept-encoding"}  # compressed, nothing could be counted


@dataclass
class Count:
    """Count of *requests* for replies, and of their tokens; *untold* came without them."""

    requests: int = 0
    untold: int = 0
    hit: int = 0
    miss: int = 0
    output: int = 0

    def add(self, usage: Mapping[str, Any] | None) -> None:
        self.requests += 1
        if usage is None or "prompt_tokens" not in usage:
            self.untold += 1
            return
        details = usage.get("prompt_tokens_details") or {}
        hit = usage.get("prompt_cache_hit_tokens", details.get("cached_tokens")) or 0
        self.hit += hit
        self.miss += usage["prompt_tokens"] - hit
        self.output += usage.get("completion_tokens") or 0


class CountingProxy:
    """Passes requests on to *server*, a base URL, unchanged; `count` is what their replies told.

    It serves while its `with` block lasts.
    """

    def __init__(self, server: str) -> None:
        self.count = Count()
        self.lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self.upstream = urlsplit(server.rstrip("/"))
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.proxy = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_POLL_SECONDS,), daemon=True
        )

    @property
    def url(self) -> str:
        """The base URL for the agent, with the path of the server's."""
        return f"http://127.0.0.1:{self._server.server_port}{self.upstream.path}"

    @contextmanager
    def connection(self) -> Iterator[HTTPConnection]:
        """Connect to the server, until the end of this or of the proxy."""
        kind = HTTPSConnection if self.upstream.scheme == "https" else HTTPConnection
        connection = kind(self.upstream.netloc)
        connection.connect()
        opened = connection.sock
        with self.lock:
            self._open.add(opened)
        try:
            yield connection
        finally:
            with self.lock:
                self._open.discard(opened)
            connection.close()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        with self.lock:
            for one in self._open:  # else the server goes on with a reply that nobody waits for
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    proxy: CountingProxy
    daemon_threads = True
    block_on_close = False


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        self._pass_on(b"")

    def do_POST(self) -> None:
        self._pass_on(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

    def _pass_on(self, body: bytes) -> None:
        """Send the request on, and its reply back as it comes, to the end of the connection."""
        headers = {n: v for n, v in self.headers.items() if n.lower() not in _LEFT_OUT}
        try:
            with self.server.proxy.connection() as connection:
                connection.request(self.command, self.path, body or None, headers)
                self._send_back(connection.getresponse(), is_counted=self.command == "POST")
        except (OSError, HTTPException) as error:
            with suppress(OSError):
                self.send_error(502, f"The server cannot be reached: {error}")

    def _send_back(self, response: HTTPResponse, *, is_counted: bool) -> None:
        self.send_response_only(response.status)
        for name, value in response.getheaders():
            if name.lower() not in (*_OF_A_CONNECTION, "content-length"):
                self.send_header(name, value)
        self.end_headers()
        received = bytearray()
        try:
            for piece in iter(lambda: response.read1(_PIECE_BYTES), b""):
                received += piece
                self.wfile.write(piece)
                self.wfile.flush()
        except (OSError, HTTPException):
            return  # one of the two is gone; what was told by then counts
        finally:
            if is_counted and response.status == 200:
                with self.server.proxy.lock:
                    self.server.proxy.count.add(usage_in(bytes(received)))

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the results do."""


def usage_in(reply: bytes) -> Mapping[str, Any] | None:
    """Return the usage that *reply*, JSON or a stream of events, tells; None if it tells none."""
    told = None
    for data in _objects_in(reply):
        if not isinstance(data, dict):
            continue
        if isinstance(data.get("usage"), dict):
            told = data["usage"]
        elif told is None and isinstance(data.get("timings"), dict):
            told = _of_timings(data["timings"])
    return told


def _of_timings(timings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what llama.cpp's server tells of tokens where nobody asked it for the usage."""
    hit = timings.get("cache_n", 0)
    return {
        "prompt_tokens": hit + timings.get("prompt_n", 0),
        "prompt_cache_hit_tokens": hit,
        "completion_tokens": timings.get("predicted_n", 0),
    }


def _objects_in(reply: bytes) -> Iterator[Any]:
    events = [line[5:] for line in reply.splitlines() if line.startswith(b"data:")]
    for text in events or [reply]:
        try:
            yield json.loads(text)
        except ValueError:
            continue
