"""Addresses that a server may name for its sign-in: none that it could not reach itself."""

from __future__ import annotations

import asyncio
import socket
from ipaddress import ip_address
from typing import Literal
from urllib.parse import urlsplit

from modules.mcp_client.failures import ServerFailed
from utils.i18n import phrase
from utils.text.clean import visible

Place = Literal["public", "private", "loopback"]
_MAX_SHOWN = 200


class SignInAddresses:
    """Says which addresses the server at *url* may name.

    They begin with https, and lead to the private network or to this machine only where the server
    itself is there; http is for this machine alone.
    """

    def __init__(self, url: str) -> None:
        self._host = urlsplit(url).hostname or ""
        self._own: Place | None = None

    async def check(self, url: str) -> None:
        """Raise `ServerFailed` where *url* is none of them."""
        try:
            parts = urlsplit(url)
            host = parts.hostname or ""
            is_plain = url.isascii() and url.isprintable() and parts.username is None
        except ValueError:
            host, is_plain = "", False
        if not host or not is_plain or parts.scheme not in ("https", "http"):
            raise _refused(url)
        place = await _place(host)
        if self._own is None:
            self._own = await _place(self._host)
        if place == "loopback":
            is_allowed = self._own == "loopback"
        else:
            is_allowed = parts.scheme == "https" and (place == "public" or self._own != "public")
        if not is_allowed:
            raise _refused(url)


async def _place(host: str) -> Place:
    """Return where *host* is: of several addresses, the nearest counts."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:  # maybe a proxy knows it; without one, nothing can be sent there
        return "public"
    addresses = [ip_address(str(one[4][0]).partition("%")[0]) for one in found]
    mapped = [getattr(one, "ipv4_mapped", None) or one for one in addresses]
    if any(one.is_loopback or one.is_unspecified for one in mapped):
        return "loopback"
    return "public" if all(one.is_global for one in mapped) else "private"


def _refused(url: str) -> ServerFailed:
    shown = visible(url)[:_MAX_SHOWN]
    return ServerFailed(
        phrase(
            "it names {url} for the sign-in; that has to begin with https:// and may be in a "
            "private network only where the server is",
            url=shown,
        )
    )
