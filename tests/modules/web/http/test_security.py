"""What a page of another origin, or a forged request, gets: nothing."""

from __future__ import annotations

import json
import os
import re
import socket
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

import pytest
import websocket

from modules.web.http.auth import MAX_TRIES_PER_MINUTE, Authenticator, server_file
from modules.web.http.security import SECURITY_HEADERS
from tests.modules.web.serving import TIMEOUT_SECONDS, RunningServer

Serve = Callable[..., AbstractContextManager[RunningServer]]
PATHS = ["/", "/api/status", "/static/api.css", "/socket.io/?EIO=4&transport=polling", "/s/x"]
PAGES = [
    ({"Host": "evil.example:{port}", "Origin": "http://evil.example:{port}"}, 421),
    ({"Host": "evil.example"}, 421),
    ({"Host": "127.0.0.1"}, 421),
    ({"Host": "127.0.0.1:{port}.evil.example"}, 421),
    ({"Host": "user@127.0.0.1:{port}"}, 421),
    ({"Host": ""}, 421),
    ({"Origin": "http://evil.example"}, 403),
    ({"Origin": "null"}, 403),
    ({"Origin": "http://127.0.0.1:{port}.evil.example"}, 403),
    ({"Origin": "http://localhost:{port}"}, 403),
    ({"Origin": "https://127.0.0.1:{port}"}, 403),
    ({"Origin": "http://127.0.0.1:1"}, 403),
    ({"Origin": "http://evil.example", "X-Forwarded-Host": "evil.example"}, 403),
    ({"Origin": "http://evil.example", "Forwarded": "host=evil.example"}, 403),
    ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403),
    ({"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}, 403),
]


def filled(headers: dict[str, str], served: RunningServer) -> dict[str, str]:
    return {name: value.format(port=served.server.port) for name, value in headers.items()}


def test_every_route_is_guarded(served: RunningServer) -> None:
    cookie = served.cookie()
    for headers, status in PAGES:
        for path in PATHS:
            sent = cookie | filled(headers, served)
            answer = served.ask("GET", path, headers=sent, with_token=False)
            assert answer.status == status, (path, headers)
            assert not any(name.startswith("access-control") for name in answer.headers)


def test_who_comes_by_a_browser_reads_a_page_why_not(served: RunningServer) -> None:
    eyes = {"Accept": "text/html,*/*;q=0.8"}
    answer = served.ask("GET", "/", headers=eyes, with_token=False)
    assert (answer.status, answer.headers["content-type"]) == (401, "text/html; charset=utf-8")
    assert b"<h1>Onefold</h1>" in answer.body
    plain = served.ask("GET", "/", with_token=False)
    assert plain.headers["content-type"] == "text/plain; charset=utf-8"


def test_nobody_comes_in_without_proof(served: RunningServer) -> None:
    other = {"Cookie": f"onefold_{served.server.port}=of-another-run"}
    for path in PATHS:
        assert served.ask("GET", path, with_token=False).status == 401
        assert served.ask("GET", path, headers=other, with_token=False).status == 401
        wrong = {"Authorization": "Bearer wrong"}
        assert served.ask("GET", path, headers=wrong, with_token=False).status == 401


def test_a_cookie_is_worth_nothing_after_a_restart(serve: Serve) -> None:
    with serve() as served:
        cookie, port = served.cookie(), served.server.port
        assert served.ask("GET", "/api/status", headers=cookie, with_token=False).status == 200
    with serve(port=port) as served:
        assert served.ask("GET", "/api/status", headers=cookie, with_token=False).status == 401


def test_a_login_link_works_once_and_leaves_no_secret(served: RunningServer) -> None:
    link = served.server.authenticator.new_link()
    answer = served.ask("GET", link, with_token=False)
    assert (answer.status, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"onefold_{served.server.port}=")
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert served.ask("GET", link, with_token=False).status == 401


def test_guessing_links_ends_soon_and_locks_nobody_out(served: RunningServer) -> None:
    guesses = [
        served.ask("GET", "/login?token=guess", with_token=False).status
        for _ in range(2 * MAX_TRIES_PER_MINUTE)
    ]
    assert guesses == [401] * MAX_TRIES_PER_MINUTE + [429] * MAX_TRIES_PER_MINUTE
    link = served.server.authenticator.new_link()
    assert served.ask("GET", link, with_token=False).status == 303


def test_a_guess_is_forgotten_after_a_minute() -> None:
    now = [1_000.0]
    access = Authenticator(1, clock=lambda: now[0])
    assert all(access.allow_attempt() for _ in range(MAX_TRIES_PER_MINUTE))
    now[0] += 59
    assert not access.allow_attempt()
    now[0] += 2
    assert [access.allow_attempt() for _ in range(MAX_TRIES_PER_MINUTE + 1)] == [
        True
    ] * MAX_TRIES_PER_MINUTE + [False]


def test_a_link_that_was_asked_for_is_good_for_ten_minutes() -> None:
    now = [1_000.0]
    access = Authenticator(1, clock=lambda: now[0])
    first, early, late = (access.new_link(*limit) for limit in ((), (600,), (600,)))
    now[0] += 599
    assert access.log_in(early.partition("token=")[2])
    now[0] += 2
    assert access.log_in(late.partition("token=")[2]) is None
    assert access.log_in(first.partition("token=")[2])


def test_a_change_needs_an_origin_of_ours(served: RunningServer) -> None:
    page = served.login()
    bare = {name: value for name, value in page.items() if name != "Origin"}
    assert served.ask("POST", "/api/sessions", headers=bare, with_token=False).status == 403
    assert served.ask("POST", "/api/sessions", headers=page, with_token=False).status == 201


ACTS = [
    ("POST", "/api/login-links", {}),
    ("POST", "/api/sessions", {}),
    ("POST", "/api/sessions/{session}/messages", {"text": "hi"}),
    ("POST", "/api/sessions/{session}/confirm", {"call_id": "c", "yes": True}),
    ("PUT", "/api/files/text", {"path": "x.txt", "text": "x"}),
    ("PATCH", "/api/sessions/{session}", {"title": "x"}),
    ("DELETE", "/api/sessions/{session}", {}),
    ("OPTIONS", "/api/sessions", {}),
    ("GET", "/socket.io/?EIO=4&transport=polling", None),
    ("GET", "/socket.io?EIO=4&transport=polling", None),
    ("GET", "/socket.io/?EIO=4&transport=polling&key=", None),
    ("GET", "/socket.io/?EIO=4&transport=polling&key=guess", None),
    ("POST", "/socket.io/?EIO=4&transport=polling&sid=x", {}),
]


@pytest.mark.parametrize(("method", "path", "body"), ACTS)
def test_who_caught_the_cookie_on_another_port_can_do_nothing(
    served: RunningServer, method: str, path: str, body: dict[str, Any] | None
) -> None:
    session = served.new_session()
    caught = served.cookie() | {"Origin": f"http://{served.host}", "Sec-Fetch-Site": "same-origin"}
    path = path.format(session=session)
    for key in ({}, {"X-Onefold-Key": ""}, {"X-Onefold-Key": "guess"}):
        answer = served.ask(method, path, body, caught | key, with_token=False)
        assert answer.status == 401, answer.body
        if path.startswith("/api/"):
            assert answer.json["code"] == "no_key"
    assert not (served.project / "x.txt").exists()
    assert served.ask("GET", f"/api/sessions/{session}").status == 200


def test_a_key_alone_is_worth_nothing(served: RunningServer) -> None:
    page = served.login()
    del page["Cookie"]
    assert served.ask("GET", "/api/status", headers=page, with_token=False).status == 401
    assert served.ask("POST", "/api/sessions", headers=page, with_token=False).status == 401


def test_a_cookie_shows_the_page_and_a_wrong_key_is_told_of(served: RunningServer) -> None:
    cookie = served.cookie()
    for path in ("/", "/api/status", "/api/sessions", "/api/files"):
        assert served.ask("GET", path, headers=cookie, with_token=False).status == 200
    for key in ("", "of-another-run"):
        wrong = cookie | {"X-Onefold-Key": key}
        answer = served.ask("GET", "/api/status", headers=wrong, with_token=False)
        assert (answer.status, answer.json["code"]) == (401, "no_key")


def test_the_key_is_told_to_nobody_but_who_logs_in(served: RunningServer) -> None:
    key = served.server.authenticator.key
    session = served.new_session()
    cookie = served.cookie()
    for path in ("/", f"/s/{session}", "/api/status", "/api/docs", "/static/js/early.js"):
        answer = served.ask("GET", path, headers=cookie, with_token=False)
        assert key not in f"{answer.headers} {answer.body.decode()}"
    wrong = served.ask("GET", "/login?token=x", headers={"Accept": "text/html"}, with_token=False)
    assert key not in f"{wrong.headers} {wrong.body.decode()}"


def test_a_login_leads_a_browser_to_its_key_and_a_program_to_the_plain_page(
    served: RunningServer,
) -> None:
    new = served.server.authenticator.new_link
    eyes = {"Accept": "text/html"}
    browser = served.ask("GET", new(), headers=eyes, with_token=False)
    assert browser.headers["location"] == f"/#key={served.server.authenticator.key}"
    program = served.ask("GET", new(), with_token=False)
    assert program.headers["location"] == "/"


def test_a_preflight_of_another_origin_is_refused(served: RunningServer) -> None:
    asking = {
        "Origin": "http://evil.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
    }
    answer = served.ask("OPTIONS", "/api/sessions", headers=asking, with_token=False)
    assert answer.status == 403
    assert not any(name.startswith("access-control") for name in answer.headers)


def test_only_json_is_taken_as_json(served: RunningServer) -> None:
    body = json.dumps({"path": "x.txt", "text": "x"}).encode()
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        answer = served.ask("PUT", "/api/files/text", body, {"Content-Type": kind})
        assert (answer.status, answer.json["code"]) == (400, "bad_request")
    for broken in (b"{", b"[]", b"[" * 100_000, b"\xff"):
        answer = served.ask("PUT", "/api/files/text", broken, {"Content-Type": "application/json"})
        assert answer.status == 400


def test_following_a_link_to_the_page_is_allowed_from_anywhere(served: RunningServer) -> None:
    way = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    link = served.server.authenticator.new_link()
    assert served.ask("GET", link, headers=way, with_token=False).status == 303
    assert served.ask("GET", "/api/status", headers=way).status == 403


def test_every_answer_bears_the_strict_policy(served: RunningServer) -> None:
    for path in ("/api/status", "/api/docs", "/nowhere", "/static/api.css"):
        answer = served.ask("GET", path)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "evil.example:{port}", "Origin": "http://evil.example:{port}"}, 421),
        ({"Origin": "http://evil.example", "X-Forwarded-Host": "evil.example"}, 403),
        ({}, 403),
    ],
)
def test_a_socket_of_another_origin_is_refused(
    served: RunningServer, headers: dict[str, str], status: int
) -> None:
    sent = served.cookie() | filled(headers, served)
    address = f"ws://{served.host}/socket.io/?EIO=4&transport=websocket"
    host = sent.pop("Host", served.host)
    with pytest.raises(websocket.WebSocketBadStatusException) as refused:
        websocket.create_connection(address, header=sent, host=host, suppress_origin=True)
    assert refused.value.status_code == status
    cookie, origin = served.cookie(), f"http://{served.host}"
    key = f"&key={served.server.authenticator.key}"
    websocket.create_connection(address + key, header=cookie, origin=origin).close()
    for wrong in ("", "&key=", "&key=guess"):
        with pytest.raises(websocket.WebSocketBadStatusException) as refused:
            websocket.create_connection(address + wrong, header=cookie, origin=origin)
        assert refused.value.status_code == 401


def test_an_oversized_message_ends_only_its_own_connection(served: RunningServer) -> None:
    address = f"ws://{served.host}/socket.io/?EIO=4&transport=websocket"
    greedy = websocket.create_connection(address, header=served.token, timeout=TIMEOUT_SECONDS)
    greedy.recv()
    assert greedy.sock
    # The head of a frame of 300 MB, and then as much of it as is taken.
    with suppress(OSError):
        greedy.sock.sendall(b"\x81\xff" + (300_000_000).to_bytes(8, "big") + b"mask")
        for _ in range(300):
            greedy.sock.sendall(b"x" * 1_000_000)
        pytest.fail("all of it was taken")
    greedy.sock.close()  # a polite end would wait for an answer
    assert served.ask("GET", "/api/status").status == 200


def test_a_message_in_many_pieces_is_limited_as_a_whole(served: RunningServer) -> None:
    address = f"ws://{served.host}/socket.io/?EIO=4&transport=websocket"
    greedy = websocket.create_connection(address, header=served.token, timeout=TIMEOUT_SECONDS)
    greedy.recv()
    assert greedy.sock
    piece = b"\xfe" + (50_000).to_bytes(2, "big") + b"\0\0\0\0" + b"x" * 50_000
    with suppress(OSError):
        greedy.sock.sendall(b"\x01" + piece)
        for _ in range(4_000):  # none of which is the last
            greedy.sock.sendall(b"\x00" + piece)
        pytest.fail("all of it was taken")
    greedy.sock.close()  # a polite end would wait for an answer
    assert served.ask("GET", "/api/status").status == 200


def test_nothing_is_compressed(served: RunningServer) -> None:
    with asked(served, "GET /socket.io/?EIO=4&transport=websocket HTTP/1.1", *SOCKET) as said:
        assert b" 101 " in said[:30]
        assert b"deflate" not in said.lower()


def test_an_oversized_body_is_refused_unread(served: RunningServer) -> None:
    with socket.create_connection(
        ("127.0.0.1", served.server.port), timeout=TIMEOUT_SECONDS
    ) as raw:
        head = [
            "POST /api/sessions HTTP/1.1",
            f"Host: {served.host}",
            f"Authorization: Bearer {served.server.authenticator.token}",
            "Content-Type: application/json",
            "Content-Length: 900000000000",
        ]
        raw.sendall(("\r\n".join(head) + "\r\n\r\n").encode())
        assert b" 413 " in raw.recv(200)
    polled = served.ask("POST", "/socket.io/?EIO=4&transport=polling&sid=x", b"x" * 2_000_000)
    assert polled.status == 400


def test_the_token_lies_in_a_file_of_the_person_only(tmp_path: Any) -> None:
    from modules.web.http.auth import published_server_file

    file = server_file(tmp_path, 8765)
    with published_server_file(file, "http://127.0.0.1:8765", "secret", tmp_path):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert json.loads(file.read_text())["pid"] == os.getpid()
    assert not file.exists()


# --- what can be read in two ways ----------------------------------------------------------------

SOCKET = (
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
    "Sec-WebSocket-Extensions: permessage-deflate",
)
NEW = "POST /api/sessions HTTP/1.1"
SMUGGLED = b"GET /api/status HTTP/1.1\r\n"
ODD = [
    ((NEW, "Content-Length: 2", "Transfer-Encoding: chunked"), b"0\r\n\r\n"),
    ((NEW, "Transfer-Encoding: chunked"), b"2\r\n{}\r\n0\r\n\r\n"),
    ((NEW, "Transfer-Encoding: xchunked"), b""),
    ((NEW, "Transfer-Encoding: identity, chunked"), b"0\r\n\r\n"),
    ((NEW, "Content-Length: 2", "Content-Length: 40"), b"{}"),
    ((NEW, "Content-Length: 2, 2"), b"{}"),
    ((NEW, "Content-Length: +2"), b"{}"),
    ((NEW, "Content-Length: -1"), b"{}"),
    ((NEW, "Content-Length: 0x2"), b"{}"),
    ((NEW, "Content-Length: 0_2"), b"{}"),
    ((NEW, "Content-Length: two"), b"{}"),
    ((NEW, "Content-Length: 2", "Host: evil.example"), b"{}"),
    ((NEW, "Content-Length : 2", "Content-Length: 2", "Content-Length: 3"), b"{}"),
]
BROKEN = [
    ("Upgrade: websocket", "Connection: Upgrade"),
    ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"),
    (*SOCKET[:2], "Sec-WebSocket-Version: 0", SOCKET[3]),
    (*SOCKET[:3], "Sec-WebSocket-Key: short"),
    (*SOCKET[:2], "Sec-WebSocket-Key1: 4 @1  46546xW", "Sec-WebSocket-Key2: 12998 5 Y3 1"),
]
OUTSIDE = [
    "/static/../modules/web/http/app.py",
    "/static/%2e%2e/modules/web/http/app.py",
    "/static/..%2fmodules/web/app.py",
    "/static/v-x/..%2f..%2fmodules/web/app.py",
    "/static/v-x/%2fetc%2fpasswd",
    "/static/v-x//etc/passwd",
    "/static/v-x/..\\..\\main.py",
    "/static/a%00b",
    "/static/v-x/%ff%fe",
    "/api/files/text?path=../../etc/passwd",
    "/api/files/download?path=%2fetc%2fpasswd",
    "/api/files/text?path=%ed%a0%80",
    "/api/sessions/..%2f..%2fx",
    "http://evil.example/api/status",
    "//evil.example/api/status",
]
LOCKED = [
    "/login/../api/status",
    "/login%2f..%2fapi%2fstatus",
    "/login;/../api/status",
    "/login%0d%0aX:%201",
    "/socket.io/../login?EIO=4&transport=polling",
    "//socket.io//?EIO=4&transport=polling",
]


@contextmanager
def asked(
    served: RunningServer, line: str, *headers: str, body: bytes = b"", known: bool = True
) -> Iterator[bytes]:
    """Send a request to the letter; yield the first that comes back, and close."""
    token = [f"Authorization: Bearer {served.server.authenticator.token}"] * known
    head = [line, f"Host: {served.host}", *token, *headers]
    with socket.create_connection(
        ("127.0.0.1", served.server.port), timeout=TIMEOUT_SECONDS
    ) as raw:
        raw.sendall("\r\n".join(head).encode() + b"\r\n\r\n" + body)
        yield raw.recv(100_000)


def said_to(served: RunningServer, request: bytes) -> bytes:
    """Return all that is answered to *request* until the server ends the connection."""
    with socket.create_connection(
        ("127.0.0.1", served.server.port), timeout=TIMEOUT_SECONDS
    ) as raw:
        raw.sendall(request)
        return b"".join(iter(lambda: _received(raw), b""))


def _received(raw: socket.socket) -> bytes:
    try:
        return raw.recv(100_000)
    except ConnectionResetError:  # it ended with some of ours unread
        return b""


@pytest.mark.parametrize(("head", "body"), ODD)
def test_a_body_of_doubtful_length_is_refused_with_all_behind_it(
    served: RunningServer, head: tuple[str, ...], body: bytes
) -> None:
    known = f"Host: {served.host}\r\nAuthorization: Bearer {served.server.authenticator.token}\r\n"
    line, *headers = (f"{each}\r\n" for each in head)
    kind = "Content-Type: application/json\r\n"
    request = f"{line}{known}{kind}{''.join(headers)}\r\n".encode() + body
    said = said_to(served, request + SMUGGLED + known.encode() + b"\r\n")
    assert said.count(b"HTTP/1.") <= 1
    assert re.match(rb"HTTP/1\.[01] 400 ", said), said
    assert served.ask("GET", "/api/sessions").json["sessions"] == []


@pytest.mark.parametrize("version", ["", " HTTP/0.9", " HTTP/1.9", " HTTP/01.1"])
def test_another_version_of_http_is_refused(served: RunningServer, version: str) -> None:
    with asked(served, f"GET /api/status{version}", "Connection: close") as said:
        assert re.match(rb"HTTP/1\.[01] 400 ", said), said


def test_a_header_with_a_nul_is_refused(served: RunningServer) -> None:
    with asked(served, "GET /api/status HTTP/1.1", "X: a\0b") as said:
        assert re.match(rb"HTTP/1\.[01] 400 ", said), said


HOST = "Host: {host}\r\n"
UNREADABLE = [
    ("GARBAGE\r\n\r\n", 400),
    ("GET / HTTP/3.0\r\n\r\n", 505),
    ("\x01 / HTTP/x\r\n\r\n", 400),
    (f"GET /{'a' * 70_000} HTTP/1.1\r\n{HOST}\r\n", 414),
    (f"GET / HTTP/1.1\r\n{HOST}X: {'a' * 70_000}\r\n\r\n", 431),
    ("GET / HTTP/1.1\r\n" + HOST + "X: a\r\n" * 200 + "\r\n", 431),
    (f"GET / HTTP/1.1\r\n{HOST}X: a\r\n b\r\n\r\n", 400),
    (f"POST / HTTP/1.1\r\n{HOST}Transfer-Encoding: chunked\r\n\r\n", 400),
]


@pytest.mark.parametrize(("request_", "status"), UNREADABLE)
def test_what_cannot_be_read_is_refused_as_strictly_as_all_else(
    served: RunningServer, request_: str, status: int, capfd: pytest.CaptureFixture[str]
) -> None:
    said = said_to(served, request_.replace("{host}", served.host).encode("latin-1"))
    head, _, body = said.partition(b"\r\n\r\n")
    assert re.match(rf"HTTP/1\.1 {status} ".encode(), head), said
    told = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
    assert told | SECURITY_HEADERS == told
    assert int(told["Content-Length"]) == len(body)
    assert not re.search("python|werkzeug|eventlet", said.decode(), re.IGNORECASE)
    assert "".join(capfd.readouterr()) == ""


def test_a_head_may_be_long(served: RunningServer) -> None:
    cookies = {"Cookie": "; ".join(f"other{n}={'x' * 1_000}" for n in range(30))}
    assert served.ask("GET", f"/api/status?x={'a' * 30_000}", headers=cookies).status == 200


def test_who_has_shown_no_proof_keeps_no_connection(served: RunningServer) -> None:
    for line in ("GET /login?token=x", "POST /login", "GET /", "POST /api/sessions"):
        head = f"{line} HTTP/1.1\r\nHost: {served.host}\r\nContent-Length: 900000\r\n\r\n"
        assert said_to(served, head.encode()).startswith(b"HTTP/1.1 4")


def test_who_looks_ahead_at_a_link_does_not_use_it_up(served: RunningServer) -> None:
    link = served.server.authenticator.new_link()
    ahead = served.ask("HEAD", link, with_token=False)
    assert (ahead.status, "set-cookie" in ahead.headers) == (200, False)
    assert served.ask("GET", link, with_token=False).status == 303


def test_a_name_that_no_file_can_have_is_not_found(
    served: RunningServer, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("a" * 300, "a/" * 3_000, "a%00b", "js", "js/"):
        for folder in ("/static/", "/static/v-x/"):
            assert served.ask("GET", folder + name).status == 404
    assert "".join(capfd.readouterr()) == ""


def test_a_body_is_asked_for_once(served: RunningServer) -> None:
    with asked(
        served,
        "POST /api/files/folder HTTP/1.1",
        *("Expect: 100-continue", "Content-Type: application/json", "Content-Length: 12"),
    ) as said:
        assert said == b"HTTP/1.1 100 Continue\r\n\r\n"


@pytest.mark.parametrize("headers", BROKEN)
def test_a_broken_socket_is_refused_without_a_word_of_the_inside(
    served: RunningServer, headers: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    line = "GET /socket.io/?EIO=4&transport=websocket HTTP/1.1"
    with asked(served, line, *headers) as said:
        assert said.startswith(b"HTTP/1.1 400 ")
        assert b"Traceback" not in said
    assert "".join(capfd.readouterr()) == ""


@pytest.mark.parametrize("path", OUTSIDE)
def test_no_path_leads_out(served: RunningServer, path: str) -> None:
    with asked(served, f"GET {path} HTTP/1.1", "Connection: close") as said:
        assert re.match(rb"HTTP/1\.[01] (4\d\d|200) ", said), said
        assert b"root:" not in said
        assert b"import " not in said


@pytest.mark.parametrize("path", LOCKED)
def test_the_open_door_leads_nowhere_else(served: RunningServer, path: str) -> None:
    with asked(served, f"GET {path} HTTP/1.1", "Connection: close", known=False) as said:
        assert said.startswith(b"HTTP/1.1 401 "), said


def test_what_is_no_http_at_all_leaves_the_terminal_alone(
    served: RunningServer, capfd: pytest.CaptureFixture[str]
) -> None:
    for junk in (b"\x16\x03\x01\x02\0\x01\0" + b"\0" * 50, b"PRI * HTTP/2.0", b"\x1b[2J", b"GET"):
        said_to(served, junk + b"\r\n\r\n")
    for odd in ("EIO=3&transport=polling", "EIO=4&transport=no", "EIO=4&transport=polling&sid=x"):
        assert served.ask("GET", f"/socket.io/?{odd}").status == 400
    assert "".join(capfd.readouterr()) == ""
    assert served.ask("GET", "/api/status").status == 200
