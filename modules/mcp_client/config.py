"""Configuration of MCP servers: the person's own file and the project's, in the common format."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from core.tools import Risk
from modules.mcp_client.config_names import OWN_FILE
from utils.i18n import Phrase, phrase
from utils.text.clean import visible, visible_text
from utils.text.strict_json import read_json

MAX_BYTES = 256_000
_MAX_SERVERS = 50
_MAX_NAME = 24  # characters of a server's name in those of its tools
_SECONDS, _MAX_SECONDS = 120, 3_600
_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_INVALID_IN_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_UNDERSCORES = re.compile(r"__+")
_PROJECT_NAME = re.compile(r"[A-Za-z0-9_.@/-]{1,64}")
"""A name that cannot be a sentence: it stands in what the model and the person read as ours."""
_OWN_KEYS = ("risk", "sandbox", "network")
"""What only the person's own file may say: it would make the project's server more than asked."""


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """One server: a program that is started, or the address of one that runs.

    *problem* says why it cannot be used. *risks* are what the person says of its tools, by name, ""
    standing for all others; *hosts* what its program may reach beside packages. A call of a tool
    takes *seconds* at most. The *digest* is another when anything in the file is. One that *is
    given* stands in no file: a client gave it to the session.
    """

    name: str
    is_own: bool
    digest: str = ""
    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    risks: Mapping[str, Risk] = field(default_factory=dict)
    is_sandboxed: bool = True
    has_network: bool = False
    hosts: tuple[str, ...] = ()
    seconds: int = _SECONDS
    is_on: bool = True
    problem: Phrase | None = None
    is_given: bool = False

    @property
    def prefix(self) -> str:
        """What the names of its tools begin with: no other server's can begin with the same."""
        name = _UNDERSCORES.sub("_", _INVALID_IN_NAME.sub("_", self.name))
        return f"{name[:_MAX_NAME].strip('_') or 'server'}__"

    @property
    def has_token(self) -> bool:
        """Whether its own headers say who the person is."""
        return any(name.lower() == "authorization" for name in self.headers)

    @property
    def place(self) -> str:
        """Program or address, for people, with nothing secret in it."""
        return visible(" ".join(self.command) or _without_query(self.url))


class ConfigError(Exception):
    """A file or a server that says what it cannot mean."""

    def __init__(self, message: Phrase) -> None:
        super().__init__(str(message))
        self.message = message


def parse_config(
    data: bytes, variables: Mapping[str, str] | None, *, is_own: bool
) -> list[ServerConfig]:
    """Return the servers that the file *data* names, each with its own problem.

    *variables* fill in `${NAME}`; None where the file may not have any. Raises `ConfigError` where
    it is no such file at all.
    """
    servers = _tables(data)
    if len(servers) > _MAX_SERVERS:
        raise ConfigError(phrase("it names more than {n} servers", n=_MAX_SERVERS))
    return [_server(str(name), _Table(table, variables), is_own) for name, table in servers.items()]


def given_config(name: str, table: Mapping[str, Any]) -> ServerConfig:
    """Return the server that a client of the person's gives a session: it counts as their own.

    Each value is meant as it stands: the client has filled in its variables.
    """
    config = _server(name, _Table(table, None, is_literal=True), is_own=True)
    return replace(config, is_given=True)


def shown_config(data: bytes) -> str:
    """Return the servers that *data* names for a person to judge: as they are understood, with
    nothing hidden by space, by a second entry of one name or by another coding of the text.

    Raises `ConfigError` as `parse_config` does.
    """
    return visible_text(json.dumps(_tables(data), ensure_ascii=False, indent=1))


def _tables(data: bytes) -> dict[str, Any]:
    try:
        values = read_json(data) if data.strip() else {}
    except ValueError as error:
        raise ConfigError(phrase("it is not valid JSON: {why}", why=str(error))) from None
    servers = values.get("mcpServers", {}) if isinstance(values, dict) else None
    if not isinstance(servers, dict):
        raise ConfigError(phrase('it has no "mcpServers" object'))
    return servers


def _server(name: str, table: _Table, is_own: bool) -> ServerConfig:
    written = json.dumps([name, table.values, is_own], sort_keys=True, ensure_ascii=False)
    digest = hashlib.sha256(written.encode("utf-8", "replace")).hexdigest()
    try:
        if not isinstance(table.values, dict):
            raise ConfigError(phrase("a server is an object with “command” or “url”"))
        return _parsed(name, table, digest, is_own)
    except ConfigError as error:
        return ServerConfig(name, is_own, digest, problem=error.message)


def _parsed(name: str, table: _Table, digest: str, is_own: bool) -> ServerConfig:
    own_keys = [key for key in _OWN_KEYS if key in table.values]
    if own_keys and not is_own:
        raise ConfigError(
            phrase("“{key}” only works in your own {file}", key=own_keys[0], file=OWN_FILE)
        )
    if not is_own and not _PROJECT_NAME.fullmatch(name):
        raise ConfigError(
            phrase("the name of a server of a project is up to 64 letters, digits and _ . @ / -")
        )
    command, url = table.text("command"), table.text("url")
    if bool(command) == bool(url):
        raise ConfigError(phrase("a server needs either “command” or “url”"))
    if table.text("type") == "sse":
        raise ConfigError(
            phrase("MCP no longer has the “sse” transport; use the server's “http” address")
        )
    if url:
        _check_address(url)
    is_sandboxed = table.flag("sandbox", default=True)
    hosts = table.hosts()
    return ServerConfig(
        name,
        is_own,
        digest,
        (command, *table.texts("args")) if command else (),
        table.mapping("env"),
        url,
        table.mapping("headers"),
        table.risks(),
        is_sandboxed,
        bool(url) or not is_sandboxed or bool(hosts) or _fetches_itself(command),
        hosts,
        table.seconds(),
        not table.flag("disabled") and table.flag("enabled", default=True),
    )


def _fetches_itself(command: str) -> bool:
    """Return whether *command* fetches the server's packages before it is that server."""
    return command.rpartition("/")[2] in ("npx", "uvx", "bunx", "pnpm", "yarn", "npm", "uv", "pipx")


@dataclass(frozen=True, slots=True)
class _Table:
    """What the file says of one server, with the variables filled in unless it *is literal*."""

    values: Mapping[str, Any]
    variables: Mapping[str, str] | None
    is_literal: bool = False

    def text(self, key: str) -> str:
        return self._text(key, self.values.get(key, ""))

    def texts(self, key: str) -> tuple[str, ...]:
        values = self.values.get(key, [])
        if not isinstance(values, list):
            raise ConfigError(phrase("“{key}” must be a list of texts", key=key))
        return tuple(self._text(key, value) for value in values)

    def mapping(self, key: str) -> dict[str, str]:
        values = self.values.get(key) or {}
        if not isinstance(values, dict):
            raise ConfigError(phrase("“{key}” must be an object of texts", key=key))
        for name in values:
            if not re.fullmatch(r"[A-Za-z_][\w-]*", name):
                raise ConfigError(
                    phrase("“{name}” in “{key}” is not a valid name", name=name, key=key)
                )
        return {name: self._text(key, value) for name, value in values.items()}

    def flag(self, key: str, *, default: bool = False) -> bool:
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            raise ConfigError(phrase("“{key}” must be true or false", key=key))
        return value

    def seconds(self) -> int:
        value = self.values.get("timeout", _SECONDS)
        is_number = isinstance(value, int) and not isinstance(value, bool)
        if not (is_number and 1 <= value <= _MAX_SECONDS):
            raise ConfigError(
                phrase("“timeout” must be a number of seconds up to {n:,}", n=_MAX_SECONDS)
            )
        return int(value)

    def hosts(self) -> tuple[str, ...]:
        hosts = self.texts("network")
        for host in hosts:
            if not re.fullmatch(r"[\w-]+(\.[\w-]+)*", host):
                raise ConfigError(
                    phrase("“{host}” in “network” is not a valid host name", host=host)
                )
        return hosts

    def risks(self) -> dict[str, Risk]:
        value = self.values.get("risk", {})
        risks = {"": value} if isinstance(value, str) else value
        if not isinstance(risks, dict):
            raise ConfigError(phrase("“risk” must be a risk, or an object of tools and risks"))
        try:
            return {tool: Risk(risk) for tool, risk in risks.items()}
        except ValueError:
            allowed = ", ".join(Risk)
            raise ConfigError(phrase("“risk” must be one of {allowed}", allowed=allowed)) from None

    def _text(self, key: str, value: object) -> str:
        if not isinstance(value, str) or "\0" in value:
            raise ConfigError(phrase("“{key}” contains something that is not text", key=key))
        return value if self.is_literal else "".join(self._parts(value))

    def _parts(self, text: str) -> Iterator[str]:
        end = 0
        for found in _VARIABLE.finditer(text):
            yield text[end : found.start()]
            end = found.end()
            if self.variables is None:
                raise ConfigError(
                    phrase(
                        "{variable} only works in your own {file}; copy the server there",
                        variable=visible(found[0]),
                        file=OWN_FILE,
                    )
                )
            if found[1] not in self.variables and found[2] is None:
                raise ConfigError(phrase("the variable {name} is not set", name=found[1]))
            yield self.variables.get(found[1], found[2] or "")
        yield text[end:]


def _check_address(url: str) -> None:
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and not url.split()[1:]
    except ValueError:
        is_good = False
    if not is_good:
        raise ConfigError(phrase("“url” must be an address that starts with http:// or https://"))


def _without_query(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}" if url else ""
