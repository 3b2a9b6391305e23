"""Who may come in: a link that works once, a cookie of this run, and a token for programs."""

from __future__ import annotations

import hmac
import json
import os
import secrets
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any, Literal

from utils.files import write_atomically

TRIES_A_MINUTE = 20
LINK_SECONDS = 600.0
"""How long a link is good that was asked for later; the first one is good until it is used."""

Proof = Literal["cookie", "token"]


class Access:
    """Knows who may use the server on *port*. Nothing of it outlives the process."""

    def __init__(self, port: int) -> None:
        # Cookies belong to a host, whatever the port: another Onefold must not share ours.
        self.cookie = f"onefold_{port}"
        self.token = secrets.token_urlsafe(32)
        self._links: dict[str, float] = {}
        self._cookies: set[str] = set()
        self._tries: deque[float] = deque(maxlen=TRIES_A_MINUTE)
        self._lock = threading.Lock()

    def new_link(self, seconds: float = float("inf")) -> str:
        """Return the path of a login that works once, within *seconds*."""
        token = secrets.token_urlsafe(32)
        with self._lock:
            self._links[token] = time.monotonic() + seconds
        return f"/login?token={token}"

    def may_try(self) -> bool:
        """Count a try to log in; return False when there were too many within a minute."""
        now = time.monotonic()
        with self._lock:
            if len(self._tries) == TRIES_A_MINUTE and now - self._tries[0] < 60:
                return False
            self._tries.append(now)
            return True

    def log_in(self, token: str) -> str | None:
        """Return the value of a new cookie for the *token* of a link, which is spent by that."""
        with self._lock:
            found = next((known for known in self._links if _same(known, token)), None)
            if found is None or self._links.pop(found) < time.monotonic():
                return None
            cookie = secrets.token_urlsafe(32)
            self._cookies.add(cookie)
            return cookie

    def proof(self, environ: Mapping[str, Any]) -> Proof | None:
        """Return by what the request of *environ* may come in; None if it may not."""
        kind, _, token = str(environ.get("HTTP_AUTHORIZATION", "")).partition(" ")
        if kind.lower() == "bearer":
            return "token" if _same(self.token, token.strip()) else None
        value = _cookie(str(environ.get("HTTP_COOKIE", "")), self.cookie)
        with self._lock:
            return "cookie" if any(_same(known, value) for known in self._cookies) else None


def _same(known: str, given: str) -> bool:
    return hmac.compare_digest(known.encode(), given.encode("utf-8", "surrogateescape"))


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
def announced(file: Path, url: str, token: str, project: Path) -> Iterator[None]:
    """Keep *file* while the server runs; only the person can read it.

    Where it cannot be written the server is not found by `--attach`, but works.
    """
    about = {"url": url, "token": token, "pid": os.getpid(), "project": str(project)}
    with suppress(OSError):
        write_atomically(file, json.dumps(about).encode(), mode=0o600)
    try:
        yield
    finally:
        if _is_ours(file, token):
            file.unlink(missing_ok=True)


def _is_ours(file: Path, token: str) -> bool:
    try:
        return bool(json.loads(file.read_bytes())["token"] == token)
    except (OSError, ValueError, KeyError):
        return False
