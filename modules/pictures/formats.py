"""The picture formats that are opened, told by how a file begins, never by its name."""

from __future__ import annotations

from typing import Literal

Format = Literal["PNG", "JPEG", "GIF", "WEBP"]
"""As Pillow calls them."""

DISPLAY_NAMES: dict[str, str] = {"PNG": "PNG", "JPEG": "JPEG", "GIF": "GIF", "WEBP": "WebP"}
"""As people call them."""

MAX_PICTURE_FILE_BYTES = 30_000_000
"""Bytes of a file that is taken as a picture."""

SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")


def format_of(data: bytes) -> Format | None:
    """Return the format of a file that begins with *data*, None if it is none that is opened."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "PNG"
    if data.startswith(b"\xff\xd8\xff"):
        return "JPEG"
    if data[:6] in (b"GIF87a", b"GIF89a"):
        return "GIF"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "WEBP"
    return None
