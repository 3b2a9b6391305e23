"""Kinds of settings: the parser of a value, and the text about allowed values.

A kind is the metadata of a dataclass field: `parse` returns the value of what a file, the
environment or the command line says, and raises `ValueError` or `TypeError` for what cannot be;
`allowed` says what can; `choices` are all that can, where they are few. A list is one text with
`separator` between its parts, `is_secret` one that nobody may see, `is_table` no text at all.
"""

from __future__ import annotations

import codecs
import os
import re
from pathlib import Path
from typing import Any

from utils.i18n import phrase
from utils.llm.prices import PriceList

Kind = dict[str, Any]


def choice(*allowed: str) -> Kind:
    def parse(value: object) -> str:
        if value not in allowed:
            raise ValueError
        return str(value)

    return {"parse": parse, "allowed": ", ".join(filter(None, allowed)), "choices": allowed}


def number(kind: type[int] | type[float], low: float, high: float) -> Kind:
    def parse(value: object) -> float:
        accepted = str | int if kind is int else str | int | float
        if isinstance(value, bool) or not isinstance(value, accepted):
            raise ValueError
        number = kind(value)
        if not low <= number <= high:
            raise ValueError
        return number

    if kind is int:
        allowed = phrase("a whole number from {low} to {high}", low=low, high=high)
    else:
        allowed = phrase("a number from {low} to {high}", low=low, high=high)
    return {"parse": parse, "allowed": allowed}


def text() -> Kind:
    return {"parse": _stripped, "allowed": phrase("text")}


def key() -> Kind:
    return {**text(), "is_secret": True}


def name() -> Kind:
    def parse(value: object) -> str:
        if not (stripped := _stripped(value)):
            raise ValueError
        return stripped

    return {"parse": parse, "allowed": phrase("a name")}


def encoding() -> Kind:
    """Return the kind of a codec's name, of those in which ASCII stays as it is; "" is none."""

    def parse(value: object) -> str:
        if not (stripped := _stripped(value)):
            return ""
        try:
            found = codecs.lookup(stripped).name
            is_like_ascii = b"aZ9~\n".decode(found) == "aZ9~\n"
        except (LookupError, UnicodeError):
            raise ValueError from None
        if not is_like_ascii:
            raise ValueError
        return found

    example = "windows-1251, koi8-r, gbk"
    return {"parse": parse, "allowed": phrase("an encoding, such as {names}", names=example)}


def _stripped(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError
    return value.strip()


def hosts() -> Kind:
    def parse(value: object) -> tuple[str, ...]:
        names = value.replace(",", " ").split() if isinstance(value, str) else value
        if not isinstance(names, list | tuple) or not all(
            isinstance(name, str) and re.fullmatch(r"\.?[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+", name)
            for name in names
        ):
            raise ValueError
        return tuple(names)

    allowed = phrase("host names such as example.org or .example.org")
    return {"parse": parse, "allowed": allowed, "separator": " "}


def folders() -> Kind:
    """Return the kind of a list of folders; in one text they stand between colons."""

    def parse(value: object) -> tuple[Path, ...]:
        texts = value.split(os.pathsep) if isinstance(value, str) else value
        if not isinstance(texts, list | tuple) or not all(isinstance(one, str) for one in texts):
            raise ValueError
        try:
            paths = [Path(text.strip()).expanduser() for text in texts if text.strip()]
        except RuntimeError:  # "~somebody" whom the system does not know
            raise ValueError from None
        if not all(path.is_absolute() and "\0" not in str(path) for path in paths):
            raise ValueError
        return tuple(Path(os.path.normpath(path)) for path in paths)

    allowed = phrase("folders such as /opt/tools or ~/tools")
    return {"parse": parse, "allowed": allowed, "separator": os.pathsep}


def address(example: str, *, allows_query: bool = False) -> Kind:
    """Return the kind of an address; one that *allows_query* may have a query."""
    query = r"(\?[^\s?#]*)?" if allows_query else ""

    def parse(value: object) -> str:
        pattern = rf"https?://[^\s/?#]+[^\s?#]*{query}"
        if not isinstance(value, str) or not re.fullmatch(pattern, value):
            raise ValueError
        return value.rstrip("/")

    allowed = phrase(
        "an address that starts with http:// or https://, such as {address}", address=example
    )
    return {"parse": parse, "allowed": allowed}


def yes_no() -> Kind:
    words = {
        "1": True,
        "true": True,
        "yes": True,
        "0": False,
        "false": False,
        "no": False,
        "": False,
    }

    def parse(value: object) -> bool:
        if isinstance(value, bool):
            return value
        if str(value).lower() not in words:
            raise ValueError
        return words[str(value).lower()]

    return {"parse": parse, "allowed": phrase("true or false"), "choices": ("true", "false")}


def yes_no_or_neither() -> Kind:
    """Return the kind of "true" and "false", where "" is neither."""
    parse_either = yes_no()["parse"]

    def parse(value: object) -> str:
        return "" if value == "" else str(parse_either(value)).lower()

    return {"parse": parse, "allowed": phrase("true or false"), "choices": ("", "true", "false")}


def commands() -> Kind:
    """Return the kind of a list of shell commands; in one text each has a line of its own."""

    def parse(value: object) -> tuple[str, ...]:
        lines = value.splitlines() if isinstance(value, str) else value
        if not isinstance(lines, list | tuple) or not all(isinstance(one, str) for one in lines):
            raise ValueError
        if any("\0" in line for line in lines):
            raise ValueError
        return tuple(line.strip() for line in lines if line.strip())

    return {"parse": parse, "allowed": phrase("commands, such as pytest -q"), "separator": "\n"}


def shortcuts() -> Kind:
    """Return the kind of a table of keys by action; in one text each has a line of its own."""

    def parse(value: object) -> dict[str, str]:
        from utils.shortcuts import parse_shortcuts  # for who changes some

        return parse_shortcuts(value)

    return {
        "parse": parse,
        "allowed": phrase("lines such as page.palette = Ctrl+P"),
        "separator": "\n",
        "to_toml": _shortcut_tables,
    }


def _shortcut_tables(value: dict[str, str]) -> dict[str, dict[str, str]]:
    from utils.shortcuts import as_tables

    return as_tables(value)


def models() -> Kind:
    def parse(value: object) -> dict[str, dict[str, Any]]:
        from utils.llm.profiles.server_profile import ServerProfile

        if not isinstance(value, dict):
            raise ValueError
        for table in value.values():
            if not isinstance(table, dict):
                raise ValueError
            ServerProfile.parse(table)
        return value

    return {
        "parse": parse,
        "allowed": phrase("tables by model, see docs/settings.md"),
        "is_table": True,
    }


def providers() -> Kind:
    def parse(value: object) -> dict[str, dict[str, str]]:
        if not isinstance(value, dict):
            raise ValueError
        return {name: _provider(name, table) for name, table in value.items()}

    return {
        "parse": parse,
        "allowed": phrase("tables by provider, see docs/settings.md"),
        "is_table": True,
    }


def _provider(name: str, table: object) -> dict[str, str]:
    """Return the checked *table* of the provider *name*. Raises `ValueError`."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9_.-]*", name) or name == "deepseek":
        raise ValueError
    if not isinstance(table, dict) or table.keys() - {"base_url", "api_key", "api"}:
        raise ValueError
    if table.get("api", "anthropic") not in ("anthropic", "chat-completions"):
        raise ValueError
    allows_query = table.get("api") != "anthropic"
    url = address("", allows_query=allows_query)["parse"](table.get("base_url"))
    return {**table, "base_url": url, "api_key": _stripped(table.get("api_key", ""))}


def prices() -> Kind:
    def parse(value: object) -> PriceList:
        if not isinstance(value, dict) or value.keys() - {"models", "peak_factor", "peak_hours"}:
            raise ValueError
        try:
            return PriceList.of(value)
        except LookupError as error:
            raise ValueError from error

    return {"parse": parse, "allowed": phrase("a table, see docs/settings.md"), "is_table": True}
