"""Proxy from the sandbox to the network: CONNECT to the hosts that are allowed, no other.

The proxy listens on a Unix socket that is shown in the sandbox. It looks a name up itself, refuses
what leads to this machine, to the local network or to a cloud's metadata service, and connects to
the very address that it has checked: a name that means something else a moment later helps nobody.
"""

from __future__ import annotations

import ipaddress
import re
import selectors
import shutil
import socket
import tempfile
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from modules.sandbox.network.fetch import FetchRefused, fetch
from modules.sandbox.types import Origin
from utils.system.sockets import shut_down

SOCKET_IN_SANDBOX = "/run/network.sock"
_HTTPS = 443
_MAX_HEAD_BYTES = 8_192  # bytes of a request
_SECONDS = 20.0
_MAX_CONNECTIONS = 64
_CONNECT = re.compile(
    rb"CONNECT (?=[^:]{1,253}:)((?:[A-Za-z0-9-]{1,63}\.)*[A-Za-z0-9-]{1,63}\.?):(\d{1,5})"
    rb" HTTP/1\.[01]\r\n"
)

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_UNICAST = ipaddress.IPv6Network("2000::/3")  # all that has been given out; the rest is special
_DOCUMENTATION = ipaddress.IPv6Network("3fff::/20")  # RFC 9637
_CLOUD_SERVICES = ("168.63.129.16", "192.0.0.192")
"""Addresses that look public, but are the services of Azure and Oracle for their machines."""

if TYPE_CHECKING:
    from modules.sandbox.network.authority import Authority

Address = tuple[str, int]
Resolve = Callable[[str, int], Sequence[str]]
Connect = Callable[[Address], socket.socket]


def resolve(host: str, port: int) -> Sequence[str]:
    """Return the addresses of *host*. Raises `OSError` when it has none."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


def connect(address: Address) -> socket.socket:
    return socket.create_connection(address, _SECONDS)


class Proxy:
    """Proxy to *hosts*, and to subdomains of those that begin with a dot, during a `with` block.

    `path` is the socket. Only https; every connection ends with the block. *origins* are served
    wherever they are, exactly as they say; *indexes* are hosts to read from and no more, wherever
    the system's resolver has them: by their certificate they are those and no other.

    `authority` is to be believed by the programs, None where no https ends with us; it believes
    what is in the files *believed*.
    """

    def __init__(
        self,
        hosts: Collection[str],
        origins: Collection[Origin] = (),
        indexes: Collection[str] = (),
        *,
        believed: Sequence[Path] = (),
        resolve: Resolve = resolve,
        connect: Connect = connect,
    ) -> None:
        self._origins = origins
        self._exact_origins = {(one.host, one.port) for one in origins if not one.is_fetched}
        self._intercepted = {(one.host, one.port) for one in origins if one.is_intercepted}
        self._indexes = frozenset(indexes)
        self._believed = believed
        self.authority: Authority | None = None
        self._hosts = frozenset(host.lower() for host in hosts)
        self._resolve = resolve
        self._connect = connect
        self._connections: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(_MAX_CONNECTIONS)

    def __enter__(self) -> Proxy:
        self._folder = tempfile.mkdtemp(prefix="onefold-")
        self.path = Path(self._folder, "network.sock")
        if self._intercepted or self._indexes:
            from modules.sandbox.network.authority import Authority  # 100 ms

            self.authority = Authority(Path(self._folder), self._believed)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.path))
        self._listener.listen()
        threading.Thread(target=self._listen, name="sandbox-network", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._is_over = True
            connections = [self._listener, *self._connections]
        for connection in connections:
            shut_down(connection)
        self._listener.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    _is_over = False

    def _listen(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if not self._slots.acquire(blocking=False):
                client.close()
                continue
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        from http.client import HTTPException

        with client:
            try:
                if self._register(client):
                    client.settimeout(_SECONDS)
                    self._handle(client)
            except (OSError, HTTPException):  # either side went away
                return
            finally:
                with self._lock:
                    self._connections.discard(client)
                self._slots.release()

    def _handle(self, client: socket.socket) -> None:
        try:
            head = _read_head(client)
            if not head.startswith(b"CONNECT "):
                for data in fetch(head, self._origins):
                    client.sendall(data)
                return
            host, port = _parse_connect(head)
            if self.authority and self._is_intercepted(host, port):
                client.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
                self._intercept(client, host, port, self.authority)
                return
            server = self._connect_to(host, port)
        except FetchRefused as refusal:
            client.sendall(f"HTTP/1.1 403 {refusal}\r\nConnection: close\r\n\r\n".encode())
            return
        with server:
            if self._register(server):
                client.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
                _relay_both_ways(client, server)
            with self._lock:
                self._connections.discard(server)

    def _is_intercepted(self, host: str, port: int) -> bool:
        if (host, port) in self._intercepted:
            return True
        return port == _HTTPS and host in self._indexes and not self._is_allowed(host)

    def _intercept(self, client: socket.socket, host: str, port: int, authority: Authority) -> None:
        """Answer what *client* asks *host* for; its https ends here."""
        from modules.sandbox.network.interception import Interception

        origins = [one for one in self._origins if (one.host, one.port) == (host, port)]
        certificates = next((one.certificates for one in origins if one.certificates), "")
        interception = Interception(
            host if port == _HTTPS else f"{host}:{port}",
            [one for one in origins if one.is_intercepted],
            lambda: self._connect_encrypted(host, port, certificates),
        )
        context = authority.server_context(host)
        with (
            context.wrap_socket(client, server_side=True) as plain,
            self._registered(plain) as is_open,
        ):
            if is_open:
                interception.serve(plain)

    def _connect_encrypted(self, host: str, port: int, certificates: str) -> socket.socket:
        """Return a connection to *host*, which has shown that it is it."""
        from ssl import SSLError, create_default_context

        server = self._connect_to(host, port)
        try:
            context = create_default_context(cafile=certificates or None)
            return context.wrap_socket(server, server_hostname=host)
        except SSLError as error:
            server.close()
            raise FetchRefused(f"{host} is not believed ({error.reason or 'TLS'})") from None
        except OSError:
            server.close()
            raise FetchRefused(f"{host} cannot be asked, or its certificates not read") from None

    @contextmanager
    def _registered(self, connection: socket.socket) -> Iterator[bool]:
        is_open = self._register(connection)
        try:
            yield is_open
        finally:
            with self._lock:
                self._connections.discard(connection)

    def _register(self, connection: socket.socket) -> bool:
        """Register *connection* so that it ends with us; return whether that is still to come."""
        with self._lock:
            self._connections.add(connection)
            return not self._is_over

    def _connect_to(self, host: str, port: int) -> socket.socket:
        is_exact = (host, port) in self._exact_origins or self._is_intercepted(host, port)
        if not is_exact and (port != _HTTPS or not self._is_allowed(host)):
            raise FetchRefused(f"{host}:{port} is not among the hosts that the person allowed")
        try:
            addresses = self._resolve(host, port)
        except OSError:
            raise FetchRefused(f"{host} is not known") from None
        for address in addresses:
            if not is_exact and not is_public(address):
                raise FetchRefused(f"{host} leads to this machine or the local network")
        for address in addresses:
            with suppress(OSError):
                return self._connect((address, port))
        raise FetchRefused(f"{host} does not answer")

    def _is_allowed(self, host: str) -> bool:
        parts = host.split(".")
        parent_domains = {"." + ".".join(parts[n:]) for n in range(1, len(parts))}
        return bool(self._hosts & {host, *parent_domains})


def is_public(address: str) -> bool:
    """Return whether *address* is one of the open internet, and not of this or a near machine."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address):
        embedded = found.ipv4_mapped or found.sixtofour or (found.teredo and found.teredo[1])
        if embedded:
            return is_public(str(embedded))
        if found in _NAT64:  # an IPv4 address in disguise
            return is_public(str(ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)))
        return found in _UNICAST and found.is_global and found not in _DOCUMENTATION
    return found.is_global and not found.is_multicast and address not in _CLOUD_SERVICES


def _read_head(client: socket.socket) -> bytes:
    head = b""
    while b"\r\n\r\n" not in head:
        data = client.recv(_MAX_HEAD_BYTES)
        head += data
        if not data or len(head) > _MAX_HEAD_BYTES:
            raise FetchRefused("that is no request")
    return head


def _parse_connect(head: bytes) -> tuple[str, int]:
    match = _CONNECT.match(head)
    if match is None or not head.endswith(b"\r\n\r\n"):
        raise FetchRefused("only CONNECT to a name is served here (https)")
    return match[1].decode().lower().rstrip("."), int(match[2])


def _relay_both_ways(one: socket.socket, other: socket.socket) -> None:
    """Pass bytes both ways until both sides have ended."""
    one.settimeout(None)
    other.settimeout(None)
    with selectors.DefaultSelector() as selector:
        selector.register(one, selectors.EVENT_READ, other)
        selector.register(other, selectors.EVENT_READ, one)
        while selector.get_map():
            for key, _ in selector.select():
                source: socket.socket = key.fileobj  # type: ignore[assignment]
                if data := source.recv(1 << 16):
                    key.data.sendall(data)
                    continue
                selector.unregister(source)
                with suppress(OSError):
                    key.data.shutdown(socket.SHUT_WR)
