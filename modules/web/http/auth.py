"""Authentication: a link that works once, a cookie and a key of this run, a token for programs.

A browser sends the cookie to every port of this host, so whatever serves there can have it. The key
is what it cannot have: a login hands it to the page behind the "#" of an address, which no browser
sends, and the page keeps it where only its own origin, port included, can read.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs

from utils.system.atomic_write import write_atomically

MAX_TRIES_PER_MINUTE = 20
"""Wrong links that are answered as such; more of them are told to wait."""
LINK_SECONDS = 600.0
"""How long a link is good that was asked for later; the first one is good until it is used."""

KEY_HEADER = "X-Onefold-Key"
"""Header with the key; where a browser lets a page set no header, `key` in the query."""
SOCKETIO_PATH = "/socket.io"
"""Path under which the key may be in the query."""

Credential = Literal["cookie", "cookie and key", "token"]


class Authenticator:
    """Authenticates requests to the server on *port*. Nothing of it outlives the process.

    *clock* tells seconds that only go up.
    """

    def __init__(self, port: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        # Cookies belong to a host, whatever the port: another Onefold must not share ours.
        self.cookie = f"onefold_{port}"
        self.token = secrets.token_urlsafe(32)
        self.key = secrets.token_urlsafe(32)
        self._clock = clock
        self._links: dict[str, float] = {}
        self._cookies: set[str] = set()
        self._attempts: deque[float] = deque(maxlen=MAX_TRIES_PER_MINUTE)
        self._lock = threading.Lock()

    def new_link(self, seconds: float = float("inf")) -> str:
        """Return the path of a login that works once, within *seconds*."""
        token = secrets.token_urlsafe(32)
        with self._lock:
            self._links[token] = self._clock() + seconds
        return f"/login?token={token}"

    def allow_attempt(self) -> bool:
        """Count a wrong link; return False when there were too many within a minute."""
        now = self._clock()
        with self._lock:
            if len(self._attempts) == MAX_TRIES_PER_MINUTE and now - self._attempts[0] < 60:
                return False
            self._attempts.append(now)
            return True

    def log_in(self, token: str) -> str | None:
        """Return the value of a new cookie for the *token* of a link, which is spent by that."""
        with self._lock:
            link = next(
                (link_token for link_token in self._links if _is_equal(link_token, token)), None
            )
            if link is None or self._links.pop(link) < self._clock():
                return None
            cookie = secrets.token_urlsafe(32)
            self._cookies.add(cookie)
            return cookie

    def credential(self, environ: Mapping[str, Any]) -> Credential | None:
        """Return by what the request of *environ* may come in; None if it may not."""
        kind, _, token = str(environ.get("HTTP_AUTHORIZATION", "")).partition(" ")
        if kind.lower() == "bearer":
            return "token" if _is_equal(self.token, token.strip()) else None
        value = _cookie(str(environ.get("HTTP_COOKIE", "")), self.cookie)
        with self._lock:
            if not any(_is_equal(known_cookie, value) for known_cookie in self._cookies):
                return None
        return "cookie and key" if _is_equal(self.key, _key(environ) or "") else "cookie"


def has_key(environ: Mapping[str, Any]) -> bool:
    """Return whether the request of *environ* has a key, be it the right one or not."""
    return _key(environ) is not None


def _key(environ: Mapping[str, Any]) -> str | None:
    key: str | None = environ.get(f"HTTP_{KEY_HEADER.upper().replace('-', '_')}")
    if key is None and str(environ.get("PATH_INFO", "")).startswith(SOCKETIO_PATH):
        key = parse_qs(str(environ.get("QUERY_STRING", ""))).get("key", [None])[0]
    return key


def _is_equal(expected: str, presented: str) -> bool:
    return hmac.compare_digest(expected.encode(), presented.encode("utf-8", "surrogateescape"))


def _cookie(header: str, name: str) -> str:
    try:
        morsel = SimpleCookie(header).get(name)
    except CookieError:
        return ""
    return morsel.value if morsel else ""


def server_file(data: Path, port: int) -> Path:
    """Return the file that tells programs of this person how to reach the server on *port*."""
    return data / f"server-{port}.json"


@contextmanager
def published_server_file(file: Path, url: str, token: str, project: Path) -> Iterator[None]:
    """Keep *file* while the server runs; only the person can read it.

    Where it cannot be written the server is not found by `--attach`, but works.
    """
    info = {"url": url, "token": token, "pid": os.getpid(), "project": str(project)}
    with suppress(OSError):
        write_atomically(file, json.dumps(info).encode(), mode=0o600)
    try:
        yield
    finally:
        if _is_own_file(file, token):
            file.unlink(missing_ok=True)


def _is_own_file(file: Path, token: str) -> bool:
    try:
        return bool(json.loads(file.read_bytes())["token"] == token)
    except (OSError, ValueError, KeyError):
        return False
