"""What a page of another origin, or a forged request, gets: nothing."""

from __future__ import annotations

import json
import os
import socket
import stat
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import Any

import pytest
import websocket

from modules.web.access import TRIES_A_MINUTE, server_file
from tests.modules.web.serving import Served

Serve = Callable[..., AbstractContextManager[Served]]
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


def filled(headers: dict[str, str], served: Served) -> dict[str, str]:
    return {name: value.format(port=served.server.port) for name, value in headers.items()}


def test_every_route_is_guarded(served: Served) -> None:
    cookie = served.cookie()
    for headers, status in PAGES:
        for path in PATHS:
            sent = cookie | filled(headers, served)
            answer = served.ask("GET", path, headers=sent, known=False)
            assert answer.status == status, (path, headers)
            assert not any(name.startswith("access-control") for name in answer.headers)


def test_nobody_comes_in_without_proof(served: Served) -> None:
    other = {"Cookie": f"onefold_{served.server.port}=of-another-run"}
    for path in PATHS:
        assert served.ask("GET", path, known=False).status == 401
        assert served.ask("GET", path, headers=other, known=False).status == 401
        wrong = {"Authorization": "Bearer wrong"}
        assert served.ask("GET", path, headers=wrong, known=False).status == 401


def test_a_cookie_is_worth_nothing_after_a_restart(serve: Serve) -> None:
    with serve() as served:
        cookie, port = served.cookie(), served.server.port
        assert served.ask("GET", "/api/status", headers=cookie, known=False).status == 200
    with serve(port=port) as served:
        assert served.ask("GET", "/api/status", headers=cookie, known=False).status == 401


def test_a_login_link_works_once_and_leaves_no_secret(served: Served) -> None:
    link = served.server.access.new_link()
    answer = served.ask("GET", link, known=False)
    assert (answer.status, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"onefold_{served.server.port}=")
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert served.ask("GET", link, known=False).status == 401


def test_guessing_links_ends_soon(served: Served) -> None:
    for _ in range(TRIES_A_MINUTE):
        assert served.ask("GET", "/login?token=guess", known=False).status == 401
    link = served.server.access.new_link()
    assert served.ask("GET", link, known=False).status == 429


def test_a_change_needs_an_origin_of_ours(served: Served) -> None:
    cookie = served.cookie()
    assert served.ask("POST", "/api/sessions", headers=cookie, known=False).status == 403
    own = cookie | {"Origin": f"http://{served.host}"}
    assert served.ask("POST", "/api/sessions", headers=own, known=False).status == 201


def test_a_preflight_of_another_origin_is_refused(served: Served) -> None:
    asking = {
        "Origin": "http://evil.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
    }
    answer = served.ask("OPTIONS", "/api/sessions", headers=asking, known=False)
    assert answer.status == 403
    assert not any(name.startswith("access-control") for name in answer.headers)


def test_only_json_is_taken_as_json(served: Served) -> None:
    body = json.dumps({"path": "x.txt", "text": "x"}).encode()
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        answer = served.ask("PUT", "/api/files/text", body, {"Content-Type": kind})
        assert (answer.status, answer.json["code"]) == (400, "bad_request")
    for broken in (b"{", b"[]", b"[" * 100_000, b"\xff"):
        answer = served.ask("PUT", "/api/files/text", broken, {"Content-Type": "application/json"})
        assert answer.status == 400


def test_following_a_link_to_the_page_is_allowed_from_anywhere(served: Served) -> None:
    way = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    link = served.server.access.new_link()
    assert served.ask("GET", link, headers=way, known=False).status == 303
    assert served.ask("GET", "/api/status", headers=way).status == 403


def test_every_answer_bears_the_strict_policy(served: Served) -> None:
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
    served: Served, headers: dict[str, str], status: int
) -> None:
    sent = served.cookie() | filled(headers, served)
    address = f"ws://{served.host}/socket.io/?EIO=4&transport=websocket"
    with pytest.raises(websocket.WebSocketBadStatusException) as refused:
        websocket.create_connection(address, header=sent, suppress_origin=True)
    assert refused.value.status_code == status
    own = served.cookie() | {"Origin": f"http://{served.host}"}
    websocket.create_connection(address, header=own, suppress_origin=True).close()


def test_an_oversized_message_ends_only_its_own_connection(served: Served) -> None:
    address = f"ws://{served.host}/socket.io/?EIO=4&transport=websocket"
    greedy = websocket.create_connection(address, header=served.token, timeout=20)
    greedy.recv()
    assert greedy.sock
    # The head of a frame of 300 MB, and then as much of it as is taken.
    with suppress(OSError):
        greedy.sock.sendall(b"\x81\xff" + (300_000_000).to_bytes(8, "big") + b"mask")
        for _ in range(300):
            greedy.sock.sendall(b"x" * 1_000_000)
        pytest.fail("all of it was taken")
    greedy.close()
    assert served.ask("GET", "/api/status").status == 200


def test_an_oversized_body_is_refused_unread(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.server.port), timeout=20) as raw:
        head = [
            "POST /api/sessions HTTP/1.1",
            f"Host: {served.host}",
            f"Authorization: Bearer {served.server.access.token}",
            "Content-Type: application/json",
            "Content-Length: 900000000000",
        ]
        raw.sendall(("\r\n".join(head) + "\r\n\r\n").encode())
        assert b" 413 " in raw.recv(200)
    polled = served.ask("POST", "/socket.io/?EIO=4&transport=polling&sid=x", b"x" * 2_000_000)
    assert polled.status == 400


def test_the_token_lies_in_a_file_of_the_person_only(tmp_path: Any) -> None:
    from modules.web.access import announced

    file = server_file(tmp_path, 8765)
    with announced(file, "http://127.0.0.1:8765", "secret", tmp_path):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert json.loads(file.read_text())["pid"] == os.getpid()
    assert not file.exists()
