"""An index is read as the person reads it, by programs that never learn what lets them in."""

from __future__ import annotations

import base64
import gzip
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from modules.sandbox import sandbox as sandbox_module
from modules.sandbox.network.authority import Authority
from modules.sandbox.network.proxy import Proxy
from modules.sandbox.sandbox import Network, Program
from modules.sandbox.types import Origin
from tests.modules.sandbox.sandbox_home import QUICK, SandboxHome
from utils.waiting import Stop

HOST = "npm.corp.example"
TOKEN = "npm_CANARYofTheRegistry0123456789"
PASSWORD = "CANARY-of-the-password"
PAIR = base64.b64encode(f"me:{PASSWORD}".encode()).decode()


@dataclass
class Registry:
    """An index with https on this machine; *asked* is all that reached it."""

    port: int
    certificates: Path
    asked: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)

    def origin(self, authorization: str = f"Bearer {TOKEN}", path: str = "/npm") -> Origin:
        return Origin(
            *("https", HOST, 443),
            path=path,
            authorization=authorization,
            certificates=str(self.certificates),
            is_intercepted=True,
        )

    def proxy(self, *origins: Origin, **named: object) -> Proxy:
        chosen = origins or (self.origin(),)
        return Proxy((), chosen, **{**self.ends, **named})  # type: ignore[arg-type]

    @property
    def ends(self) -> dict[str, object]:
        return {"resolve": lambda _host, _port: ["127.0.0.1"], "connect": self._connect}

    def _connect(self, _address: tuple[str, int]) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port))

    def authorizations(self) -> list[str | None]:
        return [headers.get("authorization") for _, _, headers in self.asked]


class Handler(BaseHTTPRequestHandler):
    registry: Registry
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.registry.asked.append((self.command, self.path, headers))
        said = headers.get("authorization", "").rpartition(" ")[2].encode()
        if self.path.endswith("decoded"):
            said = base64.b64decode(said)
        if self.path == "/npm/redirect":
            self._send(302, b"", {"Location": "https://evil.example/"})
        elif self.path.startswith("/npm/echo-header"):
            self._send(200, b"fine", {"X-Echo": said.decode(), "X-Other": "other"})
        elif self.path.startswith("/npm/echo-packed"):
            packed = gzip.compress(b"x" * 99_999 + said)
            self._send(200, packed, {"Content-Encoding": "gzip"})
        elif self.path.startswith("/npm/echo"):
            self._send(200, b"x" * 65_530 + said + b"y" * 99)
        else:
            self._send(200, b"package" * 30_000)

    do_HEAD = do_POST = do_PUT = do_DELETE = do_GET

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    folder = tmp_path / "registry"
    folder.mkdir()
    authority = Authority(folder)

    handler = type("OfThisTest", (Handler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.socket = authority.server_context(HOST).wrap_socket(server.socket, server_side=True)
    handler.registry = made = Registry(server.server_address[1], authority.bundle)  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield made
    server.shutdown()
    thread.join()
    server.server_close()


def tunnel(proxy: Proxy, place: str = f"{HOST}:443") -> ssl.SSLSocket:
    """Return what a program has that believes the proxy, and asked for *place*."""
    line = socket.socket(socket.AF_UNIX)
    line.settimeout(60)
    line.connect(str(proxy.path))
    line.sendall(f"CONNECT {place} HTTP/1.1\r\n\r\n".encode())
    assert line.recv(1000).startswith(b"HTTP/1.1 200 ")
    assert proxy.authority
    context = ssl.create_default_context(cafile=str(proxy.authority.bundle))
    return context.wrap_socket(line, server_hostname=place.partition(":")[0])


def get(connection: HTTPConnection, path: str, method: str = "GET") -> tuple[int, bytes]:
    connection.putrequest(method, path, skip_accept_encoding=True)
    connection.endheaders()
    answer = connection.getresponse()
    return answer.status, answer.read()


def read(registry: Registry, path: str, *origins: Origin) -> tuple[int, bytes]:
    with registry.proxy(*origins) as proxy, tunnel(proxy) as line:
        connection = HTTPConnection(HOST)
        connection.sock = line
        return get(connection, path)


def raw(registry: Registry, request: bytes) -> bytes:
    """Return all that comes back to *request*, until the connection ends."""
    with registry.proxy() as proxy, tunnel(proxy) as line:
        line.sendall(request)
        found = b""
        while data := line.recv(1 << 16):
            found += data
        return found


def test_packages_are_read_with_what_lets_the_person_in(registry: Registry) -> None:
    with registry.proxy() as proxy, tunnel(proxy) as line:
        connection = HTTPConnection(HOST)
        connection.sock = line
        assert get(connection, "/npm/@corp%2fa") == (200, b"package" * 30_000)
        assert get(connection, "/npm/a/-/a-1.tgz", "HEAD") == (200, b"")
        assert get(connection, "/npm/b?x=1") == (200, b"package" * 30_000)
    assert registry.authorizations() == [f"Bearer {TOKEN}"] * 3
    assert {headers["host"] for _, _, headers in registry.asked} == {HOST}


@pytest.mark.parametrize(
    "path",
    ["/", "/other", "/npmx/a", "/npm", "/npm/../other", "/npm/%2e%2e/other", "/npm/%252e%252e/a",
     "/npm/..%2fother", "/npm/..;/other", "/npm//a", "//npm/a", "/npm/a\\..\\..\\b", "/NPM/a",
     "/npm/-/whoami", "/npm/-/npm/v1/tokens", "/npm/%2d/whoami", "/npm/./-/whoami",
     "/npm%2f-%2fwhoami", "/npm/%25252e%25252e/other"],
)  # fmt: skip
def test_elsewhere_nothing_lets_anybody_in(registry: Registry, path: str) -> None:
    read(registry, path)
    assert registry.authorizations() == [None]


def test_the_nearest_of_several_logins_counts(registry: Registry) -> None:
    origins = registry.origin("Bearer all", ""), registry.origin("Bearer team", "/team")
    for path in ("/team/a", "/teams/a", "/x"):
        read(registry, path, *origins)
    assert registry.authorizations() == ["Bearer team", "Bearer all", "Bearer all"]


@pytest.mark.parametrize(
    "request_",
    [
        b"POST /npm/a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx",
        b"PUT /npm/a HTTP/1.1\r\n\r\n",
        b"DELETE /npm/a HTTP/1.1\r\n\r\n",
        b"CONNECT evil.example:443 HTTP/1.1\r\n\r\n",
        b"GET https://evil.example/npm/a HTTP/1.1\r\n\r\n",
        b"GET http://npm.corp.example/npm/a HTTP/1.1\r\n\r\n",
        b"GET /npm/a HTTP/1.1\r\nContent-Length: 5\r\n\r\nabcde",
        b"GET /npm/a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET /npm/a HTTP/1.1\r\nUpgrade: h2c\r\n\r\n",
        b"GET /npm/a HTTP/1.1\r\nAccept: a\r\n b\r\n\r\n",
        b"GET /npm/a HTTP/1.1\r\nAccept: a\rb\r\n\r\n",
        b"GET /npm/a HTTP/1.1\nAccept: a\n\n",
        b"GET /npm/a\0 HTTP/1.1\r\n\r\n",
        b"GET /npm/a HTTP/1.1\r\nX: " + b"y" * 40_000 + b"\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
)
def test_nothing_is_sent_and_nothing_else_asked(registry: Registry, request_: bytes) -> None:
    assert raw(registry, request_).startswith(b"HTTP/1.1 403 ")
    assert registry.asked == []


def test_a_program_can_neither_choose_the_host_nor_who_it_is(registry: Registry) -> None:
    request = b"GET /npm/redirect HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer mine\r\n"
    request += (
        b"Cookie: a=b\r\nX-Forwarded-Host: evil.example\r\nAccept-Encoding: br\r\n\r\nend\r\n\r\n"
    )
    answer = raw(registry, request)
    assert b"Location: https://evil.example/\r\n" in answer  # for the program to follow, as itself
    ((_, _, headers),) = registry.asked
    assert headers == {
        "host": HOST, "authorization": f"Bearer {TOKEN}", "accept-encoding": "identity",
    }  # fmt: skip


@pytest.mark.parametrize("authorization", [f"Bearer {TOKEN}", f"Basic {PAIR}", TOKEN])
@pytest.mark.parametrize("path", ["echo", "echo-header", "echo-packed", "echo-decoded"])
def test_an_index_that_repeats_what_it_was_told_is_cut_off(
    registry: Registry, path: str, authorization: str
) -> None:
    if path == "echo-decoded" and not authorization.startswith("Basic "):
        path = "echo"
    with registry.proxy(registry.origin(authorization)) as proxy, tunnel(proxy) as line:
        line.sendall(f"GET /npm/{path} HTTP/1.1\r\n\r\nend\r\n\r\n".encode())
        found = b""
        with suppress(OSError):  # it breaks off
            while data := line.recv(1 << 16):
                found += data
    assert registry.authorizations() == [authorization]
    secret = authorization.rpartition(" ")[2]
    for part in (secret, PASSWORD, secret[:-1]):
        assert part.encode() not in found
    assert found.startswith(b"HTTP/1.1 200 ")


def test_a_server_that_cannot_show_that_it_is_the_index_is_told_nothing(
    registry: Registry, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    others = Authority(tmp_path / "other").bundle
    origin = Origin(
        *("https", HOST, 443),
        authorization=f"Bearer {TOKEN}",
        certificates=str(others),
        is_intercepted=True,
    )
    status, text = read(registry, "/npm/a", origin)
    assert (status, registry.asked) == (403, [])
    assert b"is not believed" in text


def test_an_index_is_no_way_to_its_other_ports_nor_to_other_hosts(registry: Registry) -> None:
    with registry.proxy(indexes=("usual.example",)) as proxy:
        for place in (f"{HOST}:444", "usual.example:80", "other.example:443", f"x.{HOST}:443"):
            with socket.socket(socket.AF_UNIX) as line:
                line.connect(str(proxy.path))
                line.sendall(f"CONNECT {place} HTTP/1.1\r\n\r\n".encode())
                assert line.recv(1000).startswith(b"HTTP/1.1 403 ")
    assert registry.asked == []


def test_our_keys_are_gone_with_the_run_and_never_where_programs_look(registry: Registry) -> None:
    with registry.proxy() as proxy, tunnel(proxy):
        assert proxy.authority
        folder = proxy.path.parent
        kept = b"".join(path.read_bytes() for path in folder.iterdir() if path.is_file())
        assert b"PRIVATE KEY" not in kept
    assert not folder.exists()


LOOK = """
import os, pathlib, urllib.request
answer = urllib.request.urlopen("https://npm.corp.example/npm/a")
print(answer.status, answer.read()[:7], dict(answer.headers))
print(dict(os.environ))
places = [*pathlib.Path("/proc").glob("[0-9]*/*"), *pathlib.Path("/run").rglob("*"),
          *pathlib.Path("/tmp").rglob("*"), *pathlib.Path.home().rglob("*")]
for path in places:
    if path.name in ("environ", "cmdline") or "/proc/" not in str(path):
        try:
            print(path, path.read_bytes()[:1_000_000])
        except OSError as error:
            print(path, error)
for path in ("/other", "/npm/echo", "/npm/echo-header"):
    try:
        print(urllib.request.urlopen("https://npm.corp.example" + path).read()[-40:])
    except Exception as error:
        print(error)
"""


def test_a_program_in_the_sandbox_reads_packages_and_learns_no_token(
    registry: Registry, sandbox_home: SandboxHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox_module, "Proxy", partial(Proxy, **registry.ends))  # type: ignore[arg-type]
    network = Network((), origins=(registry.origin(),), files={".npmrc": "registry=x\n"})
    run = sandbox_home.sandbox().run(Program("python", LOOK), QUICK, Stop(), network)
    said = "".join(run)
    assert said.startswith("200 b'package'")
    assert "registry=x" in said
    assert TOKEN not in said
    assert "PRIVATE KEY" not in said
    assert registry.authorizations() == [f"Bearer {TOKEN}", None, *[f"Bearer {TOKEN}"] * 2]
