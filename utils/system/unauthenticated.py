"""Connections without a credential yet: few are kept, and the oldest is cut first.

Whoever reaches the port can connect and send half a request. The person comes so too,
but only for as long as it takes to read the head of the first request.
"""

from __future__ import annotations

import threading
from typing import Any

from utils.system.sockets import shut_down

MAX_UNAUTHENTICATED = 32
"""Connections without a credential that are kept at once; a browser opens six."""


class UnauthenticatedConnections:
    """The set of those connections, by their sockets. May be used from any thread."""

    def __init__(self) -> None:
        self._connections: dict[Any, None] = {}
        self._lock = threading.Lock()

    def add(self, connection: Any) -> None:
        """Add *connection*; with too many, the oldest is cut."""
        with self._lock:
            self._connections[connection] = None
            if len(self._connections) > MAX_UNAUTHENTICATED:
                oldest = next(iter(self._connections))
                del self._connections[oldest]
                shut_down(oldest)

    def discard(self, connection: Any) -> None:
        """Remove *connection*: it has authenticated, or ended."""
        with self._lock:
            self._connections.pop(connection, None)
