"""Parts of a text file that is too large to be edited: about a million bytes, in whole lines."""

from __future__ import annotations

import os
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from dataclasses import dataclass
from typing import BinaryIO

from modules.files.editing.text_file import TextFile

PART_BYTES = 1_000_000
"""Bytes after which another part begins, with the next line."""
MAX_LINE_BYTES = 64_000
"""Bytes in which the next line must begin; a longer one is cut."""
MAX_COUNTED_BYTES = 200_000_000
"""Bytes in which lines are counted."""


@dataclass(frozen=True, slots=True)
class FilePart:
    """The part *number* of *count*, from 1; *before* and *after* are what stands around its *text*.

    *sample_file* tells the encoding and the line ends; *first_line* is the number of its first
    line, None where that is too far from the beginning.
    """

    number: int
    count: int
    size: int
    sample_file: TextFile
    before: str
    text: str
    after: str
    first_line: int | None


def read_part(stream: BinaryIO, number: int) -> FilePart:
    """Return the part *number*, or the last, of the text in *stream*. Raises `NotText`."""
    size = os.fstat(stream.fileno()).st_size
    count = max(1, -(-size // PART_BYTES))
    number = max(1, min(number, count))
    sample_file = TextFile.decode(_sample(stream))
    start, end = (
        _part_start(stream, part_number * PART_BYTES, size, sample_file)
        for part_number in (number - 1, number)
    )
    if sample_file.bom and start == 0:
        start = len("\ufeff".encode(sample_file.encoding))

    def text(first: int, last: int) -> str:
        stream.seek(first)
        raw = stream.read(max(0, last - first)).decode(sample_file.encoding, "replace")
        return raw.replace("\r\n", "\n")

    before = text(max(0, start - MAX_LINE_BYTES), start)
    after = text(end, min(size, end + MAX_LINE_BYTES))
    lines = (
        _lines_until(stream, start)
        if start <= MAX_COUNTED_BYTES and not _is_multibyte(sample_file)
        else None
    )
    first_line = None if lines is None else lines + 1
    return FilePart(number, count, size, sample_file, before, text(start, end), after, first_line)


def _part_start(stream: BinaryIO, offset: int, size: int, sample_file: TextFile) -> int:
    """Return where the part begins that is due at the byte *offset*: with a line if one begins
    soon."""
    if offset == 0 or offset >= size:
        return min(offset, size)
    end = "\n".encode(sample_file.encoding)
    stream.seek(offset - len(end))
    nearby = stream.read(MAX_LINE_BYTES)
    line_end = nearby.find(end)
    while line_end % len(end) and line_end >= 0:  # parts of two characters that look like one
        line_end = nearby.find(end, line_end + 1)
    if line_end >= 0:
        return offset + line_end
    nearby = nearby[len(end) :]
    if len(end) == 1:
        return offset + next(
            (skip for skip in range(4) if not _is_continuation(nearby[skip : skip + 1])), 0
        )
    is_second_half = (
        "\udc00" <= nearby[:2].decode(sample_file.encoding, "surrogatepass") <= "\udfff"
    )
    return offset + 2 * is_second_half if len(end) == 2 else offset


def _sample(stream: BinaryIO) -> bytes:
    """Return the first bytes of *stream*, which end with a line, or else with a character."""
    stream.seek(0)
    data = stream.read(MAX_LINE_BYTES)
    if len(data) < MAX_LINE_BYTES:
        return data
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):  # UTF-32 as well
        last = data[-1] if data.startswith(BOM_UTF16_LE) else data[-2]
        return data[:-2] if 0xD8 <= last <= 0xDB else data  # the first half of a character
    if line := data.rfind(b"\n") + 1:
        return data[:line]
    end = len(data)
    while end > len(data) - 4 and _is_continuation(data[end - 1 : end]):
        end -= 1
    return data[: end - 1] if data[end - 1] >= 0xC0 else data[:end]


def _is_continuation(byte: bytes) -> bool:
    """Return whether *byte* continues a character of UTF-8."""
    return bool(byte) and byte[0] & 0xC0 == 0x80


def _is_multibyte(sample_file: TextFile) -> bool:
    """Return whether a byte of a line end may be a part of another character."""
    return sample_file.encoding.startswith(("utf-16", "utf-32"))


def _lines_until(stream: BinaryIO, end: int) -> int:
    stream.seek(0)
    lines, bytes_left = 0, end
    while bytes_left > 0 and (data := stream.read(min(bytes_left, PART_BYTES))):
        lines += data.count(b"\n")
        bytes_left -= len(data)
    return lines
