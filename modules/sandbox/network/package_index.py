"""Package indexes of the person's pip: asked of pip itself, and made usable in the sandbox.

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

from modules.sandbox.types import CERTIFICATES_PATH, Network, Origin
from utils.system.child import TimedOut, run_program

_SECONDS = 20.0
_DEFAULT_INDEX_CODE = (
    "from pip._internal.models.index import PyPI as i; print(i.netloc, i.file_storage_domain)"
)
_PYTHONS = (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3")
_INDEXES = ("index-url", "extra-index-url", "find-links")
_WEAKEST_FIRST = ("global", "install", ":env:")
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
LOOPBACK_ALIAS = "this-machine"
"""Name of our machine for a program, which means itself by the usual ones."""


def pip_settings(variables: Mapping[str, str]) -> Mapping[str, str]:
    """Return what pip is configured with, by the long name of the option.

    *variables* are those of the person's environment that mean something to pip.
    """
    return _parse_list(_ask_pip("-m", "pip", "config", "list", variables=variables))


def default_hosts() -> tuple[str, ...]:
    """Return the hosts that pip goes to when nothing is configured, by its own word."""
    return tuple(_ask_pip("-c", _DEFAULT_INDEX_CODE, variables={}).split())


def _ask_pip(*arguments: str, variables: Mapping[str, str]) -> str:
    """Return what the first Python that has pip answers, "" when none has."""
    for python in _PYTHONS:
        try:
            answer = run_program(
                [python, "-I", *arguments],
                folder=Path("/"),
                environment={"PATH": "/usr/bin:/bin", "HOME": str(Path.home()), **variables},
                seconds=_SECONDS,
            )
        except (OSError, TimedOut):
            continue
        if answer.code == 0:
            return answer.output.decode(errors="replace")
    return ""


def _parse_list(text: str) -> dict[str, str]:
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
    """One index of pip's config; *location* is its name for the pip in the sandbox."""

    location: str
    host: str = ""
    origin: Origin | None = None
    folder: Path | None = None


def network_of(settings: Mapping[str, str], extra_hosts: tuple[str, ...] = ()) -> Network:
    """Return the network with all indexes of *settings*; with pip's own when these name none."""
    sources = {
        option: list(_sources(settings.get(option, ""), settings.get("cert", "")))
        for option in _INDEXES
    }
    all_sources = [source for found in sources.values() for source in found]
    hosts = [source.host for source in all_sources if source.host]
    origins = [source.origin for source in all_sources if source.origin]
    if "index-url" not in settings:
        default = default_hosts()
        hosts += default
        origins += [Origin("https", host) for host in default]
    variables = {
        f"PIP_{option.upper().replace('-', '_')}": " ".join(source.location for source in found)
        for option, found in sources.items()
        if found
    }
    aliases = [origin.alias for origin in origins if origin.is_fetched]
    if aliases:
        variables["PIP_TRUSTED_HOST"] = " ".join(dict.fromkeys(aliases))
    folders = [source.folder for source in all_sources if source.folder]
    certificates = _certificates(settings.get("cert", ""))
    if certificates:
        variables["PIP_CERT"] = os.fspath(CERTIFICATES_PATH)
    variables["PIP_NO_INPUT"] = "1"
    return Network(
        tuple(dict.fromkeys((*hosts, *extra_hosts))),
        variables,
        tuple(dict.fromkeys(origins)),
        tuple(dict.fromkeys(folders)),
        certificates,
    )


def _sources(locations: str, cert: str) -> Iterator[_Source]:
    for location in locations.split():
        with suppress(ValueError):  # no address at all, a wrong port
            parts = urlsplit(location)
            if parts.scheme in ("http", "https") and parts.hostname:
                yield _remote_source(parts, cert)
            elif parts.scheme in ("", "file"):
                path = Path(unquote(parts.path)).expanduser()
                if path.is_absolute() and path.exists():
                    yield _Source(location, folder=Path(_without_simple(os.fspath(path))))


def _remote_source(parts: SplitResult, cert: str) -> _Source:
    host = str(parts.hostname)
    port = parts.port or {"http": 80, "https": 443}[parts.scheme]
    authorization = _authorization(parts)
    is_fetched = parts.scheme == "http" or bool(authorization) or host in LOOPBACK_NAMES
    if not is_fetched:
        origin = Origin("https", host, port) if port != 443 else Origin("https", host)
        plain = parts._replace(netloc=parts.netloc.rpartition("@")[2])
        return _Source(plain.geturl(), "" if port != 443 else host, origin)
    alias = f"{LOOPBACK_ALIAS if host in LOOPBACK_NAMES else host}:{port}"
    origin = Origin(
        "https" if parts.scheme == "https" else "http",
        host,
        port,
        alias=alias,
        path=_without_simple(parts.path),
        authorization=authorization,
        certificates=cert,
    )
    return _Source(parts._replace(scheme="http", netloc=alias).geturl(), origin=origin)


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
