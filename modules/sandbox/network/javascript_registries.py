"""Registries of npm, pnpm and yarn: `.npmrc`, `.yarnrc` and `.yarnrc.yml` of the person."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping

from modules.sandbox.network.own_config import OwnConfig, Registries, basic, merged, origin_at
from modules.sandbox.types import Origin

_LINE = re.compile(r"\s*([^;#=\s][^=]*?)(?:\[\])?\s*=\s*(.*?)\s*")
_PREFIX = "npm_config_"
_CREDENTIAL = re.compile(r"//(.+?)/?:(_authToken|_auth|username|_password)")
_YARN_LINE = re.compile(r"""^(registry|npmRegistryServer|npmAuthToken):?\s+["']?([^"'\s]+)""", re.M)


def javascript_registries(own: OwnConfig) -> Registries:
    """Return what npm is configured with, and yarn where it says something of its own."""
    return merged([_npm(own), _yarn(own)])


def _npm(own: OwnConfig) -> Registries:
    settings = _settings(own)
    certificates = settings.get("cafile", "")
    registries = {
        name: address
        for name, address in settings.items()
        if name == "registry" or re.fullmatch(r"@[^:\s]+:registry", name)
    }
    logins = dict(_logins(settings))
    origins: list[Origin] = []
    lines = []
    for name, address in registries.items():
        place = address.partition("//")[2].rstrip("/")
        login = logins.pop(place, "")
        if found := origin_at(address, login, certificates=certificates):
            origins.append(found[0])
            lines.append(f"{name}={found[1]}\n")
    for place, login in logins.items():  # of a registry that only projects name
        if found := origin_at(f"https://{place}", login, certificates=certificates):
            origins.append(found[0])
    return Registries(tuple(origins), {}, {".npmrc": "".join(lines)} if lines else {})


def _settings(own: OwnConfig) -> dict[str, str]:
    """Return npm's settings; the environment is stronger than the file."""
    variables = {
        name[len(_PREFIX) :]: value
        for name, value in own.variables.items()
        if name.lower().startswith(_PREFIX)
    }
    settings: dict[str, str] = {}
    for line in own.read(variables.get("userconfig") or ".npmrc").splitlines():
        if match := _LINE.fullmatch(line):
            settings[match[1].strip("\"'")] = own.expanded(match[2].strip("\"'"))
    for name, value in variables.items():
        settings[name if name.startswith(("@", "//")) else name.lower().replace("_", "-")] = value
    return settings


def _logins(settings: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each place (host and path) and the header that lets the person in there."""
    places: dict[str, dict[str, str]] = {}
    for name, value in settings.items():
        if match := _CREDENTIAL.fullmatch(name):
            places.setdefault(match[1], {})[match[2]] = value
    for place, found in places.items():
        if token := found.get("_authToken"):
            yield place, f"Bearer {token}"
        elif pair := found.get("_auth"):
            yield place, f"Basic {pair}"
        elif user := found.get("username"):
            try:
                password = base64.b64decode(found.get("_password", "")).decode()
            except (binascii.Error, UnicodeDecodeError):
                continue
            yield place, basic(user, password)


def _yarn(own: OwnConfig) -> Registries:
    old = dict(_YARN_LINE.findall(own.read(".yarnrc")))
    new = dict(_YARN_LINE.findall(own.read(".yarnrc.yml")))
    variables = own.variables
    address = variables.get("YARN_NPM_REGISTRY_SERVER") or new.get("npmRegistryServer", "")
    token = own.expanded(variables.get("YARN_NPM_AUTH_TOKEN") or new.get("npmAuthToken", ""))
    parts = []
    if found := origin_at(own.expanded(address), f"Bearer {token}" if token else ""):
        parts.append(Registries((found[0],), {"YARN_NPM_REGISTRY_SERVER": found[1]}))
    if found := origin_at(old.get("registry", "")):
        parts.append(Registries((found[0],), {}, {".yarnrc": f'registry "{found[1]}"\n'}))
    return merged(parts)
