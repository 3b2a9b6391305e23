"""A picture as data: what is known of it without its bytes, which a place of their own keeps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

from utils.text.lines import size_in_words

LONGEST_SIDE = 1568
"""Pixels of the longer side of what a model is sent: the servers scale down what is larger."""
_PIXELS_PER_TOKEN = 750
"""Source: Anthropic's guide "Vision": tokens = width * height / 750. Others take fewer."""

ReadPicture = Callable[[str], bytes]
"""Gives the bytes of the picture of a digest. Raises `PictureGone`."""


class PictureGone(Exception):
    """The picture is not kept any more, or is damaged."""


def no_picture(digest: str) -> bytes:
    """Read pictures where none are kept."""
    raise PictureGone(digest)


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that is kept with a session: the reference to it, never its bytes.

    *digest* is the SHA-256 of the bytes that are kept, which are of *media_type* and at most
    `LONGEST_SIDE` pixels long; *format* ("PNG"), *width*, *height* and *size* (bytes) are those of
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
        return f"{self.name}, {self.measures}"

    @property
    def measures(self) -> str:
        return f"{self.format}, {self.width}×{self.height}, {size_in_words(self.size)}"

    @property
    def tokens(self) -> int:
        """About how many tokens a model that sees takes for it."""
        width, height = scaled(self.width, self.height)
        return ceil(width * height / _PIXELS_PER_TOKEN)


def blind_note(picture: Picture) -> str:
    """Return what a model that does not see is told of *picture*."""
    return f"[picture {picture.description}; this model does not see pictures]"


def gone_note(picture: Picture) -> str:
    """Return what stands for a *picture* that cannot be sent any more."""
    return f"[picture {picture.description}; it is not kept any more]"


def scaled(width: int, height: int) -> tuple[int, int]:
    """Return the pixels of what is kept of a picture of *width* and *height*: never more."""
    factor = min(1.0, LONGEST_SIDE / max(width, height))
    return max(1, round(width * factor)), max(1, round(height * factor))
