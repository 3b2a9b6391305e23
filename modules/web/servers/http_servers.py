"""The two HTTP servers behind one face, and the hub that goes with each."""

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
        """End every connection, and wait a while for what answers there to see it."""


def make(
    mode: AsyncMode, listening: socket.socket, failed: Callable[[BaseException], object]
) -> tuple[EventLoop, HttpServer]:
    """Return the hub and the server of *mode*; to be run in this thread."""
    if mode == "threading":
        return ThreadingLoop(failed), ThreadingServer(listening, failed)
    load_eventlet()
    hub = EventletLoop(failed)
    return hub, EventletServer(listening, hub, failed)
