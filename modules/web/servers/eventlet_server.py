"""HTTP server of eventlet: all connections in one thread, the event loop's."""

from __future__ import annotations

import errno
import logging
import socket
import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import Any

from modules.web.http.security import CUT, HANG_UP, ON_AUTHENTICATED, Application
from modules.web.servers.event_loop import EventLoop
from modules.web.servers.http_limits import (
    DRAIN_SECONDS,
    HEAD_SECONDS,
    MAX_CONNECTIONS,
    MAX_LINE_BYTES,
    HttpLimits,
)
from utils.system.sockets import shut_down
from utils.system.unauthenticated import UnauthenticatedConnections

_TRANSIENT_ERRORS = {
    errno.ECONNABORTED,
    errno.ECONNRESET,
    errno.EMFILE,
    errno.ENFILE,
    errno.ENOBUFS,
}
"""Errors of `accept` that pass; eventlet's server would end by one."""
_ACCEPT_RETRY_SECONDS = 0.1
"""Seconds until the next try to accept."""


class EventletServer:
    """Serves on *listen_socket* in the thread that makes this, which is the event loop's."""

    def __init__(
        self,
        listen_socket: socket.socket,
        loop: EventLoop,
        on_error: Callable[[BaseException], object],
    ) -> None:
        self._listen_socket = listen_socket
        self._loop = loop
        self._log = logging.Logger("eventlet")
        self._log.addHandler(_FailureHandler(on_error))
        self._stopped: Any = None
        self._server_greenlet: Any = None
        self._request_pool: Any = None

    def run(self, application: Application) -> None:
        import eventlet
        from eventlet import wsgi

        self._stopped = eventlet.Event()
        self._request_pool = eventlet.GreenPool(MAX_CONNECTIONS)
        self._server_greenlet = eventlet.spawn(
            wsgi.server,
            _retrying_socket(self._listen_socket),
            application,
            custom_pool=self._request_pool,
            log=self._log,
            protocol=_handler_class(UnauthenticatedConnections()),
            log_format="",  # of requests nothing is told
            debug=False,  # what went wrong inside is nobody's business outside
            minimum_chunk_size=1,  # events must not wait for more of them
            url_length_limit=MAX_LINE_BYTES + 2,
        )
        self._stopped.wait()
        with eventlet.Timeout(DRAIN_SECONDS, False):
            self._request_pool.waitall()

    def stop(self) -> None:
        self._loop.call(self._note_stop)

    def _note_stop(self) -> None:
        if not self._stopped.ready():
            self._stopped.send()

    def close(self) -> None:
        if self._server_greenlet:
            # The server itself would wait for every connection to end, and sockets stay open.
            for request in list(self._request_pool.coroutines_running):
                request.kill()
            self._server_greenlet.kill()


class _FailureHandler(logging.Handler):
    """Hands to *on_error* the failures that eventlet's log tells of, and nothing else of it.

    That a client left is none.
    """

    def __init__(self, on_error: Callable[[BaseException], object]) -> None:
        super().__init__()
        self._on_error = on_error

    def emit(self, record: logging.LogRecord) -> None:  # noqa: ARG002 - it is in the exception
        error = sys.exception()
        if isinstance(error, Exception) and not isinstance(error, (ConnectionError, TimeoutError)):
            self._on_error(error)


def _retrying_socket(listen_socket: socket.socket) -> Any:
    """Return *listen_socket* for eventlet, accepting again after an error of one connection."""
    import eventlet
    from eventlet import greenio

    class RetryingSocket(greenio.GreenSocket):  # type: ignore[misc]
        def accept(self) -> Any:
            while True:
                try:
                    return super().accept()
                except OSError as error:
                    if error.errno not in _TRANSIENT_ERRORS:
                        raise
                    eventlet.sleep(_ACCEPT_RETRY_SECONDS)

    return RetryingSocket(listen_socket)


def _handler_class(unauthenticated: UnauthenticatedConnections) -> Any:
    import eventlet
    from eventlet import wsgi

    class Handler(HttpLimits, wsgi.HttpProtocol):  # type: ignore[misc]
        def setup(self) -> None:
            unauthenticated.add(self.request)
            super().setup()

        def handle_one_request(self) -> None:
            self._too_late = eventlet.spawn_after(HEAD_SECONDS, shut_down, self.connection)
            try:
                super().handle_one_request()
            finally:
                self._too_late.cancel()

        def _read_request_line(self) -> bytes:
            line: bytes = super()._read_request_line()
            if len(line) <= MAX_LINE_BYTES:
                return line
            self.send_error(414)
            return b""

        def parse_request(self) -> bool:
            # Beneath it lie eventlet's own limits, which are lower and answered without headers.
            self.rfile: Any = self.rfile.fp
            understood = super().parse_request()
            self._too_late.cancel()
            return understood

        def finish(self) -> None:
            unauthenticated.discard(self.connection)
            with closing(self.rfile):  # else it stays open where its client did not read to the end
                super().finish()

        def get_environ(self) -> dict[str, Any]:
            environ: dict[str, Any] = super().get_environ()
            environ[CUT] = partial(shut_down, self.connection)
            environ[HANG_UP] = self._hang_up
            environ[ON_AUTHENTICATED] = partial(unauthenticated.discard, self.connection)
            return environ

        def _hang_up(self) -> None:
            self.close_connection = True

    return Handler
