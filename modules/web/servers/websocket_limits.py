"""Limits of the WebSockets below Socket.IO, in both async modes, and a way to cut one.

Engine.IO passes its size limit to eventlet only, where it does not count fragments, and keeps no
way to close the connection of a client that does not read; all that is put right here, by what its
drivers let one replace.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from modules.web.servers.event_loop import AsyncMode
from utils.system.sockets import shut_down

MAX_MESSAGE_BYTES = 1_000_000
"""Bytes of one message."""
PING_SECONDS = 10
"""Seconds between two pings, and for the answer to one."""


def install(engine: Any, mode: AsyncMode) -> None:
    """Make the Engine.IO server *engine* use our WebSockets, and sleep so that it can be woken."""
    stop_event = engine._async["event"]()
    engine.over = stop_event
    engine._async = {**engine._async, "websocket": _websocket_class(mode), "sleep": stop_event.wait}
    engine.disconnect = lambda sid: _disconnect_now(engine, sid)
    engine.handle_request = _skipping_closed_clients(engine, engine.handle_request)
    engine.send_packet = _ignoring_closed_clients(engine.send_packet)


def _skipping_closed_clients(engine: Any, handle: Any) -> Any:
    """Return *handle* that first drops clients which are closed: it would fail at their message."""

    def answer(environ: Any, start_response: Any) -> Any:
        for sid, connection in list(engine.sockets.items()):
            if connection.closed:
                engine.sockets.pop(sid, None)
        return handle(environ, start_response)

    return answer


def _ignoring_closed_clients(send: Callable[[str, Any], None]) -> Callable[[str, Any], None]:
    """Return *send* that drops a packet for a client which disconnects at this moment."""
    from engineio.exceptions import SocketIsClosedError

    def send_if_open(sid: str, packet: Any) -> None:
        with suppress(SocketIsClosedError):
            send(sid, packet)

    return send_if_open


def _disconnect_now(engine: Any, sid: str) -> None:
    """Do as `engine.disconnect` does, but do not wait until the client has read all before."""
    if connection := engine.sockets.pop(sid, None):
        abort_connection(connection)


def end_connection(engine: Any) -> None:
    """Disconnect every client of *engine*, and end its background tasks."""
    for connection in list(engine.sockets.values()):
        abort_connection(connection)
    engine.over.set()
    engine.shutdown()


def _websocket_class(mode: AsyncMode) -> Any:
    return _eventlet_websocket_class() if mode == "eventlet" else _threading_websocket_class()


def _eventlet_websocket_class() -> Any:
    from engineio.async_drivers.eventlet import WebSocketWSGI
    from eventlet.websocket import FailedConnectionError, RFC6455WebSocket

    class Message(RFC6455WebSocket.Message):  # type: ignore[misc]
        """A message that is limited as a whole, however many fragments it comes in."""

        def push(self, data: bytes, final: bool = False) -> None:
            super().push(data, final)
            if sum(map(len, self.data)) > MAX_MESSAGE_BYTES:
                raise FailedConnectionError(1009, "the message is too large")

    class EventletWebSocket(WebSocketWSGI):  # type: ignore[misc]
        def __init__(self, handler: Any, server: Any) -> None:
            super().__init__(self._limited, server)
            self.support_legacy_versions = False
            self._engine = handler
            handler.__self__.carrier = self

        def __call__(self, environ: Any, start_response: Any) -> Any:
            return super().__call__(_uncompressed(environ), start_response)

        def _limited(self, socket: Any) -> Any:
            socket.Message = Message
            return self._engine(socket)

        def cut(self) -> None:
            shut_down(self._sock)

    return EventletWebSocket


def _threading_websocket_class() -> Any:
    from engineio.async_drivers._websocket_wsgi import SimpleWebSocketWSGI
    from simple_websocket import ConnectionClosed, Server
    from wsproto.utilities import LocalProtocolError

    class Socket(Server):  # type: ignore[misc]
        def _thread(self) -> None:
            """Read messages, and wake the reader *after* the connection is marked as closed.

            For a message that is too large the base does it the other way round.
            """
            try:
                super()._thread()
            finally:
                self.connected = False
                self.event.set()

    class ThreadingWebSocket(SimpleWebSocketWSGI):  # type: ignore[misc]
        def __init__(self, handler: Any, server: Any) -> None:
            super().__init__(handler, server)
            self.ws: Any = None  # until the handshake, which may fail
            handler.__self__.carrier = self

        def __call__(self, environ: Any, start_response: Any) -> Any:  # noqa: ARG002
            _set_timeouts(environ["werkzeug.socket"])
            self.ws = Socket(
                _uncompressed(environ), max_message_size=MAX_MESSAGE_BYTES, receive_bytes=65_536
            )
            self.app(self)
            raise ConnectionError  # so Werkzeug learns that the connection is used up

        def close(self) -> None:
            """Say goodbye; the client may be gone, or go at this moment."""
            with suppress(OSError, ConnectionClosed, LocalProtocolError):
                super().close()

        def cut(self) -> None:
            if self.ws:
                shut_down(self.ws.sock)

    return ThreadingWebSocket


def _set_timeouts(sock: socket.socket) -> None:
    """Set time-outs that end *sock* when nothing comes, not even the answer to a ping.

    A time-out of Python's own would make it send less than it is told to.
    """
    limit = struct.pack("@ll", 2 * PING_SECONDS, 0)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)


def _uncompressed(environ: dict[str, Any]) -> dict[str, Any]:
    """Return *environ* without the wish to compress, which costs more here than it saves."""
    return {
        name: value for name, value in environ.items() if name != "HTTP_SEC_WEBSOCKET_EXTENSIONS"
    }


def is_behind(connection: Any, maximum: int) -> bool:
    """Return whether more than *maximum* packets wait for the Engine.IO socket *connection*."""
    return bool(connection.queue.qsize() > maximum)


def abort_connection(connection: Any) -> None:
    """End the Engine.IO socket *connection* without waiting for its client."""
    connection.close(wait=False, abort=True)
    if websocket := getattr(connection, "carrier", None):
        websocket.cut()
