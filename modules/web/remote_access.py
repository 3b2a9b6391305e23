"""The way in for others on the network: TLS by our own certificate, for paired devices only."""

from __future__ import annotations

import threading
from base64 import urlsafe_b64encode
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from modules.web.http.security import AllowedHosts
from modules.web.pairing.certificate import kept_certificate
from modules.web.pairing.connections import DeviceConnections
from modules.web.pairing.devices import PairedDevices
from modules.web.servers.bind import BindAddress
from modules.web.servers.tls_front import TlsFront
from utils.i18n import UserError

LOOK_SECONDS = 1.0
"""Seconds between two looks at what another server of the person may have removed."""


class RemoteAccess:
    """Serves with TLS on *bind_address* what is served on `inner_socket`, a port of this machine.

    The certificate and the devices are kept in *data*. Raises `UserError` when the address cannot
    be had.
    """

    def __init__(
        self, bind_address: BindAddress, data: Path, on_error: Callable[[BaseException], object]
    ) -> None:
        self._bind_address = bind_address
        self._listen_socket = bind_address.listen()
        self.port: int = self._listen_socket.getsockname()[1]
        self.url = bind_address.url(self.port)
        self.certificate = kept_certificate(data / "tls", bind_address.names())
        self.devices = PairedDevices(data / "devices.json")
        self.connections = DeviceConnections()
        self._is_closed = threading.Event()
        self._looks = threading.Thread(target=self._look, name="devices", daemon=True)
        self._inner = bind_address.inner()
        self.inner_socket = self._inner.listen()
        self._inner_port: int = self.inner_socket.getsockname()[1]
        self.own_url = self._inner.url(self._inner_port)
        self._front = TlsFront(
            self._listen_socket, self.certificate.context(), self._inner_port, on_error
        )

    def hosts(self) -> list[AllowedHosts]:
        """Return how others name the server, and how this machine does."""
        return [self._bind_address.hosts(self.port), self._inner.hosts(self._inner_port)]

    def pairing_url(self, ticket: str) -> str:
        """Return the address for a code: with the path *ticket*, and the fingerprint behind "#",
        which no browser sends."""
        digest = bytes.fromhex(self.certificate.fingerprint.replace(":", ""))
        return f"{self.url}{ticket}#sha256={urlsafe_b64encode(digest).decode().rstrip('=')}"

    def cut_removed(self) -> None:
        """Cut the connections of all devices that may not come in any more."""
        allowed: set[str] = set()
        with suppress(UserError):  # a list that cannot be read lets nobody in
            allowed = {device.id for device in self.devices.all()}
        self.connections.keep(allowed)

    def _look(self) -> None:
        while not self._is_closed.wait(LOOK_SECONDS):
            if not self.connections.is_empty:
                self.cut_removed()

    def start(self) -> None:
        self._front.start()
        self._looks.start()

    def close(self) -> None:
        self._is_closed.set()
        self._front.close()
        if self._looks.is_alive():
            self._looks.join()
        self._listen_socket.close()
