"""The two HTTP servers behind one face, and the hub that goes with each."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Protocol

from modules.web.green import EventletServer
from modules.web.guard import Application
from modules.web.hub import AsyncMode, EventletHub, Hub, ThreadingHub, load_eventlet
from modules.web.threaded import ThreadingServer


class HttpServer(Protocol):
    def run(self, application: Application) -> None:
        """Serve *application* until `stop`; `close` has to follow in the same thread."""

    def stop(self) -> None:
        """Make `run` return; from any thread, before it too."""

    def close(self) -> None:
        """End every connection, and wait a while for what answers there to see it."""


def make(
    mode: AsyncMode, listening: socket.socket, failed: Callable[[BaseException], object]
) -> tuple[Hub, HttpServer]:
    """Return the hub and the server of *mode*; to be run in this thread."""
    if mode == "threading":
        return ThreadingHub(failed), ThreadingServer(listening, failed)
    load_eventlet()
    hub = EventletHub(failed)
    return hub, EventletServer(listening, hub, failed)
