"""The gateway: our own listener, by which a browser reaches the previews.

It listens on this machine only, on a port of its own, and each preview has a name of its own
(`NAME.RUN.localhost`, which browsers look up nowhere). So a preview is another origin, and another
site, than our page and than any other preview: no cookie, no storage and no service worker of one
is ever another's, also not of a later one. Until the first preview nothing listens.
"""

from __future__ import annotations

import errno
import secrets
import selectors
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress

from modules.preview.forwarding import Forwarding
from modules.preview.preview import Connect, Preview
from utils.i18n import UserError, phrase
from utils.system.sockets import shut_down
from utils.system.unauthenticated import UnauthenticatedConnections

MAX_CONNECTIONS = 128
"""Connections that are served at once; more are closed."""
_BACKLOG = 64
_TRIES = 20
_LINGER_SECONDS = 1.0  # for a browser to read why it was refused before it has sent all
_LINGER_BYTES = 1 << 20
_PAUSE_SECONDS = 0.1  # while there are too few descriptors
_RUN_BYTES, _NAME_BYTES = 4, 3  # of random names; who may come in does not hang on them
OnError = Callable[[BaseException], object]
"""Logs a failure of ours."""


class PreviewGateway:
    """Serves previews in threads of its own. Threads may share it.

    Raises `UserError` when no port can be had. *wanted_port* is taken if it is free, and not 0.
    """

    def __init__(
        self, on_error: OnError, wanted_port: int = 0, page_origins: Sequence[str] = ()
    ) -> None:
        """*page_origins* may show previews in a frame."""
        self._on_error = on_error
        self._page_origins = tuple(page_origins)
        self._run = f"{secrets.token_hex(_RUN_BYTES)}.localhost"
        self._listeners = _bound(wanted_port)
        self.port: int = self._listeners[0].getsockname()[1]
        self._previews: dict[str, Preview] = {}
        self._known_hosts: set[str] = set()
        self._connections: set[socket.socket] = set()
        self._unauthenticated = UnauthenticatedConnections()
        self._slots = threading.BoundedSemaphore(MAX_CONNECTIONS)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._wake_reader, self._wake_writer = socket.socketpair()
        self._over = threading.Event()

    @property
    def frame_source(self) -> str:
        """Source for a content security policy: every preview of this run, and nothing else."""
        return f"http://*.{self._run}:{self.port}"

    def open(self, port: int, connect: Connect, allowed_hosts: Sequence[str] = ()) -> Preview:
        """Return a new preview of *port* to which *connect* leads."""
        with self._lock:
            preview = Preview(
                self._new_host(),
                port,
                connect,
                allowed_hosts=allowed_hosts,
                page_origins=self._page_origins,
            )
            self._previews[preview.host] = preview
            self._start()
        return preview

    def _new_host(self) -> str:
        """Return a name that no preview of this run ever had."""
        while True:
            host = f"{secrets.token_hex(_NAME_BYTES)}.{self._run}:{self.port}"
            if host not in self._known_hosts:
                self._known_hosts.add(host)
                return host

    def end(self, preview: Preview) -> None:
        """End *preview* with all its connections."""
        with self._lock:
            self._previews.pop(preview.host, None)
        preview.close()

    def close(self) -> None:
        """End it all; nothing listens any more on return."""
        with self._lock:
            self._over.set()
            previews, self._previews = list(self._previews.values()), {}
            connections = list(self._connections)
        self._wake_writer.send(b"!")
        if self._thread:
            self._thread.join()
        for preview in previews:
            preview.close()
        for connection in connections:
            shut_down(connection)
        for one in (*self._listeners, self._wake_reader, self._wake_writer):
            one.close()

    def _start(self) -> None:
        if self._thread is None and not self._over.is_set():
            for listener in self._listeners:
                listener.listen(_BACKLOG)
                listener.setblocking(False)
            self._thread = threading.Thread(target=self._listen, name="previews", daemon=True)
            self._thread.start()

    def _listen(self) -> None:
        with selectors.DefaultSelector() as selector:
            for one in (*self._listeners, self._wake_reader):
                selector.register(one, selectors.EVENT_READ)
            while not self._over.is_set():
                for key, _ in selector.select():
                    for listener in self._listeners:
                        if key.fileobj is listener:
                            self._accept(listener)

    def _accept(self, listener: socket.socket) -> None:
        try:
            client, _ = listener.accept()
        except OSError as error:  # it went away again, or there are no descriptors left for it
            if error.errno in (errno.EMFILE, errno.ENFILE):
                self._over.wait(_PAUSE_SECONDS)
            return
        with self._lock:
            if self._over.is_set() or not self._slots.acquire(blocking=False):
                client.close()
                return
            self._connections.add(client)
        self._unauthenticated.add(client)
        threading.Thread(target=self._serve, args=(client,), name="preview", daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            with client:
                client.setblocking(True)
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                known = self._unauthenticated
                Forwarding(client, self._previews.get, lambda: known.discard(client)).serve()
                _linger(client)
        except OSError:  # either side went away
            return
        except Exception as error:  # noqa: BLE001 - the one place where our failures here end
            self._on_error(error)
        finally:
            self._unauthenticated.discard(client)
            with self._lock:
                self._connections.discard(client)
            self._slots.release()


def _linger(client: socket.socket) -> None:
    """Let *client* read our last words, though it may still be sending: else they are lost."""
    client.shutdown(socket.SHUT_WR)
    client.settimeout(_LINGER_SECONDS)
    left = _LINGER_BYTES
    while left > 0 and (data := client.recv(1 << 16)):
        left -= len(data)


def _bound(wanted_port: int) -> list[socket.socket]:
    """Return sockets on one port of both loopbacks: a browser may try either one first.

    Were one of them free, another user of this machine could take it. Raises `UserError`.
    """
    for port in (*((wanted_port,) if wanted_port else ()), *(0 for _ in range(_TRIES))):
        first: socket.socket | None = None
        with suppress(OSError):
            first = _bound_socket(socket.AF_INET, ("127.0.0.1", port))
            return [first, *_bound_ipv6(first.getsockname()[1])]
        if first:
            first.close()
    raise UserError(phrase("No free port for previews."))


def _bound_ipv6(port: int) -> list[socket.socket]:
    """Return a socket on *port* of the loopback of IPv6, none where there is no IPv6."""
    try:
        return [_bound_socket(socket.AF_INET6, ("::1", port))]
    except OSError as error:
        if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
            return []
        raise


def _bound_socket(family: socket.AddressFamily, address: tuple[str, int]) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind(address)
    except OSError:
        made.close()
        raise
    return made
