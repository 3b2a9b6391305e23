"""Authentication: a link that works once, a cookie and a key of this run, a token for programs.

Where others on the network reach the server, who comes over it is a device with a cookie and a key
of its own, which outlive the run until the person takes them back.

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
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs

from modules.web.pairing.devices import DEVICE_DAYS, Device, PairedDevices, is_key_of
from utils.i18n import UserError
from utils.system.atomic_write import write_atomically

MAX_TRIES_PER_MINUTE = 20
"""Wrong links that are answered as such; more of them are told to wait."""
LINK_SECONDS = 600.0
"""How long a link is good that was asked for later; the first one is good until it is used."""
PAIRING_SECONDS = 300.0
"""How long a ticket is good that pairs a device."""

KEY_HEADER = "X-Onefold-Key"
"""Header with the key; where a browser lets a page set no header, `key` in the query."""
SOCKETIO_PATH = "/socket.io"
"""Path under which the key may be in the query."""

Credential = Literal["cookie", "cookie and key", "token"]


@dataclass(frozen=True, kw_only=True)
class Login:
    """What a browser is handed when it comes in; *seconds* that the cookie is kept, None for as
    long as the browser runs."""

    cookie: str
    key: str
    seconds: int | None = None
    device: Device | None = None


@dataclass(frozen=True)
class _Ticket:
    ends: float
    pairs: bool


class Authenticator:
    """Authenticates requests to the server on *port*. Nothing of it outlives the process, but for
    the *devices* that come over the network; without them none does.

    *clock* tells seconds that only go up.
    """

    def __init__(
        self,
        port: int,
        *,
        devices: PairedDevices | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        # Cookies belong to a host, whatever the port: another Onefold must not share ours.
        self.cookie = f"onefold_{port}"
        self.token = secrets.token_urlsafe(32)
        self.key = secrets.token_urlsafe(32)
        self._clock = clock
        self._devices = devices
        self._links: dict[str, _Ticket] = {}
        self._cookies: set[str] = set()
        self._attempts: deque[float] = deque(maxlen=MAX_TRIES_PER_MINUTE)
        self._lock = threading.Lock()

    def new_link(self, seconds: float = float("inf")) -> str:
        """Return the path of a login that works once, within *seconds*."""
        return self._link(secrets.token_urlsafe(32), seconds, pairs=False)

    def new_ticket(self) -> str:
        """Return the path of a login that pairs one device, once, within `PAIRING_SECONDS`."""
        token = secrets.token_urlsafe(16)  # a code of it has to fit a small terminal
        return self._link(token, PAIRING_SECONDS, pairs=True)

    def _link(self, token: str, seconds: float, *, pairs: bool) -> str:
        with self._lock:
            self._links[token] = _Ticket(self._clock() + seconds, pairs)
        return f"/login?token={token}"

    def allow_attempt(self) -> bool:
        """Count a wrong link; return False when there were too many within a minute."""
        now = self._clock()
        with self._lock:
            if len(self._attempts) == MAX_TRIES_PER_MINUTE and now - self._attempts[0] < 60:
                return False
            self._attempts.append(now)
            return True

    def log_in(self, token: str, agent: str = "") -> Login | None:
        """Return what the *token* of a link lets in, which is spent by that.

        A device is named after *agent*. Raises `UserError` where it cannot be kept.
        """
        with self._lock:
            link = next(
                (link_token for link_token in self._links if _is_equal(link_token, token)), None
            )
            ticket = self._links.pop(link) if link is not None else None
            if ticket is None or ticket.ends < self._clock():
                return None
            if not ticket.pairs:
                cookie = secrets.token_urlsafe(32)
                self._cookies.add(cookie)
                return Login(cookie=cookie, key=self.key)
        return self._pair(agent)

    def _pair(self, agent: str) -> Login | None:
        if self._devices is None:
            return None
        access = self._devices.add(agent)
        seconds = DEVICE_DAYS * 86_400
        return Login(cookie=access.cookie, key=access.key, seconds=seconds, device=access.device)

    def credential(self, environ: Mapping[str, Any]) -> Credential | None:
        """Return by what the request of *environ* may come in; None if it may not."""
        kind, _, token = str(environ.get("HTTP_AUTHORIZATION", "")).partition(" ")
        if kind.lower() == "bearer":
            return "token" if _is_equal(self.token, token.strip()) else None
        if device := self.device(environ):
            has_its_key = is_key_of(device, _key(environ) or "")
        elif self._is_own_browser(environ):
            has_its_key = _is_equal(self.key, _key(environ) or "")
        else:
            return None
        return "cookie and key" if has_its_key else "cookie"

    def device(self, environ: Mapping[str, Any]) -> Device | None:
        """Return the paired device that the request of *environ* comes from."""
        value = self._presented(environ)
        if not value or self._devices is None:
            return None
        with suppress(UserError):  # a list that cannot be read lets nobody in
            return self._devices.by_cookie(value)
        return None

    def _is_own_browser(self, environ: Mapping[str, Any]) -> bool:
        value = self._presented(environ)
        with self._lock:
            return any(_is_equal(known_cookie, value) for known_cookie in self._cookies)

    def _presented(self, environ: Mapping[str, Any]) -> str:
        return _cookie(str(environ.get("HTTP_COOKIE", "")), self.cookie)


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
