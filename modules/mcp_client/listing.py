"""Listing of a server: what it offers, as it said last, kept for later sessions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from utils.i18n import UserError
from utils.system.shared_file import SharedFile
from utils.text.strict_json import read_json

_FORMAT = 1
MAX_TOOLS = 500
"""Tools of one server that are looked at; of prompts and resources as many."""


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool in the server's own words; *schema* is what it says of its arguments."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class OfferedPrompt:
    """A prompt in the server's own words; *arguments* are their names, *required* those needed."""

    name: str
    description: str
    arguments: tuple[str, ...] = ()
    required: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """All that a server offers."""

    tools: tuple[OfferedTool, ...] = ()
    prompts: tuple[OfferedPrompt, ...] = ()
    has_resources: bool = False


class ListingCache:
    """The listings in *folder*, a file for each configuration by its digest."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, digest: str) -> Listing | None:
        """Return what the server of that configuration said last, None where nothing is known."""
        try:
            return _parsed(read_json(self._file(digest).read() or b"null"))
        except (UserError, ValueError, TypeError, KeyError):
            return None

    def put(self, digest: str, listing: Listing) -> None:
        """Keep *listing*; where that cannot be, the server is asked again the next time."""
        data = json.dumps({"format": _FORMAT, **asdict(listing)}, ensure_ascii=False)
        try:
            self._file(digest).change(lambda _: data.encode("utf-8", "replace"))
        except UserError:
            return

    def _file(self, digest: str) -> SharedFile:
        return SharedFile(self._folder / f"{digest[:32]}.json")


def _parsed(values: Any) -> Listing | None:
    if not isinstance(values, dict) or values.get("format") != _FORMAT:
        return None
    return Listing(
        tuple(
            OfferedTool(str(one["name"]), str(one["description"]), dict(one["schema"]))
            for one in values["tools"]
        ),
        tuple(
            OfferedPrompt(
                str(one["name"]),
                str(one["description"]),
                tuple(map(str, one["arguments"])),
                tuple(map(str, one["required"])),
            )
            for one in values["prompts"]
        ),
        bool(values["has_resources"]),
    )
