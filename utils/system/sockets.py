"""Shutdown of a connection that another thread uses."""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import Any


def shut_down(connection: Any) -> None:
    """End a TCP connection at once, whoever is busy with it; *connection* is socket-like."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
