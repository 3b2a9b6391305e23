"""HTTP/1.1 transport to the model's server, which a `Stop` aborts at once, whatever it waits for.

It carries the SDK's requests in place of the SDK's own transport, for two reasons, both measured:
that one decodes a stream chunk by chunk, at twice the cost of everything else done with it, and
before the first byte of a reply it gives nobody the socket to shut down.
"""

from __future__ import annotations

import http.client
import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from ssl import SSLCertVerificationError, SSLContext, SSLError
from urllib.parse import SplitResult, urlsplit

import httpx2

from utils.llm.http.exchange import Exchange
from utils.llm.http.proxies import proxy_for, proxy_headers
from utils.llm.http.reply_limits import LimitExceeded
from utils.llm.http.response_body import ResponseBody
from utils.waiting import Stopped, Timeout, interruptible

_SECRET_HEADERS = ("authorization", "x-api-key", "api-key")
_KEPT_REDIRECTS = {301: 308, 302: 307}
_OPEN_HEADERS = ("accept", "content-type", "user-agent", "anthropic-version")
SENT_HEADERS = (*_OPEN_HEADERS, *_SECRET_HEADERS)
"""All that a server is told beside what every request of HTTP says."""
_MAX_INTERIM_ANSWERS = 10_000  # a proxy may send one each second of a long wait
_Origin = tuple[str, str, int | None]
"""The scheme, the host and the port of an address."""


class Unreachable(Exception):
    """There is no connection to the server, and nothing was sent; says why."""


class Insecure(Exception):
    """The server was reached, but cannot prove who it is; says why."""


class _Response(http.client.HTTPResponse):
    """A response that passes over every answer that only announces it, as early hints do.

    Raises `LimitExceeded` when nothing else comes.
    """

    _interim_answers = 0

    def _read_status(self) -> tuple[str, int, str]:
        version, status, reason = super()._read_status()  # type: ignore[misc]
        if not 100 <= status < 200 or status == http.client.SWITCHING_PROTOCOLS:
            return version, status, reason
        self._interim_answers += 1
        if self._interim_answers > _MAX_INTERIM_ANSWERS:
            raise LimitExceeded("size")
        return version, http.client.CONTINUE, reason


class CancellableTransport(httpx2.BaseTransport):
    """A transport with kept-alive connections, each for one exchange at a time.

    A proxy is taken from the environment, but never to reach this very machine. Raises `Stopped`,
    `Unreachable`, `Insecure`, `LimitExceeded`, `OSError` and `http.client.HTTPException`.

    A reply must begin within *begin_seconds*: the limit of the socket, *idle_seconds*, is for each
    read of it, and a head can come byte by byte.

    A server may send a request on to another one. That is not told the key, and nothing goes in
    the open from an address that is encrypted: `Insecure`.
    """

    def __init__(
        self, base_url: str, *, connect_seconds: float, idle_seconds: float, begin_seconds: float
    ) -> None:
        self._connect_seconds = connect_seconds
        self._begin_timeout = Timeout(begin_seconds)
        self._idle_seconds = idle_seconds
        self._origin = _origin(httpx2.URL(base_url))
        self._proxies = {self._origin: proxy_for(urlsplit(base_url))}
        self._thread_local = threading.local()
        self._lock = threading.Lock()
        self._idle_connections: list[tuple[_Origin, http.client.HTTPConnection]] = []
        self._is_closed = False

    @contextmanager
    def bound_to(self, exchange: Exchange) -> Iterator[None]:
        """Make *exchange* the one that the requests of this thread belong to."""
        self._thread_local.use = exchange
        try:
            yield
        finally:
            del self._thread_local.use

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        exchange: Exchange = self._thread_local.use
        origin = _origin(request.url)
        if self._origin[0] == "https" and origin[0] != "https":
            raise Insecure(f"it sends on to {request.url.host} without encryption")
        connection, reply = self._exchange(request, exchange)
        headers = [(k.encode("latin-1"), v.encode("latin-1")) for k, v in reply.getheaders()]
        body = ResponseBody(connection, reply, partial(self._return_to_pool, origin), exchange)
        # What is moved is asked for again as it was: a body would be lost in a GET.
        status = _KEPT_REDIRECTS.get(reply.status, reply.status)
        return httpx2.Response(status, headers=headers, stream=body)

    def close(self) -> None:
        with self._lock:
            idle, self._idle_connections = self._idle_connections, []
            self._is_closed = True
        for _, connection in idle:
            connection.close()

    def _exchange(
        self, request: httpx2.Request, exchange: Exchange
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        """Send *request* and return the head of the reply, over a kept connection if there is one.

        The server may close a kept connection at the very moment it is used again; then, and only
        then, the request is sent once more, over a new one.
        """
        if idle := self._take_idle(_origin(request.url)):
            with suppress(ConnectionError, SSLError, http.client.BadStatusLine):
                return idle, self._send(idle, request, exchange)
        connection = self._connect(request.url, exchange)
        return connection, self._send(connection, request, exchange)

    def _send(
        self, connection: http.client.HTTPConnection, request: httpx2.Request, exchange: Exchange
    ) -> http.client.HTTPResponse:
        """Send *request* and read the head of its answer; a connection that breaks is closed."""
        exchange.set_socket(connection.sock)
        connection.sock.settimeout(self._idle_seconds)
        sent = SENT_HEADERS if self._may_know_key(request.url) else _OPEN_HEADERS
        raw = [(name.decode().lower(), value) for name, value in request.headers.raw]
        headers: dict[str, str | bytes] = {name: value for name, value in raw if name in sent}
        target = request.url.raw_path.decode("ascii")
        proxy = self._proxy_to(request.url)
        if proxy and request.url.scheme == "http":
            target = str(request.url)
            headers |= proxy_headers(proxy)
        try:
            connection.request(request.method, target, request.read(), headers)
            with exchange.limiting_first_byte(self._begin_timeout):
                return connection.getresponse()
        except BaseException:  # whatever it was, the connection is of no use any more
            connection.close()
            raise

    def _may_know_key(self, url: httpx2.URL) -> bool:
        """Return whether the key is for *url*: its own server, or the same one encrypted."""
        scheme, host, port = self._origin
        return _origin(url) in (self._origin, ("https", host, 443 if port == 80 else port))

    def _proxy_to(self, url: httpx2.URL) -> SplitResult | None:
        origin = _origin(url)
        if origin not in self._proxies:
            self._proxies[origin] = proxy_for(urlsplit(str(url)))
        return self._proxies[origin]

    def _take_idle(self, origin: _Origin) -> http.client.HTTPConnection | None:
        while True:
            with self._lock:
                idle = [entry for entry in self._idle_connections if entry[0] == origin]
                if not idle:
                    return None
                self._idle_connections.remove(idle[-1])
            _, connection = idle[-1]
            if not _is_readable(connection.sock):
                return connection
            connection.close()  # the server closed it, or says what nobody asked

    def _return_to_pool(self, origin: _Origin, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if not self._is_closed:
                self._idle_connections.append((origin, connection))
                return
        connection.close()

    def _connect(self, url: httpx2.URL, exchange: Exchange) -> http.client.HTTPConnection:
        """Return a new connection. Looking a name up cannot be cut, so another thread does it."""

        def connect() -> Iterator[http.client.HTTPConnection]:
            connection = self._new_connection(url)
            try:
                connection.connect()
            except SSLCertVerificationError as error:
                raise Insecure(error.verify_message) from error
            except SSLError as error:
                raise Insecure(error.reason or str(error)) from error
            except OSError as error:
                raise Unreachable(error.strerror or str(error)) from error
            yield connection

        close = http.client.HTTPConnection.close
        for connection in interruptible(connect, exchange.stop, discard=close):
            return connection
        raise Stopped

    def _new_connection(self, url: httpx2.URL) -> http.client.HTTPConnection:
        connection = self._plain_connection(url)
        connection.response_class = _Response
        return connection

    def _plain_connection(self, url: httpx2.URL) -> http.client.HTTPConnection:
        proxy = self._proxy_to(url)
        host, port = (proxy.hostname or "", proxy.port) if proxy else (url.host, url.port)
        seconds = self._connect_seconds
        if url.scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=seconds)
        connection = http.client.HTTPSConnection(host, port, timeout=seconds, context=self._tls)
        if proxy:
            connection.set_tunnel(url.host, url.port, headers=proxy_headers(proxy))
        return connection

    @cached_property
    def _tls(self) -> SSLContext:
        try:
            return httpx2.create_ssl_context()
        except OSError as error:
            why = error.strerror or str(error)
            raise Insecure(f"the certificate file that is set cannot be read ({why})") from error


def _origin(url: httpx2.URL) -> _Origin:
    default_port = {"http": 80, "https": 443}.get(url.scheme)
    return url.scheme, url.host, url.port or default_port


def _is_readable(connected: socket.socket) -> bool:
    poll = select.poll()
    poll.register(connected, select.POLLIN)
    return bool(poll.poll(0))
