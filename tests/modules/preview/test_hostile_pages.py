"""Pages and programs that want to come into a preview of another, or out of their own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from tests.modules.preview.test_gateway import OK, Previewed, previewed, read_all

UPGRADE = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
SWITCHED = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"


@pytest.fixture(scope="module")
def made() -> Iterator[Previewed]:
    with previewed(lambda connection: connection.sendall(OK)) as one:
        yield one


STRANGERS: dict[str, Callable[[Previewed], dict[str, str]]] = {
    "a socket of another page": lambda _: UPGRADE | {"Origin": "http://evil.example"},
    "a socket of a sandboxed frame": lambda _: UPGRADE | {"Origin": "null"},
    "a socket of our own page": lambda _: UPGRADE | {"Origin": "http://127.0.0.1:1"},
    "a socket of another port": lambda made: UPGRADE | {"Origin": f"http://{made.preview.host}1"},
    "a socket by https": lambda made: UPGRADE | {"Origin": f"https://{made.preview.host}"},
    "a socket of a name around it": lambda made: (
        UPGRADE | {"Origin": f"{made.preview.origin}.evil.example"}
    ),
    "a form of another page": lambda _: {"Origin": "http://evil.example", "X": "form"},
    "no page at all": lambda _: {"Origin": "null"},
    "a picture of another page": lambda _: {
        "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image",
    },
    "a script of another page": lambda _: {
        "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script",
    },
    "a page of another port of this machine": lambda _: {
        "Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors", "Origin": "http://localhost:3000",
    },
    "a name that leads here": lambda made: {"Host": f"evil.example:{made.gateway.port}"},
    "a name with ours in front": lambda made: {"Host": f"{made.preview.host}.evil.example"},
    "a name with a dot behind": lambda made: {
        "Host": made.preview.host.replace(":", ".:"), "Cookie": "",
    },
    "another port in the name": lambda made: {"Host": f"{made.preview.host.split(':')[0]}:80"},
    "somebody in the name": lambda made: {"Host": f"user@{made.preview.host}"},
    "a name of the person's": lambda made: {"Host": f"[::1]:{made.gateway.port}"},
    "a name behind a proxy": lambda made: {
        "Host": f"evil.example:{made.gateway.port}", "X-Forwarded-Host": made.preview.host,
    },
    "no key": lambda _: {"Cookie": ""},
    "a key in other letters": lambda made: {"Cookie": made.cookie.upper()},
    "a part of the key": lambda made: {"Cookie": made.cookie[:-1]},
    "more than the key": lambda made: {"Cookie": f"{made.cookie}x"},
    "a key in a header": lambda made: {"Cookie": "", "Authorization": made.cookie},
    "an empty key": lambda made: {"Cookie": f"{made.cookie.split('=')[0]}="},
}  # fmt: skip


@pytest.mark.parametrize("name", STRANGERS)
def test_a_stranger_does_not_come_in(made: Previewed, name: str) -> None:
    before = len(made.program.heads)
    status, _, body = made.get("/", **STRANGERS[name](made))
    assert status in (400, 403, 410)
    assert body != b"ok"
    assert len(made.program.heads) == before
    assert made.get()[0] == 200  # who has the key does all the same


def test_of_many_who_use_one_link_at_once_one_comes_in(made: Previewed) -> None:
    link = made.preview.link("tab")
    statuses: list[int] = []
    crowd = [
        threading.Thread(target=lambda: statuses.append(made.enter(link)[0])) for _ in range(12)
    ]
    for one in crowd:
        one.start()
    for one in crowd:
        one.join()
    assert sorted(statuses) == [303, *[403] * 11]


@pytest.mark.parametrize("change", [str.upper, lambda link: link[:-1], lambda link: f"{link}x"])
def test_a_link_that_is_almost_right_lets_nobody_in(
    made: Previewed, change: Callable[[str], str]
) -> None:
    origin = made.preview.origin
    link = made.preview.link("tab")
    status, headers = made.enter(origin + change(link.removeprefix(origin)))
    assert status != 303
    assert "Set-Cookie" not in headers


@pytest.mark.parametrize(
    "way",
    [
        "//evil.example",
        "/\\evil.example",
        "/\t/evil.example",
        "http://evil.example",
        "javascript:x",
    ],
)
def test_a_link_leads_nowhere_else(made: Previewed, way: str) -> None:
    location = made.enter(made.preview.link("tab", way))[1]["Location"]
    assert location == "/" or (location.startswith("/") and location[1:2] not in ("/", "\\", "\t"))


HEADERS = {
    "another's cookie": b"Set-Cookie: a=1; Domain=127.0.0.1; Path=/",
    "our cookie with a space": b"Set-Cookie:  onefold_tab =x",
    "another protocol": b"Alt-Svc: h2=\":443\"; ma=99999",
    "a promise of https": b"Strict-Transport-Security: max-age=99999; includeSubDomains",
    "a way to report": b"Report-To: {\"group\":\"x\",\"endpoints\":[{\"url\":\"http://evil/\"}]}",
    "a proxy's password": b"Proxy-Authenticate: Basic realm=\"Onefold\"",
}  # fmt: skip


@pytest.mark.parametrize("name", HEADERS)
def test_a_program_says_nothing_for_others(name: str) -> None:
    header = HEADERS[name]
    said = b"HTTP/1.1 200 OK\r\n" + header + b"\r\nContent-Length: 2\r\n\r\nok"
    with previewed(lambda connection: connection.sendall(said)) as made:
        answer = read_all(
            made.raw(b"GET / HTTP/1.1\r\nHOST\r\nCOOKIE\r\nConnection: close\r\n\r\n")
        )
        head = answer.partition(b"\r\n\r\n")[0].lower()
        key, _, value = header.lower().partition(b":")
        kept = [line for line in head.split(b"\r\n") if line.startswith(key + b":")]
        assert b"domain=" not in b"".join(kept)
        assert not any(b"onefold" in line or value.strip() in line for line in kept)


def test_a_socket_of_its_own_page_opens() -> None:
    """Or else no socket above could have come in."""
    with previewed(lambda connection: connection.sendall(SWITCHED)) as made:
        own = UPGRADE | {"Origin": made.preview.origin}
        lines = "".join(f"{name}: {value}\r\n" for name, value in own.items()).encode()
        with made.raw(b"GET / HTTP/1.1\r\nHOST\r\nCOOKIE\r\n" + lines + b"\r\n") as browser:
            assert browser.recv(1000).startswith(b"HTTP/1.1 101 ")
