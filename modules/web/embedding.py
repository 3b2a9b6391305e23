"""Pictures embedded in an exported page, which loads nothing from anywhere."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any
from urllib.parse import unquote

from modules.web.files.content import FileContents
from modules.web.files.file_names import media_type
from modules.web.http.errors import ApiError
from utils.pictures import PictureGone, ReadPicture

MAX_PICTURE_BYTES = 1_000_000
"""Bytes of a picture that is embedded."""
MAX_TOTAL_BYTES = 8_000_000
"""Bytes of all of them."""
_MAX_PATHS = 500  # addresses that are looked at
_IMAGE_LINK = re.compile(
    r"!\[[^\]]*\]\(\s*(?:<([^<>\n]+)>|([^\s()<>]+(?:\([^\s()<>]*\)[^\s()<>]*)*))"
    r"|^ {0,3}\[[^\]\n]+\]:\s*<?([^\s<>]+)",
    re.MULTILINE,
)


def embed_project_pictures(events: Iterable[dict[str, Any]], files: FileContents) -> dict[str, str]:
    """Return the pictures of *files* that replies in *events* show: `data:` addresses by path.

    What is no picture, cannot be read, is too large or one too many is left out. May block.
    """
    markdown = "".join(event["text"] for event in events if event["type"] == "TextDelta")
    data_urls: dict[str, str] = {}
    bytes_left = MAX_TOTAL_BYTES
    for path in list(dict.fromkeys(_picture_paths(markdown)))[:_MAX_PATHS]:
        kind = media_type(path)
        if not kind.startswith("image/"):
            continue
        try:
            _, data = files.content(path, min(MAX_PICTURE_BYTES, max(0, bytes_left)))
        except ApiError:
            continue
        bytes_left -= len(data)
        data_urls[path] = f"data:{kind};base64,{b64encode(data).decode('ascii')}"
    return data_urls


def embed_message_pictures(events: Iterable[dict[str, Any]], read: ReadPicture) -> dict[str, str]:
    """Return the pictures of messages and cards in *events*: `data:` addresses by "sha256:DIGEST".

    What is gone, or one too many, is left out. May block.
    """
    data_urls: dict[str, str] = {}
    bytes_left = MAX_TOTAL_BYTES
    for picture in chain.from_iterable(map(_kept_pictures, events)):
        try:
            data = read(picture["digest"])
        except PictureGone:
            continue
        if (bytes_left := bytes_left - len(data)) >= 0:
            encoded = b64encode(data).decode("ascii")
            data_urls[f"sha256:{picture['digest']}"] = (
                f"data:{picture['media_type']};base64,{encoded}"
            )
    return data_urls


def _kept_pictures(event: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the pictures of *event* that are kept with the session: those of runs are files."""
    card = event.get("card") or {}
    found = [*event.get("pictures", ()), *card.get("pictures", ())]
    return [picture for picture in found if "digest" in picture]


def _picture_paths(markdown: str) -> Iterator[str]:
    """Yield the paths in the project of the pictures that *markdown* may show."""
    for match in _IMAGE_LINK.finditer(markdown):
        address = unquote(next(filter(None, match.groups())))
        parts: list[str] = []
        for part in address.split("/"):
            if part == "..":
                parts = parts[:-1]
            elif part not in ("", "."):
                parts.append(part)
        if not re.match(r"[a-z][a-z0-9+.-]*:", address, re.IGNORECASE):
            yield "/".join(parts)
