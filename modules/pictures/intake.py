"""From the bytes of a file that nobody trusts to a picture that may be kept and sent."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from modules.pictures.formats import LARGEST, NAMES, format_of
from utils.i18n import Phrase, UserError, phrase
from utils.pictures import Picture
from utils.system.child import TooSlow, ask_program
from utils.text.lines import size_in_words

_SECONDS = 30.0
_HOUSE = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Taken:
    """A picture and its bytes: turned upright, scaled, of one frame, without what a camera told."""

    width: int
    height: int
    format: str
    size: int
    media_type: str
    data: bytes

    def named(self, name: str) -> Picture:
        """Return what refers to it, as *name*."""
        return Picture(
            hashlib.sha256(self.data).hexdigest(),
            name,
            self.format,
            self.width,
            self.height,
            self.size,
            self.media_type,
        )


def take_in(data: bytes, name: str) -> Taken:
    """Return the picture that *data* is; *name* is what to call it in a failure.

    It is decoded in a process that can open nothing and has 1 GB at most. Raises `UserError`.
    """
    kind = format_of(data)
    if kind is None:
        raise UserError(
            phrase("{name} is no picture that can be used: PNG, JPEG, WebP or GIF.", name=name)
        )
    if len(data) > LARGEST:
        raise UserError(too_large(name, len(data)))
    libraries = _libraries()
    command = [sys.executable, "-E", "-s", "-S", "-m", "modules.pictures.worker", libraries, kind]
    try:
        answer = ask_program(
            command,
            folder=_HOUSE,
            environment={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
            seconds=_SECONDS,
            given=data,
        )
    except TooSlow:
        raise UserError(_damaged(name)) from None
    head, _, spelt = answer.output.partition(b"\n")
    if answer.code or not head:
        raise UserError(_damaged(name))
    told: dict[str, Any] = json.loads(head)
    if "error" in told:
        raise UserError(_refused(name, told))
    return Taken(told["width"], told["height"], NAMES[kind], len(data), told["media_type"], spelt)


def too_large(name: str, size: int) -> Phrase:
    return phrase(
        "{name} is too large for a picture ({size}): at most {most}. Make it smaller first.",
        name=name,
        size=size_in_words(size),
        most=size_in_words(LARGEST),
    )


def _refused(name: str, told: dict[str, Any]) -> Phrase:
    if told["error"] == "pixels":
        return phrase(
            "{name} has too many pixels ({width}×{height}). Make it smaller first.",
            name=name,
            width=told["width"],
            height=told["height"],
        )
    if told["error"] == "memory":
        return phrase("{name} takes too much memory as a picture.", name=name)
    return _damaged(name)


def _damaged(name: str) -> Phrase:
    return phrase("{name} cannot be read as a picture: it is damaged or cut off.", name=name)


def _libraries() -> str:
    """Return the folder that Pillow is in, which is not imported here. Raises `UserError`."""
    found = find_spec("PIL")
    if found is None or not found.origin:
        raise UserError(phrase("Pictures need Pillow, which is not installed: pip install pillow."))
    return str(Path(found.origin).parents[1])
