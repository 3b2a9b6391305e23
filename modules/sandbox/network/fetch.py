"""Fetching for a program from servers that it cannot reach itself: by password, or plain http.

The program asks for http://ALIAS/path, ALIAS being the name that an origin has in the sandbox. We
ask the origin, with what lets us in, and hand the answer on. Nothing is ever sent but GET and HEAD,
and a password only for what lies beside the index that it is for.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING
from unicodedata import normalize
from urllib.parse import unquote

from modules.sandbox.network.repeated_logins import bears, secrets_of, without
from modules.sandbox.types import Origin

if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse

_SECONDS = 30.0
_MAX_PAGE_BYTES = 32_000_000  # bytes of an index page
_REQUEST_LINE = re.compile(rb"(GET|HEAD) http://([A-Za-z0-9.:\[\]-]+)(/[!-~]*) HTTP/1\.[01]\r\n")
_HEADER = re.compile(rb"([A-Za-z-]+):[ \t]*([ -~]*)")
_FORWARDED_HEADERS = frozenset(
    {"accept", "user-agent", "range", "if-none-match", "if-modified-since"}
)
_RETURNED_HEADERS = frozenset(
    {
        *("content-type", "content-range", "accept-ranges", "etag", "last-modified", "location"),
        *("cache-control", "x-pypi-last-serial"),
    }
)


class FetchRefused(Exception):
    """Refusal of a request; the text says why, for the program."""


def fetch(head: bytes, origins: Collection[Origin]) -> Iterator[bytes]:
    """Yield the answer to the request *head*. Raises `FetchRefused` before anything else."""
    from http.client import HTTPException

    match = _REQUEST_LINE.match(head)
    if match is None or not head.endswith(b"\r\n\r\n"):
        raise FetchRefused("only CONNECT to a name is served here (https)")
    method, alias, path = (part.decode() for part in match.groups())
    origin = _origin(alias.lower(), path, origins)
    connection = _connection(origin)
    try:
        try:
            headers = _headers(head, origin, path)
            connection.request(method, path, headers=headers)
            upstream = connection.getresponse()
        except (OSError, HTTPException, ValueError) as error:
            raise FetchRefused(f"{origin.host} does not answer ({type(error).__name__})") from None
        yield from _response(upstream, origin, method, secrets_of(headers.get("Authorization", "")))
    finally:
        connection.close()


def _origin(alias: str, path: str, origins: Collection[Origin]) -> Origin:
    """Return the origin at *alias*; of several there, the one whose login is for *path*."""
    known = alias if ":" in alias else f"{alias}:80"
    there = [origin for origin in origins if origin.is_fetched and origin.alias == known]
    if not there:
        raise FetchRefused(f"{alias} is not among the hosts that the person allowed")
    fitting = [one for one in there if one.authorization and is_within(path, one.path)]
    return max(fitting, key=lambda one: len(one.path), default=there[0])


def _connection(origin: Origin) -> HTTPConnection:
    from http.client import HTTPConnection, HTTPSConnection
    from ssl import create_default_context

    if origin.scheme == "http":
        return HTTPConnection(origin.host, origin.port, timeout=_SECONDS)
    try:
        context = create_default_context(cafile=origin.certificates or None)
    except OSError:
        raise FetchRefused("the certificates that pip is configured with cannot be read") from None
    return HTTPSConnection(origin.host, origin.port, timeout=_SECONDS, context=context)


def _headers(head: bytes, origin: Origin, path: str) -> Mapping[str, str]:
    headers = {"Accept-Encoding": "identity", "Connection": "close"}
    for line in head.split(b"\r\n")[1:]:
        match = _HEADER.fullmatch(line)
        if match and match[1].decode().lower() in _FORWARDED_HEADERS:
            headers[match[1].decode()] = match[2].decode()
    if origin.authorization and is_within(path, origin.path):
        headers["Authorization"] = origin.authorization
    return headers


def is_within(path: str, folder: str) -> bool:
    """Return whether *path* is in *folder*, however a server may read it."""
    plain = decoded_path(path)
    read = normalize("NFKC", plain)  # wide dots are dots to some
    if any(sign in read for sign in ("\\", ";", "//", "%")) or {".", ".."} & {*read.split("/")}:
        return False
    if "\ufffd" in plain or not plain.isprintable():  # no UTF-8, or an end to who reads on
        return False
    return plain.startswith(f"{folder}/")


def decoded_path(path: str) -> str:
    """Return *path* without its query, as a server reads it that decodes it twice."""
    return unquote(unquote(path.partition("?")[0]))


def _response(
    upstream: HTTPResponse, origin: Origin, method: str, secrets: Collection[bytes]
) -> Iterator[bytes]:
    """Yield the answer as it goes to the program. Raises `OSError` where it bears a secret."""
    page = b""
    is_page = method == "GET" and re.search(r"html|json", upstream.getheader("Content-Type", ""))
    if is_page:
        whole = upstream.read(_MAX_PAGE_BYTES + 1)
        if upstream.length or len(whole) > _MAX_PAGE_BYTES:
            raise OSError(errno.EPIPE, "the page broke off, or is too large")
        page = _rewrite_addresses(whole, origin)
    lines = [f"HTTP/1.1 {upstream.status} {upstream.reason}", "Connection: close"]
    for name, value in upstream.getheaders():
        if name.lower() in _RETURNED_HEADERS and not bears(value.encode(), secrets):
            lines.append(f"{name}: {_rewrite_addresses(value.encode(), origin).decode()}")
    length = str(len(page)) if is_page else upstream.getheader("Content-Length")
    if length is not None:
        lines.append(f"Content-Length: {length}")
    yield ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")
    rest = iter(lambda: upstream.read(1 << 16), b"")
    yield from without(iter([page]) if is_page else rest, secrets)


def _rewrite_addresses(data: bytes, origin: Origin) -> bytes:
    """Return *data* with the origin's addresses as the program has to write them."""
    port = f":{origin.port}"
    is_usual = origin.port == {"http": 80, "https": 443}[origin.scheme]
    for authority in (f"{origin.host}{port}", *((origin.host,) if is_usual else ())):
        address = re.escape(f"{origin.scheme}://{authority}/".encode())
        data = re.sub(address, f"http://{origin.alias}/".encode(), data)
    return data
