"""One preview: a port inside a sandbox, the name it has in a browser, and who may see it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import urlencode

from modules.preview.access import Access, Kind
from modules.preview.rewriting import policy
from utils.system.sockets import shut_down

ENTRY_PATH = "/_onefold/"
"""Path of the links, before the ticket; nothing that begins with it goes to the program."""

Connect = Callable[[int], socket.socket]
"""Connects to a port inside; raises `OSError`."""


class Preview:
    """A preview of *port* as *host*. Threads may share it; every connection of it ends with it."""

    def __init__(
        self,
        host: str,
        port: int,
        connect: Connect,
        *,
        allowed_hosts: Sequence[str],
        page_origins: Iterable[str],
    ) -> None:
        self.host, self.port = host, port
        self.access = Access()
        self.ancestors = " ".join(["'self'", *page_origins])
        self.policy = policy(host, allowed_hosts, page_origins)
        self.path = "/"
        """Path of the page that the pane showed last."""
        self._connect = connect
        self._connections: set[socket.socket] = set()
        self._is_over = False
        self._lock = threading.Lock()

    @property
    def origin(self) -> str:
        return f"http://{self.host}"

    def link(self, kind: Kind, path: str = "/") -> str:
        """Return an address that works once, and leads to *path*."""
        query = "" if path == "/" else f"?{urlencode({'to': path})}"
        return f"{self.origin}{ENTRY_PATH}{self.access.new_ticket(kind)}{query}"

    def connect(self) -> socket.socket:
        """Return a connection to the program. Raises `OSError`."""
        return self._connect(self.port)

    @contextmanager
    def registered(self, *connections: socket.socket) -> Iterator[None]:
        """Have *connections* end with the preview while the block lasts."""
        with self._lock:
            self._connections.update(connections)
            is_over = self._is_over
        try:
            if is_over:
                raise ConnectionAbortedError
            yield
        finally:
            with self._lock:
                self._connections.difference_update(connections)

    def close(self) -> None:
        """End it with all its connections."""
        with self._lock:
            self._is_over = True
            for connection in self._connections:
                shut_down(connection)
