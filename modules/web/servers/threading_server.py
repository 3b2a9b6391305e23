"""The HTTP server of Werkzeug, with a thread for each connection."""

from __future__ import annotations

import errno
import io
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from http.server import HTTPServer
from typing import Any

from werkzeug.serving import ThreadedWSGIServer, WSGIRequestHandler

from modules.web.http.security import CUT, ON_AUTHENTICATED, Application, Environ, StartResponse
from modules.web.servers.http_limits import DRAIN_SECONDS, HEAD_SECONDS, MAX_CONNECTIONS, HttpLimits
from utils.system.sockets import shut_down
from utils.system.unauthenticated import UnauthenticatedConnections

_POLL_SECONDS = 0.2
"""Seconds between two looks at what is too late, and until a stop is noticed."""
_CLOSE_SECONDS = 5.0
"""Seconds for requests to end whose connection is cut."""
_MAX_UNREAD_BYTES = 1_000_000
"""Bytes behind an answered request that are read, so that its client gets to see the answer."""
_OUT_OF_DESCRIPTORS = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS}


class ThreadingServer:
    """Serves on *listen_socket*, every connection in a thread of its own."""

    def __init__(
        self, listen_socket: socket.socket, on_error: Callable[[BaseException], object]
    ) -> None:
        self._listen_socket = listen_socket
        self._on_error = on_error
        self._server: _WerkzeugServer | None = None
        self._is_ready = threading.Event()

    def run(self, application: Application) -> None:
        self._server = _WerkzeugServer(self._listen_socket, application, self._on_error)
        self._is_ready.set()
        self._server.serve_forever()
        self._server.wait_for_connections(DRAIN_SECONDS)

    def stop(self) -> None:
        self._is_ready.wait()
        if self._server:
            shut_down(self._listen_socket)  # wakes the server, where the system lets it
            self._server.shutdown()

    def close(self) -> None:
        if self._server:
            self._server.server_close()
            self._server.end_connections()


class _WerkzeugServer(ThreadedWSGIServer):
    """Werkzeug's server, which tracks connections and the deadlines of their next requests."""

    def __init__(
        self,
        listen_socket: socket.socket,
        application: Application,
        on_error: Callable[[BaseException], object],
    ) -> None:
        host, port = listen_socket.getsockname()[:2]
        super().__init__(
            host, port, _with_read_limit(application), _ConnectionHandler, fd=listen_socket.fileno()
        )
        self._on_error = on_error
        self._deadlines: dict[Any, float] = {}
        self._changed = threading.Condition()
        self.unauthenticated = UnauthenticatedConnections()

    def serve_forever(self, poll_interval: float = _POLL_SECONDS) -> None:
        """Serve until `shutdown`; a `KeyboardInterrupt`, which the base would drop, is raised."""
        try:
            HTTPServer.serve_forever(self, poll_interval)
        finally:
            self.server_close()

    def get_request(self) -> Any:
        with self._changed:
            self._changed.wait_for(lambda: len(self._deadlines) < MAX_CONNECTIONS, _POLL_SECONDS)
            if len(self._deadlines) >= MAX_CONNECTIONS:
                raise OSError(errno.EMFILE, "too many connections")
        try:
            return super().get_request()
        except OSError as error:
            if error.errno in _OUT_OF_DESCRIPTORS:
                time.sleep(_POLL_SECONDS)  # it would be tried again at once
            raise

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._changed:
            self._deadlines[request] = time.monotonic() + HEAD_SECONDS
        self.unauthenticated.add(request)
        super().process_request(request, client_address)

    def on_head_read(self, request: Any) -> None:
        with self._changed:
            if request in self._deadlines:
                self._deadlines[request] = float("inf")

    def service_actions(self) -> None:
        """Cut connections whose request is past its deadline."""
        now = time.monotonic()
        with self._changed:
            for request in [
                request for request, deadline in self._deadlines.items() if deadline < now
            ]:
                shut_down(request)

    def shutdown_request(self, request: Any) -> None:
        self.unauthenticated.discard(request)
        super().shutdown_request(request)
        with self._changed:
            self._deadlines.pop(request, None)
            self._changed.notify_all()

    def end_connections(self) -> None:
        with self._changed:
            for request in self._deadlines:
                shut_down(request)
        self.wait_for_connections(_CLOSE_SECONDS)

    def wait_for_connections(self, seconds: float) -> None:
        """Return when no connection is left, or *seconds* are over."""
        with self._changed:
            self._changed.wait_for(lambda: not self._deadlines, seconds)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        if error := sys.exc_info()[1]:
            self._on_error(error)

    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002 - as the base
        """Report errors; drop all other messages."""
        if type == "error":
            text = message % args if args else message
            self._on_error(sys.exception() or RuntimeError(text))


class _LimitedReader(io.BufferedReader):
    """Reader of a client's bytes. Once its request is answered, only so much more is read."""

    bytes_left: int | None = None

    def read(self, size: int | None = -1, /) -> bytes:
        if self.bytes_left is None:
            return super().read(size)
        data = self.read1(max(0, self.bytes_left))
        self.bytes_left -= len(data)
        return data


def _with_read_limit(application: Application) -> Application:
    """Return *application*; when it has answered, little more of the body is read."""

    def answer(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        reader: _LimitedReader = environ["wsgi.input"]
        try:
            return application(environ, start_response)
        finally:
            reader.bytes_left = _MAX_UNREAD_BYTES

    return answer


class _ConnectionHandler(HttpLimits, WSGIRequestHandler):
    protocol_version = "HTTP/1.1"
    rfile: _LimitedReader
    server: _WerkzeugServer

    def setup(self) -> None:
        super().setup()
        self.rfile = _LimitedReader(self.rfile.detach())

    def parse_request(self) -> bool:
        is_parsed = super().parse_request()
        self.server.on_head_read(self.connection)
        if is_parsed and self.headers["Upgrade"] is not None:
            self.close_connection = True  # no request comes behind a WebSocket
        return is_parsed

    def make_environ(self) -> Environ:
        environ = super().make_environ()
        environ[CUT] = partial(shut_down, self.connection)
        environ[ON_AUTHENTICATED] = partial(self.server.unauthenticated.discard, self.connection)
        return environ

    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002 - as the base
        """Say nothing: the terminal is for the person."""
