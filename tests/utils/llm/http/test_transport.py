"""The line speaks HTTP/1.1 with whatever stands at the other end."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from tests.simulator import Say, Simulator
from tests.utils.client_helpers import client_of, stream_once
from utils.llm.completion import ModelError

EVENT = b'data: {"choices":[{"delta":{"content":"Hi."},"finish_reason":"stop"}]}\n\n'
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
CHUNK = b"%x\r\n%s\r\n" % (len(EVENT), EVENT)
ODD_CHUNK = b"%X;name=value\r\n%s\r\n" % (len(EVENT), EVENT)
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
LENGTH = b"Content-Length: %d\r\n\r\n" % len(EVENT)
BODIES = {
    "chunked": CHUNKED + CHUNK + b"0\r\n\r\n",
    "extensions and trailers": CHUNKED + ODD_CHUNK + b"000\r\nA: b\r\n\r\n",
    "length": LENGTH + EVENT,
    "until it closes": b"\r\n" + EVENT,
    "cut after the last event": CHUNKED + CHUNK,
    "nonsense after the last event": CHUNKED + CHUNK + b"zz\r\n",
    "after an interim answer": LENGTH + EVENT,
}


@contextmanager
def answering(reply: bytes, step: int) -> Iterator[str]:
    """A server that answers every connection with *reply*, *step* bytes at a time, and closes."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = server.accept()
                with connection:
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    while not connection.recv(65536).endswith(b"}"):
                        pass
                    for start in range(0, len(reply), step):
                        connection.sendall(reply[start : start + step])

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join()


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("step", [1, 3, 1 << 20])
def test_a_body_is_read_in_any_form_and_any_cut(name: str, step: int) -> None:
    interim = b"HTTP/1.1 100 Continue\r\n\r\n" if "interim" in name else b""
    with answering(interim + HEAD + BODIES[name], step) as url, client_of(url) as client:
        for _ in range(2):
            heard = stream_once(client)
            assert (heard.text, heard.retries) == ("Hi.", [])


def test_what_is_no_http_is_a_broken_connection() -> None:
    told = pytest.raises(ModelError, match="Lost the connection to .*")
    nonsense = answering(b"SSH-2.0-nonsense\r\n", 1 << 20)
    with nonsense as url, client_of(url, retries=1) as client, told:
        stream_once(client)


def test_a_proxy_is_used_but_not_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    with Simulator([Say("By proxy."), Say("Direct.")], is_validated=False) as server:
        address = server.url.removeprefix("http://")
        monkeypatch.setenv("http_proxy", f"http://me:secret@{address}")
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        with client_of("http://model.invalid") as client:
            assert stream_once(client).text == "By proxy."
        with client_of(server) as client:
            assert stream_once(client).text == "Direct."
        first, second = (request.headers for request in server.requests)
    assert first["host"] == "model.invalid"
    assert first["proxy-authorization"].startswith("Basic ")
    assert "proxy-authorization" not in second
