"""A text file that is too large to be edited, by part: about a million bytes, whole lines each."""

from __future__ import annotations

import os
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from dataclasses import dataclass
from typing import BinaryIO

from modules.files.editing.text_file import TextFile

PART = 1_000_000
"""Bytes after which another part begins, with the next line."""
REACH = 64_000
"""Bytes in which the next line must begin; a longer one is cut."""
COUNTED = 200_000_000
"""Bytes in which lines are counted."""


@dataclass(frozen=True, slots=True)
class FilePart:
    """The part *number* of *count*, from 1; *before* and *after* are what stands around its *text*.

    *form* tells the encoding and the line ends; *first_line* is the number of its first line, None
    where that is too far from the beginning.
    """

    number: int
    count: int
    size: int
    form: TextFile
    before: str
    text: str
    after: str
    first_line: int | None


def read_part(stream: BinaryIO, number: int) -> FilePart:
    """Return the part *number*, or the last, of the text in *stream*. Raises `NotText`."""
    size = os.fstat(stream.fileno()).st_size
    count = max(1, -(-size // PART))
    number = max(1, min(number, count))
    form = TextFile.decode(_sample(stream))
    start, end = (_cut(stream, each * PART, size, form) for each in (number - 1, number))
    if form.bom and start == 0:
        start = len("\ufeff".encode(form.encoding))

    def text(first: int, last: int) -> str:
        stream.seek(first)
        raw = stream.read(max(0, last - first)).decode(form.encoding, "replace")
        return raw.replace("\r\n", "\n")

    before = text(max(0, start - REACH), start)
    after = text(end, min(size, end + REACH))
    lines = _lines_until(stream, start) if start <= COUNTED and not _is_wide(form) else None
    first = None if lines is None else lines + 1
    return FilePart(number, count, size, form, before, text(start, end), after, first)


def _cut(stream: BinaryIO, at: int, size: int, form: TextFile) -> int:
    """Return where the part begins that is due at the byte *at*: with a line if one begins soon."""
    if at == 0 or at >= size:
        return min(at, size)
    end = "\n".encode(form.encoding)
    stream.seek(at - len(end))
    near = stream.read(REACH)
    place = near.find(end)
    while place % len(end) and place >= 0:  # parts of two characters that look like one
        place = near.find(end, place + 1)
    if place >= 0:
        return at + place
    near = near[len(end) :]
    if len(end) == 1:
        return at + next((n for n in range(4) if not _continues(near[n : n + 1])), 0)
    is_second_half = "\udc00" <= near[:2].decode(form.encoding, "surrogatepass") <= "\udfff"
    return at + 2 * is_second_half if len(end) == 2 else at


def _sample(stream: BinaryIO) -> bytes:
    """Return the first bytes of *stream*, which end with a line, or else with a character."""
    stream.seek(0)
    data = stream.read(REACH)
    if len(data) < REACH:
        return data
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):  # UTF-32 as well
        last = data[-1] if data.startswith(BOM_UTF16_LE) else data[-2]
        return data[:-2] if 0xD8 <= last <= 0xDB else data  # the first half of a character
    if line := data.rfind(b"\n") + 1:
        return data[:line]
    end = len(data)
    while end > len(data) - 4 and _continues(data[end - 1 : end]):
        end -= 1
    return data[: end - 1] if data[end - 1] >= 0xC0 else data[:end]


def _continues(byte: bytes) -> bool:
    """Return whether *byte* continues a character of UTF-8."""
    return bool(byte) and byte[0] & 0xC0 == 0x80


def _is_wide(form: TextFile) -> bool:
    """Return whether a byte of a line end may be a part of another character."""
    return form.encoding.startswith(("utf-16", "utf-32"))


def _lines_until(stream: BinaryIO, end: int) -> int:
    stream.seek(0)
    lines, left = 0, end
    while left > 0 and (data := stream.read(min(left, PART))):
        lines += data.count(b"\n")
        left -= len(data)
    return lines
