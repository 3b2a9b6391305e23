"""Who may see a preview: whoever came by a link that works once, and bears its cookie since.

The link of a pane gives another cookie than that of a tab. A pane is a frame on a page of another
site, where browsers keep only cookies that are kept apart for it (`Partitioned`); so what kind it
is also tells how the cookies of the previewed program must be worded.
"""

from __future__ import annotations

import hmac
import secrets
import threading
from typing import Literal

Kind = Literal["pane", "tab"]
COOKIES: dict[str, Kind] = {"onefold_pane": "pane", "onefold_tab": "tab"}
"""Names of our cookies; nothing inside the sandbox gets them, or can set them by an answer."""
IN_FRAME = "; Secure; SameSite=None; Partitioned"
"""Attributes with which a browser keeps a cookie for a frame on another site's page."""
_TICKET_BYTES = 16
_MAX_KNOWN = 64
"""Links, and cookies, that are known at once; the oldest are forgotten."""
_ATTRIBUTES: dict[Kind, str] = {"pane": IN_FRAME, "tab": "; SameSite=Lax"}


class Access:
    """The links and cookies of one preview. Threads may share it."""

    def __init__(self) -> None:
        self._tickets: dict[str, Kind] = {}
        self._cookies: dict[str, Kind] = {}
        self._lock = threading.Lock()

    def new_ticket(self, kind: Kind) -> str:
        """Return what lets one in, once."""
        ticket = secrets.token_urlsafe(_TICKET_BYTES)
        with self._lock:
            _keep(self._tickets, ticket, kind)
        return ticket

    def redeem(self, ticket: str) -> str | None:
        """Return the value of a `Set-Cookie` header for *ticket*, which is spent by that."""
        with self._lock:
            known = next((one for one in self._tickets if _is_equal(one, ticket)), None)
            if known is None:
                return None
            kind = self._tickets.pop(known)
            value = secrets.token_urlsafe(_TICKET_BYTES)
            _keep(self._cookies, value, kind)
        name = next(name for name, of in COOKIES.items() if of == kind)
        return f"{name}={value}; Path=/; HttpOnly{_ATTRIBUTES[kind]}"

    def kind(self, cookies: str) -> Kind | None:
        """Return by which kind of link the bearer of *cookies* came, None for a stranger."""
        for name, value in _pairs(cookies):
            if name in COOKIES and self._is_known(value, COOKIES[name]):
                return COOKIES[name]
        return None

    def _is_known(self, value: str, kind: Kind) -> bool:
        with self._lock:
            return any(_is_equal(one, value) for one, of in self._cookies.items() if of == kind)


def _keep(known: dict[str, Kind], secret: str, kind: Kind) -> None:
    known[secret] = kind
    if len(known) > _MAX_KNOWN:
        del known[next(iter(known))]


def without_ours(cookies: str) -> str:
    """Return the header *cookies* without those that are ours."""
    foreign = (part for part in cookies.split(";") if _pair(part)[0] not in COOKIES)
    return ";".join(foreign).strip()


def _pairs(cookies: str) -> list[tuple[str, str]]:
    return [_pair(part) for part in cookies.split(";")]


def _pair(part: str) -> tuple[str, str]:
    name, _, value = part.partition("=")
    return name.strip(), value.strip()


def _is_equal(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode("utf-8", "surrogateescape"))
