"""The way to the network: only to allowed hosts, at addresses that were looked at."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from functools import partial

import pytest

from modules.sandbox import sandbox as sandbox_module
from modules.sandbox.network.proxy import Proxy, is_public
from modules.sandbox.sandbox import Network, Program
from modules.sandbox.types import PORT
from tests.modules.sandbox.sandbox_home import QUICK, SandboxHome
from utils.waiting import Stop

PUBLIC = "93.184.216.34"
HOSTS = ("index.example.org", ".files.example.org")


@pytest.fixture
def server() -> Iterator[int]:
    """A server on this machine that answers each line with it in capitals."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                with client:
                    while data := client.recv(1000):
                        client.sendall(data.upper())

        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def ask(proxy: Proxy, request: str, then: bytes = b"") -> bytes:
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(str(proxy.path))
        line.settimeout(60)
        line.sendall(request.encode())
        answer = line.recv(1000)
        if then and b" 200 " in answer:
            line.sendall(then)
            answer = line.recv(1000)
        return answer


def fake(server: int) -> tuple[list[tuple[str, int]], dict[str, object]]:
    asked: list[tuple[str, int]] = []

    def connect(address: tuple[str, int]) -> socket.socket:
        asked.append(address)
        return socket.create_connection(("127.0.0.1", server))

    return asked, {"resolve": lambda _host, _port: [PUBLIC], "connect": connect}


@pytest.mark.parametrize(
    "host", ["index.example.org", "a.b.files.example.org", "INDEX.example.org"]
)
def test_allowed_hosts_are_reached_at_the_address_that_was_checked(server: int, host: str) -> None:
    asked, ends = fake(server)
    with Proxy(HOSTS, **ends) as proxy:  # type: ignore[arg-type]
        assert ask(proxy, f"CONNECT {host}:443 HTTP/1.1\r\n\r\n", b"hello") == b"HELLO"
    assert asked == [(PUBLIC, 443)]


@pytest.mark.parametrize(
    "request_",
    [
        "CONNECT example.com:443 HTTP/1.1\r\n\r\n",
        "CONNECT files.example.org:443 HTTP/1.1\r\n\r\n",
        "CONNECT evilfiles.example.org:443 HTTP/1.1\r\n\r\n",
        "CONNECT index.example.org:22 HTTP/1.1\r\n\r\n",
        "CONNECT index.example.org.evil.com:443 HTTP/1.1\r\n\r\n",
        "CONNECT index.example.org@evil.com:443 HTTP/1.1\r\n\r\n",
        f"CONNECT {PUBLIC}:443 HTTP/1.1\r\n\r\n",
        "GET http://index.example.org/ HTTP/1.1\r\n\r\n",
        "CONNECT index.example.org:443 HTTP/1.1\r\n\r\nsmuggled",
        "CONNECT index.example.org:0443x HTTP/1.1\r\n\r\n",
        "CONNECT index.example.org%00.evil.com:443 HTTP/1.1\r\n\r\n",
        "CONNECT localhost:443 HTTP/1.1\r\n\r\n",
        "CONNECT 2130706433:443 HTTP/1.1\r\n\r\n",
        "CONNECT 0x7f000001:443 HTTP/1.1\r\n\r\n",
        "CONNECT [::ffff:127.0.0.1]:443 HTTP/1.1\r\n\r\n",
        "CONNECT index.example.org:443\r\nHost: index.example.org\r\n\r\n",
        "CONNECT index.example.org:443 HTTP/1.1\n\n\r\n\r\n",
        "GET http://index.example.org@127.0.0.1/ HTTP/1.1\r\n\r\n",
        "POST http://index.example.org/ HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
        f"CONNECT {'a' * 9000}:443 HTTP/1.1\r\n\r\n",
        f"CONNECT {'a' * 64}.files.example.org:443 HTTP/1.1\r\n\r\n",  # no name can be so
        "CONNECT a..files.example.org:443 HTTP/1.1\r\n\r\n",
        "CONNECT .files.example.org:443 HTTP/1.1\r\n\r\n",
        "\r\n\r\n",
    ],
)
def test_all_else_is_refused(server: int, request_: str) -> None:
    asked, ends = fake(server)
    with Proxy(HOSTS, **ends) as proxy:  # type: ignore[arg-type]
        assert ask(proxy, request_).startswith(b"HTTP/1.1 403 ")
    assert asked == []


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.0.0.1", "192.168.1.1", "172.16.0.1", "169.254.169.254", "100.64.0.1",
     "0.0.0.0", "224.0.0.1", "255.255.255.255", "::1", "fe80::1%eth0", "fd00::1", "::",
     "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "ff02::1", "nonsense",
     "::127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b:1::7f00:1", "fec0::1", "3fff::1",
     "168.63.129.16", "192.0.0.192", "192.0.2.1", "198.18.0.1", "fe80::5efe:7f00:1"],
)  # fmt: skip
def test_addresses_near_us_are_refused_after_the_look_up(server: int, address: str) -> None:
    assert not is_public(address)
    asked, ends = fake(server)
    ends["resolve"] = lambda _host, _port: [PUBLIC, address]
    with Proxy(HOSTS, **ends) as proxy:  # type: ignore[arg-type]
        assert b" 403 " in ask(proxy, "CONNECT index.example.org:443 HTTP/1.1\r\n\r\n")
    assert asked == []
    assert is_public(PUBLIC)
    assert is_public("2606:2800:220:1:248:1893:25c8:1946")


def test_lines_end_with_the_proxy(server: int) -> None:
    _, ends = fake(server)
    with Proxy(HOSTS, **ends) as proxy, socket.socket(socket.AF_UNIX) as line:  # type: ignore[arg-type]
        line.settimeout(60)
        line.connect(str(proxy.path))
        line.sendall(b"CONNECT index.example.org:443 HTTP/1.1\r\n\r\n")
        assert b" 200 " in line.recv(1000)
        proxy.__exit__()
        assert line.recv(1000) == b""
        assert not proxy.path.exists()


def run(sandbox_home: SandboxHome, program: Program, network: Network | None) -> str:
    return "".join(sandbox_home.sandbox().run(program, QUICK, Stop(), network))


FETCH = """
import os, socket, urllib.parse
proxy = urllib.parse.urlsplit(os.environ["HTTPS_PROXY"])
def connect(host):
    line = socket.create_connection((proxy.hostname, proxy.port))
    line.sendall(f"CONNECT {host}:443 HTTP/1.1\\r\\n\\r\\n".encode())
    return line, line.recv(1000).split(b"\\r\\n")[0].decode()
line, said = connect("index.example.org")
line.sendall(b"hello")
print(said, line.recv(100).decode(), connect("example.com")[1][:12])
for target in (("127.0.0.1", PORT), ("93.184.216.34", 443)):
    try:
        socket.create_connection(target, 2)
        print("reached", target)
    except OSError:
        pass
"""


def test_a_program_reaches_what_is_allowed_and_nothing_else(
    sandbox_home: SandboxHome, server: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, ends = fake(server)
    monkeypatch.setattr(sandbox_module, "Proxy", partial(Proxy, **ends))  # type: ignore[arg-type]
    code = FETCH.replace("PORT", str(server))
    network = Network(HOSTS, {"PIP_INDEX_URL": "https://index.example.org/simple"})
    expected = "HTTP/1.1 200 Connected HELLO HTTP/1.1 403\n"
    assert run(sandbox_home, Program("python", code), network) == expected
    shell = f"/usr/bin/python3 - <<'END'\n{code}\nEND\necho $PIP_INDEX_URL"
    assert run(sandbox_home, Program("bash", shell), network) == (
        f"{expected}https://index.example.org/simple\n"
    )
    assert "KeyError" in run(sandbox_home, Program("python", code), None)
    assert PORT == 3128
