"""A server on this machine is offered when it is one, and used when it can call tools."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest

from modules.models import local_servers
from modules.models.local_servers import LocalServer, check_tools, find_servers
from tests.simulator import Call, Refuse, Say, Simulator, Step
from utils.api_client import ApiClient
from utils.i18n import UserError


class _Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<html>Welcome</html>")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def page() -> Iterator[int]:
    """Serve what is no model, and return its port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def test_what_answers_with_models_is_found_and_nothing_else(
    page: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_servers, "_PROBE_SECONDS", 30)
    monkeypatch.setattr(local_servers, "_ANSWER_SECONDS", 30)
    with socket.socket() as nobody, Simulator([]) as simulator:
        nobody.bind(("127.0.0.1", 0))  # and does not listen
        closed = nobody.getsockname()[1]
        port = urlsplit(simulator.url).port or 0
        found = find_servers({closed: "LM Studio", page: "vLLM", port: "Ollama"})
    assert found == [LocalServer("Ollama", f"http://127.0.0.1:{port}/v1", "deepseek-flash")]


def test_one_that_answers_without_end_is_not_listened_to_for_ever() -> None:
    left = threading.Event()

    def drip(listener: socket.socket) -> None:
        line, _ = listener.accept()
        with line, suppress(OSError):
            line.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            line.settimeout(0.1)
            for _ in range(3_000):
                line.sendall(b" ")
                with suppress(TimeoutError):
                    if not line.recv(1_000):
                        break
            else:
                return
        left.set()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=drip, args=(listener,))
        thread.start()
        assert find_servers({listener.getsockname()[1]: "vLLM"}) == []
        thread.join()
    assert left.is_set()


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ([Call("echo", word="hello")], None),
        ([Say("hello")], "does not call tools"),
        ([Call("another", word="hello")], "does not call tools"),
        ([Say('{{"name": "echo", "arguments": {"word": "hello"}}}')], None),
        ([Say('For example: {"name": "echo", "arguments": {"word": "hello"}}')], "does not call"),
        ([Refuse(402)], "is used up"),
    ],
)
def test_a_server_is_used_only_after_it_has_called_a_tool(
    script: list[Step], problem: str | None
) -> None:
    with Simulator(script) as simulator:
        server = LocalServer("Ollama", f"{simulator.url}/v1", "deepseek-flash")
        client = ApiClient(server.base_url, "none", model=server.model)
        if problem is None:
            check_tools(client, server)
        else:
            with pytest.raises(UserError, match=problem):
                check_tools(client, server)
        client.close()
        assert simulator.is_finished
