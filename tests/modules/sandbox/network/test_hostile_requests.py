"""Requests by which a program wants more of the proxy, or of a registry, than packages."""

from __future__ import annotations

import pytest

from modules.sandbox.network.proxy import Proxy
from tests.modules.sandbox.network.test_interception import (
    HOST,
    PASSWORD,
    TOKEN,
    Registry,
    raw,
    read,
    registry,
)
from tests.modules.sandbox.test_network import HOSTS, ask, fake, server

__all__ = ["registry", "server"]

PLACES = {
    "the widest port": "index.example.org:65979",  # 443 and a round more
    "a port below nothing": "index.example.org:-443",
    "no port": "index.example.org:",
    "two ports": "index.example.org:443:443",
    "a port in other digits": "index.example.org:\u0664\u0664\u0663",
    "a name of wide letters": "\uff49ndex.example.org:443",
    "wide dots": "127\u30020\u30020\u30021:443",
    "letters that look alike": "ind\u0435x.example.org:443",
    "the same in ASCII": "xn--indx-8ve.example.org:443",
    "octal digits": "0177.0.0.1:443",
    "few parts": "127.1:443",
    "this machine in letters": "localhost.files.example.org.localhost:443",
    "a zone": "[fe80::1%25index.example.org]:443",
    "the address of a cloud": "[fd00:ec2::254]:443",
    "a tab in it": "index.example.org\t:443",
    "a hash in it": "index.example.org#.evil.example:443",
    "a question in it": "evil.example?index.example.org:443",
    "a path in it": "evil.example/index.example.org:443",
    "a password in it": "index.example.org:443@evil.example:443",
    "a line in it": "index.example.org\r\nX: y:443",
}


@pytest.mark.parametrize("name", PLACES)
def test_the_proxy_leads_there_not(server: int, name: str) -> None:
    asked, ends = fake(server)
    with Proxy(HOSTS, **ends) as proxy:  # type: ignore[arg-type]
        answer = ask(proxy, f"CONNECT {PLACES[name]} HTTP/1.1\r\n\r\n")
        assert not answer.startswith(b"HTTP/1.1 200 ")
        assert ask(proxy, "CONNECT index.example.org:443 HTTP/1.1\r\n\r\n").startswith(
            b"HTTP/1.1 200 "
        )
    assert [host for host, _ in asked] == ["93.184.216.34"]


HEADERS = {
    "another host": b"Host: evil.example",
    "a host behind": b"X-Forwarded-Host: evil.example",
    "where it came from": b"Forwarded: for=127.0.0.1;host=evil.example",
    "another path": b"X-Original-URL: /npm/-/whoami",
    "another path of another": b"X-Rewrite-URL: /npm/-/whoami",
    "another method": b"X-HTTP-Method-Override: DELETE",
    "a key of its own": b"Authorization: Bearer stolen",
    "a key for the proxy": b"Proxy-Authorization: Basic eDp5",
    "what the next one drops": b"Connection: Authorization",
    "a cookie": b"Cookie: session=x",
    "a referrer": b"Referer: http://127.0.0.1/secret",
    "an origin": b"Origin: http://evil.example",
    "trailers": b"TE: trailers",
    "a wait": b"Expect: 100-continue",
    "a part": b"Range: bytes=0-0",
}


@pytest.mark.parametrize("name", HEADERS)
def test_no_header_of_a_program_goes_along_that_means_something(
    registry: Registry, name: str
) -> None:
    answer = raw(registry, b"GET /npm/a HTTP/1.1\r\n" + HEADERS[name] + b"\r\n\r\nend\r\n\r\n")
    assert TOKEN.encode() not in answer
    key, _, value = HEADERS[name].decode().partition(": ")
    for _, path, headers in registry.asked:
        assert (path, headers["host"]) == ("/npm/a", HOST)
        assert headers["authorization"] == f"Bearer {TOKEN}"
        assert key in ("Range", "TE") or value not in headers.values()


PATHS = [
    "/npm/a/../../other", "/npm/a/%2e%2e/%2e%2e/other", "/npm/%c0%ae%c0%ae/other", "/npm;/../other",
    "/npm/a%00/other", "/npm/a%0d%0aX:%20y", "/npm/.%2e/other", "/npm/%2E./other",
    "/npm/a%5c..%5c..%5cother", "/npm/\uff0e\uff0e/other", "/npm/a/..%3b/..%3b/other",
    "/npm/%ef%bc%8e%ef%bc%8e/other", "/npm/a%7f",
    "/npm/-/v1/login", "/npm/-/user/org.couchdb.user:x", "/npm/-/npm/v1/user",
]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_no_path_but_that_of_packages_lets_anybody_in(registry: Registry, path: str) -> None:
    request = f"GET {path} HTTP/1.1\r\n\r\nend\r\n\r\n".encode()
    answer = raw(registry, request)
    assert registry.authorizations() in ([], [None])
    assert TOKEN.encode() not in answer
    assert PASSWORD.encode() not in answer


def test_the_ordinary_path_does(registry: Registry) -> None:
    """Or else none of the above could fail."""
    assert read(registry, "/npm/a")[0] == 200
    assert registry.authorizations() == [f"Bearer {TOKEN}"]
