"""State machine of the connection to a session on a server: its states, and which leads where."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum


class ConnectionState(Enum):
    """State of the connection to a session."""

    CONNECTED = "connected"
    LOST = "lost"
    """The server is not reached; it is tried again."""
    DELETED = "deleted"
    """The session was deleted while we heard of it."""
    GONE = "gone"
    """The session is not there any more since the connection broke."""

    @property
    def is_lost(self) -> bool:
        return self in (ConnectionState.LOST, ConnectionState.GONE)

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be heard of the session."""
        return self in (ConnectionState.DELETED, ConnectionState.GONE)


class ConnectionEvent(Enum):
    """Event that happens to a connection."""

    HEAR = "hear"
    """The server tells something."""
    BREAK = "break"
    """The connection breaks, or there is none yet."""
    DELETE = "delete"
    """The server says that there is no such session."""


CONNECTION_TRANSITIONS: Mapping[tuple[ConnectionState, ConnectionEvent], ConnectionState] = {
    (ConnectionState.CONNECTED, ConnectionEvent.HEAR): ConnectionState.CONNECTED,
    (ConnectionState.CONNECTED, ConnectionEvent.BREAK): ConnectionState.LOST,
    (ConnectionState.CONNECTED, ConnectionEvent.DELETE): ConnectionState.DELETED,
    (ConnectionState.LOST, ConnectionEvent.HEAR): ConnectionState.CONNECTED,
    (ConnectionState.LOST, ConnectionEvent.BREAK): ConnectionState.LOST,
    (ConnectionState.LOST, ConnectionEvent.DELETE): ConnectionState.GONE,
}
"""What follows; what is not here cannot happen, and is our own mistake where it does."""
