"""Stop ends a model call at once, at whatever it waits; nothing here depends on how fast."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.simulator import KeepAlive, Say, Simulator, Stall, Step, Think
from tests.simulator.server import wait_for
from tests.utils.client_helpers import USER, InstantStop, client_of, stream_once
from utils import waiting
from utils.api_client import ApiClient, Delta, ModelError
from utils.llm.http import exchange, transport
from utils.waiting import Stop, Stopped

PATIENCE_SECONDS = 120.0
CERTIFICATE = Path(__file__).parents[1] / "simulator" / "localhost.pem"


class Call:
    """One model call in a thread of its own, as a screen makes it."""

    def __init__(self, client: ApiClient) -> None:
        self.stop = Stop()
        self.shown = ""
        self.ended: BaseException | None = None
        self._client = client
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            for item in self._client.stream([USER], [], think=True, stop=self.stop):
                if isinstance(item, Delta):
                    self.shown += item.text + item.thinking
        except (Stopped, ModelError) as error:
            self.ended = error

    def stopped(self) -> bool:
        """Stop it; return whether it ended by that."""
        self.stop.set()
        self._thread.join(PATIENCE_SECONDS)
        return not self._thread.is_alive() and isinstance(self.ended, Stopped)


@contextmanager
def full_backlog() -> Iterator[str]:
    """A port that answers no further attempt to connect."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        waiting = [socket.socket() for _ in range(8)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(server.getsockname())
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        for one in waiting:
            one.close()


@pytest.mark.parametrize("step", [Stall(), (KeepAlive(), Stall())], ids=["no head", "no event"])
def test_before_the_first_byte(step: Step) -> None:
    with Simulator([step]) as server, client_of(server) as client:
        call = Call(client)
        wait_for(lambda: bool(server.requests))
        assert call.stopped()


@pytest.mark.parametrize("step", [(Say("Half"), Stall()), (Think("Hm"), Stall())], ids=repr)
def test_in_the_silence_amid_a_reply(step: Step) -> None:
    with Simulator([step]) as server, client_of(server) as client:
        call = Call(client)
        wait_for(lambda: bool(call.shown))
        assert call.stopped()


def test_while_another_thread_loads_the_sdk() -> None:
    client = ApiClient("http://127.0.0.1:9", "k", model="deepseek-flash")
    with client._lock:  # as `warm` holds it for half a second, or longer on a busy machine
        assert Call(client).stopped()


def test_while_connecting() -> None:
    with full_backlog() as url, client_of(url) as client:
        call = Call(client)
        call.stop.wait(0.1)
        assert call.stopped()


def test_while_a_name_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, leave = threading.Event(), threading.Event()

    def look_up(*_: object, **__: object) -> list[object]:
        asked.set()
        leave.wait(PATIENCE_SECONDS)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    with client_of("http://slow.invalid") as client:
        call = Call(client)
        assert asked.wait(PATIENCE_SECONDS)
        assert call.stopped()
    leave.set()


def test_as_soon_as_there_is_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread that made it may still be at its end when the request is under way."""
    stop, is_ours, has_ended = Stop(), threading.Event(), threading.Event()
    hand_over, hold = waiting.interruptible, exchange.Exchange.set_socket

    def slowly(make: Callable[[], Iterator[Any]], *args: Any, **options: Any) -> Iterator[Any]:
        def made() -> Iterator[Any]:
            items = make()
            try:
                yield next(items)
            finally:
                is_ours.wait(PATIENCE_SECONDS)
                items.close()  # type: ignore[attr-defined]
                has_ended.set()

        return hand_over(made, *args, **options)

    def stop_now(use: exchange.Exchange, connected: socket.socket) -> None:
        hold(use, connected)
        stop.set()
        is_ours.set()
        assert has_ended.wait(PATIENCE_SECONDS)

    monkeypatch.setattr(transport, "interruptible", slowly)
    monkeypatch.setattr(exchange.Exchange, "set_socket", stop_now)
    with Simulator() as server, client_of(server) as client, pytest.raises(Stopped):
        stream_once(client, stop=stop)


def test_while_a_server_does_not_take_the_request() -> None:
    stop = Stop()
    huge = {"role": "user", "content": "x" * 50_000_000}
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        threading.Timer(0.3, stop.set).start()
        with client_of(url) as client, pytest.raises(Stopped):
            stream_once(client, huge, stop=stop)


def test_a_stop_that_came_before() -> None:
    stop = Stop()
    stop.set()
    with Simulator() as server, client_of(server) as client:
        with pytest.raises(Stopped):
            stream_once(client, stop=stop)
        assert server.requests == []


def test_on_a_kept_connection() -> None:
    with Simulator([Say("One."), Stall(), Say("Three.")]) as server, client_of(server) as client:
        stream_once(client)
        call = Call(client)
        wait_for(lambda: len(server.requests) == 2)
        assert call.stopped()
        assert stream_once(client).text == "Three."


def test_one_stop_leaves_the_other_call_alone() -> None:
    script = [(Say("One"), Stall()), (Say("Two"), Stall())]
    with Simulator(script) as server, client_of(server) as client:
        first, second = Call(client), Call(client)
        wait_for(lambda: bool(first.shown and second.shown))
        assert first.stopped()
        assert second.ended is None
        assert second.stopped()


def test_leaving_a_stream_closes_its_connection() -> None:
    with Simulator([(Say("Half"), Stall()), Say("Next.")]) as server, client_of(server) as client:
        stream = client.stream([USER], [], think=False, stop=Stop())
        next(stream)
        stream.close()  # type: ignore[attr-defined]
        assert stream_once(client).text == "Next."


def tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context


def test_over_tls_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    script: list[Step] = [Say("Safe."), (Say("Half"), Stall()), Stall()]
    with Simulator(script, tls=tls()) as server, client_of(server) as client:
        assert stream_once(client).text == "Safe."
        first = Call(client)
        wait_for(lambda: bool(first.shown))
        assert first.stopped()
        second = Call(client)
        wait_for(lambda: len(server.requests) == 3)
        assert second.stopped()


def test_a_server_that_cannot_prove_who_it_is_gets_nothing() -> None:
    with Simulator(tls=tls()) as server, client_of(server) as client:
        with pytest.raises(ModelError, match="Cannot connect securely to localhost") as caught:
            stream_once(client)
        assert server.requests == []
    assert caught.value.kind == "network"


def test_a_self_signed_certificate_is_told_with_what_to_do() -> None:
    told = pytest.raises(ModelError, match="self-signed certificate.*set SSL_CERT_FILE")
    with Simulator(tls=tls()) as server, client_of(server) as client, told:
        stream_once(client)


@pytest.mark.parametrize("text", [None, "no certificate\n"])
def test_a_certificate_file_that_cannot_be_read_is_told_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str | None
) -> None:
    file = tmp_path / "own.pem"
    if text is not None:
        file.write_text(text)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    with Simulator(tls=tls()) as server, client_of(server) as client:
        hasty = InstantStop()
        with pytest.raises(ModelError, match="certificate file that is set cannot be read"):
            stream_once(client, stop=hasty)
        assert hasty.waits == []


def test_plain_http_on_the_other_side_is_told() -> None:
    told = pytest.raises(ModelError, match="Cannot connect securely.*may use unencrypted http://")
    with Simulator() as server, told as caught, client_of(f"https{server.url[4:]}") as client:
        stream_once(client)
    assert caught.value.kind == "network"
