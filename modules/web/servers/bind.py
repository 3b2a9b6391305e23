"""The address that the server binds to, and the host names of it."""

from __future__ import annotations

import ipaddress
import socket
import sys
from dataclasses import dataclass
from importlib.util import find_spec

from modules.web.http.security import AllowedHosts
from modules.web.servers.event_loop import AsyncMode
from utils.i18n import UserError, phrase

_EVERY_ADDRESS = ("", "0.0.0.0", "::")  # noqa: S104 - compared with, not bound to
LOOPBACK = ("127.0.0.1", "localhost", "::1")
_BACKLOG = 128
DEAD_PEER_SECONDS = 60
"""Seconds after which a connection is cut whose other end takes nothing of what it is sent."""


@dataclass(frozen=True, kw_only=True)
class BindAddress:
    """Address to serve on, as the command line names it; *port* 0 takes a free one.

    With *allow_remote* it is served with TLS, whoever can reach it.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    allow_remote: bool = False
    async_mode: AsyncMode = "eventlet"

    @classmethod
    def of(cls, host: str | None, port: int, allow_remote: bool, async_mode: str) -> BindAddress:
        """Return the address for *async_mode*; threads serve where eventlet is not installed.

        Unless a *host* is named, it is every address where others are allowed, else this machine's.
        """
        if host is None:
            host = _EVERY_ADDRESS[1] if allow_remote else LOOPBACK[0]
        is_installed = find_spec("eventlet") is not None
        mode: AsyncMode = "eventlet" if async_mode == "eventlet" and is_installed else "threading"
        return cls(host=host, port=port, allow_remote=allow_remote, async_mode=mode)

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def listen(self) -> socket.socket:
        """Return the listening socket. Raises `UserError`."""
        if not self.is_local and not self.allow_remote:
            raise UserError(
                phrase(
                    "Other machines can reach {host}. To allow that, add --allow-remote.",
                    host=self.host or "''",
                )
            )
        if not 0 <= self.port <= 65_535:
            raise UserError(
                phrase("Invalid port {port}. Use one from 1024 to 65535.", port=self.port)
            )
        try:
            address_family, _, _, _, address = socket.getaddrinfo(
                self.host or None, self.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            return _listening_socket(address_family, address)
        except (socket.gaierror, UnicodeError):
            raise UserError(phrase("This machine has no address {host}.", host=self.host)) from None
        except OSError as error:
            reason = error.strerror or str(error)
            raise UserError(
                phrase(
                    "Cannot use port {port} on {host}: {why}. Choose another with --port.",
                    port=self.port,
                    host=self.host,
                    why=reason,
                )
            ) from None

    def hosts(self, port: int) -> AllowedHosts:
        """Return the host names under which the server on *port* may be reached."""
        if not self.allow_remote:
            return AllowedHosts(port, [*LOOPBACK, self.host])
        return AllowedHosts(port, self.names(), any_address=True, scheme="https")

    def inner(self) -> BindAddress:
        """Return the address that lies behind TLS: of this machine only, on a free port."""
        return BindAddress(port=0, async_mode=self.async_mode)

    def names(self) -> list[str]:
        """Return the names and addresses that others call this machine by, the best one first."""
        name = socket.gethostname()
        said = [] if self.host in _EVERY_ADDRESS else [self.host]
        found = [*said, *filter(None, [_network_address()]), f"{name}.local", name, *LOOPBACK]
        return list(dict.fromkeys(filter(None, found)))

    def origins(self, port: int) -> list[str]:
        """Return the origins of our page, as far as a content security policy can name them."""
        names = dict.fromkeys([*LOOPBACK, self.host])
        return [f"http://{name}:{port}" for name in names if ":" not in name]

    def url(self, port: int) -> str:
        """Return the address to type into a browser."""
        host = self.names()[0] if self.allow_remote else self.host
        scheme = "https" if self.allow_remote else "http"
        return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


def _network_address() -> str:
    """Return the address that this machine has in its network, "" without one. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            sock.connect(("192.0.2.1", 9))  # of nobody: it only chooses the way there
        except OSError:
            return ""
        return str(sock.getsockname()[0])


def _listening_socket(
    address_family: socket.AddressFamily, address: tuple[object, ...]
) -> socket.socket:
    listen_socket = socket.socket(address_family, socket.SOCK_STREAM)
    try:
        listen_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _enable_keepalive(listen_socket)
        listen_socket.bind(address)
        listen_socket.listen(_BACKLOG)
    except OSError:
        listen_socket.close()
        raise
    return listen_socket


def _enable_keepalive(listen_socket: socket.socket) -> None:
    """Have the system end an accepted connection whose other end is gone or does not read."""
    listen_socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if sys.platform == "linux":
        listen_socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, DEAD_PEER_SECONDS)
        listen_socket.setsockopt(
            socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, DEAD_PEER_SECONDS * 1_000
        )
