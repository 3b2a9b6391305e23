"""Bodies of HTTP messages, and both directions of a WebSocket: passed on, no faster than taken."""

from __future__ import annotations

import re
import selectors
import socket
from collections.abc import Iterator
from typing import cast

from modules.preview.http_head import BadMessage, SocketReader

_CHUNK_LINE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\0-\x08\x0a-\x1f\x7f]*)?")
_BUFFER = 1 << 16  # bytes read ahead in each direction of a WebSocket


def sized(reader: SocketReader, length: int) -> Iterator[bytes]:
    """Yield the next *length* bytes. Raises `BadMessage` where there are fewer."""
    while length:
        data = reader.some(min(length, 1 << 16))
        if not data:
            raise BadMessage("its body breaks off")
        length -= len(data)
        yield data


def unchunked(reader: SocketReader) -> Iterator[bytes]:
    """Yield the body of a message in chunks, without those; trailers are dropped. `BadMessage`."""
    while True:
        match = _CHUNK_LINE.fullmatch(reader.line())
        if match is None:
            raise BadMessage("a chunk says no length")
        length = int(match[1], 16)
        if not length:
            break
        yield from sized(reader, length)
        if reader.line():
            raise BadMessage("a chunk is longer than it says")
    for _ in range(64):
        if not reader.line():
            return
    raise BadMessage("it has too many trailers")


def until_end(reader: SocketReader) -> Iterator[bytes]:
    """Yield all that comes until the other side ends."""
    while data := reader.some():
        yield data


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


LAST_CHUNK = b"0\r\n\r\n"


def relay_both_ways(one: SocketReader, other: SocketReader) -> None:
    """Pass bytes both ways until either side ends.

    Of each direction at most a buffer is held: who does not read slows down who writes.
    """
    peers = {one.connection: other.connection, other.connection: one.connection}
    pending = {one.connection: other.take_buffer(), other.connection: one.take_buffer()}
    for connection in peers:
        connection.setblocking(False)
    with selectors.DefaultSelector() as selector:
        for connection in peers:
            selector.register(connection, selectors.EVENT_READ)
        while True:
            for side, peer in peers.items():
                writes = selectors.EVENT_WRITE if pending[side] else 0
                reads = 0 if pending[peer] else selectors.EVENT_READ
                _watch(selector, side, writes | reads)
            for key, events in selector.select():
                side = cast("socket.socket", key.fileobj)
                if events & selectors.EVENT_WRITE:
                    pending[side] = pending[side][_sent(side, pending[side]) :]
                if events & selectors.EVENT_READ and not pending[peers[side]]:
                    data = _received(side)
                    if data == b"":
                        return
                    pending[peers[side]] = data or b""


def _watch(selector: selectors.BaseSelector, side: socket.socket, events: int) -> None:
    """Have *selector* wait for *events* of *side*, 0 for nothing."""
    is_watched = side in selector.get_map()
    if not events:
        if is_watched:
            selector.unregister(side)
    elif is_watched:
        selector.modify(side, events)
    else:
        selector.register(side, events)


def _sent(connection: socket.socket, data: bytes) -> int:
    try:
        return connection.send(data)
    except BlockingIOError:
        return 0


def _received(connection: socket.socket) -> bytes | None:
    """Return what is there, b"" at the end, None if that was a false alarm."""
    try:
        return connection.recv(_BUFFER)
    except BlockingIOError:
        return None
