"""Registries of cargo, go and uv: TOML files, variables, and the netrc of the person."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from modules.sandbox.network.own_config import (
    PLACEHOLDER,
    OwnConfig,
    Registries,
    basic,
    merged,
    origin_at,
)
from modules.sandbox.types import Origin

_GO_NAMES = ("GOPRIVATE", "GONOPROXY", "GONOSUMDB", "GOSUMDB", "GOINSECURE")
_SPARSE = "sparse+"


def cargo_registries(own: OwnConfig) -> Registries:
    """Return cargo's registries with their tokens, and the sources that replace others."""
    home = own.variables.get("CARGO_HOME") or ".cargo"
    config = own.read_toml(f"{home}/config.toml", f"{home}/config")
    tokens = _table(own.read_toml(f"{home}/credentials.toml", f"{home}/credentials"), "registries")
    lines: list[str] = []
    origins: list[Origin] = []
    variables: dict[str, str] = {}
    for name, registry in _cargo_registries(own, _table(config, "registries")):
        variable = f"CARGO_REGISTRIES_{name.upper().replace('-', '_')}"
        token = own.variables.get(f"{variable}_TOKEN") or _text(tokens.get(name), "token")
        if found := _cargo_index(_text(registry, "index"), token):
            origins.append(found[0])
            lines += [f"[registries.{json.dumps(name)}]", f"index = {json.dumps(found[1])}"]
            if token:
                variables[f"{variable}_TOKEN"] = PLACEHOLDER
                variables["CARGO_REGISTRY_GLOBAL_CREDENTIAL_PROVIDERS"] = "cargo:token"
    for name, source in _table(config, "source").items():
        lines.append(f"[source.{json.dumps(name)}]")
        if replacement := _text(source, "replace-with"):
            lines.append(f"replace-with = {json.dumps(replacement)}")
        if found := _cargo_index(_text(source, "registry"), ""):
            origins.append(found[0])
            lines.append(f"registry = {json.dumps(found[1])}")
    if default := _text(_table(config, "registry"), "default"):
        lines += ["[registry]", f"default = {json.dumps(default)}"]
    files = {".cargo/config.toml": "\n".join(lines) + "\n"} if lines else {}
    return Registries(tuple(origins), variables, files)


def _cargo_registries(
    own: OwnConfig, registries: Mapping[str, Any]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the registries by name; those of the environment too."""
    yield from registries.items()
    for variable, index in own.variables.items():
        if match := re.fullmatch(r"CARGO_REGISTRIES_([A-Z0-9_]+)_INDEX", variable):
            name = match[1].lower()
            if name not in registries:
                yield name, {"index": index}


def _cargo_index(address: str, token: str) -> tuple[Origin, str] | None:
    """Return the origin of an index, and the index as cargo has to write it inside.

    The crates lie beside a folder `index`; an index that is a git repository cannot be read here.
    """
    plain = address.removeprefix(_SPARSE)
    if plain == address and not token:
        return origin_at(address)
    folder = re.sub(r"(/index)?/*$", "", re.sub(r"^[a-z]+://[^/]*", "", plain))
    found = origin_at(plain, token, folder=folder)
    prefix = _SPARSE if address.startswith(_SPARSE) else ""
    return (found[0], f"{prefix}{found[1]}") if found else None


def go_registries(own: OwnConfig) -> Registries:
    """Return the proxies of go's modules; logins are those of netrc, or in the address."""
    stored = dict(
        line.split("=", 1) for line in own.read(own.xdg("go/env")).splitlines() if "=" in line
    )
    settings = {**stored, **own.variables}
    variables = {name: settings[name] for name in _GO_NAMES if settings.get(name)}
    origins: list[Origin] = []
    chosen = settings.get("GOPROXY", "")

    def inside(match: re.Match[str]) -> str:
        found = _with_login(own, match[0])
        if found is None:
            return match[0]
        origins.append(found[0])
        return found[1]

    if chosen:
        variables["GOPROXY"] = re.sub(r"https?://[^,|]+", inside, chosen)
    return Registries(tuple(origins), variables)


def uv_registries(own: OwnConfig) -> Registries:
    """Return the indexes of uv; those of pip are none of its."""
    config = own.read_toml(own.variables.get("UV_CONFIG_FILE") or own.xdg("uv/uv.toml"))
    default = own.variables.get("UV_DEFAULT_INDEX") or own.variables.get("UV_INDEX_URL", "")
    others = own.variables.get("UV_INDEX", "").split()
    others += own.variables.get("UV_EXTRA_INDEX_URL", "").split()
    for index in _indexes_of(config):
        if index.get("default"):
            default = default or _text(index, "url")
        else:
            others.append("=".join(filter(None, (_text(index, "name"), _text(index, "url")))))
    parts = []
    if default and (found := _uv_index(own, default)):
        parts.append(Registries((found[0],), {"UV_DEFAULT_INDEX": found[1]}))
    found_others = [found for one in others if (found := _uv_index(own, one))]
    if found_others:
        addresses = " ".join(address for _, address in found_others)
        origins = tuple(origin for origin, _ in found_others)
        parts.append(Registries(origins, {"UV_INDEX": addresses}))
    return merged(parts)


def _indexes_of(config: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    indexes = config.get("index")
    yield from (
        (one for one in indexes if isinstance(one, dict)) if isinstance(indexes, list) else ()
    )
    for table in (config, _table(config, "pip")):
        if address := _text(table, "index-url"):
            yield {"url": address, "default": True}
        extra = table.get("extra-index-url")
        for address in extra if isinstance(extra, list) else ():
            yield {"url": str(address)}


def _uv_index(own: OwnConfig, text: str) -> tuple[Origin, str] | None:
    """Return the origin of an index that may have a name, and the same as uv writes it inside."""
    name, _, address = text.rpartition("=") if re.match(r"[\w.-]+=", text) else ("", "", text)
    variable = f"UV_INDEX_{re.sub(r'[^A-Z0-9]', '_', name.upper())}"
    login = basic(
        own.variables.get(f"{variable}_USERNAME"), own.variables.get(f"{variable}_PASSWORD")
    )
    folder = re.sub(r"^[a-z]+://[^/]*|/\+?simple/*$|/*$", "", address)
    found = _with_login(own, address, login if name else "", folder=folder)
    return (found[0], f"{name}={found[1]}" if name else found[1]) if found else None


def _with_login(
    own: OwnConfig, address: str, login: str = "", *, folder: str | None = None
) -> tuple[Origin, str] | None:
    """Return the origin at *address*, with the login of netrc where there is no other."""
    found = origin_at(address, login, folder=folder)
    if found and not found[0].authorization and (login := own.login_of(found[0].host)):
        return origin_at(address, login, folder=folder)
    return found


def _table(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = config.get(name)
    return found if isinstance(found, dict) else {}


def _text(table: object, name: str) -> str:
    found = table.get(name) if isinstance(table, dict) else None
    return found if isinstance(found, str) else ""
