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

from modules.web.http.security import LET_IN, Application, Environ, StartResponse
from modules.web.servers.http_limits import GOODBYE, HEAD_SECONDS, MOST_CONNECTIONS, HttpLimits
from modules.web.servers.unauthenticated import Unauthenticated
from utils.system.sockets import cut

_LOOK = 0.2
"""Seconds between two looks at what is too late, and until a stop is noticed."""
_PATIENCE = 5.0
"""Seconds for requests to end whose connection is cut."""
_UNREAD = 1_000_000
"""Bytes behind an answered request that are read, so that its client gets to see the answer."""
_FULL = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS}


class ThreadingServer:
    """Serves on *listening*, every connection in a thread of its own."""

    def __init__(self, listening: socket.socket, failed: Callable[[BaseException], object]) -> None:
        self._listening = listening
        self._failed = failed
        self._server: _WerkzeugServer | None = None
        self._is_ready = threading.Event()

    def run(self, application: Application) -> None:
        self._server = _WerkzeugServer(self._listening, application, self._failed)
        self._is_ready.set()
        self._server.serve_forever()
        time.sleep(GOODBYE)

    def stop(self) -> None:
        self._is_ready.wait()
        if self._server:
            self._server.shutdown()

    def close(self) -> None:
        if self._server:
            self._server.server_close()
            self._server.end_connections()


class _WerkzeugServer(ThreadedWSGIServer):
    """Knows what is connected and until when its next request has to be there."""

    def __init__(
        self,
        listening: socket.socket,
        application: Application,
        failed: Callable[[BaseException], object],
    ) -> None:
        host, port = listening.getsockname()[:2]
        super().__init__(
            host, port, _ending(application), _ConnectionHandler, fd=listening.fileno()
        )
        self._failed = failed
        self._due: dict[Any, float] = {}
        self._changed = threading.Condition()
        self.unauthenticated = Unauthenticated()

    def serve_forever(self, poll_interval: float = _LOOK) -> None:
        """Serve until `shutdown`; a `KeyboardInterrupt`, which the base would drop, is raised."""
        try:
            HTTPServer.serve_forever(self, poll_interval)
        finally:
            self.server_close()

    def get_request(self) -> Any:
        with self._changed:
            self._changed.wait_for(lambda: len(self._due) < MOST_CONNECTIONS, _LOOK)
            if len(self._due) >= MOST_CONNECTIONS:
                raise OSError(errno.EMFILE, "too many connections")
        try:
            return super().get_request()
        except OSError as error:
            if error.errno in _FULL:
                time.sleep(_LOOK)  # it would be tried again at once
            raise

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._changed:
            self._due[request] = time.monotonic() + HEAD_SECONDS
        self.unauthenticated.came(request)
        super().process_request(request, client_address)

    def head_is_read(self, request: Any) -> None:
        with self._changed:
            if request in self._due:
                self._due[request] = float("inf")

    def service_actions(self) -> None:
        """Cut what keeps us waiting for its request."""
        now = time.monotonic()
        with self._changed:
            for request in [request for request, due in self._due.items() if due < now]:
                cut(request)

    def shutdown_request(self, request: Any) -> None:
        self.unauthenticated.left(request)
        super().shutdown_request(request)
        with self._changed:
            self._due.pop(request, None)
            self._changed.notify_all()

    def end_connections(self) -> None:
        with self._changed:
            for request in self._due:
                cut(request)
            self._changed.wait_for(lambda: not self._due, _PATIENCE)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        if error := sys.exc_info()[1]:
            self._failed(error)

    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002 - as the base
        """Keep what failed; other news are nobody's."""
        if type == "error":
            self._failed(RuntimeError(message % args if args else message))


class _Reader(io.BufferedReader):
    """What comes from a client. Once its request is answered, only so much more is read."""

    left: int | None = None

    def read(self, size: int | None = -1, /) -> bytes:
        if self.left is None:
            return super().read(size)
        data = self.read1(max(0, self.left))
        self.left -= len(data)
        return data


def _ending(application: Application) -> Application:
    """Return *application*; when it has answered, little more is read of what was sent to it."""

    def answer(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        reader: _Reader = environ["wsgi.input"]
        try:
            return application(environ, start_response)
        finally:
            reader.left = _UNREAD

    return answer


class _ConnectionHandler(HttpLimits, WSGIRequestHandler):
    protocol_version = "HTTP/1.1"
    rfile: _Reader
    server: _WerkzeugServer

    def setup(self) -> None:
        super().setup()
        self.rfile = _Reader(self.rfile.detach())

    def parse_request(self) -> bool:
        understood = super().parse_request()
        self.server.head_is_read(self.connection)
        if understood and self.headers["Upgrade"] is not None:
            self.close_connection = True  # no request comes behind a WebSocket
        return understood

    def make_environ(self) -> Environ:
        environ = super().make_environ()
        environ[LET_IN] = partial(self.server.unauthenticated.left, self.connection)
        return environ

    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002 - as the base
        """Say nothing: the terminal is for the person."""
