"""Guessing the single-byte encoding of a text: Cyrillic, Greek, Hebrew, Arabic, Thai or Latin.

chardet compares how often the letters of each language stand beside each other. It is asked about
two groups apart, since it takes short Western words for Cyrillic ones: in a script of its own most
letters beyond ASCII stand beside another, in Latin ones they stand alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_SAMPLE = 64_000
_SURE_CONFIDENCE, _MIN_CONFIDENCE = 0.045, 0.02
_OTHER_SCRIPTS = (
    *("cp1251", "koi8-r", "koi8-u", "cp866", "iso8859-5", "cp1253", "iso8859-7"),
    *("cp1255", "cp1256", "cp874"),
)
_LATIN = ("cp1250", "iso8859-2", "cp1254", "cp1257", "cp1252", "iso8859-1")
_RUN = re.compile(rb"[\x80-\xff]+")


@dataclass(frozen=True, slots=True)
class Guess:
    """An encoding, and how likely it is; from 0.045 on it is hardly ever wrong."""

    encoding: str
    confidence: float

    @property
    def is_sure(self) -> bool:
        return self.confidence >= _SURE_CONFIDENCE


def detect_non_latin(data: bytes) -> Guess | None:
    """Return the encoding of *data* if its letters are not Latin; None if they are, or none are."""
    runs = _RUN.findall(data[:_SAMPLE])
    together = sum(len(run) for run in runs if len(run) > 1)
    if together * 2 < sum(map(len, runs)):
        return None
    found = _detect(data, _OTHER_SCRIPTS)
    return found if found and found.is_sure and _has_mostly_letters(data, found.encoding) else None


def detect_latin(data: bytes) -> Guess | None:
    """Return the encoding of *data* among those of Latin scripts; None if none is likely."""
    found = _detect(data, _LATIN)
    return (
        found
        if found
        and found.confidence >= _MIN_CONFIDENCE
        and _has_mostly_letters(data, found.encoding)
        else None
    )


def _detect(data: bytes, encodings: Sequence[str]) -> Guess | None:
    import chardet  # 40 ms: only for a text that no other encoding fits

    found = chardet.detect(
        data[:_SAMPLE],
        include_encodings=encodings,
        no_match_encoding="ascii",
        compat_names=False,
    )
    encoding = found["encoding"]
    if encoding is None or encoding not in encodings or not round_trips(data, encoding):
        return None
    return Guess(encoding, found["confidence"])


def round_trips(data: bytes, encoding: str) -> bool:
    """Return whether *data* is text in *encoding* that becomes the same bytes again."""
    try:
        return data.decode(encoding).encode(encoding) == data
    except UnicodeError:
        return False


def _has_mostly_letters(data: bytes, encoding: str) -> bool:
    """Return whether most of what is not ASCII are letters, and not one of them all the time."""
    high = [char for char in data[:_SAMPLE].decode(encoding) if char > "\x7f"]
    letters = sum(char.isalpha() or char.isprintable() and not char.isascii() for char in high)
    return letters * 10 >= len(high) * 7 and (len(high) < 8 or len(set(high)) > 1)
