"""The connections that have shown no proof yet: they have few places, and the oldest gives way.

Whoever reaches the port can connect and send half a request. The person comes so too,
but only for as long as it takes to read the head of the first request.
"""

from __future__ import annotations

import threading
from typing import Any

from utils.system.sockets import cut

MOST_UNAUTHENTICATED = 32
"""Connections without proof that are kept at once; a browser opens six."""


class Unauthenticated:
    """Knows those connections by their sockets. May be used from any thread."""

    def __init__(self) -> None:
        self._waiting: dict[Any, None] = {}
        self._lock = threading.Lock()

    def came(self, connection: Any) -> None:
        """Count *connection* in; with too many, the one that came first is cut."""
        with self._lock:
            self._waiting[connection] = None
            if len(self._waiting) > MOST_UNAUTHENTICATED:
                oldest = next(iter(self._waiting))
                del self._waiting[oldest]
                cut(oldest)

    def left(self, connection: Any) -> None:
        """Count *connection* out: it has shown proof, or ended."""
        with self._lock:
            self._waiting.pop(connection, None)
