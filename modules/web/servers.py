"""The two HTTP servers: eventlet's, and Werkzeug's with a thread for each request."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from typing import Any, Protocol

from modules.web.hub import AsyncMode, EventletHub, Hub, ThreadingHub, load_eventlet

Application = Callable[..., Any]
_GOODBYE = 0.1
"""Seconds for the last packets to leave."""


class HttpServer(Protocol):
    def run(self, application: Application) -> None:
        """Serve *application* until `stop`."""

    def stop(self) -> None:
        """Make `run` return; from any thread, before it too."""


class EventletServer:
    """Serves on *listening* in the thread that makes this, which is the hub's."""

    def __init__(self, listening: socket.socket, hub: Hub) -> None:
        self._listening = listening
        self._hub = hub
        self._over: Any = None

    def run(self, application: Application) -> None:
        import eventlet
        from eventlet import greenio, wsgi

        self._over = eventlet.Event()
        requests = eventlet.GreenPool()
        green = greenio.GreenSocket(self._listening)
        serving = eventlet.spawn(
            wsgi.server,
            green,
            application,
            custom_pool=requests,
            log_output=False,
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

        class Handler(WSGIRequestHandler):
            protocol_version = "HTTP/1.1"

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
    return hub, EventletServer(listening, hub)
