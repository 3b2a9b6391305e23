"""The pictures that an exported page bears in itself: it asks nobody for any."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import unquote

from modules.web.files.content import FileContents
from modules.web.files.file_names import media_type
from modules.web.http.errors import ApiError
from utils.pictures import PictureGone, ReadPicture

LARGEST = 1_000_000
"""Bytes of a picture that is embedded."""
ALL = 8_000_000
"""Bytes of all of them."""
_MOST = 500  # addresses that are looked at
_SHOWN = re.compile(
    r"!\[[^\]]*\]\(\s*(?:<([^<>\n]+)>|([^\s()<>]+(?:\([^\s()<>]*\)[^\s()<>]*)*))"
    r"|^ {0,3}\[[^\]\n]+\]:\s*<?([^\s<>]+)",
    re.MULTILINE,
)


def embedded(events: Iterable[dict[str, Any]], files: FileContents) -> dict[str, str]:
    """Return what the replies in *events* show of *files*: `data:` addresses by path.

    What is no picture, cannot be read, is too large or one too many is left out. May block.
    """
    said = "".join(event["text"] for event in events if event["type"] == "TextDelta")
    found: dict[str, str] = {}
    room = ALL
    for path in list(dict.fromkeys(_paths(said)))[:_MOST]:
        kind = media_type(path)
        if not kind.startswith("image/"):
            continue
        try:
            _, data = files.content(path, min(LARGEST, max(0, room)))
        except ApiError:
            continue
        room -= len(data)
        found[path] = f"data:{kind};base64,{b64encode(data).decode('ascii')}"
    return found


def given(events: Iterable[dict[str, Any]], read: ReadPicture) -> dict[str, str]:
    """Return the pictures that the person gave in *events*: `data:` addresses by "sha256:DIGEST".

    What is gone, or one too many, is left out. May block.
    """
    found: dict[str, str] = {}
    room = ALL
    for picture in (one for event in events for one in event.get("pictures", ())):
        try:
            data = read(picture["digest"])
        except PictureGone:
            continue
        if (room := room - len(data)) >= 0:
            encoded = b64encode(data).decode("ascii")
            found[f"sha256:{picture['digest']}"] = f"data:{picture['media_type']};base64,{encoded}"
    return found


def _paths(markdown: str) -> Iterator[str]:
    """Yield the paths in the project of the pictures that *markdown* may show."""
    for match in _SHOWN.finditer(markdown):
        address = unquote(next(filter(None, match.groups())))
        parts: list[str] = []
        for part in address.split("/"):
            if part == "..":
                parts = parts[:-1]
            elif part not in ("", "."):
                parts.append(part)
        if not re.match(r"[a-z][a-z0-9+.-]*:", address, re.IGNORECASE):
            yield "/".join(parts)
