"""One exchange with a server, which may be broken off from any thread."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from utils.llm.http.reply_limits import ReplyWatch
from utils.waiting import Stop, Timeout


class Exchange:
    """One exchange over the transport, which `abort` ends from any thread.

    *watch* counts what it brings.
    """

    def __init__(self, stop: Stop, watch: ReplyWatch) -> None:
        self.stop = stop
        self.watch = watch
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None

    def set_socket(self, connected: socket.socket) -> None:
        """Set the socket that `abort` shuts down; the stop may have come already."""
        with self._lock:
            self._socket = connected
        if self.stop.is_set():
            self.abort()

    @contextmanager
    def limiting_first_byte(self, timeout: Timeout) -> Iterator[None]:
        """Break the exchange when this takes longer than *timeout*. Raises `TimeoutError`."""
        try:
            with timeout.watching(self._on_timeout):
                yield
        finally:
            if self.watch.has_timed_out:
                raise TimeoutError

    def set_read_timeout(self, seconds: float) -> None:
        """Let no read of the socket take longer than *seconds* from now on."""
        with self._lock:
            if self._socket is not None:
                self._socket.settimeout(seconds)

    def _on_timeout(self) -> None:
        self.watch.has_timed_out = True
        self.abort()

    def abort(self) -> None:
        """Break the exchange; the one who waits for it sees the end of the stream."""
        with self._lock:
            if self._socket is not None:
                # SSLSocket's own shutdown would pull its state from under the thread that reads.
                with suppress(OSError):
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
