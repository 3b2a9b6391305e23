"""What a server leaves behind when it ends, and what it does with connections that do not end."""

from __future__ import annotations

import gc
import http.client
import re
import resource
import socket
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import pytest
import websocket

from modules.web.servers import (
    bind,
    eventlet_server,
    threading_server,
    websocket_limits,
)
from modules.web.servers.http_limits import MAX_CONNECTIONS
from tests.modules.sandbox.sandbox_home import wait_until
from tests.modules.web.serving import TIMEOUT_SECONDS, RunningServer
from tests.scripted_model import USED
from utils.api_client import Completion, Delta
from utils.system import unauthenticated

Serve = Callable[..., AbstractContextManager[RunningServer]]


def descriptors() -> set[str]:
    """Return what is open in this process, each by what cannot be given out anew."""
    found = set()
    for file in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            found.add(f"{file} {file.readlink()}")
    return found


def raw(served: RunningServer, line: str, *headers: str) -> socket.socket:
    """Open a connection and begin a request on it."""
    client = socket.create_connection(("127.0.0.1", served.server.port), timeout=TIMEOUT_SECONDS)
    token = f"Authorization: Bearer {served.server.authenticator.token}"
    client.sendall("\r\n".join([line, f"Host: {served.host}", token, *headers]).encode())
    return client


def kept_open(served: RunningServer, stack: ExitStack) -> None:
    """Leave every kind of connection open: idle, half a request, events, a socket, polling."""
    session = served.new_session()
    idle = http.client.HTTPConnection("127.0.0.1", served.server.port, timeout=TIMEOUT_SECONDS)
    stack.callback(idle.close)
    idle.request("GET", "/api/status", headers=served.token)
    idle.getresponse().read()
    stack.enter_context(raw(served, "GET / HTTP/1.1", "X-Half: "))
    events = stack.enter_context(raw(served, f"GET /events?session={session} HTTP/1.1", "\r\n"))
    assert events.recv(100)
    page = websocket.create_connection(
        f"ws://{served.host}/socket.io/?EIO=4&transport=websocket", header=served.token
    )
    stack.callback(page.shutdown)
    page.recv()
    page.send("40")
    page.recv()
    stack.enter_context(raw(served, f"GET {polling(served)} HTTP/1.1", "\r\n"))


def settled(found: Callable[[], set[Any]], before: set[Any]) -> set[Any]:
    """Return what there is beyond *before*, once that is nothing or patience is over."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while (more := found() - before) and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.05)
    return more


def test_nothing_of_a_server_is_left_when_it_has_ended(serve: Serve) -> None:
    with serve() as served, ExitStack() as stack:
        kept_open(served, stack)
    gc.collect()
    threads, files = set(threading.enumerate()), descriptors()
    with ExitStack() as clients:
        with serve() as served:
            kept_open(served, clients)
        assert settled(lambda: set(threading.enumerate()), threads) == set()
    assert settled(descriptors, files) == set()


def ends(client: socket.socket) -> bool:
    """Return whether the server ends the connection of a *client* that only waits."""
    try:
        while client.recv(100_000):
            pass
    except ConnectionResetError:
        pass
    except TimeoutError:
        return False
    return True


def test_a_request_that_does_not_come_is_not_waited_for(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve() as served:
        session = served.new_session()
        events = raw(served, f"GET /events?session={session} HTTP/1.1", "\r\n")
        assert events.recv(100_000).startswith(b"HTTP/1.1 200 ")
        with monkeypatch.context() as short:
            for module in (eventlet_server, threading_server):
                short.setattr(module, "HEAD_SECONDS", 0.5)
            slow = [raw(served, "GET / HTTP/1.1", "X-Half: "), raw(served, "GET / HT")]
            slow += [
                socket.create_connection(("127.0.0.1", served.server.port), timeout=TIMEOUT_SECONDS)
            ]
            for client in slow:
                assert ends(client)
                client.close()
        with events:
            served.ask("POST", f"/api/sessions/{session}/messages", {"text": "/todos"})
            told = b""
            while b"CommandAnswered" not in told:
                told += events.recv(100_000)


def test_more_connections_than_can_be_served_wait(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eventlet_server, "MAX_CONNECTIONS", 3)
    monkeypatch.setattr(threading_server, "MAX_CONNECTIONS", 3)
    with serve() as served:
        idle = [
            socket.create_connection(("127.0.0.1", served.server.port), timeout=TIMEOUT_SECONDS)
            for _ in range(5)
        ]
        waiting = raw(served, "GET /api/status HTTP/1.1", "Connection: close", "\r\n")
        for client in idle:
            client.close()
        with waiting:
            assert waiting.recv(100).startswith(b"HTTP/1.1 200 ")


@pytest.fixture
def many_descriptors() -> Iterator[None]:
    """Let this process have as many as the system allows it: both ends of all sockets are in it."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limits[1], limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.mark.usefixtures("many_descriptors")
def test_strangers_who_send_half_a_request_keep_nobody_out(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (eventlet_server, threading_server):
        monkeypatch.setattr(module, "HEAD_SECONDS", 10 * TIMEOUT_SECONDS)
    with serve() as served, ExitStack() as stack:
        session = served.new_session()
        events = stack.enter_context(raw(served, f"GET /events?session={session} HTTP/1.1", "\r\n"))
        assert events.recv(100_000).startswith(b"HTTP/1.1 200 ")
        idle = http.client.HTTPConnection("127.0.0.1", served.server.port, timeout=TIMEOUT_SECONDS)
        stack.callback(idle.close)
        idle.request("GET", "/api/status", headers=served.token)
        idle.getresponse().read()
        known = idle.sock
        for _ in range(MAX_CONNECTIONS + 44):
            half = socket.create_connection(
                ("127.0.0.1", served.server.port), timeout=TIMEOUT_SECONDS
            )
            stack.enter_context(half)
            half.sendall(b"GET / HTTP/1.1\r\nX-Half: ")
        assert (
            served.ask("GET", served.server.authenticator.new_link(), with_token=False).status
            == 303
        )
        assert served.ask("GET", "/api/status").status == 200
        idle.request("GET", "/api/status", headers=served.token)
        assert idle.getresponse().status == 200
        assert idle.sock is known  # who has shown proof keeps the connection
        served.ask("POST", f"/api/sessions/{session}/messages", {"text": "/todos"})
        told = b""
        while b"CommandAnswered" not in told:
            told += events.recv(100_000)


def test_a_stranger_gives_way_to_those_that_came_later(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unauthenticated, "MAX_UNAUTHENTICATED", 2)
    with serve() as served, ExitStack() as stack:
        address = ("127.0.0.1", served.server.port)
        first, *others = (
            stack.enter_context(socket.create_connection(address, timeout=TIMEOUT_SECONDS))
            for _ in range(3)
        )
        assert ends(first)
        for other in others:
            head = f"GET /api/status HTTP/1.1\r\nHost: {served.host}\r\n\r\n"
            other.sendall(head.encode())
            assert other.recv(100).startswith(b"HTTP/1.1 401 ")


@pytest.mark.parametrize("piece", [1_000_000, 8_000])
def test_a_message_that_is_too_large_ends_its_connection_at_once(
    served: RunningServer, piece: int
) -> None:
    greedy = websocket.create_connection(
        f"ws://{served.host}/socket.io/?EIO=4&transport=websocket",
        header=served.token,
        timeout=TIMEOUT_SECONDS,
    )
    greedy.recv()
    client = greedy.sock
    assert client
    with client, suppress(ConnectionError):
        client.sendall(b"\x81\xff" + (300_000_000).to_bytes(8, "big") + b"mask")
        for _ in range(1_200_000 // piece + 1):
            client.sendall(b"x" * piece)
        assert ends(client)  # though this client neither goes on nor gives up


def polling(served: RunningServer) -> str:
    """Return the address of a new client that polls."""
    opened = served.ask("GET", "/socket.io/?EIO=4&transport=polling").body.decode()
    name = re.findall(r'"sid":"([^"]+)"', opened)[0]
    path = f"/socket.io/?EIO=4&transport=polling&sid={name}"
    assert served.ask("POST", path, b"40").status == 200
    assert served.ask("GET", path).status == 200
    return path


def test_what_is_too_much_is_refused_to_who_polls_at_once(served: RunningServer) -> None:
    path = polling(served)
    assert served.ask("POST", path, b"4" + b"x" * 1_100_000).status == 400
    assert served.ask("POST", path, b"40").status == 400  # it is known no longer


def test_a_client_that_was_given_up_is_told_so(served: RunningServer) -> None:
    path = polling(served)
    (connection,) = served.server._socketio.server.eio.sockets.values()
    connection.closed = True  # as when it has not answered a ping
    assert served.ask("POST", path, b"40").status == 400


def test_a_socket_that_never_answers_is_ended(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(websocket_limits, "PING_SECONDS", 1)
    with serve() as served:
        line = "GET /socket.io/?EIO=4&transport=websocket HTTP/1.1"
        key = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="
        upgrade = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", key)
        with raw(served, line, *upgrade, "\r\n") as mute:
            assert ends(mute)


def test_a_program_that_does_not_read_is_let_go(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bind, "DEAD_PEER_SECONDS", 1)
    much = [*[Delta("x" * 60_000)] * 200, Completion("x" * 12_000_000, "", (), USED)]
    with serve(much) as served, socket.socket() as lazy:
        session = served.new_session()
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        lazy.connect(("127.0.0.1", served.server.port))
        line = f"GET /events?session={session} HTTP/1.1\r\nHost: {served.host}\r\n"
        lazy.sendall(
            f"{line}Authorization: Bearer {served.server.authenticator.token}\r\n\r\n".encode()
        )
        assert lazy.recv(100)
        path = f"/api/sessions/{session}/messages"
        assert served.ask("POST", path, {"text": "go", "stream": False}).status == 200
        assert wait_until(
            lambda: not served.server._event_bus.has_subscribers(session), TIMEOUT_SECONDS
        )


def test_no_client_makes_room_for_more_than_there_may_be(
    served: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("modules.web.socketio.handlers.MAX_CLIENTS", 1)
    with served.page() as page:
        page.client.emit("disconnect", {})  # which is no event of a client's
        more = websocket.create_connection(
            f"ws://{served.host}/socket.io/?EIO=4&transport=websocket", header=served.token
        )
        with closing(more):
            more.recv()
            more.send("40")
            assert str(more.recv()).startswith("44")  # refused


def test_a_refused_body_is_not_waited_for(served: RunningServer) -> None:
    client = socket.create_connection(("127.0.0.1", served.server.port), timeout=TIMEOUT_SECONDS)
    head = f"POST /api/sessions HTTP/1.1\r\nHost: {served.host}\r\nContent-Length: 9000000\r\n\r\n"
    with client, suppress(ConnectionError):
        client.sendall(head.encode())
        for _ in range(8_999):
            client.sendall(b"x" * 1_000)
        assert ends(client)


def test_a_server_that_has_ended_is_freed(serve: Serve) -> None:
    with serve() as served:
        served.new_session()
        server = weakref.ref(served.server)
    del served
    assert wait_until(lambda: gc.collect() >= 0 and server() is None, TIMEOUT_SECONDS)
