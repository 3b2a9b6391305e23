"""Security middleware: every request, sockets and static files too, passes here first.

Flask's own hooks never see a Socket.IO request, and Socket.IO's origin check believes the Host
header; so this wraps the whole application from outside.
"""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from http import HTTPStatus
from typing import Any, Literal
from urllib.parse import urlsplit

from werkzeug.wsgi import ClosingIterator

from modules.web.http.auth import SOCKETIO_PATH, Authenticator, has_key
from modules.web.http.errors import STATUS, Code
from modules.web.pairing.connections import DeviceConnections

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]

FRAME_SOURCES = "frame-src 'self'"
CONTENT_SECURITY_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "media-src 'self'",
        "font-src 'self'",
        "connect-src 'self'",
        "worker-src 'self'",
        FRAME_SOURCES,
        "manifest-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
SECURITY_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
LOGIN_PATH = "/login"
LINKABLE_PATHS = ("/", LOGIN_PATH)
"""Paths that a link on a foreign page may lead to; only /login needs no cookie."""
NOT_LOGGED_IN = (
    "Open the link that Onefold printed in its terminal. 请打开 Onefold 在终端里给出的链接。"
)
MISSING_KEY = (
    "This page has lost the proof that it was logged in. Open a new login link in this browser: "
    "press Enter where Onefold runs. 此页面已失去登录凭证。请在运行 Onefold 的终端按回车，"
    "并在此浏览器中打开新的登录链接。"
)
CLOSED_DOOR = (
    b"This door is closed. To come in, show a new code on the computer and scan it.\n"
    + "门关着。请在电脑上显示新的二维码并扫描。\n".encode()
)
"""What a stranger is answered where others on the network reach the server, whatever was asked."""
ONLY_AT_THE_COMPUTER = "Devices are paired and removed at the computer itself."
PAIRING_PATHS = ("/api/login-links", "/api/devices")
"""Paths below which a paired device changes nothing: a stolen one must not let in another."""
DEVICE_HEADER = "HTTP_X_ONEFOLD_DEVICE"
"""Key in the environ of the id of the paired device that asks; no client can set it."""
EVENTS_PATH = "/events"
API_PREFIXES = ("/api/", EVENTS_PATH)
"""Prefixes of paths that are answered in JSON, refusals too."""
Refusal = tuple[Code, str]
SAFE_METHODS = ("GET", "HEAD")
_WEBSOCKET_KEY = re.compile("[A-Za-z0-9+/]{22}==")
CUT = "onefold.cut"
"""Key in the environ of a function that ends the connection at once, from any thread."""
HANG_UP = "onefold.hang_up"
"""Key in the environ of a function that makes a server end the connection after its answer, where
the header is not enough."""
ON_AUTHENTICATED = "onefold.let_in"
"""Key in the environ of a function that tells a server that the connection is authenticated."""
FORWARDED_HEADERS = ("HTTP_FORWARDED", "HTTP_X_FORWARDED_", "HTTP_X_REAL_IP", "HTTP_X_ORIGINAL_")


class AllowedHosts:
    """Host names under which the server may be reached, which defeats DNS rebinding."""

    def __init__(
        self,
        port: int,
        names: Iterable[str],
        *,
        any_address: bool = False,
        scheme: Literal["http", "https"] = "http",
    ) -> None:
        """With *any_address* an IP address is a good name too: no foreign page can choose it."""
        self.scheme = scheme
        self._port = port
        self._default_port = 443 if scheme == "https" else 80
        self._names = {name.lower() for name in names}
        self._any_address = any_address

    def allows(self, host: str) -> bool:
        """Return whether the Host header *host* names this server."""
        try:
            parts = urlsplit(f"//{host}")
            name, port = parts.hostname or "", parts.port
        except ValueError:
            return False
        if (
            parts.netloc != host
            or parts.username is not None
            or (port or self._default_port) != self._port
        ):
            return False
        return name in self._names or (self._any_address and _is_address(name))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class SecurityMiddleware:
    """Passes requests of the person's own page or programs to *application*, and no others.

    Each of *hosts* names the server by a scheme and a port. The page may show what *frame_source*
    names in a frame, besides what is its own. Where it *is_closed*, a stranger gets the same
    answer whatever was asked. What paired devices ask for is among *connections* until it is
    answered to the end.
    """

    def __init__(
        self,
        application: Application,
        authenticator: Authenticator,
        hosts: Sequence[AllowedHosts],
        *,
        frame_source: str = "",
        is_closed: bool = False,
        connections: DeviceConnections | None = None,
    ) -> None:
        policy = CONTENT_SECURITY_POLICY.replace(
            FRAME_SOURCES, f"{FRAME_SOURCES} {frame_source}".rstrip()
        )
        self._headers = SECURITY_HEADERS | {"Content-Security-Policy": policy}
        self._application = application
        self._authenticator = authenticator
        self._hosts = hosts
        self._is_closed = is_closed
        self._connections = connections or DeviceConnections()

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        start_response = _with_hang_up(environ, start_response)
        environ.pop(DEVICE_HEADER, None)
        device = self._authenticator.device(environ)
        if device is None:
            return self._answer(environ, start_response)
        environ[DEVICE_HEADER] = device.id
        release = self._connections.add(device.id, environ[CUT])
        try:
            # It looks the device up once more: it may have been removed before it was added here.
            return ClosingIterator(self._answer(environ, start_response), release)
        except BaseException:
            release()
            raise

    def _answer(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        if refusal := self._refusal(environ):
            if self._is_closed and self._authenticator.credential(environ) is None:
                return _closed_door(start_response)
            return _refuse(environ, start_response, *refusal)
        is_login = environ.get("PATH_INFO") == LOGIN_PATH
        if ON_AUTHENTICATED in environ and not is_login:
            environ[ON_AUTHENTICATED]()
        for name in [name for name in environ if name.startswith(FORWARDED_HEADERS)]:
            del environ[name]
        start = _with_headers(start_response, self._headers_of(environ))
        if is_login and self._is_closed:
            return _login_or_door(self._application, environ, start)
        return self._application(environ, start)

    def _headers_of(self, environ: Mapping[str, Any]) -> Mapping[str, str]:
        """Return the headers of an answer. A login does not keep the connection alive."""
        is_login = environ.get("PATH_INFO") == LOGIN_PATH
        return self._headers | {"Connection": "close"} if is_login else self._headers

    def _refusal(self, environ: Environ) -> Refusal | None:
        """Return the code and the reason if the request must not pass; else note its scheme."""
        if bad_websocket := _bad_websocket(environ):
            return bad_websocket
        host, origin = environ.get("HTTP_HOST", ""), environ.get("HTTP_ORIGIN")
        scheme = next((known.scheme for known in self._hosts if known.allows(host)), None)
        if scheme is None:
            return "misdirected", "This server is not called that."
        environ["wsgi.url_scheme"] = scheme
        if origin is not None and origin.lower() != f"{scheme}://{host.lower()}":
            return "forbidden", "Pages of another origin may not use this server."
        if _is_cross_site(environ):
            return "forbidden", "Pages of another site may not use this server."
        if environ.get("PATH_INFO") == LOGIN_PATH:
            return None
        return self._credential_refusal(environ)

    def _credential_refusal(self, environ: Mapping[str, Any]) -> Refusal | None:
        """Return a refusal where the credential is too little for the request."""
        credential = self._authenticator.credential(environ)
        if credential is None:
            return "unauthorized", NOT_LOGGED_IN
        if credential == "token":
            return None
        if "HTTP_ORIGIN" not in environ and _is_state_changing(environ):
            return "forbidden", "A request that changes something must say its Origin."
        if credential == "cookie" and (_needs_key(environ) or has_key(environ)):
            return "no_key", MISSING_KEY
        if DEVICE_HEADER in environ and _is_pairing(environ):
            return "forbidden", ONLY_AT_THE_COMPUTER
        return None


def _bad_websocket(environ: Mapping[str, Any]) -> Refusal | None:
    """Return a refusal of a WebSocket that the libraries behind us would fail at."""
    is_websocket = environ.get("HTTP_UPGRADE", "").lower() == "websocket"
    if is_websocket and (
        environ.get("HTTP_SEC_WEBSOCKET_VERSION") != "13"
        or not _WEBSOCKET_KEY.fullmatch(environ.get("HTTP_SEC_WEBSOCKET_KEY", ""))
    ):
        return "bad_request", "This is no WebSocket of version 13."
    return None


def _is_cross_site(environ: Mapping[str, Any]) -> bool:
    """Return whether another site made the browser ask; following a link to us is allowed."""
    if environ.get("HTTP_SEC_FETCH_SITE", "none") in ("none", "same-origin"):
        return False
    is_link = environ.get("HTTP_SEC_FETCH_MODE") == "navigate"
    is_linkable = (
        environ["REQUEST_METHOD"] in SAFE_METHODS and environ.get("PATH_INFO") in LINKABLE_PATHS
    )
    return not (is_link and is_linkable)


def _is_state_changing(environ: Mapping[str, Any]) -> bool:
    """Return whether a browser would send an Origin; it does for a WebSocket, too."""
    is_websocket = environ.get("HTTP_UPGRADE", "").lower() == "websocket"
    return is_websocket or environ["REQUEST_METHOD"] not in SAFE_METHODS


def _is_pairing(environ: Mapping[str, Any]) -> bool:
    """Return whether it would change which devices come in."""
    path = str(environ.get("PATH_INFO", ""))
    return environ["REQUEST_METHOD"] not in SAFE_METHODS and path.startswith(PAIRING_PATHS)


def _needs_key(environ: Mapping[str, Any]) -> bool:
    """Return whether the cookie is too little: it goes to every port, and only allows reading."""
    return _is_state_changing(environ) or str(environ.get("PATH_INFO", "")).startswith(
        SOCKETIO_PATH
    )


def wants_html(environ: Mapping[str, Any]) -> bool:
    """Return whether a browser will show the answer as a page."""
    return "text/html" in environ.get("HTTP_ACCEPT", "")


def message_page(reason: str) -> str:
    """Return a page that needs nothing else of the server."""
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<title>Onefold</title>\n'
        f"<main><h1>Onefold</h1><p>{escape(reason)}</p></main>\n</html>\n"
    )


def is_api_request(environ: Mapping[str, Any]) -> bool:
    """Return whether the request is answered in JSON."""
    return str(environ.get("PATH_INFO", "")).startswith(API_PREFIXES)


def _refuse(
    environ: Mapping[str, Any], start_response: StartResponse, code: Code, reason: str
) -> Iterable[bytes]:
    if wants_html(environ):
        content_type, text = "text/html; charset=utf-8", message_page(reason)
    elif is_api_request(environ):
        content_type, text = "application/json", json.dumps({"code": code, "error": reason})
    else:
        content_type, text = "text/plain; charset=utf-8", f"{reason}\n"
    body = text.encode()
    start_response(
        f"{STATUS[code]} {HTTPStatus(STATUS[code]).phrase}",
        [
            ("Content-Type", content_type),
            ("Content-Length", str(len(body))),
            ("Connection", "close"),
            *SECURITY_HEADERS.items(),
        ],
    )
    return [body]


def _closed_door(start_response: StartResponse) -> Iterable[bytes]:
    start_response(
        "401 Unauthorized",
        [
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Length", str(len(CLOSED_DOOR))),
            ("Connection", "close"),
            *SECURITY_HEADERS.items(),
        ],
    )
    return [CLOSED_DOOR]


def _login_or_door(
    application: Application, environ: Environ, start_response: StartResponse
) -> Iterable[bytes]:
    """Return the answer of a login that succeeds; any other is that of the closed door."""
    started: list[tuple[Any, ...]] = []
    body = application(environ, lambda *arguments: started.append(arguments))
    if environ["REQUEST_METHOD"] == "GET" and started[0][0].startswith("303"):
        start_response(*started[0])
        return body
    if close := getattr(body, "close", None):
        close()
    return _closed_door(start_response)


def _with_hang_up(environ: Environ, start_response: StartResponse) -> StartResponse:
    """Return *start_response* that makes the server really close where the answer says so."""

    def start(status: str, headers: list[tuple[str, str]], *exc_info: Any) -> Any:
        if HANG_UP in environ and ("Connection", "close") in headers:
            environ[HANG_UP]()
        return start_response(status, headers, *exc_info)

    return start


def _with_headers(start_response: StartResponse, more_headers: Mapping[str, str]) -> StartResponse:
    """Return *start_response* with our headers where the application has not set its own."""

    def start(status: str, headers: list[tuple[str, str]], *exc_info: Any) -> Any:
        all_headers = [(n, v) for n, v in headers if not n.lower().startswith("access-control-")]
        names = {name.lower() for name, _ in all_headers}
        all_headers += [
            (name, value) for name, value in more_headers.items() if name.lower() not in names
        ]
        return start_response(status, all_headers, *exc_info)

    return start
