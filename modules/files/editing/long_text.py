"""Text files too long to hold in memory, read line by line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from typing import BinaryIO

from modules.files.editing.text_file import NotText, TextFile
from utils.frozen import frozen

MAX_BYTES = 100_000_000
"""Bytes of the longest file that is read to its end."""
_SAMPLE = 64_000
_CHUNK = 1_000_000
_MAX_OFFSET = 4_000_000_000  # bytes gone through to a line; some seconds


class NotLineByLine(Exception):
    """Text whose lines cannot be told one by one, as with UTF-16."""


@frozen
class LongText:
    r"""The lines of the text in *stream*, which has to stay open: *count* of them.

    *text_format* is a `TextFile` of the same encoding and line ends, without a text; the last line
    has an end of its own if it *is_ended*. Lines end where those of `TextFile` do, but a file that
    has nothing but "\r" between them is refused.
    """

    stream: BinaryIO
    text_format: TextFile
    count: int
    is_ended: bool

    @classmethod
    def scan(cls, stream: BinaryIO) -> LongText:
        """Go through *stream* once, to its end. Raises `NotText` or `NotLineByLine`."""
        head_format = _detect_format(stream)
        try:
            return cls._scan_lines(stream, head_format)
        except UnicodeDecodeError:
            offset = stream.tell()
        sample = _detect_format(stream, offset)
        if head_format.encoding != "utf-8" or sample.encoding == "utf-8":
            raise NotText("binary data")
        try:
            return cls._scan_lines(stream, sample)
        except UnicodeDecodeError:
            raise NotText("binary data") from None

    @classmethod
    def _scan_lines(cls, stream: BinaryIO, head_format: TextFile) -> LongText:
        """Raises `UnicodeDecodeError`, with *stream* at the line that cannot be decoded."""
        count = crlf_count = offset = 0
        line = b""
        stream.seek(0)
        for line in stream:
            count += 1
            crlf_count += line.endswith(b"\r\n")
            if b"\0" in line:
                raise NotText("binary data")
            if not line.isascii():
                _check_decodes(stream, offset, line, head_format.encoding)
            offset += len(line)
        is_ended = line.endswith(b"\n")
        newlines = count if is_ended else count - 1
        if not newlines and b"\r" in line:
            raise NotLineByLine
        newline = "\r\n" if crlf_count * 2 > newlines else "\n"
        return cls(
            stream, TextFile("", head_format.encoding, newline, head_format.bom), count, is_ended
        )

    def read_lines(self, first: int, last: int | None = None) -> Iterator[str]:
        """Yield the lines from *first* to *last*, which count from 1, without their ends."""
        self.stream.seek(0)
        for number, line in enumerate(islice(self.stream, first - 1, last), first):
            text = line.decode(self.text_format.encoding, "replace")
            if number == 1 and self.text_format.bom:
                text = text.removeprefix("\ufeff")
            yield text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text


class TooFar(Exception):
    """Line that lies too far from the beginning to look for it."""


def read_from_line(stream: BinaryIO, first: int) -> tuple[TextFile, Iterator[str]]:
    """Return the form of the text in *stream*, however long, and its lines from *first* on.

    What goes beyond a million bytes of a line is dropped. Bytes that are no text are shown as
    such. Raises `NotText`, `NotLineByLine`, or `TooFar`.
    """
    text_format = _detect_format(stream)
    if b"\0" in _head(stream):
        raise NotText("binary data")
    stream.seek(_line_offset(stream, first))
    return text_format, _lines(stream, text_format, is_first=first == 1)


def _head(stream: BinaryIO) -> bytes:
    stream.seek(0)
    return stream.read(_SAMPLE)


def _line_offset(stream: BinaryIO, first: int) -> int:
    """Return where line *first* begins, or the end of *stream* if it has fewer lines."""
    offset, remaining = 0, first - 1
    stream.seek(0)
    while remaining and (chunk := stream.read(_CHUNK)):
        feeds = chunk.count(b"\n")
        if feeds >= remaining:
            position = -1
            for _ in range(remaining):
                position = chunk.index(b"\n", position + 1)
            return offset + position + 1
        remaining -= feeds
        offset += len(chunk)
        if offset > _MAX_OFFSET:
            raise TooFar
    return offset


def _lines(stream: BinaryIO, text_format: TextFile, *, is_first: bool) -> Iterator[str]:
    while line := stream.readline(_CHUNK):
        text = line.decode(text_format.encoding, "replace")
        if is_first and text_format.bom:
            text = text.removeprefix("\ufeff")
        is_first = False
        yield text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text
        consumed = len(line)
        while line and not line.endswith(b"\n") and consumed < _MAX_OFFSET:
            line = stream.readline(_CHUNK)
            consumed += len(line)


def _detect_format(stream: BinaryIO, offset: int = 0) -> TextFile:
    """Return the text of some lines at *offset*. Raises `NotText` or `NotLineByLine`."""
    stream.seek(offset)
    text_format = TextFile.decode(stream.read(_SAMPLE) + stream.readline(_CHUNK))
    if text_format.encoding.startswith(("utf-16", "utf-32")):
        raise NotLineByLine
    return text_format


def _check_decodes(stream: BinaryIO, offset: int, line: bytes, encoding: str) -> None:
    try:
        line.decode(encoding)
    except UnicodeDecodeError:
        stream.seek(offset, os.SEEK_SET)
        raise
