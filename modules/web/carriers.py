"""The WebSockets below Socket.IO: limited in both async modes, and able to be cut.

Engine.IO passes its size limit to eventlet only, and keeps no way to close the connection of a
client that does not read; both are put right here, by what its drivers let one replace.
"""

from __future__ import annotations

from typing import Any

from modules.web.hub import AsyncMode
from modules.web.outlet import cut

LARGEST = 1_000_000
"""Bytes of one message."""


def install(engine: Any, mode: AsyncMode) -> None:
    """Make the Engine.IO server *engine* use our WebSockets."""
    engine._async = {**engine._async, "websocket": _carrier(mode)}


def _carrier(mode: AsyncMode) -> Any:
    if mode == "eventlet":
        from engineio.async_drivers.eventlet import WebSocketWSGI

        class EventletCarrier(WebSocketWSGI):  # type: ignore[misc]
            def __init__(self, handler: Any, server: Any) -> None:
                super().__init__(handler, server)
                handler.__self__.carrier = self

            def cut(self) -> None:
                cut(self._sock)

        return EventletCarrier
    from engineio.async_drivers._websocket_wsgi import SimpleWebSocketWSGI

    class ThreadingCarrier(SimpleWebSocketWSGI):  # type: ignore[misc]
        def __init__(self, handler: Any, server: Any) -> None:
            super().__init__(handler, server, max_message_size=LARGEST, receive_bytes=65_536)
            handler.__self__.carrier = self

        def cut(self) -> None:
            cut(self.ws.sock)

    return ThreadingCarrier


def is_behind(connection: Any, most: int) -> bool:
    """Return whether more than *most* packets wait for the Engine.IO socket *connection*."""
    return bool(connection.queue.qsize() > most)


def let_go(connection: Any) -> None:
    """End the Engine.IO socket *connection* without waiting for its client."""
    connection.close(wait=False, abort=True)
    if carrier := getattr(connection, "carrier", None):
        carrier.cut()
