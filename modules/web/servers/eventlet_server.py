"""The HTTP server of eventlet: all connections in one thread, the hub's."""

from __future__ import annotations

import errno
import logging
import socket
from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import Any

from modules.web.http.security import HANG_UP, LET_IN, Application
from modules.web.servers.event_loop import EventLoop
from modules.web.servers.http_limits import (
    GOODBYE,
    HEAD_SECONDS,
    LONGEST_LINE,
    MOST_CONNECTIONS,
    HttpLimits,
)
from modules.web.servers.unauthenticated import Unauthenticated
from utils.system.sockets import cut

_PASSING = {errno.ECONNABORTED, errno.ECONNRESET, errno.EMFILE, errno.ENFILE, errno.ENOBUFS}
"""What may befall `accept` and is over soon; eventlet's server would end by it."""
_BREATH = 0.1
"""Seconds until the next try to accept."""


class EventletServer:
    """Serves on *listening* in the thread that makes this, which is the hub's."""

    def __init__(
        self, listening: socket.socket, hub: EventLoop, failed: Callable[[BaseException], object]
    ) -> None:
        self._listening = listening
        self._hub = hub
        self._log = logging.Logger("eventlet")
        self._log.addHandler(_Failures(failed))
        self._over: Any = None
        self._serving: Any = None
        self._requests: Any = None

    def run(self, application: Application) -> None:
        import eventlet
        from eventlet import wsgi

        self._over = eventlet.Event()
        self._requests = eventlet.GreenPool(MOST_CONNECTIONS)
        self._serving = eventlet.spawn(
            wsgi.server,
            _lasting(self._listening),
            application,
            custom_pool=self._requests,
            log=self._log,
            protocol=_handler(Unauthenticated()),
            log_output=False,
            debug=False,  # what went wrong inside is nobody's business outside
            minimum_chunk_size=1,  # events must not wait for more of them
            url_length_limit=LONGEST_LINE + 2,
        )
        self._over.wait()

    def stop(self) -> None:
        self._hub.call(self._end)

    def _end(self) -> None:
        import eventlet

        eventlet.spawn_after(GOODBYE, self._over.send)

    def close(self) -> None:
        if self._serving:
            # The server itself would wait for every connection to end, and sockets stay open.
            for request in list(self._requests.coroutines_running):
                request.kill()
            self._serving.kill()


class _Failures(logging.Handler):
    """Hands the tracebacks in eventlet's log to *failed*; its other news are nobody's."""

    def __init__(self, failed: Callable[[BaseException], object]) -> None:
        super().__init__()
        self._failed = failed

    def emit(self, record: logging.LogRecord) -> None:
        if (told := record.getMessage()).startswith("Traceback"):
            self._failed(RuntimeError(told))


def _lasting(listening: socket.socket) -> Any:
    """Return *listening* for the hub, so that it goes on whatever befalls one connection."""
    import eventlet
    from eventlet import greenio

    class Lasting(greenio.GreenSocket):  # type: ignore[misc]
        def accept(self) -> Any:
            while True:
                try:
                    return super().accept()
                except OSError as error:
                    if error.errno not in _PASSING:
                        raise
                    eventlet.sleep(_BREATH)

    return Lasting(listening)


def _handler(unauthenticated: Unauthenticated) -> Any:
    import eventlet
    from eventlet import wsgi

    class Handler(HttpLimits, wsgi.HttpProtocol):  # type: ignore[misc]
        def setup(self) -> None:
            unauthenticated.came(self.request)
            super().setup()

        def handle_one_request(self) -> None:
            self._too_late = eventlet.spawn_after(HEAD_SECONDS, cut, self.connection)
            try:
                super().handle_one_request()
            finally:
                self._too_late.cancel()

        def _read_request_line(self) -> bytes:
            line: bytes = super()._read_request_line()
            if len(line) <= LONGEST_LINE:
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
            unauthenticated.left(self.connection)
            with closing(self.rfile):  # else it stays open where its client did not read to the end
                super().finish()

        def get_environ(self) -> dict[str, Any]:
            environ: dict[str, Any] = super().get_environ()
            environ[HANG_UP] = self._hang_up
            environ[LET_IN] = partial(unauthenticated.left, self.connection)
            return environ

        def _hang_up(self) -> None:
            self.close_connection = True

    return Handler
