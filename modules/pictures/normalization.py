"""Normalization of untrusted picture files into pictures that may be kept and sent."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from modules.pictures.formats import DISPLAY_NAMES, MAX_PICTURE_FILE_BYTES, format_of
from utils.i18n import Phrase, UserError, phrase
from utils.pictures import Picture
from utils.system.child import TimedOut, run_program
from utils.text.lines import format_size

_TIMEOUT_SECONDS = 30.0
_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class NormalizedPicture:
    """A picture and its bytes: turned upright, scaled, of one frame, without what a camera told."""

    width: int
    height: int
    format: str
    size: int
    media_type: str
    data: bytes

    def to_picture(self, name: str) -> Picture:
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


def normalize(data: bytes, name: str) -> NormalizedPicture:
    """Return the picture that *data* is; *name* is what to call it in a failure.

    It is decoded in a process that can open nothing and has 1 GB at most. Raises `UserError`.
    """
    format_name = format_of(data)
    if format_name is None:
        raise UserError(
            phrase("{name} is no picture that can be used: PNG, JPEG, WebP or GIF.", name=name)
        )
    if len(data) > MAX_PICTURE_FILE_BYTES:
        raise UserError(too_large(name, len(data)))
    header, encoded = _run_worker(data, format_name, name)
    return NormalizedPicture(
        header["width"],
        header["height"],
        DISPLAY_NAMES[format_name],
        len(data),
        header["media_type"],
        encoded,
    )


def _run_worker(data: bytes, format_name: str, name: str) -> tuple[dict[str, Any], bytes]:
    """Return what the worker says of the picture, and its bytes. Raises `UserError`."""
    worker = ["-m", "modules.pictures.worker", _libraries(), format_name]
    try:
        answer = run_program(
            [sys.executable, "-E", "-s", "-S", *worker],
            folder=_ROOT,
            environment={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
            seconds=_TIMEOUT_SECONDS,
            stdin=data,
        )
    except TimedOut:
        raise UserError(_damaged(name)) from None
    head, _, encoded = answer.output.partition(b"\n")
    if answer.code or not head:
        raise UserError(_damaged(name))
    header: dict[str, Any] = json.loads(head)
    if "error" in header:
        raise UserError(_worker_error(name, header))
    return header, encoded


def too_large(name: str, size: int) -> Phrase:
    return phrase(
        "{name} is too large for a picture ({size}): at most {most}. Make it smaller first.",
        name=name,
        size=format_size(size),
        most=format_size(MAX_PICTURE_FILE_BYTES),
    )


def _worker_error(name: str, header: dict[str, Any]) -> Phrase:
    if header["error"] == "pixels":
        return phrase(
            "{name} has too many pixels ({width}×{height}). Make it smaller first.",
            name=name,
            width=header["width"],
            height=header["height"],
        )
    if header["error"] == "memory":
        return phrase("{name} takes too much memory as a picture.", name=name)
    return _damaged(name)


def _damaged(name: str) -> Phrase:
    return phrase("{name} cannot be read as a picture: it is damaged or cut off.", name=name)


def _libraries() -> str:
    """Return the folder that Pillow is in, which is not imported here. Raises `UserError`."""
    spec = find_spec("PIL")
    if spec is None or not spec.origin:
        raise UserError(phrase("Pictures need Pillow, which is not installed: pip install pillow."))
    return str(Path(spec.origin).parents[1])
