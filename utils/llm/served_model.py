"""The model that a session goes on with: its name, and the server that it was at."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from utils.frozen import frozen
from utils.llm.account import Account
from utils.llm.provider import Provider

_PORTS = {"http": 80, "https": 443}
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_BELOW_BASE = re.compile(
    r"/+(?:chat(?:/completions)?|completions|models|responses|messages)\Z|/+\Z"
)
_TWICE_V1 = re.compile(r"(?:/v1){2,}\Z")
_CONNECT_SECONDS = 0.5


@frozen
class ModelChoice:
    """A model: its *name* at the server of the address *server*, "" for the usual one.

    *provider* is the name of that server's settings, "" for those of the usual one.
    """

    name: str
    server: str = ""
    provider: str = ""

    @classmethod
    def from_state(cls, value: Any) -> ModelChoice:
        """Return the choice that a session kept; older ones kept the name alone."""
        return cls(value) if isinstance(value, str) else cls(**value)

    def to_state(self) -> dict[str, str]:
        """Return what a session keeps."""
        return {"name": self.name, "server": self.server, "provider": self.provider}


def is_same_server(one: str, other: str) -> bool:
    """Return whether two addresses are of one server; names in them and queries aside."""
    return _place(one) == _place(other)


def provider_at(address: str, known: Iterable[Provider]) -> Provider:
    """Return the server at *address*, named by its host.

    It is told the key of that of *known* which is on the same host, and no other.
    """
    name = urlsplit(address).netloc
    for provider in known:
        if _place(provider.base_url)[:3] == _place(address)[:3]:
            return replace(provider, name=name, base_url=address, wants_key=False)
    setting = "[providers] in config.toml"
    account = Account(setting, setting, key_page=address, balance_page=address)
    return Provider(name=name, base_url=address, key="", account=account, wants_key=False)


def is_gone(address: str) -> bool:
    """Return whether *address* is on this very machine, and nothing listens there."""
    _, host, port, _ = _place(address)
    if not is_local(address):
        return False
    try:
        socket.create_connection((host, port or 0), _CONNECT_SECONDS).close()
    except OSError:
        return True
    return False


def is_local(address: str) -> bool:
    """Return whether *address* is on this very machine."""
    return _place(address)[1] in _LOOPBACK


def to_base_url(url: str) -> str:
    """Return *url* as a base, also where somebody gave the whole address of something below it."""
    address, mark, query = url.partition("?")
    address = _BELOW_BASE.sub("", address.rstrip("/"))
    return _TWICE_V1.sub("/v1", address) + mark + query


def without_login(address: str) -> str:
    """Return *address* without the name and the password that may stand in it."""
    parts = urlsplit(address)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _place(address: str) -> tuple[str, str, int | None, str]:
    """Return the scheme, the host, the port and the path of *address*."""
    parts = urlsplit(address)
    path = parts.path.rstrip("/").removesuffix("/chat/completions").removesuffix("/v1")
    return parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme), path
