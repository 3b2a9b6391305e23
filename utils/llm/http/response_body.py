"""The body of a response, in the pieces that the network brings it in."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import httpx2

from utils.llm.http.exchange import Exchange
from utils.llm.http.reply_limits import LimitExceeded

_READ_SIZE = 65_536
_MAX_LINE_BYTES = 65_536  # bytes of what stands between two chunks
_GRACE_SECONDS = 0.05


class ResponseBody(httpx2.SyncByteStream):
    """The body of a reply; when read to its end, its connection is kept for the next exchange.

    That of an error is cut short where it is long or slow. Raises `LimitExceeded` for a reply.
    """

    def __init__(
        self,
        connection: http.client.HTTPConnection,
        reply: http.client.HTTPResponse,
        return_to_pool: Callable[[http.client.HTTPConnection], None],
        exchange: Exchange,
    ) -> None:
        self._connection = connection
        self._reply = reply
        self._return_to_pool = return_to_pool
        self._exchange = exchange
        self._pieces = self._read_chunked() if reply.chunked else self._read_plain()
        self._is_complete = False

    def __iter__(self) -> Iterator[bytes]:
        if not 200 <= self._reply.status < 300:
            yield from self._error_opening()
            return
        for piece in self._pieces:  # noqa: UP028 - `yield from` would close them along with this
            yield piece

    def _error_opening(self) -> Iterator[bytes]:
        """Yield what comes at once of an error's body, as far as it is needed to tell the error."""
        limits, length = self._exchange.watch.limits, 0
        deadline = time.monotonic() + limits.error_seconds
        self._exchange.set_read_timeout(limits.error_seconds)
        with suppress(TimeoutError, LimitExceeded):
            for piece in self._pieces:
                yield piece[: limits.error_bytes - length]
                length += len(piece)
                if length >= limits.error_bytes or time.monotonic() > deadline:
                    return

    def close(self) -> None:
        """Keep the connection if the body has ended or is just about to; else close it."""
        if not self._is_complete and self._connection.sock is not None:
            with suppress(OSError, http.client.HTTPException, LimitExceeded):
                self._connection.sock.settimeout(_GRACE_SECONDS)
                next(self._pieces, None)
        self._reply.close()
        if self._is_complete and self._connection.sock is not None:
            self._return_to_pool(self._connection)
        else:
            self._connection.close()

    def _read_plain(self) -> Iterator[bytes]:
        while data := self._read(self._reply.read1):
            yield data
        self._is_complete = True

    def _read(self, read: Callable[[int], bytes]) -> bytes:
        started = time.monotonic()
        data = read(_READ_SIZE)
        self._exchange.watch.record_received(len(data), time.monotonic() - started)
        return data

    def _read_chunked(self) -> Iterator[bytes]:
        """Yield all that one read of the network brought in one piece.

        `HTTPResponse.read1` would give one chunk each time, and servers send a chunk per token.
        """
        chunks = _ChunkedDecoder()
        while data := self._read(self._reply.fp.read1):
            piece = chunks.feed(data)
            self._is_complete = chunks.is_done
            yield piece
            if chunks.is_done:
                return
            if chunks.is_broken:
                raise http.client.HTTPException("no chunked body")
        raise http.client.IncompleteRead(b"")


class _ChunkedDecoder:
    """Takes a chunked body (RFC 9112, 7.1) apart, however the network cuts it."""

    def __init__(self) -> None:
        self._buffer = b""
        self._bytes_left = 0
        self._is_last = False
        self.is_done = False
        self.is_broken = False

    def feed(self, data: bytes) -> bytes:
        """Return the content that *data* brings."""
        data = self._buffer + data
        pieces: list[bytes] = []
        position = 0
        while not (self.is_done or self.is_broken):
            if self._bytes_left:
                piece = data[position : position + self._bytes_left]
                pieces.append(piece)
                position += len(piece)
                self._bytes_left -= len(piece)
            end = data.find(b"\r\n", position)
            if self._bytes_left or end < 0:
                break
            self._read_line(data[position:end])
            position = end + 2
        self._buffer = data[position:]
        self.is_broken |= len(self._buffer) > _MAX_LINE_BYTES
        return b"".join(pieces)

    def _read_line(self, line: bytes) -> None:
        """Take in a line between chunks: a size, a trailer, or the empty one that ends either."""
        if self._is_last:
            self.is_done = not line
        elif line:
            try:
                self._bytes_left = int(line.split(b";")[0], 16)
            except ValueError:
                self._bytes_left = -1
            self._is_last = not self._bytes_left
            self.is_broken = self._bytes_left < 0
