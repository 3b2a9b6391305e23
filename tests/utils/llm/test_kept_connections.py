"""A real server of one socket that drops a kept connection when it is used again."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.utils.client_helpers import stream_once
from tests.utils.llm.quirk_server import (
    DONE,
    Answer,
    ReceivedRequest,
    chunk,
    default_response,
    error_response,
    quirk_server,
)
from tests.utils.llm.test_quirks import client_at

REPLY = chunk({"content": "Fine."}) + chunk({}, "stop") + DONE
HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: keep-alive\r\n"
    b"Content-Length: %d\r\n\r\n" % len(REPLY)
)


def request(connection: socket.socket) -> bytes:
    """Return a whole request, b"" where the client hung up."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65_536)
        if not piece:
            return b""
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
    while len(body) < length:
        body += connection.recv(65_536)
    return body


@contextmanager
def dropping(how: str) -> Iterator[tuple[str, list[bytes]]]:
    """Serve one request a connection; the next one on it is read, and the connection dropped."""
    asked: list[bytes] = []
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                if body := request(connection):
                    asked.append(body)
                    connection.sendall(HEAD + REPLY)
                if how == "read" and (again := request(connection)):
                    asked.append(again)
                if how == "reset":
                    connection.recv(1)
                    linger = (1).to_bytes(4, "little") + (0).to_bytes(4, "little")
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1", asked
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join()


@pytest.mark.parametrize("how", ["read", "reset", "closed"])
def test_a_dropped_kept_connection_is_made_anew_without_a_word(how: str) -> None:
    with dropping(how) as (url, asked):
        client = client_at(url)
        client.may_probe = False
        heard = [stream_once(client) for _ in range(3)]
        client.close()
    assert [one.text for one in heard] == ["Fine."] * 3
    assert not any(one.retries for one in heard)
    assert len(asked) == (5 if how == "read" else 3)  # those that were dropped, and sent once more


def test_no_sampling_is_asked_for() -> None:
    def habit(asked: ReceivedRequest) -> Answer:
        odd = {"temperature", "top_p", "frequency_penalty", "seed", "n"} & asked.body.keys()
        return error_response(f"Unsupported value: {odd}") if odd else default_response(asked)

    with quirk_server(habit) as server:
        client = client_at(server.url)
        client.may_probe = False
        assert stream_once(client, think=True).completion.calls
        assert len(server.chat_requests) == 1
        assert json.dumps(server.chat_requests[0].body).count("temperature") == 0
        client.close()
