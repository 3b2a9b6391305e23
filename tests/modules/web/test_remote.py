"""A server that others on the network reach: paired devices come in by TLS, nobody else."""

from __future__ import annotations

import gc
import http.client
import itertools
import json
import re
import socket
import ssl
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import websocket

from modules.web.http.auth import MAX_TRIES_PER_MINUTE, PAIRING_SECONDS, Authenticator
from modules.web.http.security import CLOSED_DOOR
from modules.web.pairing.certificate import kept_certificate
from modules.web.pairing.devices import DEVICE_DAYS, PairedDevices, device_name
from modules.web.servers.tls_front import TlsFront
from modules.web.sessions import event_bus
from tests.modules.web.serving import TIMEOUT_SECONDS, Answer, RunningServer
from tests.scripted_model import text_reply
from utils.llm.completion import Delta

Serve = Callable[..., AbstractContextManager[RunningServer]]
Headers = dict[str, str]
PHONE = (
    "Mozilla/5.0 (Linux; Android 16; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/156.0.0.0 Mobile Safari/537.36"
)
ENDS = (
    *(ConnectionError, ssl.SSLEOFError, http.client.HTTPException),
    *(websocket.WebSocketBadStatusException, websocket.WebSocketConnectionClosedException),
)
"""How a client sees that its connection is cut; no time-out is among them."""
EYES = {"Accept": "text/html,*/*;q=0.8", "User-Agent": PHONE}


@pytest.fixture
def remote(serve: Serve) -> Iterator[RunningServer]:
    with serve(allow_remote=True) as server:
        yield server


class Network:
    """What a device on the network does: it trusts the root that the server shows."""

    def __init__(self, served: RunningServer) -> None:
        access = served.server.remote
        assert access
        self.port = served.server.port
        self.host = f"127.0.0.1:{self.port}"
        self.trust = ssl.create_default_context(cadata=access.certificate.root.decode())
        self.access = access

    def ask(self, method: str, path: str, headers: Headers | None = None, body: str = "") -> Answer:
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self.port, timeout=TIMEOUT_SECONDS, context=self.trust
        )
        try:
            connection.request(method, path, body or None, headers or {})
            answer = connection.getresponse()
            names = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, names, answer.read())
        finally:
            connection.close()

    def pair(self, path: str) -> Headers:
        """Use the ticket *path* up; return the headers of what the page of the device asks for."""
        answer = self.ask("GET", path, EYES)
        assert answer.status == 303, answer.body
        assert "Secure" in answer.headers["set-cookie"]
        return {
            "Cookie": answer.headers["set-cookie"].split(";")[0],
            "Origin": f"https://{self.host}",
            "X-Onefold-Key": answer.headers["location"].partition("#key=")[2],
        }

    def websocket(self, headers: Headers) -> websocket.WebSocket:
        key = headers.get("X-Onefold-Key", "")
        url = f"wss://{self.host}/socket.io/?EIO=4&transport=websocket&key={key}"
        return websocket.create_connection(
            url,
            timeout=TIMEOUT_SECONDS,
            cookie=headers.get("Cookie"),
            origin=headers.get("Origin"),
            sslopt={"context": self.trust},
        )


def ticket(served: RunningServer) -> str:
    return served.server.authenticator.new_ticket()


def computer(served: RunningServer, method: str, path: str, **body: Any) -> Any:
    """Ask as a program on this computer does."""
    assert served.server.remote
    own = served.server.remote.own_url.removeprefix("http://")
    connection = http.client.HTTPConnection(own, timeout=TIMEOUT_SECONDS)
    try:
        headers = served.token | {"Content-Type": "application/json"}
        connection.request(method, path, json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read() or b"null")
    finally:
        connection.close()


def is_cut(line: websocket.WebSocket) -> bool:
    """Return whether *line* ends, whatever still comes before; it fails if it stays open."""
    try:
        while line.recv():
            pass
    except websocket.WebSocketTimeoutException:
        return False
    except (websocket.WebSocketException, OSError):
        pass
    return True


STRANGE: list[tuple[str, str, Headers]] = [
    ("GET", "/", {}),
    ("GET", "/", EYES),
    ("GET", "/api/status", {}),
    ("GET", "/static/favicon.svg", {}),
    ("GET", "/manifest.webmanifest", {}),
    ("GET", "/service-worker.js", {}),
    ("GET", "/socket.io/?EIO=4&transport=polling", {}),
    ("GET", "/s/x", EYES),
    ("GET", "/nowhere", EYES),
    ("GET", "/login", EYES),
    ("HEAD", "/login?token=x", {}),
    ("POST", "/login?token=x", {}),
    ("GET", "/login?token=guess", EYES),
    ("GET", "/api/devices", {"X-Onefold-Device": "0" * 16}),
    ("POST", "/api/devices", {"Origin": "https://{host}"}),
    ("GET", "/", {"Host": "evil.example:{port}"}),
    ("GET", "/api/status", {"Host": "127.0.0.1"}),
    ("GET", "/", {"Host": "{inner}", "X-Forwarded-For": "127.0.0.1", "Forwarded": "for=127.0.0.1"}),
    ("GET", "/", {"Host": ""}),
    ("GET", "/api/status", {"Authorization": "Bearer guess"}),
    ("GET", "/api/status", {"Cookie": "onefold_{port}=guess", "X-Onefold-Key": "guess"}),
    ("GET", "/", {"Upgrade": "websocket", "Connection": "Upgrade"}),
]


def test_a_stranger_gets_one_answer_whatever_it_asks(remote: RunningServer) -> None:
    network = Network(remote)
    names = {
        "port": network.port,
        "host": network.host,
        "inner": network.access.own_url.removeprefix("http://"),
    }
    seen = set()
    for method, path, headers in STRANGE:
        sent = {name: value.format(**names) for name, value in headers.items()}
        answer = network.ask(method, path, sent)
        body = CLOSED_DOOR if method != "HEAD" else b""
        assert (answer.status, answer.body) == (401, body), (method, path, headers)
        told = {name: text for name, text in answer.headers.items() if name != "date"}
        seen.add(json.dumps(told, sort_keys=True))
    assert len(seen) == 1
    assert "onefold" not in (CLOSED_DOOR.decode() + seen.pop()).lower()


def test_who_speaks_no_tls_is_told_nothing(remote: RunningServer) -> None:
    for sent in (
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x00" * 64,
        b"\x16\x03\x01\xff\xff" + b"x" * 99,
    ):
        with socket.create_connection(("127.0.0.1", remote.server.port), TIMEOUT_SECONDS) as line:
            line.sendall(sent)
            line.shutdown(socket.SHUT_WR)
            told = b""
            with suppress(ConnectionError):
                while data := line.recv(4_096):
                    told += data
        assert b"HTTP" not in told
        assert told[:1] in (b"", b"\x15")  # at most that the handshake failed
    assert Network(remote).ask("GET", "/").status == 401


def test_strangers_that_hold_connections_lock_nobody_out(remote: RunningServer) -> None:
    network = Network(remote)
    idle = [socket.create_connection(("127.0.0.1", network.port)) for _ in range(60)]
    held = [
        network.trust.wrap_socket(
            socket.create_connection(("127.0.0.1", network.port)), server_hostname="127.0.0.1"
        )
        for _ in range(40)
    ]
    try:
        device = network.pair(ticket(remote))
        assert network.ask("GET", "/api/status", device).status == 200
    finally:
        for line in (*idle, *held):
            line.close()


def test_a_server_that_ends_while_a_device_takes_leave_leaves_no_socket(tmp_path: Path) -> None:
    certificate = kept_certificate(tmp_path, ["127.0.0.1"])
    trust = ssl.create_default_context(cadata=certificate.root.decode())
    failures: list[BaseException] = []
    with (
        socket.create_server(("127.0.0.1", 0)) as outer,
        socket.create_server(("127.0.0.1", 0)) as inner,
        warnings.catch_warnings(record=True) as told,
    ):
        warnings.simplefilter("always")
        front_port, port = outer.getsockname()[1], inner.getsockname()[1]
        front = TlsFront(outer, certificate.context(), port, failures.append)
        front.start()
        with trust.wrap_socket(
            socket.create_connection(outer.getsockname(), TIMEOUT_SECONDS),
            server_hostname="127.0.0.1",
        ) as line:
            inner.accept()[0].close()
            assert line.recv(1) == b""  # and it does not take leave itself
            front.close()
            gc.collect()
    assert not failures
    ports = {port, front_port}  # others' sockets may be garbage by now
    words = [str(one.message) for one in told]
    assert not [one for one in words if any(str(own) in one for own in ports)]


def test_a_ticket_pairs_one_device_once(remote: RunningServer) -> None:
    network, path = Network(remote), ticket(remote)
    assert network.ask("HEAD", path).status == 401  # who looks ahead does not use it up
    device = network.pair(path)
    assert network.ask("GET", path, EYES).body == CLOSED_DOOR
    assert network.ask("GET", "/api/status", device).json["remote"] is True
    assert network.ask("POST", "/api/sessions", device | {"Content-Length": "0"}).status == 201
    (row,) = network.ask("GET", "/api/devices", device).json["devices"]
    assert (row["name"], row["this"]) == ("Chrome, Android", True)
    without_key = {"Cookie": device["Cookie"], "Origin": device["Origin"]}
    assert network.ask("POST", "/api/sessions", without_key).json["code"] == "no_key"
    elsewhere = device | {"Origin": "https://evil.example"}
    assert network.ask("POST", "/api/sessions", elsewhere).status == 403
    renamed = device | {"Host": f"evil.example:{network.port}"}
    assert network.ask("GET", "/api/status", renamed).status == 421
    other_scheme = device | {"Origin": f"http://{network.host}"}
    assert network.ask("POST", "/api/sessions", other_scheme).status == 403


def test_wrong_tickets_open_nothing_and_lock_nobody_out(remote: RunningServer) -> None:
    network, path = Network(remote), ticket(remote)
    for number in range(2 * MAX_TRIES_PER_MINUTE):
        guess = path[:-3] + f"{number:03}"
        assert network.ask("GET", guess, EYES).body == CLOSED_DOOR
    assert network.pair(path)


def test_a_ticket_ends_and_a_link_of_the_computer_pairs_nothing(tmp_path: Path) -> None:
    now = [1_000.0]
    devices = PairedDevices(tmp_path / "devices.json")
    access = Authenticator(1, devices=devices, clock=lambda: now[0])
    late, early = (access.new_ticket().partition("=")[2] for _ in range(2))
    now[0] += PAIRING_SECONDS - 1
    assert access.log_in(early, PHONE)
    now[0] += 2
    assert access.log_in(late, PHONE) is None
    link = access.log_in(access.new_link().partition("=")[2])
    assert link
    assert link.device is None
    assert len(devices.all()) == 1
    assert Authenticator(1).log_in(Authenticator(1).new_ticket().partition("=")[2]) is None


def test_a_removed_device_is_out_at_once_with_all_that_it_holds(remote: RunningServer) -> None:
    network = Network(remote)
    device, other = network.pair(ticket(remote)), network.pair(ticket(remote))
    line, others_line = network.websocket(device), network.websocket(other)
    assert str(line.recv()).startswith("0{")
    assert str(others_line.recv()).startswith("0{")
    _, told = computer(remote, "GET", "/api/devices")
    first = told["devices"][0]["id"]
    assert computer(remote, "DELETE", f"/api/devices/{first}") == (204, None)
    assert is_cut(line)
    for path in ("/", "/api/status", "/api/devices"):
        assert network.ask("GET", path, device).body == CLOSED_DOOR
    with pytest.raises(websocket.WebSocketBadStatusException):
        network.websocket(device)
    assert network.ask("GET", "/api/status", other).status == 200
    others_line.send("40")
    assert str(others_line.recv()).startswith("40")
    others_line.close()
    assert computer(remote, "DELETE", f"/api/devices/{first}")[0] == 404


@contextmanager
def streams(
    network: Network, session: str, device: Headers
) -> Iterator[list[http.client.HTTPResponse]]:
    """Yield both answers that last: the events of *session*, and those of a message to it."""
    answers, connections = [], []
    json_headers = device | {"Content-Type": "application/json"}
    for method, path, body in (
        ("GET", f"/events?session={session}", None),
        ("POST", f"/api/sessions/{session}/messages", '{"text": "hello"}'),
    ):
        connection = http.client.HTTPSConnection(
            "127.0.0.1", network.port, timeout=TIMEOUT_SECONDS, context=network.trust
        )
        connections.append(connection)
        connection.request(method, path, body, json_headers)
        answers.append(connection.getresponse())
    try:
        yield answers
    finally:
        for answer in answers:
            answer.close()
        for connection in connections:
            connection.close()


def until_cut(answer: http.client.HTTPResponse) -> bytes:
    """Return what still comes of *answer*, which ends; it fails if that stays open."""
    lines = b""
    with suppress(*ENDS):
        while line := answer.readline():
            lines += line
    return lines


def test_what_a_removed_device_listens_to_ends_at_once(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_bus, "KEEPALIVE_SECONDS", 10 * TIMEOUT_SECONDS)
    gate = threading.Event()
    reply = [
        Delta("begun"),
        lambda _: bool(gate.wait(TIMEOUT_SECONDS)) and None,
        Delta("unheard"),
        *text_reply("x")[1:],
    ]
    with serve(reply, allow_remote=True) as remote:
        network = Network(remote)
        device = network.pair(ticket(remote))
        session = network.ask("POST", "/api/sessions", device | {"Content-Length": "0"}).json["id"]
        (row,) = computer(remote, "GET", "/api/devices")[1]["devices"]
        with streams(network, session, device) as answers:
            for answer in answers:
                while b"begun" not in answer.readline():
                    pass
            assert computer(remote, "DELETE", f"/api/devices/{row['id']}")[0] == 204
            told = [until_cut(answer) for answer in answers]  # while nothing else happens
            gate.set()
        assert not any(b"unheard" in text for text in told)


@pytest.mark.parametrize("look", [1, 2])
@pytest.mark.parametrize("kind", ["events", "websocket"])
def test_a_device_that_is_removed_while_it_is_let_in_is_out(
    remote: RunningServer, kind: str, look: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The removal comes right behind each *look* at whether the device may come in."""
    network, access = Network(remote), remote.server.authenticator
    device = network.pair(ticket(remote))
    session = network.ask("POST", "/api/sessions", device | {"Content-Length": "0"}).json["id"]
    (known,) = network.access.devices.all()
    looks, find = itertools.count(1), access.device

    def device_then_removal(environ: Any) -> Any:
        found = find(environ)
        if found and next(looks) == look:
            assert network.access.devices.remove(known.id)
            network.access.cut_removed()
        return found

    monkeypatch.setattr(access, "device", device_then_removal)
    with suppress(*ENDS):
        if kind == "websocket":
            assert is_cut(network.websocket(device))
        else:
            answer = network.ask("GET", f"/events?session={session}", device)
            assert answer.body == CLOSED_DOOR
    assert next(looks) > look


def test_a_device_that_another_server_removed_is_cut_off(
    remote: RunningServer, tmp_path: Path
) -> None:
    network, data = Network(remote), tmp_path / "data"
    line = network.websocket(network.pair(ticket(remote)))
    assert str(line.recv()).startswith("0{")
    others = PairedDevices(data / "devices.json")
    assert others.remove(others.all()[0].id)
    assert is_cut(line)


def test_a_device_lets_in_and_removes_nobody(remote: RunningServer) -> None:
    network = Network(remote)
    device, other = network.pair(ticket(remote)), network.pair(ticket(remote))
    rows = network.ask("GET", "/api/devices", other).json
    assert rows["pairs"] is False
    body = device | {"Content-Type": "application/json"}
    for method, path in (
        ("POST", "/api/devices"),
        ("POST", "/api/login-links"),
        ("DELETE", f"/api/devices/{rows['devices'][1]['id']}"),
    ):
        assert network.ask(method, path, body, "{}").json["code"] == "forbidden", path
    forged = {"X-Onefold-Device": "", **body}
    assert network.ask("POST", "/api/devices", forged, "{}").status == 403
    status, told = computer(remote, "POST", "/api/devices")
    assert status == 201
    assert told["url"].startswith(f"https://127.0.0.1:{network.port}/login?token=")
    assert network.pair(told["url"].partition(str(network.port))[2].partition("#")[0])
    assert {len(line) for line in told["code"]} == {len(told["code"])}


def test_devices_outlive_the_server_and_a_damaged_list_lets_nobody_in(
    serve: Serve, tmp_path: Path
) -> None:
    with serve(allow_remote=True) as remote:
        device = Network(remote).pair(ticket(remote))
        port, root = remote.server.port, Network(remote).access.certificate.root
        kept = (tmp_path / "data" / "devices.json").read_text()
        assert not any(secret in kept for secret in re.split("[=;]", " ".join(device.values()))[1:])
    with serve(allow_remote=True, port=port) as remote:
        network = Network(remote)
        assert network.access.certificate.root == root  # which a phone may have been told to trust
        assert network.ask("GET", "/api/status", device).status == 200
        (tmp_path / "data" / "devices.json").write_text('{"devices": [{"id": 1}]}')
        assert network.ask("GET", "/api/status", device).body == CLOSED_DOOR
        (tmp_path / "data" / "devices.json").unlink()
        assert network.ask("GET", "/api/status", device).body == CLOSED_DOOR
        assert network.pair(ticket(remote))
    with serve(port=port) as local:  # where nobody else is let in, no device is
        cookie = {"Cookie": device["Cookie"]}
        assert local.ask("GET", "/api/status", headers=cookie, with_token=False).status == 401


def test_a_device_is_paired_anew_after_a_while(tmp_path: Path) -> None:
    now = [1_000_000.0]
    devices = PairedDevices(tmp_path / "devices.json", clock=lambda: now[0])
    cookie = devices.add(PHONE).cookie
    now[0] += DEVICE_DAYS * 86_400 - 1
    assert devices.by_cookie(cookie)
    now[0] += 2
    assert devices.by_cookie(cookie) is None


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        (PHONE, "Chrome, Android"),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Safari/604.1",
            "Safari, iPhone",
        ),
        (
            "Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0",
            "Firefox, Linux",
        ),
        ("curl/8.5.0", "curl"),
        ("<script>", "?"),
        ("", "?"),
    ],
)
def test_a_device_is_named_after_its_browser(agent: str, name: str) -> None:
    assert device_name(agent) == name


def test_a_certificate_is_kept_while_it_names_the_machine(tmp_path: Path) -> None:
    first = kept_certificate(tmp_path, ["192.0.2.7", "desk.local", "127.0.0.1"])
    assert kept_certificate(tmp_path, ["127.0.0.1", "desk.local"]) == first
    moved = kept_certificate(tmp_path, ["192.0.2.8", "desk.local"])
    assert moved.fingerprint != first.fingerprint
    assert re.fullmatch("([0-9A-F]{2}:){31}[0-9A-F]{2}", moved.fingerprint)
    (file,) = tmp_path.iterdir()
    assert file.stat().st_mode & 0o077 == 0
    assert file.read_text().count("PRIVATE KEY") == 2  # one key: that of the root is forgotten
    file.write_text("-----BEGIN CERTIFICATE-----\nx\n" * 2)
    assert kept_certificate(tmp_path, ["192.0.2.8"]).context()
