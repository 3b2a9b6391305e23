"""TLS in front of either HTTP server: ends it here, and passes on what comes to a loopback port.

It has a thread with an event loop of its own, for both async modes alike: neither of our servers
takes a connection while it shakes hands with another, and no two threads use one TLS object.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from utils.system.unauthenticated import UnauthenticatedConnections

HANDSHAKE_SECONDS = 10.0
"""Seconds for a stranger to prove that it speaks TLS; what says anything else is cut at once."""
GOODBYE_SECONDS = 5.0
"""Seconds for the other end to take leave of TLS."""
MAX_CONNECTIONS = 256
"""Connections at once; others wait, so that descriptors are left for the work."""
_CHUNK_BYTES = 65_536
_RETRY_SECONDS = 0.1
"""Seconds until the next try to accept, where the system had no descriptor left."""


class TlsFront:
    """Serves on *listen_socket* with *context* what is served on *port* of the loopback interface.

    *on_error* gets our own failures; those of the network are nobody's business.
    """

    def __init__(
        self,
        listen_socket: socket.socket,
        context: ssl.SSLContext,
        port: int,
        on_error: Callable[[BaseException], object],
    ) -> None:
        self._listen_socket = listen_socket
        self._context = context
        self._port = port
        self._on_error = on_error
        self._unauthenticated = UnauthenticatedConnections()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="tls", daemon=True)

    def start(self) -> None:
        """Begin to serve; returns once it does."""
        self._thread.start()
        self._is_ready.wait()

    def close(self) -> None:
        """Cut every connection, and wait for the end of the thread."""
        if self._loop and self._task:
            with suppress(RuntimeError):  # it has ended by itself
                self._loop.call_soon_threadsafe(self._task.cancel)
            self._thread.join()

    def _run(self) -> None:
        try:
            with suppress(asyncio.CancelledError):
                asyncio.run(self._serve())
        except Exception as error:  # noqa: BLE001 - the one place where a failure of the thread ends
            self._on_error(error)
        finally:
            self._is_ready.set()

    async def _serve(self) -> None:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        self._listen_socket.setblocking(False)
        room = asyncio.Semaphore(MAX_CONNECTIONS)
        self._is_ready.set()
        async with asyncio.TaskGroup() as tasks:
            while True:
                await room.acquire()
                connection = await self._accept()
                tasks.create_task(self._connection(connection, room))

    async def _accept(self) -> socket.socket:
        while True:
            try:
                connection, _ = await asyncio.get_running_loop().sock_accept(self._listen_socket)
            except OSError:
                await asyncio.sleep(_RETRY_SECONDS)
            else:
                return connection

    async def _connection(self, connection: socket.socket, room: asyncio.Semaphore) -> None:
        """Serve one *connection* to its end."""
        outside: asyncio.StreamWriter | None = None
        inside: asyncio.StreamWriter | None = None
        try:
            reader, outside = await self._handshake(connection)
            inner_reader, inside = await asyncio.open_connection("127.0.0.1", self._port)
            await _first_ended(_pass_on(reader, inside), _pass_on(inner_reader, outside))
        except (OSError, ssl.SSLError, TimeoutError):
            pass  # the network's failures, and strangers that speak no TLS
        except Exception as error:  # noqa: BLE001 - one connection must not end the others
            self._on_error(error)
        finally:
            await _closed(*filter(None, (outside, inside)))
            room.release()

    async def _handshake(
        self, connection: socket.socket
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        loop = asyncio.get_running_loop()
        self._unauthenticated.add(connection)
        try:
            reader = asyncio.StreamReader(limit=_CHUNK_BYTES, loop=loop)
            protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
            transport, _ = await loop.connect_accepted_socket(
                lambda: protocol,
                connection,
                ssl=self._context,
                ssl_handshake_timeout=HANDSHAKE_SECONDS,
                ssl_shutdown_timeout=GOODBYE_SECONDS,
            )
        finally:
            self._unauthenticated.discard(connection)
        return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(_CHUNK_BYTES):
        writer.write(data)
        await writer.drain()


async def _closed(*writers: asyncio.StreamWriter) -> None:
    """Close the *writers*, and wait until what they still hold is sent or its reader is gone."""
    try:
        for writer in writers:
            writer.close()
        for writer in writers:
            with suppress(OSError, TimeoutError):
                await writer.wait_closed()
    except asyncio.CancelledError:  # the server ends meanwhile, and waits for nobody
        for writer in writers:
            writer.transport.abort()
        raise


async def _first_ended(*ways: Coroutine[Any, Any, None]) -> None:
    """Wait until one of the two ways has ended: then there is nobody to hear the other."""
    tasks = [asyncio.create_task(way) for way in ways]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
