"""What fails below the application, in both servers: a reply that breaks off while it is sent."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from typing import Any

import pytest

from modules.web.servers.event_loop import AsyncMode
from modules.web.servers.http_servers import HttpServer, make_server
from tests.modules.web.serving import TIMEOUT_SECONDS


class Failures:
    """What a server tells of, as it comes."""

    def __init__(self) -> None:
        self.errors: list[BaseException] = []
        self._news = threading.Condition()

    def add(self, error: BaseException) -> None:
        with self._news:
            self.errors.append(error)
            self._news.notify_all()

    def wait(self) -> None:
        with self._news:
            assert self._news.wait_for(lambda: self.errors, TIMEOUT_SECONDS)


@contextmanager
def running(mode: AsyncMode, application: Any, failures: Failures) -> Iterator[int]:
    """Serve *application*; yield the port."""
    listener = socket.create_server(("127.0.0.1", 0))
    made: list[HttpServer] = []
    is_made = threading.Event()

    def run() -> None:
        server = make_server(mode, listener, failures.add)[1]
        made.append(server)
        is_made.set()
        server.run(application)
        server.close()

    thread = threading.Thread(target=run)
    thread.start()
    assert is_made.wait(TIMEOUT_SECONDS)
    try:
        yield listener.getsockname()[1]
    finally:
        made[0].stop()
        thread.join(TIMEOUT_SECONDS)
        assert not thread.is_alive()
        listener.close()


def body_of(fails: Callable[[], object]) -> Any:
    """Return an application whose reply sends a little, and then does what *fails*."""

    def application(_: Any, start_response: Any) -> Iterator[bytes]:
        start_response("200 OK", [("Content-Type", "text/plain")])
        yield b"begun"
        fails()

    return application


@pytest.mark.parametrize("mode", ["eventlet", "threading"])
def test_a_reply_that_fails_while_it_is_sent_is_told(mode: AsyncMode) -> None:
    failures = Failures()
    with running(mode, body_of(lambda: 1 // 0), failures) as port:
        client = HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_SECONDS)
        client.request("GET", "/")
        with suppress(HTTPException):  # it breaks off
            client.getresponse().read()
        client.close()
        failures.wait()
    assert [type(error) for error in failures.errors] == [ZeroDivisionError]


@pytest.mark.parametrize("mode", ["eventlet", "threading"])
def test_that_a_client_left_is_no_failure(mode: AsyncMode) -> None:
    def leave() -> None:
        raise ConnectionResetError

    failures = Failures()
    with running(mode, body_of(leave), failures) as port:
        client = HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_SECONDS)
        client.request("GET", "/")
        with suppress(HTTPException):
            client.getresponse().read()
        client.close()
    assert failures.errors == []
