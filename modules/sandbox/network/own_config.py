"""The person's own configuration of package managers: files of their home, and their variables.

A file that leads into the project is none of theirs: programs of the model write there.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from netrc import NetrcParseError, netrc
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from modules.sandbox.network.package_index import LOOPBACK_ALIAS, LOOPBACK_NAMES
from modules.sandbox.types import Origin
from utils.i18n import Phrase

_PORTS = {"http": 80, "https": 443}
_VARIABLE = re.compile(r"\$\{(?:env\.)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\??\}")
_MAX_BYTES = 1_000_000  # bytes of a file of settings
PLACEHOLDER = "put-in-by-onefold"
"""Stands for a token where a manager sends nothing without one."""


@dataclass(frozen=True, slots=True)
class Registries:
    """Configuration of a manager, with the *variables* and *files* that say so to programs.

    *files* are texts by their names in the home folder. Neither holds what lets the person in.
    *notes* say what of the configuration is not taken over.
    """

    origins: tuple[Origin, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[Phrase, ...] = ()


@dataclass(frozen=True, slots=True)
class OwnConfig:
    """The files below *home*, and *variables*; nothing in *project* counts."""

    home: Path
    project: Path
    variables: Mapping[str, str] = field(repr=False)

    def read(self, *names: str) -> str:
        """Return the first of the files *names* that is there, "" if none is.

        A name begins in the home folder, unless it is an absolute path.
        """
        for path in (self.home / name for name in names):
            with suppress(OSError, RuntimeError):
                real = path.resolve(strict=True)
                is_foreign = real == self.project or self.project in real.parents
                if not is_foreign and real.is_file() and real.stat().st_size <= _MAX_BYTES:
                    return real.read_text("utf-8", "replace")
        return ""

    def read_toml(self, *names: str) -> dict[str, Any]:
        """Return what the first of *names* says, nothing if that is no TOML."""
        import tomllib

        try:
            return tomllib.loads(self.read(*names))
        except tomllib.TOMLDecodeError:
            return {}

    def expanded(self, text: str) -> str:
        """Return *text* with the variables that it names as ${NAME}; "" for one that is not set."""
        return _VARIABLE.sub(lambda found: self.variables.get(found[1], found[2] or ""), text)

    def xdg(self, name: str) -> str:
        """Return the path of *name* in the folder of settings."""
        return f"{self.variables.get('XDG_CONFIG_HOME') or '.config'}/{name}"

    def login_of(self, host: str) -> str:
        """Return the header that lets the person in at *host* by their netrc, "" if none does."""
        name = self.variables.get("NETRC") or ".netrc"
        if not self.read(name):
            return ""
        with suppress(OSError, NetrcParseError, UnicodeDecodeError):
            if found := netrc(str(self.home / name)).authenticators(host):
                return basic(found[0], found[2])
        return ""


def basic(user: str | None, password: str | None) -> str:
    """Return the header of a user and a password, "" for neither."""
    pair = f"{user or ''}:{password or ''}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}" if pair != ":" else ""


def origin_at(
    address: str, authorization: str = "", *, certificates: str = "", folder: str | None = None
) -> tuple[Origin, str] | None:
    """Return the origin at *address*, and the address as a program has to write it.

    What lets the person in is *authorization*, or else in the address; it holds in *folder*, by
    default that of the address. None for what is no address of a server.
    """
    try:
        parts = urlsplit(address)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None
    host = parts.hostname
    if not host or not port or not re.fullmatch(r"[a-z0-9.-]+", host):
        return None
    inside = parts._replace(netloc=parts.netloc.rpartition("@")[2])
    authorization = authorization or basic(
        unquote(parts.username or ""), unquote(parts.password or "")
    )
    path = parts.path.rstrip("/") if folder is None else folder
    if parts.scheme == "https" and host not in LOOPBACK_NAMES:
        origin = Origin(
            "https",
            host,
            port,
            path=path,
            authorization=authorization,
            certificates=certificates,
            is_intercepted=True,
        )
        return origin, inside.geturl()
    alias = f"{LOOPBACK_ALIAS if host in LOOPBACK_NAMES else host}:{port}"
    origin = Origin(
        "https" if parts.scheme == "https" else "http",
        host,
        port,
        alias=alias,
        path=path,
        authorization=authorization,
        certificates=certificates,
    )
    return origin, inside._replace(scheme="http", netloc=alias).geturl()


def merged(parts: Iterable[Registries]) -> Registries:
    """Return all of *parts* as one."""
    origins: list[Origin] = []
    variables: dict[str, str] = {}
    files: dict[str, str] = {}
    notes: list[Phrase] = []
    for part in parts:
        origins += part.origins
        notes += part.notes
        variables |= part.variables
        files |= part.files
    return Registries(tuple(dict.fromkeys(origins)), variables, files, tuple(notes))
