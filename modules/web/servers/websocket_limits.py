"""The WebSockets below Socket.IO: limited in both async modes, and able to be cut.

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
from utils.system.sockets import cut

LARGEST = 1_000_000
"""Bytes of one message."""
PING_SECONDS = 10
"""Seconds between two pings, and for the answer to one."""


def install(engine: Any, mode: AsyncMode) -> None:
    """Make the Engine.IO server *engine* use our WebSockets, and sleep so that it can be woken."""
    over = engine._async["event"]()
    engine.over = over
    engine._async = {**engine._async, "websocket": _carrier(mode), "sleep": over.wait}
    engine.disconnect = lambda sid: _drop(engine, sid)
    engine.handle_request = _without_closed(engine, engine.handle_request)
    engine.send_packet = _to_who_is_there(engine.send_packet)


def _without_closed(engine: Any, handle: Any) -> Any:
    """Return *handle* that knows no client which was given up: it would fail at its message."""

    def answer(environ: Any, start_response: Any) -> Any:
        for sid, connection in list(engine.sockets.items()):
            if connection.closed:
                engine.sockets.pop(sid, None)
        return handle(environ, start_response)

    return answer


def _to_who_is_there(send: Callable[[str, Any], None]) -> Callable[[str, Any], None]:
    """Return *send* that drops what is for a client which goes at this moment."""
    from engineio.exceptions import SocketIsClosedError

    def passed(sid: str, packet: Any) -> None:
        with suppress(SocketIsClosedError):
            send(sid, packet)

    return passed


def _drop(engine: Any, sid: str) -> None:
    """Do as `engine.disconnect` does, but do not wait until the client has read all before."""
    if connection := engine.sockets.pop(sid, None):
        let_go(connection)


def end(engine: Any) -> None:
    """Let every client of *engine* go, and end what it does by itself."""
    for connection in list(engine.sockets.values()):
        let_go(connection)
    engine.over.set()
    engine.shutdown()


def _carrier(mode: AsyncMode) -> Any:
    return _eventlet_carrier() if mode == "eventlet" else _threading_carrier()


def _eventlet_carrier() -> Any:
    from engineio.async_drivers.eventlet import WebSocketWSGI
    from eventlet.websocket import FailedConnectionError, RFC6455WebSocket

    class Message(RFC6455WebSocket.Message):  # type: ignore[misc]
        """A message that is limited as a whole, however many fragments it comes in."""

        def push(self, data: bytes, final: bool = False) -> None:
            super().push(data, final)
            if sum(map(len, self.data)) > LARGEST:
                raise FailedConnectionError(1009, "the message is too large")

    class EventletCarrier(WebSocketWSGI):  # type: ignore[misc]
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
            cut(self._sock)

    return EventletCarrier


def _threading_carrier() -> Any:
    from engineio.async_drivers._websocket_wsgi import SimpleWebSocketWSGI
    from simple_websocket import ConnectionClosed, Server
    from wsproto.utilities import LocalProtocolError

    class Socket(Server):  # type: ignore[misc]
        def _thread(self) -> None:
            """Read what comes, and wake who waits for it *after* it is known that no more will.

            For a message that is too large the base does it the other way round.
            """
            try:
                super()._thread()
            finally:
                self.connected = False
                self.event.set()

    class ThreadingCarrier(SimpleWebSocketWSGI):  # type: ignore[misc]
        def __init__(self, handler: Any, server: Any) -> None:
            super().__init__(handler, server)
            handler.__self__.carrier = self

        def __call__(self, environ: Any, start_response: Any) -> Any:  # noqa: ARG002
            _expect_news(environ["werkzeug.socket"])
            self.ws = Socket(_uncompressed(environ), max_message_size=LARGEST, receive_bytes=65_536)
            self.app(self)
            raise ConnectionError  # so Werkzeug learns that the connection is used up

        def close(self) -> None:
            """Say goodbye; the client may be gone, or go at this moment."""
            with suppress(OSError, ConnectionClosed, LocalProtocolError):
                super().close()

        def cut(self) -> None:
            cut(self.ws.sock)

    return ThreadingCarrier


def _expect_news(sock: socket.socket) -> None:
    """Have the system give up on *sock* when nothing comes, not even the answer to a ping.

    A time-out of Python's own would make it send less than it is told to.
    """
    limit = struct.pack("@ll", 2 * PING_SECONDS, 0)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)


def _uncompressed(environ: dict[str, Any]) -> dict[str, Any]:
    """Return *environ* without the wish to compress, which costs more here than it saves."""
    return {n: value for n, value in environ.items() if n != "HTTP_SEC_WEBSOCKET_EXTENSIONS"}


def is_behind(connection: Any, most: int) -> bool:
    """Return whether more than *most* packets wait for the Engine.IO socket *connection*."""
    return bool(connection.queue.qsize() > most)


def let_go(connection: Any) -> None:
    """End the Engine.IO socket *connection* without waiting for its client."""
    connection.close(wait=False, abort=True)
    if carrier := getattr(connection, "carrier", None):
        carrier.cut()
