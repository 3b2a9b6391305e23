"""The gate: every request, sockets and static files included, passes here before all else.

Flask's own hooks never see a Socket.IO request, and Socket.IO's origin check believes the Host
header; so this wraps the whole application from outside.
"""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Callable, Iterable, Mapping
from html import escape
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from modules.web.http.auth import SOCKETS, Authenticator, bears_key
from modules.web.http.errors import STATUS, Code

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "media-src 'self'",
        "font-src 'self'",
        "connect-src 'self'",
        "worker-src 'self'",
        "frame-src 'self'",
        "manifest-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
LOGIN = "/login"
OPEN = ("/", LOGIN)
"""What a link on a foreign page may lead to; and /login is what needs no cookie."""
LOCKED = "Open the link that Onefold printed in its terminal. 请打开 Onefold 在终端里给出的链接。"
KEYLESS = (
    "This page has lost the proof that it was logged in. Open a new login link in this browser: "
    "press Enter where Onefold runs. 此页面已失去登录凭证。请在运行 Onefold 的终端按回车，"
    "并在此浏览器中打开新的登录链接。"
)
PROGRAMS = ("/api/", "/events")
"""What is answered in JSON, refusals too."""
Refusal = tuple[Code, str]
HARMLESS = ("GET", "HEAD")
_SOCKET_KEY = re.compile("[A-Za-z0-9+/]{22}==")
HANG_UP = "onefold.hang_up"
"""In the environment: what to call so that a server ends the connection after its answer, where
the header is not enough."""
LET_IN = "onefold.let_in"
"""In the environment: what to call so that a server knows that the connection is the person's."""
FORWARDED = ("HTTP_FORWARDED", "HTTP_X_FORWARDED_", "HTTP_X_REAL_IP", "HTTP_X_ORIGINAL_")


class Hosts:
    """The names under which the server may be asked for, which defeats DNS rebinding."""

    def __init__(self, port: int, names: Iterable[str], *, any_address: bool = False) -> None:
        """With *any_address* an IP address is a good name too: no foreign page can choose it."""
        self._port = port
        self._names = {name.lower() for name in names}
        self._any_address = any_address

    def knows(self, host: str) -> bool:
        """Return whether the Host header *host* names this server."""
        try:
            parts = urlsplit(f"//{host}")
            name, port = parts.hostname or "", parts.port
        except ValueError:
            return False
        if parts.netloc != host or parts.username is not None or (port or 80) != self._port:
            return False
        return name in self._names or (self._any_address and _is_address(name))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class SecurityMiddleware:
    """Lets through to *application* what comes from the person's own page or programs."""

    def __init__(self, application: Application, access: Authenticator, hosts: Hosts) -> None:
        self._application = application
        self._access = access
        self._hosts = hosts

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        start_response = _hanging_up(environ, start_response)
        if refusal := self._refusal(environ):
            return _refuse(environ, start_response, *refusal)
        if LET_IN in environ and environ.get("PATH_INFO") != LOGIN:
            environ[LET_IN]()
        for name in [name for name in environ if name.startswith(FORWARDED)]:
            del environ[name]
        return self._application(environ, _with_headers(start_response, _headers(environ)))

    def _refusal(self, environ: Mapping[str, Any]) -> Refusal | None:
        """Return the code and the reason if the request must not pass."""
        if broken := _broken_socket(environ):
            return broken
        host, origin = environ.get("HTTP_HOST", ""), environ.get("HTTP_ORIGIN")
        if not self._hosts.knows(host):
            return "misdirected", "This server is not called that."
        if origin is not None and origin.lower() != f"http://{host.lower()}":
            return "forbidden", "Pages of another origin may not use this server."
        if _is_foreign(environ):
            return "forbidden", "Pages of another site may not use this server."
        if environ.get("PATH_INFO") == LOGIN:
            return None
        return self._unproven(environ)

    def _unproven(self, environ: Mapping[str, Any]) -> Refusal | None:
        """Return a refusal of who has not shown all the proof that the request asks for."""
        proof = self._access.proof(environ)
        if proof is None:
            return "unauthorized", LOCKED
        if proof == "token":
            return None
        if "HTTP_ORIGIN" not in environ and _changes(environ):
            return "forbidden", "A request that changes something must say its Origin."
        if proof == "cookie" and (_needs_key(environ) or bears_key(environ)):
            return "no_key", KEYLESS
        return None


def _broken_socket(environ: Mapping[str, Any]) -> Refusal | None:
    """Return a refusal of a WebSocket that the libraries behind us would fail at."""
    is_socket = environ.get("HTTP_UPGRADE", "").lower() == "websocket"
    if is_socket and (
        environ.get("HTTP_SEC_WEBSOCKET_VERSION") != "13"
        or not _SOCKET_KEY.fullmatch(environ.get("HTTP_SEC_WEBSOCKET_KEY", ""))
    ):
        return "bad_request", "This is no WebSocket of version 13."
    return None


def _is_foreign(environ: Mapping[str, Any]) -> bool:
    """Return whether another site made the browser ask; following a link to us is no harm."""
    if environ.get("HTTP_SEC_FETCH_SITE", "none") in ("none", "same-origin"):
        return False
    is_link = environ.get("HTTP_SEC_FETCH_MODE") == "navigate"
    is_harmless = environ["REQUEST_METHOD"] in HARMLESS and environ.get("PATH_INFO") in OPEN
    return not (is_link and is_harmless)


def _changes(environ: Mapping[str, Any]) -> bool:
    """Return whether a browser would send an Origin; it does for a WebSocket, too."""
    is_socket = environ.get("HTTP_UPGRADE", "").lower() == "websocket"
    return is_socket or environ["REQUEST_METHOD"] not in HARMLESS


def _needs_key(environ: Mapping[str, Any]) -> bool:
    """Return whether the cookie is too little: it goes to every port, and lets one only look."""
    return _changes(environ) or str(environ.get("PATH_INFO", "")).startswith(SOCKETS)


def is_for_eyes(environ: Mapping[str, Any]) -> bool:
    """Return whether a browser will show the answer as a page."""
    return "text/html" in environ.get("HTTP_ACCEPT", "")


def page_saying(why: str) -> str:
    """Return a page that needs nothing else of the server."""
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<title>Onefold</title>\n'
        f"<main><h1>Onefold</h1><p>{escape(why)}</p></main>\n</html>\n"
    )


def is_for_programs(environ: Mapping[str, Any]) -> bool:
    """Return whether what is asked for is answered in JSON."""
    return str(environ.get("PATH_INFO", "")).startswith(PROGRAMS)


def _refuse(
    environ: Mapping[str, Any], start_response: StartResponse, code: Code, why: str
) -> Iterable[bytes]:
    if is_for_eyes(environ):
        kind, told = "text/html; charset=utf-8", page_saying(why)
    elif is_for_programs(environ):
        kind, told = "application/json", json.dumps({"code": code, "error": why})
    else:
        kind, told = "text/plain; charset=utf-8", f"{why}\n"
    body = told.encode()
    start_response(
        f"{STATUS[code]} {HTTPStatus(STATUS[code]).phrase}",
        [
            ("Content-Type", kind),
            ("Content-Length", str(len(body))),
            ("Connection", "close"),
            *HEADERS.items(),
        ],
    )
    return [body]


def _hanging_up(environ: Environ, start_response: StartResponse) -> StartResponse:
    """Return *start_response* that makes the server mean it when an answer closes."""

    def start(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
        if HANG_UP in environ and ("Connection", "close") in headers:
            environ[HANG_UP]()
        return start_response(status, headers, *more)

    return start


def _headers(environ: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the headers of an answer. Who has shown no proof keeps no connection by it."""
    return HEADERS | {"Connection": "close"} if environ.get("PATH_INFO") == LOGIN else HEADERS


def _with_headers(start_response: StartResponse, more_headers: Mapping[str, str]) -> StartResponse:
    """Return *start_response* with our headers where the application has not set its own."""

    def start(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
        kept = [(n, v) for n, v in headers if not n.lower().startswith("access-control-")]
        names = {name.lower() for name, _ in kept}
        kept += [(name, value) for name, value in more_headers.items() if name.lower() not in names]
        return start_response(status, kept, *more)

    return start
