"""Headers on their way through a preview.

The program inside is asked as `localhost` and its port, which is what development servers expect;
the browser knows it by a name of ours. Nothing of ours goes in. What comes out may be framed by our
page, whatever the program says, and its page reaches what the program may reach and no more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from modules.preview.access import COOKIES, IN_FRAME, Kind, without_ours
from modules.preview.http_head import Headers, RequestHead, words_of

_HOP_BY_HOP = {
    "connection",
    "content-length",
    "expect",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
}
_NOT_PASSED_ON = _HOP_BY_HOP | {
    "alt-svc",
    "content-security-policy-report-only",
    "nel",
    "report-to",
    "reporting-endpoints",
    "strict-transport-security",
    "x-dns-prefetch-control",
    "x-frame-options",
}
_TO_THIS_MACHINE = re.compile(
    r"(?:http:)?//(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])(?::(\d{1,5}))?(?=[/?#]|$)",
    re.IGNORECASE,
)
_HTTP_PORT = 80
_REFRESH = re.compile(r"\s*[\d.]+\s*[;,]\s*(?:url\s*=\s*)?[\"']?", re.IGNORECASE)
"""What comes before the address in such a header."""
_DROPPED_DIRECTIVES = ("frame-ancestors", "report-to", "report-uri", "upgrade-insecure-requests")
_ANYTHING_OF_ITS_OWN = "'self' 'unsafe-inline' 'unsafe-eval' data: blob:"


def policy(host: str, allowed_hosts: Sequence[str], page_origins: Iterable[str]) -> str:
    """Return the content security policy of a page that is previewed as *host*.

    It reaches *allowed_hosts* and itself; only *page_origins*, and itself, may show it in a frame.
    """
    others = (f"https://{'*' if one.startswith('.') else ''}{one}" for one in allowed_hosts)
    sources = " ".join([_ANYTHING_OF_ITS_OWN, f"ws://{host}", *others])
    ancestors = " ".join(["'self'", *page_origins])
    return (
        f"default-src {sources}; form-action 'self'; base-uri 'self'; frame-ancestors {ancestors}"
    )


def request_headers(request: RequestHead, host: str, port: int) -> Headers:
    """Return the headers with which the program is asked, but for those of the connection."""
    dropped = _HOP_BY_HOP | set(words_of(request.headers, "connection")) | {"host", "cookie"}
    inner = f"localhost:{port}"
    headers = [("Host", inner)]
    for name, value in request.headers:
        if name.lower() in ("origin", "referer"):
            headers.append((name, _moved(value, host, inner)))
        elif name.lower() == "cookie" and (foreign := without_ours(value)):
            headers.append((name, foreign))
        elif name.lower() not in dropped:
            headers.append((name, value))
    return headers


def response_headers(
    headers: Headers, host: str, port: int, kind: Kind, security_policy: str
) -> Headers:
    """Return *headers* of the program as the browser gets them, but for those of the connection."""
    dropped = _NOT_PASSED_ON | set(words_of(headers, "connection"))
    passed = []
    for name, value in headers:
        match name.lower():
            case "set-cookie":
                passed += [(name, cookie) for cookie in _set_cookie(value, kind)]
            case "content-security-policy":
                passed += [(name, directives) for directives in _directives(value)]
            case "location":
                passed.append((name, _moved_to(value, host, port)))
            case "refresh" if match := _REFRESH.match(value):
                target = _moved_to(value[match.end() :], host, port)
                passed.append((name, f"{match[0]}{target}"))
            case other if other not in dropped:
                passed.append((name, value))
    return [
        *passed,
        ("Content-Security-Policy", security_policy),
        ("X-DNS-Prefetch-Control", "off"),
    ]


def _moved(address: str, host: str, other: str) -> str:
    """Return *address* with the host *other* where it has *host*."""
    prefix = f"http://{host}"
    is_there = address == prefix or address.startswith(f"{prefix}/")
    return f"http://{other}{address[len(prefix) :]}" if is_there else address


def _moved_to(address: str, host: str, port: int) -> str:
    """Return *address*, at *host* where it leads to the program itself, by whatever name."""
    match = _TO_THIS_MACHINE.match(address)
    if match is None or int(match[1] or _HTTP_PORT) != port:
        return address
    return f"http://{host}{address[match.end() :]}"


def _set_cookie(value: str, kind: Kind) -> list[str]:
    """Return the header that sets the cookie of *value* for this host only, none if it is ours."""
    pair, *attributes = value.split(";")
    if pair.partition("=")[0].strip() in COOKIES:
        return []
    dropped = {"domain"} | ({"samesite", "secure", "partitioned"} if kind == "pane" else set())
    kept = [one for one in attributes if one.partition("=")[0].strip().lower() not in dropped]
    return [";".join([pair, *kept]) + (IN_FRAME if kind == "pane" else "")]


def _directives(value: str) -> list[str]:
    kept = [
        directive.strip()
        for directive in value.split(";")
        if directive.split() and directive.split()[0].lower() not in _DROPPED_DIRECTIVES
    ]
    return ["; ".join(kept)] if kept else []
