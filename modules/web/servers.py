"""The two HTTP servers: eventlet's, and Werkzeug's with a thread for each request."""

from __future__ import annotations

import logging
import re
import socket
import threading
from collections.abc import Callable
from email.errors import FirstHeaderLineIsContinuationDefect, MissingHeaderBodySeparatorDefect
from email.message import Message
from typing import Any, Protocol

from modules.web.guard import HANG_UP
from modules.web.hub import AsyncMode, EventletHub, Hub, ThreadingHub, load_eventlet

Application = Callable[..., Any]
_GOODBYE = 0.1
"""Seconds for the last packets to leave."""
_BROKEN = (FirstHeaderLineIsContinuationDefect, MissingHeaderBodySeparatorDefect)
_NUMBER = re.compile("[0-9]{1,15}")


class Strict:
    """What both servers' handlers of requests have in common; mixed into `http.server`'s.

    What another program could read in another way is refused, and nothing behind it is read.
    """

    headers: Message
    path: str
    close_connection: bool

    def parse_request(self) -> bool:
        understood: bool = super().parse_request()  # type: ignore[misc]
        if not understood:
            return False
        why = _oddity(self.headers, self.path)
        if why:
            self.close_connection = True
            self.send_error(400, why)  # type: ignore[attr-defined]
        return not why

    def log_message(self, *_: Any) -> None:
        """Say nothing: the terminal is for the person."""


def _oddity(headers: Message, path: str) -> str:
    """Return what is wrong with a request that no browser sends so, "" if it is none of those."""
    if any(isinstance(defect, _BROKEN) for defect in headers.defects):
        return "Broken headers"
    if not path.startswith("/"):
        return "The path must begin with a slash"
    if headers["Transfer-Encoding"] is not None:
        return "Content-Length is wanted, not Transfer-Encoding"
    if any(len(headers.get_all(name, ())) > 1 for name in ("Host", "Content-Length")):
        return "A header that can only be there once"
    length = headers["Content-Length"]
    if length is not None and not _NUMBER.fullmatch(length):
        return "Content-Length is no number"
    return ""


class HttpServer(Protocol):
    def run(self, application: Application) -> None:
        """Serve *application* until `stop`."""

    def stop(self) -> None:
        """Make `run` return; from any thread, before it too."""


class _Failures(logging.Handler):
    """Hands the tracebacks in eventlet's log to *failed*; its other news are nobody's."""

    def __init__(self, failed: Callable[[BaseException], object]) -> None:
        super().__init__()
        self._failed = failed

    def emit(self, record: logging.LogRecord) -> None:
        if (told := record.getMessage()).startswith("Traceback"):
            self._failed(RuntimeError(told))


class EventletServer:
    """Serves on *listening* in the thread that makes this, which is the hub's."""

    def __init__(
        self, listening: socket.socket, hub: Hub, failed: Callable[[BaseException], object]
    ) -> None:
        self._listening = listening
        self._hub = hub
        self._log = logging.Logger("eventlet")
        self._log.addHandler(_Failures(failed))
        self._over: Any = None

    def run(self, application: Application) -> None:
        import eventlet
        from eventlet import greenio, wsgi

        class Handler(Strict, wsgi.HttpProtocol):  # type: ignore[misc]
            def get_environ(self) -> dict[str, Any]:
                environ: dict[str, Any] = super().get_environ()
                environ[HANG_UP] = self._hang_up
                return environ

            def _hang_up(self) -> None:
                self.close_connection = True

        self._over = eventlet.Event()
        requests = eventlet.GreenPool()
        green = greenio.GreenSocket(self._listening)
        serving = eventlet.spawn(
            wsgi.server,
            green,
            application,
            custom_pool=requests,
            log=self._log,
            protocol=Handler,
            log_output=False,
            debug=False,  # what went wrong inside is nobody's business outside
            minimum_chunk_size=1,  # events must not wait for more of them
        )
        self._over.wait()
        # The server itself would wait for every connection to end, and sockets stay open.
        for request in list(requests.coroutines_running):
            request.kill()
        serving.kill()

    def stop(self) -> None:
        self._hub.call(self._end)

    def _end(self) -> None:
        import eventlet

        eventlet.spawn_after(_GOODBYE, self._over.send)


class ThreadingServer:
    """Serves on *listening*, every request in a thread of its own."""

    def __init__(self, listening: socket.socket) -> None:
        self._listening = listening
        self._server: Any = None
        self._is_ready = threading.Event()

    def run(self, application: Application) -> None:
        from werkzeug.serving import WSGIRequestHandler, make_server

        class Handler(Strict, WSGIRequestHandler):
            protocol_version = "HTTP/1.1"

            def parse_request(self) -> bool:
                understood = super().parse_request()
                if understood and self.headers["Upgrade"] is not None:
                    self.close_connection = True  # no request comes behind a WebSocket
                return understood

            def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002 - as the base
                """Say nothing: the terminal is for the person."""

        host, port = self._listening.getsockname()[:2]
        self._server = make_server(
            host,
            port,
            application,
            threaded=True,
            request_handler=Handler,
            fd=self._listening.fileno(),
        )
        self._is_ready.set()
        try:
            self._server.serve_forever(poll_interval=0.2)
        finally:
            self._server.server_close()

    def stop(self) -> None:
        self._is_ready.wait()
        self._server.shutdown()


def make(
    mode: AsyncMode, listening: socket.socket, failed: Callable[[BaseException], object]
) -> tuple[Hub, HttpServer]:
    """Return the hub and the server of *mode*; to be run in this thread."""
    if mode == "threading":
        return ThreadingHub(), ThreadingServer(listening)
    load_eventlet()
    hub = EventletHub(failed)
    return hub, EventletServer(listening, hub, failed)
