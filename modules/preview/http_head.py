"""Heads of HTTP messages, read strictly: what two programs could read in two ways is refused."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

MAX_HEAD_BYTES = 65_536
"""Bytes of a head; cookies are the most of it."""
MAX_HEADERS = 200
_TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_REQUEST_LINE = re.compile(rb"(" + _TOKEN + rb") ([!-~\x80-\xff]+) HTTP/1\.([01])")
_STATUS_LINE = re.compile(rb"HTTP/1\.([01]) ([1-5][0-9][0-9])(?: ([^\0-\x08\x0a-\x1f\x7f]*))?")
_HEADER = re.compile(rb"(" + _TOKEN + rb"):[ \t]*([^\0-\x08\x0a-\x1f\x7f]*)")
_LENGTH = re.compile(r"[0-9]{1,18}")

Headers = list[tuple[str, str]]
"""Names, as they came, with their values, in Latin-1 as they are on the wire."""


class BadMessage(Exception):
    """A message that is refused; the text says why."""


class ConnectionEnded(Exception):
    """The other side went away before a message began."""


class SocketReader:
    """Reads from *connection*, a stream socket, with what was read ahead.

    *before_read* is called before anything is waited for.
    """

    def __init__(
        self, connection: socket.socket, before_read: Callable[[], None] = lambda: None
    ) -> None:
        self.connection = connection
        self._before_read = before_read
        self._buffer = b""

    def _received(self, most: int) -> bytes:
        self._before_read()
        return self.connection.recv(most)

    def take_buffer(self) -> bytes:
        """Return all that was read ahead; it counts as read."""
        data, self._buffer = self._buffer, b""
        return data

    def some(self, most: int = 1 << 16) -> bytes:
        """Return what there is next, at most *most* bytes, b"" at the end."""
        if self._buffer:
            data, self._buffer = self._buffer[:most], self._buffer[most:]
            return data
        return self._received(most)

    def head(self, seconds: float | None) -> list[bytes]:
        """Return the lines up to the next empty one, which have to come in *seconds*.

        Raises `ConnectionEnded`, `BadMessage`, `TimeoutError`.
        """
        deadline = None if seconds is None else time.monotonic() + seconds
        while (end := _end_of_head(self._buffer)) is None:
            if len(self._buffer) > MAX_HEAD_BYTES:
                raise BadMessage("its head is too long")
            if deadline is not None:
                self.connection.settimeout(max(0.001, deadline - time.monotonic()))
            data = self._received(1 << 14)
            if not data and not self._buffer:
                raise ConnectionEnded
            if not data:
                raise BadMessage("it breaks off in its head")
            self._buffer += data
        self.connection.settimeout(None)
        head, self._buffer = self._buffer[: end[0]], self._buffer[end[1] :]
        if len(head) > MAX_HEAD_BYTES:
            raise BadMessage("its head is too long")
        return head.split(b"\n")

    def line(self) -> bytes:
        """Return the next short line, without its end. Raises `BadMessage`."""
        while b"\n" not in self._buffer:
            data = self._received(1 << 14)
            if not data or len(self._buffer) > 1024:
                raise BadMessage("a line is cut off or too long")
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.removesuffix(b"\r")


def _end_of_head(data: bytes) -> tuple[int, int] | None:
    """Return where the head in *data* ends and its body begins, None if it is not all there."""
    match = re.search(rb"\r?\n\r?\n", data)
    return match.span() if match else None


@dataclass(frozen=True, slots=True)
class RequestHead:
    """Head of a request; *target* begins with a slash."""

    method: str
    target: str
    minor: int
    headers: Headers


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """Head of a response."""

    status: int
    reason: str
    minor: int
    headers: Headers


def parse_request(lines: list[bytes]) -> RequestHead:
    """Return the request whose head is *lines*, each but the last ended by CR. `BadMessage`."""
    if not all(line.endswith(b"\r") for line in lines[:-1]):
        raise BadMessage("a line of its head does not end with CR LF")
    match = _REQUEST_LINE.fullmatch(lines[0].removesuffix(b"\r"))
    if match is None:
        raise BadMessage("its first line is no request")
    method, target = match[1].decode(), match[2].decode("latin-1")
    if not target.startswith("/") or method in ("CONNECT", "TRACE"):
        raise BadMessage("that is not served here")
    return RequestHead(method, target, int(match[3]), _headers(lines[1:]))


def parse_response(lines: list[bytes]) -> ResponseHead:
    """Return the response whose head is *lines*. Raises `BadMessage`."""
    match = _STATUS_LINE.fullmatch(lines[0].removesuffix(b"\r"))
    if match is None:
        raise BadMessage("its first line is no response")
    reason = (match[3] or b"").decode("latin-1")
    return ResponseHead(int(match[2]), reason, int(match[1]), _headers(lines[1:]))


def _headers(lines: list[bytes]) -> Headers:
    if len(lines) > MAX_HEADERS:
        raise BadMessage("it has too many headers")
    headers = []
    for line in lines:
        match = _HEADER.fullmatch(line.removesuffix(b"\r"))
        if match is None:
            raise BadMessage("a line of its head is no header")
        headers.append((match[1].decode(), match[2].decode("latin-1").strip(" \t")))
    return headers


def values_of(headers: Headers, name: str) -> list[str]:
    """Return the values of the headers called *name*, in small letters."""
    return [value for one, value in headers if one.lower() == name]


def header(headers: Headers, name: str) -> str:
    """Return the value of the header called *name*, "" without one. Raises `BadMessage` for two."""
    values = values_of(headers, name)
    if len(values) > 1:
        raise BadMessage(f"it has {name} twice")
    return values[0] if values else ""


def words_of(headers: Headers, name: str) -> list[str]:
    """Return the comma-separated words of all headers called *name*, in small letters."""
    parts = (part for value in values_of(headers, name) for part in value.split(","))
    return [part.strip().lower() for part in parts if part.strip()]


def body_length(headers: Headers) -> int | None:
    """Return how many bytes the body has that *headers* tell of, -1 for chunks, None if unsaid.

    Raises `BadMessage` where they do not agree.
    """
    codings, lengths = words_of(headers, "transfer-encoding"), values_of(headers, "content-length")
    if codings and lengths:
        raise BadMessage("it says its length in two ways")
    if codings:
        if codings != ["chunked"]:
            raise BadMessage("its transfer encoding is not known")
        return -1
    if not lengths:
        return None
    if len(set(lengths)) > 1 or not _LENGTH.fullmatch(lengths[0]):
        raise BadMessage("its length is no number")
    return int(lengths[0])


def head_bytes(first_line: str, headers: Iterable[tuple[str, str]]) -> bytes:
    """Return a head as it goes over the wire, the empty line included."""
    lines = [first_line, *(f"{name}: {value}" for name, value in headers), "", ""]
    return "\r\n".join(lines).encode("latin-1")
