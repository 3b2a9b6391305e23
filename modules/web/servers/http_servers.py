"""The two HTTP servers behind one interface, and the event loop of each."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Protocol

from modules.web.http.security import Application
from modules.web.servers.event_loop import (
    AsyncMode,
    EventletLoop,
    EventLoop,
    ThreadingLoop,
    load_eventlet,
)
from modules.web.servers.eventlet_server import EventletServer
from modules.web.servers.threading_server import ThreadingServer


class HttpServer(Protocol):
    def run(self, application: Application) -> None:
        """Serve *application* until `stop`; `close` has to follow in the same thread."""

    def stop(self) -> None:
        """Make `run` return; from any thread, before it too."""

    def close(self) -> None:
        """End every connection, and wait a while for the handlers to notice."""


def load_libraries(mode: AsyncMode) -> None:
    """Load what a server of *mode* needs, before there is any thread; see `load_eventlet`."""
    if mode == "eventlet":
        load_eventlet()


def make_server(
    mode: AsyncMode, listen_socket: socket.socket, on_error: Callable[[BaseException], object]
) -> tuple[EventLoop, HttpServer]:
    """Return the event loop and the server of *mode*; to be run in this thread."""
    if mode == "threading":
        return ThreadingLoop(on_error), ThreadingServer(listen_socket, on_error)
    load_libraries(mode)
    loop = EventletLoop(on_error)
    return loop, EventletServer(listen_socket, loop, on_error)
