"""Registries of maven, gem, bundler and composer, from the person's own files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from modules.sandbox.network.maven_passwords import decrypt, is_encrypted
from modules.sandbox.network.own_config import OwnConfig, Registries, basic, merged, origin_at
from modules.sandbox.types import PORT, Origin
from utils.i18n import Phrase, phrase
from utils.text.clean import visible

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_FORGES = frozenset({"github.com", "api.github.com", "gitlab.com", "bitbucket.org"})
"""Hosts whose logins open far more than packages."""
_PROXIES = "".join(
    f"<proxy><id>onefold-{scheme}</id><active>true</active><protocol>{scheme}</protocol>"
    f"<host>127.0.0.1</host><port>{PORT}</port>"
    "<nonProxyHosts>localhost|127.0.0.1</nonProxyHosts></proxy>"
    for scheme in ("http", "https")
)
_NAMESPACE = re.compile(r"\sxmlns=\"[^\"]*\"")
_GEM_SOURCE = re.compile(r"^\s*-\s+[\"']?(https?://[^\s\"']+)", re.MULTILINE)
_BUNDLE_LINE = re.compile(r"^(BUNDLE_[^\s]+):\s+[\"']?([^\"'\n]+?)[\"']?\s*$", re.MULTILINE)
_MIRROR = "BUNDLE_MIRROR__"


def maven_registries(own: OwnConfig) -> Registries:
    """Return maven's mirrors and repositories, each with the login of the server of its name.

    Maven learns of our proxy by its settings alone, so these are always there.
    """
    settings = _xml(own.expanded(own.read(".m2/settings.xml")))
    origins: list[Origin] = []
    notes: tuple[Phrase, ...] = ()
    parts = [f"<proxies>{_PROXIES}</proxies>"]
    if settings is not None:
        logins = _maven_logins(own, settings)
        notes = tuple(_locked_notes(name for name, login in logins.items() if login is None))
        mirrors = settings.findall("mirrors/mirror")
        parts.append(_maven_list("mirrors", mirrors, ("id", "mirrorOf"), logins, origins))
        profiles = list(_active_profiles(settings))
        repositories = [
            _maven_list(
                group,
                [one for profile in profiles for one in profile.findall(f"{group}/*")],
                ("id",),
                logins,
                origins,
            )
            for group in ("repositories", "pluginRepositories")
        ]
        profile = f"<profile><id>onefold</id>{''.join(repositories)}</profile>"
        parts.append(f"<profiles>{profile}</profiles>")
        parts.append("<activeProfiles><activeProfile>onefold</activeProfile></activeProfiles>")
    files = {".m2/settings.xml": f"<settings>{''.join(parts)}</settings>\n"}
    return Registries(tuple(origins), {}, files, notes)


def _maven_list(
    group: str,
    elements: list[Element],
    names: tuple[str, ...],
    logins: Mapping[str, str | None],
    origins: list[Origin],
) -> str:
    """Return *elements* as programs may read them, and add their servers to *origins*."""
    kept = []
    for element in elements:
        login = logins.get(_child(element, "id")) or ""
        if found := origin_at(_child(element, "url"), login):
            origins.append(found[0])
            texts = {name: _child(element, name) for name in names} | {"url": found[1]}
            inner = "".join(f"<{name}>{escape(text)}</{name}>" for name, text in texts.items())
            kept.append(f"<{element.tag}>{inner}</{element.tag}>")
    return f"<{group}>{''.join(kept)}</{group}>"


def _xml(text: str) -> Element | None:
    """Return the root of the person's own *text*, None if that is no XML."""
    from xml.etree import ElementTree

    try:
        return ElementTree.fromstring(_NAMESPACE.sub("", text, count=1))  # noqa: S314 - their own
    except ElementTree.ParseError:
        return None


def _maven_logins(own: OwnConfig, settings: Element) -> dict[str, str | None]:
    """Return the login of each server by its name, None for one that cannot be decrypted."""
    logins: dict[str, str | None] = {}
    for server in settings.findall("servers/server"):
        password: str | None = _child(server, "password")
        if password and is_encrypted(password):
            password = decrypt(own, password)
        user = _child(server, "username")
        logins[_child(server, "id")] = None if password is None else basic(user, password)
    return logins


def _locked_notes(servers: Iterable[str]) -> Iterator[Phrase]:
    if names := ", ".join(map(visible, servers)):
        yield phrase(
            "Passwords of maven that settings-security.xml does not open are not taken over: "
            "{names} will ask for a login. A password as ${{env.NAME}} in settings.xml works.",
            names=names,
        )


def _active_profiles(settings: Element) -> Iterator[Element]:
    active = {str(one.text).strip() for one in settings.findall("activeProfiles/activeProfile")}
    for profile in settings.findall("profiles/profile"):
        is_default = profile.findtext("activation/activeByDefault", "").strip() == "true"
        if is_default or _child(profile, "id") in active:
            yield profile


def _child(element: Element, name: str) -> str:
    return element.findtext(name, "").strip()


def ruby_registries(own: OwnConfig) -> Registries:
    """Return the sources of gem and the mirrors of bundler."""
    found_sources = [
        found
        for address in _GEM_SOURCE.findall(own.read(own.variables.get("GEMRC") or ".gemrc"))
        if (found := origin_at(address))
    ]
    lines = "".join(f"- {address}\n" for _, address in found_sources)
    files = {".gemrc": f"---\n:sources:\n{lines}"} if lines else {}
    gem = Registries(tuple(origin for origin, _ in found_sources), {}, files)
    return merged([gem, _bundler(own)])


def _bundler(own: OwnConfig) -> Registries:
    settings = dict(_BUNDLE_LINE.findall(own.read(".bundle/config")))
    settings |= {name: value for name, value in own.variables.items() if name.startswith("BUNDLE_")}
    logins = {
        _bundle_host(name.removeprefix("BUNDLE_")): basic(*_pair(value))
        for name, value in settings.items()
        if "." in _bundle_host(name.removeprefix("BUNDLE_")) and not name.startswith(_MIRROR)
    }
    origins: list[Origin] = []
    lines = []
    for name, value in settings.items():
        if name.startswith(_MIRROR) and (found := origin_at(value)):
            origins.append(found[0])
            lines.append(f'{name}: "{found[1]}"\n')
    for host, login in logins.items():
        if host not in _FORGES and (found := origin_at(f"https://{host}", login)):
            origins.append(found[0])
    return Registries(
        tuple(origins), {}, {".bundle/config": f"---\n{''.join(lines)}"} if lines else {}
    )


def _bundle_host(name: str) -> str:
    """Return the host that bundler writes as *name*: dots as two underscores, dashes as three."""
    return name.replace("___", "-").replace("__", ".").lower()


def _pair(text: str) -> tuple[str, str]:
    user, _, password = text.partition(":")
    return user, password


def composer_registries(own: OwnConfig) -> Registries:
    """Return the repositories of composer; of logins those by password or bearer.

    Those for whole accounts at forges stay out: they open far more than packages.
    """
    home = own.variables.get("COMPOSER_HOME") or ""
    folders = [home] if home else [own.xdg("composer"), ".composer"]
    auth = _json(own.read(*(f"{folder}/auth.json" for folder in folders)))
    auth |= _json(own.variables.get("COMPOSER_AUTH", ""))
    logins = {
        host: basic(str(login.get("username", "")), str(login.get("password", "")))
        for host, login in _mapping(auth.get("http-basic")).items()
        if isinstance(login, dict)
    }
    bearers = _mapping(auth.get("bearer")).items()
    logins |= {host: f"Bearer {token}" for host, token in bearers if isinstance(token, str)}
    origins = [
        found[0]
        for host, login in logins.items()
        if host not in _FORGES and (found := origin_at(f"https://{host}", login))
    ]
    config = _json(own.read(*(f"{folder}/config.json" for folder in folders)))
    kept = []
    for name, repository in _named(config.get("repositories")):
        address = repository.get("url") if isinstance(repository, dict) else None
        if isinstance(address, str) and (found := origin_at(address)):
            origins.append(found[0])
            kept.append({"name": name, "type": repository.get("type"), "url": found[1]})
        elif repository is False:
            kept.append({name: False})
    text = json.dumps({"repositories": kept}, indent=1)
    return Registries(tuple(origins), {}, {".config/composer/config.json": text} if kept else {})


def _named(repositories: object) -> Iterator[tuple[str, Any]]:
    """Yield the repositories of composer by name; a list of them names few."""
    if isinstance(repositories, dict):
        yield from repositories.items()
    for number, one in enumerate(repositories if isinstance(repositories, list) else ()):
        if isinstance(one, dict) and list(one.values()) == [False]:
            yield next(iter(one)), False
        elif isinstance(one, dict):
            yield str(one.get("name", number)), one


def _json(text: str) -> dict[str, Any]:
    try:
        return _mapping(json.loads(text))
    except ValueError:
        return {}


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
