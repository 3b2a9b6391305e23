"""A server without shame: whatever it pours, we end it, small and soon, and say why."""

from __future__ import annotations

import gzip
import itertools
import json
import socket
import threading
import tracemalloc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from tests.simulator import Refuse, Say, Simulator
from tests.utils.client_helpers import InstantStop, client_of, stream_once
from utils.api_client import ApiClient
from utils.llm.completion import ModelError
from utils.llm.http.reply_limits import LimitExceeded, ReplyLimits, ReplyWatch

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
CHUNKED = HEAD[:-2] + b"Transfer-Encoding: chunked\r\n\r\n"
JSON = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
BUSY = b"HTTP/1.1 503 Busy\r\nContent-Type: text/plain\r\n\r\n"
SMALL = ReplyLimits(
    bytes=2_000_000,
    event_bytes=200_000,
    characters=100_000,
    calls=20,
    seconds=0.4,
    progress_seconds=0.2,
    error_seconds=0.2,
)
FOR_EVER = 10_000_000  # pieces; nobody sends as many before the test's own limit


def event(**delta: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": None}
    return f"data: {json.dumps({'choices': [choice]})}\n\n".encode()


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def call(number: int) -> bytes:
    function = {"name": "read_file", "arguments": "{}"}
    return event(tool_calls=[{"index": number, "id": f"c{number}", "function": function}])


@pytest.fixture(autouse=True, scope="module")
def _loaded() -> None:
    """What the SDK takes is not counted."""
    ApiClient("http://127.0.0.1", "", model="none").warm()


def read_request(connection: socket.socket) -> None:
    """Read a whole request: who closes with some of it unread breaks the connection."""
    length = 0
    with connection.makefile("rb") as file:
        while line := file.readline().strip().lower():
            if line.startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        file.read(length)


@contextmanager
def pouring(pieces: Iterable[bytes], pause: float = 0.0) -> Iterator[str]:
    """A server that sends *pieces* to whoever connects, *pause* seconds apart, until that leaves.

    Yields its address. That it was left is waited for.
    """
    over = threading.Event()

    def serve(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            read_request(connection)
            for piece in itertools.chain(pieces):
                connection.sendall(piece)
                if over.wait(pause):
                    return
        left.set()

    left = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            with suppress(OSError):
                while True:
                    serve(listener.accept()[0])

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
            assert left.wait(60), "the connection was kept"
        finally:
            over.set()
            listener.shutdown(socket.SHUT_RDWR)
    thread.join(60)


def told(url: str, limits: ReplyLimits = SMALL, **options: Any) -> str:
    """Ask, and return the sentence of the failure."""
    client = client_of(url, limits=limits, retries=0, **options)
    with client as made, pytest.raises(ModelError) as failure:
        stream_once(made)
    return str(failure.value)


FLOODS = {
    "one line": itertools.chain([HEAD, b"data: "], itertools.repeat(b"x" * 50_000, FOR_EVER)),
    "one event": itertools.chain([HEAD], itertools.repeat(b"data: x\n" * 1000, FOR_EVER)),
    "comments": itertools.chain([HEAD], itertools.repeat(b": keep-alive\n\n" * 1000, FOR_EVER)),
    "empty deltas": itertools.chain([HEAD], itertools.repeat(event(content="") * 99, FOR_EVER)),
    "text": itertools.chain(
        [HEAD], (event(content=f"word {n} ") * 99 for n in range(FOR_EVER))
    ),
    "arguments": itertools.chain(
        [HEAD, call(0)],
        (
            event(tool_calls=[{"index": 0, "function": {"arguments": f"{n}" + "x" * 999}}])
            for n in range(FOR_EVER)
        ),
    ),
    "a chunk": itertools.chain([CHUNKED, b"fffffff\r\n"], itertools.repeat(b"x" * 9999, FOR_EVER)),
    "trailers": itertools.chain([CHUNKED, b"0\r\n"], itertools.repeat(b"a: b\r\n" * 999, FOR_EVER)),
    "interim answers": itertools.repeat(b"HTTP/1.1 100 Continue\r\n\r\n" * 999, FOR_EVER),
    "no stream": itertools.chain([JSON], itertools.repeat(b"[" * 50_000, FOR_EVER)),
}  # fmt: skip


@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
def test_a_flood_is_broken_off_and_takes_little_memory(flood: Iterable[bytes]) -> None:
    tracemalloc.start()
    try:
        with pouring(flood) as url:
            said = told(url, ReplyLimits(bytes=2_000_000, event_bytes=200_000, characters=100_000))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert said.endswith(" sent an endless reply.")
    assert peak < 20_000_000


GZIP = JSON[:-2] + b"Content-Encoding: gzip\r\n\r\n"
LISTS = {
    "strings": itertools.chain([JSON, b"["], itertools.repeat(b'"a", ' * 9999, FOR_EVER)),
    "packed": itertools.chain([GZIP], itertools.repeat(gzip.compress(b" " * 9_999_999), FOR_EVER)),
}


@pytest.mark.parametrize("flood", LISTS.values(), ids=LISTS)
def test_a_list_of_models_without_end_is_none(flood: Iterable[bytes]) -> None:
    tracemalloc.start()
    try:
        with pouring(flood) as url, client_of(url) as client:
            assert client.models() == []
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 40_000_000


def test_an_endless_size_of_a_chunk_is_no_chunk() -> None:
    with pouring(itertools.chain([CHUNKED], itertools.repeat(b"0" * 50_000, FOR_EVER))) as url:
        assert told(url).startswith("Lost the connection to ")


@pytest.mark.parametrize("kind", ["503 Busy", "400 Bad Request", "302 Found"])
def test_an_endless_error_is_told_by_its_beginning(kind: str) -> None:
    head = f"HTTP/1.1 {kind}\r\nContent-Type: text/plain\r\n\r\nNo room here. ".encode()
    tracemalloc.start()
    try:
        with pouring(itertools.chain([head], itertools.repeat(b"x " * 50_000, FOR_EVER))) as url:
            said = told(url)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "No room here." in said or kind.startswith("302")
    assert peak < 20_000_000


def test_an_error_that_comes_byte_by_byte_is_told_by_its_beginning() -> None:
    pieces = itertools.chain([BUSY + b"No room here. "], itertools.repeat(b"x", FOR_EVER))
    with pouring(pieces, pause=0.01) as url:
        assert "reports a server error: No room here." in told(url)


def test_an_error_nested_without_end_is_told_as_it_is() -> None:
    with pouring([BUSY, b"[" * 60_000]) as url:
        assert "reports a server error: [[[" in told(url)


DRIPS = {
    "comments": itertools.chain([HEAD], itertools.repeat(b": keep-alive\n\n", FOR_EVER)),
    "empty deltas": itertools.chain([HEAD], itertools.repeat(event(content=""), FOR_EVER)),
    "tiny deltas": itertools.chain([HEAD], itertools.repeat(event(content="x"), FOR_EVER)),
    "a line": itertools.chain([HEAD, b"data: "], itertools.repeat(b"x", FOR_EVER)),
    "trailers": itertools.chain([CHUNKED, b"0\r\n"], itertools.repeat(b"a: b\r\n", FOR_EVER)),
    "chunks": itertools.chain([CHUNKED], itertools.repeat(chunk(b":\n"), FOR_EVER)),
    "a head": itertools.chain([b"HTTP/1.1 200 OK\r\na: "], itertools.repeat(b"x", FOR_EVER)),
    "no answer yet": itertools.repeat(b"HTTP/1.1 100 Continue\r\n\r\n", FOR_EVER),
}


@pytest.mark.parametrize("drip", DRIPS.values(), ids=DRIPS)
def test_what_gets_no_further_is_given_up(drip: Iterable[bytes]) -> None:
    with pouring(drip, pause=0.01) as url:
        assert " made no progress for 0 seconds." in told(url)


def test_what_gets_further_but_never_ends_is_given_up() -> None:
    words = itertools.chain([HEAD], itertools.repeat(event(content="x" * 200), FOR_EVER))
    with pouring(words, pause=0.01) as url:
        assert " did not end within 0 hours." in told(url)


def test_more_calls_than_anybody_needs_are_asked_for_again_and_then_told() -> None:
    reply = [HEAD, *map(call, range(1000)), b"data: [DONE]\n\n"]
    with pouring(reply) as url:
        said = told(url)
    assert said == "The model made more than 20 calls in one reply. None was run."


def test_as_many_calls_as_are_allowed_are_read() -> None:
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
    reply = [HEAD, *map(call, range(20)), f"data: {json.dumps(end)}\n\n".encode()]
    with pouring([*reply, b"data: [DONE]\n\n"]) as url, client_of(url, limits=SMALL) as client:
        assert len(stream_once(client).completion.calls) == 20


@pytest.mark.parametrize("pause", ["99999999", "inf", "1e308", "86401"])
def test_who_wants_a_long_pause_is_not_asked_again(pause: str) -> None:
    waits = InstantStop()
    refusal = Refuse(429, headers={"Retry-After": pause})
    with Simulator([refusal, Say("Fine.")]) as server, client_of(server) as client:
        with pytest.raises(ModelError, match="asks to wait .* days before retrying"):
            stream_once(client, stop=waits)
        assert not server.is_finished
    assert waits.waits == []


def test_time_is_that_of_waiting_for_the_server_alone() -> None:
    watch = ReplyWatch(ReplyLimits(progress_seconds=10, seconds=30, progress_characters=5))
    for _ in range(3):
        watch.record_received(1, 9)
        watch.record_progress(5)
    with pytest.raises(LimitExceeded, match="seconds"):
        watch.record_received(1, 9)


def test_little_by_little_is_progress_when_it_adds_up() -> None:
    watch = ReplyWatch(ReplyLimits(progress_seconds=10, progress_characters=5))
    for _ in range(21):
        watch.record_received(1, 2)
        watch.record_progress(2)
    for _ in range(4):
        watch.record_received(1, 2)
    with pytest.raises(LimitExceeded, match="progress"):
        watch.record_received(1, 4)
