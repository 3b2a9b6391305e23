"""Reading from an index for a program whose https ends with us: GET and HEAD, and nothing sent.

What lets the person in goes along where it belongs, and never comes back: a header that bears it
is left out, and a body that does breaks off.
"""

from __future__ import annotations

import errno
import re
import socket
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import TYPE_CHECKING

from modules.sandbox.network.fetch import FetchRefused, decoded_path, is_within
from modules.sandbox.network.repeated_logins import bears, secrets_of, without
from modules.sandbox.types import Origin

if TYPE_CHECKING:
    from io import BufferedReader

_MAX_HEAD_BYTES = 32_768
_CHUNK_BYTES = 1 << 16
_REQUEST_LINE = re.compile(rb"(GET|HEAD) (/[!-~]*) HTTP/1\.1\r\n")
_HEADER = re.compile(rb"([A-Za-z0-9-]+):[ \t]*([ -~]*?)[ \t]*\r\n")
_FORWARDED_HEADERS = frozenset(
    {
        *("accept", "accept-encoding", "authorization", "cargo-protocol", "if-match"),
        *("if-modified-since", "if-none-match", "if-range", "range", "user-agent"),
    }
)
_KEPT_BACK = frozenset(
    {
        *("alt-svc", "connection", "content-encoding", "content-length", "keep-alive"),
        *("proxy-authenticate", "proxy-connection", "set-cookie", "strict-transport-security"),
        *("te", "trailer", "transfer-encoding", "upgrade"),
    }
)
_ACCOUNT_API = "/-/"
"""Where an npm registry has people's accounts, and no package."""

Connect = Callable[[], socket.socket]


class Interception:
    """Requests of one connection to *host*, whose indexes are *origins*.

    *connect* opens a connection to it, encrypted; it raises `FetchRefused` where none may be.
    """

    def __init__(self, host: str, origins: Collection[Origin], connect: Connect) -> None:
        self._host = host
        self._origins = origins
        self._connect = connect
        self._upstream: HTTPConnection | None = None

    def serve(self, client: socket.socket) -> None:
        """Answer the requests of *client* until it ends, or one is refused."""
        try:
            with client.makefile("rb") as reader:
                while lines := _read_head(reader):
                    self._answer(client, lines)
        except FetchRefused as refusal:
            text = f"{refusal}\n".encode()
            head = f"HTTP/1.1 403 {refusal}\r\nContent-Type: text/plain\r\nConnection: close\r\n"
            client.sendall(f"{head}Content-Length: {len(text)}\r\n\r\n".encode() + text)
        finally:
            self._close()

    def _answer(self, client: socket.socket, lines: list[bytes]) -> None:
        match = _REQUEST_LINE.fullmatch(lines[0])
        if match is None:
            raise FetchRefused("packages are only read here (GET and HEAD); nothing is sent")
        method, path = match[1].decode(), match[2].decode()
        headers = _forwarded(lines[1:])
        authorization = self._authorization_for(path)
        if authorization:
            headers = {**headers, "authorization": authorization, "accept-encoding": "identity"}
        response = self._request(method, path, headers)
        for data in _response(response, method, secrets_of(authorization)):
            client.sendall(data)
        if response.will_close:
            self._close()

    def _authorization_for(self, path: str) -> str:
        """Return what lets the person in at *path*, "" for nothing."""
        fitting = [
            origin
            for origin in self._origins
            if origin.authorization
            and is_within(path, origin.path)
            and not decoded_path(path).startswith(f"{origin.path}{_ACCOUNT_API}")
        ]
        best = max(fitting, key=lambda origin: len(origin.path), default=None)
        return best.authorization if best else ""

    def _request(self, method: str, path: str, headers: Mapping[str, str]) -> HTTPResponse:
        """Ask on the connection that stands; once more on a new one if that has gone stale."""
        is_new = self._upstream is None
        try:
            return self._request_once(method, path, headers)
        except (OSError, HTTPException) as error:
            self._close()
            if is_new:
                raise self._no_answer(error) from None
        try:
            return self._request_once(method, path, headers)
        except (OSError, HTTPException) as error:
            raise self._no_answer(error) from None

    def _request_once(self, method: str, path: str, headers: Mapping[str, str]) -> HTTPResponse:
        if self._upstream is None:
            upstream = HTTPConnection(self._host)
            upstream.sock = self._connect()
            self._upstream = upstream
        self._upstream.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in {"Host": self._host, **headers}.items():
            self._upstream.putheader(name, value)
        self._upstream.endheaders()
        return self._upstream.getresponse()

    def _no_answer(self, error: Exception) -> FetchRefused:
        return FetchRefused(f"{self._host} does not answer ({type(error).__name__})")

    def _close(self) -> None:
        if self._upstream:
            self._upstream.close()
            self._upstream = None


def _read_head(reader: BufferedReader) -> list[bytes]:
    """Return the lines of the next request, none at the end of the connection."""
    lines: list[bytes] = []
    size = 0
    while (line := reader.readline(_MAX_HEAD_BYTES)) not in (b"", b"\r\n"):
        size += len(line)
        if size > _MAX_HEAD_BYTES or not line.endswith(b"\r\n"):
            raise FetchRefused("that is no request")
        lines.append(line)
    return lines if line else []


def _forwarded(lines: list[bytes]) -> dict[str, str]:
    """Return what of a request's headers goes along. Raises `FetchRefused` if it has a body."""
    headers: dict[str, str] = {}
    for line in lines:
        match = _HEADER.fullmatch(line)
        if match is None:
            raise FetchRefused("that is no request")
        name, value = match[1].decode().lower(), match[2].decode()
        if name in ("transfer-encoding", "upgrade") or (name == "content-length" and value != "0"):
            raise FetchRefused("packages are only read here; nothing is sent")
        if name in _FORWARDED_HEADERS:
            headers[name] = value
    return headers


def _response(response: HTTPResponse, method: str, secrets: Collection[bytes]) -> Iterator[bytes]:
    """Yield the answer as it goes to the program. Raises `OSError` where it bears a secret."""
    encoding = response.getheader("Content-Encoding", "identity").lower()
    is_decoded = bool(secrets) and encoding != "identity"
    if is_decoded and encoding not in ("gzip", "deflate"):
        raise FetchRefused(f"the answer is packed in a way that cannot be read here: {encoding!r}")
    lines = [f"HTTP/1.1 {response.status} {response.reason}"]
    for name, value in response.getheaders():
        if name.lower() not in _KEPT_BACK and not bears(f"{name}{value}".encode(), secrets):
            lines.append(f"{name}: {value}")
    if encoding != "identity" and not is_decoded:
        lines.append(f"Content-Encoding: {encoding}")
    has_body = method == "GET" and response.status not in (204, 304)
    length = response.getheader("Content-Length")
    is_chunked = has_body and (length is None or is_decoded)
    lines.append("Transfer-Encoding: chunked" if is_chunked else f"Content-Length: {length or 0}")
    yield ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")
    if has_body:
        body = _decoded(response) if is_decoded else _read_all(response)
        for data in without(body, secrets):
            yield b"%x\r\n%s\r\n" % (len(data), data) if is_chunked else data
        if is_chunked:
            yield b"0\r\n\r\n"
    response.close()


def _read_all(response: HTTPResponse) -> Iterator[bytes]:
    while data := response.read(_CHUNK_BYTES):
        yield data
    if response.length:
        raise OSError(errno.EPIPE, "the answer broke off")


def _decoded(response: HTTPResponse) -> Iterator[bytes]:
    decoder = zlib.decompressobj(zlib.MAX_WBITS | 32)
    for packed in _read_all(response):
        while packed:
            yield decoder.decompress(packed, _CHUNK_BYTES)
            packed = decoder.unconsumed_tail
