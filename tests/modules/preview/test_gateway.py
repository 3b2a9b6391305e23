"""The gateway between a browser and a program, either of which may be hostile."""

from __future__ import annotations

import http.client
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest

from modules.preview import forwarding
from modules.preview.access import Kind
from modules.preview.gateway import PreviewGateway
from modules.preview.preview import Preview
from tests.modules.sandbox.sandbox_home import wait_until
from utils.system import unauthenticated

SECONDS = 20.0
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
Work = Callable[[socket.socket], object]


class Program:
    """A program behind the gateway: each connection to it is given to *work*, in a thread."""

    def __init__(self, work: Work) -> None:
        self.heads: list[bytes] = []
        self._work = work
        self._ends: list[socket.socket] = []

    def connect(self, _port: int) -> socket.socket:
        ours, theirs = socket.socketpair()
        theirs.settimeout(SECONDS)
        self._ends.append(theirs)
        threading.Thread(target=self._serve, args=(theirs,), daemon=True).start()
        return ours

    def _serve(self, connection: socket.socket) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            head += connection.recv(1)
        self.heads.append(head)
        with connection:
            self._work(connection)


class Previewed:
    """A program in a preview, and a browser that came in by a link."""

    def __init__(self, work: Work, kind: Kind = "tab") -> None:
        self.errors: list[BaseException] = []
        self.program = Program(work)
        self.gateway = PreviewGateway(self.errors.append, 0, ["http://127.0.0.1:1"])
        self.preview: Preview = self.gateway.open(8000, self.program.connect)
        self.cookie = self.enter(self.preview.link(kind))[1]["Set-Cookie"].split(";")[0]

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.gateway.port, timeout=SECONDS)

    def enter(self, link: str) -> tuple[int, dict[str, str]]:
        connection = self.connection()
        path = link.removeprefix(self.preview.origin)
        connection.request("GET", path, headers={"Host": self.preview.host})
        answer = connection.getresponse()
        connection.close()
        return answer.status, dict(answer.getheaders())

    def get(self, path: str = "/", **headers: str) -> tuple[int, dict[str, str], bytes]:
        connection = self.connection()
        known = {"Host": self.preview.host, "Cookie": self.cookie}
        connection.request("GET", path, headers=known | headers)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, dict(answer.getheaders()), body

    def raw(self, request: bytes) -> socket.socket:
        """Send *request*, with our host and cookie in the place of HOST and COOKIE."""
        sent = request.replace(b"HOST", f"Host: {self.preview.host}".encode())
        browser = socket.create_connection(("127.0.0.1", self.gateway.port), SECONDS)
        browser.sendall(sent.replace(b"COOKIE", f"Cookie: {self.cookie}".encode()))
        return browser


@contextmanager
def previewed(work: Work, kind: Kind = "tab") -> Iterator[Previewed]:
    made = Previewed(work, kind)
    try:
        yield made
    finally:
        made.gateway.close()
        assert made.errors == []


def read_all(connection: socket.socket) -> bytes:
    with connection:
        return b"".join(iter(lambda: connection.recv(1 << 16), b""))


def test_only_the_bearer_of_a_link_comes_in_and_only_once() -> None:
    with previewed(lambda connection: connection.sendall(OK)) as made:
        assert made.get()[0] == 200
        link = made.preview.link("tab", "/page?a=1")
        status, headers = made.enter(link)
        assert (status, headers["Location"]) == (303, "/page?a=1")
        assert made.enter(link)[0] == 403
        assert made.enter(made.preview.link("tab", "//elsewhere.example"))[1]["Location"] == "/"
        assert made.get(Cookie="onefold_tab=guessed")[0] == 403
        assert made.get(Cookie=made.cookie.replace("_tab", "_pane"))[0] == 403
        other = made.gateway.open(8001, made.program.connect)
        assert made.get(Host=other.host)[0] == 403  # a cookie of another preview
        assert made.get(Host=f"localhost:{made.gateway.port}")[0] == 410
        assert made.get(Host=f"127.0.0.1:{made.gateway.port}")[0] == 410
        assert made.get(Origin="http://evil.example")[0] == 403
        cross_site = {"Sec-Fetch-Site": "cross-site"}
        assert made.get(**cross_site, **{"Sec-Fetch-Mode": "no-cors"})[0] == 403
        assert made.get(**cross_site, **{"Sec-Fetch-Mode": "navigate"})[0] == 200
        assert len(made.program.heads) == 2


@pytest.mark.parametrize("kind", ["tab", "pane"])
def test_headers_are_those_of_localhost_inside_and_of_the_preview_outside(kind: Kind) -> None:
    said = (
        b"HTTP/1.1 302 Found\r\nLocation: http://localhost:8000/next\r\nX-Frame-Options: DENY\r\n"
        b"Content-Security-Policy: img-src *; frame-ancestors 'none'; report-uri http://evil/\r\n"
        b"Set-Cookie: a=1; Domain=localhost; SameSite=Strict; HttpOnly\r\nAlt-Svc: h3=evil:443\r\n"
        b"Set-Cookie: onefold_pane=stolen\r\nConnection: X-Own\r\nX-Own: 1\r\n\r\n"
    )
    with previewed(lambda connection: connection.sendall(said), kind) as made:
        cookies = f"b=2; {made.cookie}; c=3"
        origin = made.preview.origin
        status, _, _ = made.get("/x?y", Cookie=cookies, Origin=origin, Referer=f"{origin}/from")
        inner = made.program.heads[0].decode().split("\r\n")
        assert inner[0] == "GET /x?y HTTP/1.1"
        assert {"Host: localhost:8000", "Origin: http://localhost:8000"} <= set(inner)
        assert {"Referer: http://localhost:8000/from", "Cookie: b=2; c=3"} <= set(inner)
        assert status == 302
        answer = read_all(
            made.raw(b"GET / HTTP/1.1\r\nHOST\r\nCOOKIE\r\nConnection: close\r\n\r\n")
        )
        head = answer.partition(b"\r\n\r\n")[0].decode().split("\r\n")
        assert f"Location: {origin}/next" in head
        framed = "; Secure; SameSite=None; Partitioned" if kind == "pane" else "; SameSite=Strict"
        names = [line for line in head if line.startswith("Set-Cookie")]
        assert len(names) == 1
        assert set(names[0].split("; ")) == set(f"Set-Cookie: a=1; HttpOnly{framed}".split("; "))
        assert "Content-Security-Policy: img-src *" in head
        ours = next(line for line in head if "default-src" in line)
        assert "frame-ancestors 'self' http://127.0.0.1:1" in ours
        assert not re.search("x-frame|alt-svc|x-own|evil", "\n".join(head), re.IGNORECASE)


@pytest.mark.parametrize(
    ("header", "sent"),
    [
        ("Location: http://localhost:8000?next=1", "Location: ORIGIN?next=1"),
        ("Location: //127.0.0.1:8000/a", "Location: ORIGIN/a"),
        ("Location: HTTP://LOCALHOST:8000", "Location: ORIGIN"),
        ("Location: http://[::1]:8000/#top", "Location: ORIGIN/#top"),
        ("Refresh: 0; url=http://0.0.0.0:8000/z", "Refresh: 0; url=ORIGIN/z"),
        ("Refresh: 5", ""),
        ("Refresh: 1;url=/z", ""),
        ("Location: http://localhost:80001/a", ""),
        ("Location: http://localhost/a", ""),
        ("Location: http://localhost:8000.example.org/a", ""),
        ("Location: //example.org/http://localhost:8000/", ""),
    ],
)
def test_what_leads_to_the_program_leads_to_the_preview(header: str, sent: str) -> None:
    answer = f"HTTP/1.1 302 Found\r\n{header}\r\nContent-Length: 0\r\n\r\n".encode()
    with previewed(lambda connection: connection.sendall(answer)) as made:
        request = b"GET / HTTP/1.1\r\nHOST\r\nCOOKIE\r\nConnection: close\r\n\r\n"
        head = read_all(made.raw(request)).decode().split("\r\n")
        assert (sent.replace("ORIGIN", made.preview.origin) or header) in head


BAD_REQUESTS = [
    b"POST / HTTP/1.1\r\nHOST\r\nCOOKIE\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"POST / HTTP/1.1\r\nHOST\r\nCOOKIE\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
    b"POST / HTTP/1.1\r\nHOST\r\nCOOKIE\r\nContent-Length: +5\r\n\r\nabcde",
    b"POST / HTTP/1.1\r\nHOST\r\nCOOKIE\r\nTransfer-Encoding: chunked, x\r\n\r\n0\r\n\r\n",
    b"GET / HTTP/1.1\r\nHOST\r\nCOOKIE\r\nX: a\r\n b\r\n\r\n",
    b"GET / HTTP/1.1\r\nHOST\r\nCOOKIE\r\nX : a\r\n\r\n",
    b"GET / HTTP/1.1\nHOST\nCOOKIE\n\n",
    b"GET / HTTP/1.1\r\nHOST\r\nHOST\r\nCOOKIE\r\n\r\n",
    b"GET http://evil.example/ HTTP/1.1\r\nHOST\r\nCOOKIE\r\n\r\n",
    b"CONNECT 127.0.0.1:22 HTTP/1.1\r\nHOST\r\nCOOKIE\r\n\r\n",
    b"GET / HTTP/1.1\r\nHOST\r\nCOOKIE\r\nX: \0\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"GET / HTTP/1.1\r\nHOST\r\nCOOKIE\r\nX: " + b"a" * 70_000 + b"\r\n\r\n",
]


@pytest.mark.parametrize("request_bytes", BAD_REQUESTS)
def test_a_request_that_can_be_read_in_two_ways_is_not_passed_on(request_bytes: bytes) -> None:
    with previewed(lambda connection: connection.sendall(OK)) as made:
        assert read_all(made.raw(request_bytes)).startswith(b"HTTP/1.1 400 ")
        assert made.program.heads == []


def endless_head(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    try:
        while True:
            connection.sendall(b"X: a\r\n" * 1000)
    except OSError:
        return


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: a\rSet-Cookie: b=1\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n" * 100,
        b"SSH-2.0-OpenSSH_9\r\n\r\n",
        b"",
        None,
    ],
)
def test_an_answer_that_is_none_is_said_to_be_none(answer: bytes | None) -> None:
    def work(connection: socket.socket) -> None:
        endless_head(connection) if answer is None else connection.sendall(answer)

    with previewed(work) as made:
        status, _, body = made.get()
        assert (status, b"program on port 8000 sent an answer" in body) == (502, True)


def test_bodies_of_every_kind_pass_on_one_connection() -> None:
    answers = iter(
        [
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"3\r\none\r\n1;x=y\r\n!\r\n0\r\n\r\n",
            b"HTTP/1.0 200 OK\r\n\r\ntwo, until the end",
            b"HTTP/1.1 204 No Content\r\n\r\n",
            OK,
        ]
    )
    with previewed(lambda connection: connection.sendall(next(answers))) as made:
        connection = made.connection()
        bodies, sockets = [], set()
        for _ in range(4):
            headers = {"Host": made.preview.host, "Cookie": made.cookie}
            connection.request("GET", "/", headers=headers)
            sockets.add(connection.sock)
            bodies.append(connection.getresponse().read())
        connection.close()
        assert bodies == [b"one!", b"two, until the end", b"", b"ok"]
        assert len(sockets) == 1


def test_events_come_at_once_and_a_large_body_goes_up() -> None:
    go_on = threading.Event()
    received: list[int] = []

    def work(connection: socket.socket) -> None:
        if b"POST" in made.program.heads[-1]:
            left = 3_000_000
            while left:
                left -= len(connection.recv(1 << 16))
            received.append(left)
            connection.sendall(OK)
            return
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n")
        go_on.wait(SECONDS)

    with previewed(work) as made:
        browser = made.raw(b"GET / HTTP/1.1\r\nHOST\r\nCOOKIE\r\n\r\n")
        seen = b""
        while b"data: 1" not in seen:
            seen += browser.recv(1 << 16)
        go_on.set()
        browser.close()
        connection = made.connection()
        headers = {"Host": made.preview.host, "Cookie": made.cookie, "Origin": made.preview.origin}
        connection.request("POST", "/", body=b"x" * 3_000_000, headers=headers)
        assert connection.getresponse().read() == b"ok"
        connection.close()
        assert received == [0]


def flood(connection: socket.socket, counted: list[int]) -> None:
    connection.settimeout(2)  # nothing moves any more
    try:
        while True:
            counted[0] += connection.send(b"x" * (1 << 16))
    except OSError:
        return


@pytest.mark.parametrize("is_websocket", [False, True])
def test_who_does_not_read_slows_down_who_writes(*, is_websocket: bool) -> None:
    counted = [0]
    upgrade = b"Upgrade: websocket\r\nConnection: Upgrade\r\n"
    status = b"101 Switching Protocols\r\n" + upgrade if is_websocket else b"200 OK\r\n"

    def work(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 " + status + b"\r\n")
        flood(connection, counted)

    with previewed(work) as made:
        asked = upgrade if is_websocket else b""
        browser = made.raw(b"GET / HTTP/1.1\r\nHOST\r\nCOOKIE\r\n" + asked + b"\r\n")
        assert wait_until(lambda: counted[0] > 0)
        before = -1
        while counted[0] != before:
            before = counted[0]
            threading.Event().wait(0.5)
        assert counted[0] < 32_000_000
        browser.close()


def test_a_websocket_passes_both_ways_and_ends_with_the_preview() -> None:
    def work(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\nearly")
        while data := connection.recv(100):
            connection.sendall(data.upper())

    with previewed(work) as made:
        upgrade = b"Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n\r\n"
        browser = made.raw(b"GET /socket HTTP/1.1\r\nHOST\r\nCOOKIE\r\n" + upgrade)
        seen = b""
        while not seen.endswith(b"early"):
            seen += browser.recv(100)
        browser.sendall(b"frame")
        assert browser.recv(100) == b"FRAME"
        made.gateway.end(made.preview)
        assert read_all(browser) == b""
        assert made.get()[0] == 410


def test_a_program_that_is_not_there_yet_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with previewed(lambda connection: connection.sendall(OK)) as made:

        def refuse(_: int) -> socket.socket:
            raise ConnectionRefusedError

        monkeypatch.setattr(made.preview, "_connect", refuse)
        headers = {"Accept": "text/html", "Accept-Language": "zh-CN"}
        status, said, body = made.get(**headers)
        assert (status, said["Refresh"]) == (503, "1")
        assert "端口 8000 还没有应答" in body.decode()


def test_who_says_nothing_is_cut_and_keeps_nobody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unauthenticated, "MAX_UNAUTHENTICATED", 3)
    with previewed(lambda connection: connection.sendall(OK)) as made, ExitStack() as stack:
        slow = [stack.enter_context(made.raw(b"GET / HTTP/1.1\r\n")) for _ in range(6)]
        assert made.get()[0] == 200
        assert read_all(slow[0]) == b""
        monkeypatch.setattr(forwarding, "HEAD_SECONDS", 0.2)
        assert read_all(made.raw(b"GET / HTTP/1.1\r\nHOST\r\n")) == b""


def test_nothing_listens_before_the_first_preview_or_after_the_end() -> None:
    gateway = PreviewGateway(lambda _: None)
    address = ("127.0.0.1", gateway.port)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address)
    gateway.open(8000, lambda _: socket.socket())
    socket.create_connection(address).close()
    with pytest.raises(OSError, match="in use"), socket.socket(socket.AF_INET6) as other_user:
        other_user.bind(("::1", gateway.port))
    gateway.close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address)
