"""Where pip of the person gets packages from: asked of pip itself, and made usable in the sandbox.

An index that the person's own pip uses is trusted to be what it is: reached by plain http, on
another port or in the local network (where the system's resolver may name a mirror), exactly there.
Passwords stay with us: what needs one is fetched by the proxy.
"""

from __future__ import annotations

import ast
import base64
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from netrc import NetrcParseError, netrc
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

from modules.sandbox.types import CERTIFICATES, Network, Origin
from utils.system.child import TooSlow, ask_program

_SECONDS = 20.0
_OWN_INDEX = (
    "from pip._internal.models.index import PyPI as i; print(i.netloc, i.file_storage_domain)"
)
_PYTHONS = (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3")
_INDEXES = ("index-url", "extra-index-url", "find-links")
_WEAKEST_FIRST = ("global", "install", ":env:")
_HERE = frozenset({"localhost", "127.0.0.1", "::1"})
_HERE_INSIDE = "this-machine"
"""What a program calls our machine: by its own names it means itself."""


def pip_settings(variables: Mapping[str, str]) -> Mapping[str, str]:
    """Return what pip is configured with, by the long name of the option.

    *variables* are those of the person's environment that mean something to pip.
    """
    return _parsed(_asked("-m", "pip", "config", "list", variables=variables))


def default_hosts() -> tuple[str, ...]:
    """Return the hosts that pip goes to when nothing is configured, by its own word."""
    return tuple(_asked("-c", _OWN_INDEX, variables={}).split())


def _asked(*arguments: str, variables: Mapping[str, str]) -> str:
    """Return what the first Python that has pip answers, "" when none has."""
    for python in _PYTHONS:
        try:
            answer = ask_program(
                [python, "-I", *arguments],
                folder=Path("/"),
                environment={"PATH": "/usr/bin:/bin", "HOME": str(Path.home()), **variables},
                seconds=_SECONDS,
            )
        except (OSError, TooSlow):
            continue
        if answer.code == 0:
            return answer.output.decode(errors="replace")
    return ""


def _parsed(text: str) -> dict[str, str]:
    """Return the settings of a list of lines section.name='value'; the strongest section counts."""
    found: dict[str, tuple[int, str]] = {}
    for line in text.splitlines():
        name, _, value = line.partition("=")
        section, _, option = name.rpartition(".")
        if section in _WEAKEST_FIRST and value.startswith(("'", '"')):
            entry = _WEAKEST_FIRST.index(section), str(ast.literal_eval(value))
            found[option] = max(found.get(option, entry), entry, key=lambda one: one[0])
    return {option: value for option, (_, value) in found.items()}


@dataclass(frozen=True, slots=True)
class _Source:
    """One of the places of the settings; *place* is it as pip in the sandbox shall name it."""

    place: str
    host: str = ""
    origin: Origin | None = None
    folder: Path | None = None


def network_of(settings: Mapping[str, str], more_hosts: tuple[str, ...] = ()) -> Network:
    """Return the way to all places of *settings*; to pip's own index when these name none."""
    sources = {
        option: list(_sources(settings.get(option, ""), settings.get("cert", "")))
        for option in _INDEXES
    }
    every = [source for found in sources.values() for source in found]
    hosts = [source.host for source in every if source.host]
    origins = [source.origin for source in every if source.origin]
    if "index-url" not in settings:
        own = default_hosts()
        hosts += own
        origins += [Origin("https", host) for host in own]
    variables = {
        f"PIP_{option.upper().replace('-', '_')}": " ".join(source.place for source in found)
        for option, found in sources.items()
        if found
    }
    plain = [origin.inside for origin in origins if origin.is_fetched]
    if plain:
        variables["PIP_TRUSTED_HOST"] = " ".join(dict.fromkeys(plain))
    folders = [source.folder for source in every if source.folder]
    certificates = _certificates(settings.get("cert", ""))
    if certificates:
        variables["PIP_CERT"] = os.fspath(CERTIFICATES)
    variables["PIP_NO_INPUT"] = "1"
    return Network(
        tuple(dict.fromkeys((*hosts, *more_hosts))),
        variables,
        tuple(dict.fromkeys(origins)),
        tuple(dict.fromkeys(folders)),
        certificates,
    )


def _sources(places: str, cert: str) -> Iterator[_Source]:
    for place in places.split():
        with suppress(ValueError):  # no address at all, a wrong port
            parts = urlsplit(place)
            if parts.scheme in ("http", "https") and parts.hostname:
                yield _remote(parts, cert)
            elif parts.scheme in ("", "file"):
                path = Path(unquote(parts.path)).expanduser()
                if path.is_absolute() and path.exists():
                    yield _Source(place, folder=Path(_without_simple(os.fspath(path))))


def _remote(parts: SplitResult, cert: str) -> _Source:
    host = str(parts.hostname)
    port = parts.port or {"http": 80, "https": 443}[parts.scheme]
    authorization = _authorization(parts)
    is_fetched = parts.scheme == "http" or bool(authorization) or host in _HERE
    if not is_fetched:
        origin = Origin("https", host, port) if port != 443 else Origin("https", host)
        plain = parts._replace(netloc=parts.netloc.rpartition("@")[2])
        return _Source(plain.geturl(), "" if port != 443 else host, origin)
    inside = f"{_HERE_INSIDE if host in _HERE else host}:{port}"
    origin = Origin(
        "https" if parts.scheme == "https" else "http",
        host,
        port,
        inside=inside,
        path=_without_simple(parts.path),
        authorization=authorization,
        certificates=cert,
    )
    return _Source(parts._replace(scheme="http", netloc=inside).geturl(), origin=origin)


def _authorization(parts: SplitResult) -> str:
    """Return the header's value that lets us in, "" if there is none to send."""
    user, password = parts.username, parts.password
    if user is None:
        with suppress(OSError, NetrcParseError, RuntimeError):
            if known := netrc().authenticators(str(parts.hostname)):
                user, _, password = known
    if not user and not password:
        return ""
    pair = f"{unquote(user or '')}:{unquote(password or '')}".encode()
    return f"Basic {base64.b64encode(pair).decode()}"


def _without_simple(path: str) -> str:
    """Return the folder that an index and its files are in: both lie beside `simple`."""
    head, _, last = path.rstrip("/").rpartition("/")
    return head if last in ("simple", "+simple") else path.rstrip("/")


def _certificates(cert: str) -> Path | None:
    path = Path(cert).expanduser() if cert else None
    return path if path and path.is_absolute() and path.is_file() else None
