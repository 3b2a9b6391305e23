"""Reference to a picture: all but its bytes, which a store keeps."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

from utils.frozen import frozen
from utils.text.lines import format_size

MAX_SIDE = 1568
"""Pixels of the longer side of what a model is sent: the servers scale down what is larger."""
_PIXELS_PER_TOKEN = 750
"""Source: Anthropic's guide "Vision": tokens = width * height / 750. Others take fewer."""

ReadPicture = Callable[[str], bytes]
"""Gives the bytes of the picture of a digest. Raises `PictureGone`."""


class PictureGone(Exception):
    """The picture is not kept any more, or is damaged."""


def read_no_picture(digest: str) -> bytes:
    """Read pictures where none are kept."""
    raise PictureGone(digest)


@frozen
class Picture:
    """A picture that is kept with a session: the reference to it, never its bytes.

    *digest* is the SHA-256 of the bytes that are kept, which are of *media_type* and at most
    `MAX_SIDE` pixels long; *format* ("PNG"), *width*, *height* and *size* (bytes) are those of
    the file as the person has it, called *name*.
    """

    digest: str
    name: str
    format: str
    width: int
    height: int
    size: int
    media_type: str

    @property
    def description(self) -> str:
        """Its name, format and measures: "shot.png, PNG, 1024×768, 340 KB"."""
        return f"{self.name}, {self.details}"

    @property
    def details(self) -> str:
        return f"{self.format}, {self.width}×{self.height}, {format_size(self.size)}"

    @property
    def tokens(self) -> int:
        """About how many tokens a model that sees takes for it."""
        width, height = scaled_size(self.width, self.height)
        return ceil(width * height / _PIXELS_PER_TOKEN)


def unseen_note(picture: Picture) -> str:
    """Return the note about *picture* for a model without vision."""
    return f"[picture {picture.description}; this model does not see pictures]"


def missing_note(picture: Picture) -> str:
    """Return the note in place of a *picture* that cannot be sent any more."""
    return f"[picture {picture.description}; it is not kept any more]"


def scaled_size(width: int, height: int) -> tuple[int, int]:
    """Return the size to which a picture of *width* and *height* is scaled: never larger."""
    factor = min(1.0, MAX_SIDE / max(width, height))
    return max(1, round(width * factor)), max(1, round(height * factor))
