"""Ending a connection that somebody else is busy with."""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import Any


def cut(connection: Any) -> None:
    """End a TCP connection at once, whoever is busy with it; *connection* is socket-like."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
