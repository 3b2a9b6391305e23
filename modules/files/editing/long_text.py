"""A text file that is too long to hold at once: it is read line by line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import BinaryIO

from modules.files.editing.text_file import NotText, TextFile

LONGEST = 100_000_000
"""Bytes of the longest file that is gone through."""
_SAMPLE = 64_000
_PART = 1_000_000
_FARTHEST = 4_000_000_000  # bytes gone through to a line; some seconds


class OnlyWhole(Exception):
    """The lines of the text cannot be told one by one, as with UTF-16."""


@dataclass(frozen=True, slots=True)
class LongText:
    r"""The lines of the text in *stream*, which has to stay open: *count* of them.

    *form* is a `TextFile` of the same encoding and line ends, without a text; the last line has an
    end of its own if it *is_ended*. Lines end where those of `TextFile` do, but a file that has
    nothing but "\r" between them is refused.
    """

    stream: BinaryIO
    form: TextFile
    count: int
    is_ended: bool

    @classmethod
    def of(cls, stream: BinaryIO) -> LongText:
        """Go through *stream* once, to its end. Raises `NotText` or `OnlyWhole`."""
        begins = _form(stream)
        try:
            return cls._surveyed(stream, begins)
        except UnicodeDecodeError:
            at = stream.tell()
        sample = _form(stream, at)
        if begins.encoding != "utf-8" or sample.encoding == "utf-8":
            raise NotText("binary data")
        try:
            return cls._surveyed(stream, sample)
        except UnicodeDecodeError:
            raise NotText("binary data") from None

    @classmethod
    def _surveyed(cls, stream: BinaryIO, begins: TextFile) -> LongText:
        """Raises `UnicodeDecodeError`, with *stream* at the line that cannot be decoded."""
        count = pairs = at = 0
        line = b""
        stream.seek(0)
        for line in stream:
            count += 1
            pairs += line.endswith(b"\r\n")
            if b"\0" in line:
                raise NotText("binary data")
            if not line.isascii():
                _check(stream, at, line, begins.encoding)
            at += len(line)
        is_ended = line.endswith(b"\n")
        feeds = count if is_ended else count - 1
        if not feeds and b"\r" in line:
            raise OnlyWhole
        newline = "\r\n" if pairs * 2 > feeds else "\n"
        return cls(stream, TextFile("", begins.encoding, newline, begins.bom), count, is_ended)

    def part(self, first: int, last: int | None = None) -> Iterator[str]:
        """Yield the lines from *first* to *last*, which count from 1, without their ends."""
        self.stream.seek(0)
        for number, line in enumerate(islice(self.stream, first - 1, last), first):
            text = line.decode(self.form.encoding, "replace")
            if number == 1 and self.form.bom:
                text = text.removeprefix("\ufeff")
            yield text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text


class TooFar(Exception):
    """The line lies too far from the beginning to look for it."""


def excerpt(stream: BinaryIO, first: int) -> tuple[TextFile, Iterator[str]]:
    """Return the form of the text in *stream*, however long, and its lines from *first* on.

    What goes beyond a million bytes of a line is dropped. Bytes that are no text are shown as
    such. Raises `NotText`, `OnlyWhole`, or `TooFar`.
    """
    form = _form(stream)
    if b"\0" in _opening(stream):
        raise NotText("binary data")
    stream.seek(_start_of(stream, first))
    return form, _lines(stream, form, is_first=first == 1)


def _opening(stream: BinaryIO) -> bytes:
    stream.seek(0)
    return stream.read(_SAMPLE)


def _start_of(stream: BinaryIO, first: int) -> int:
    """Return where line *first* begins, or the end of *stream* if it has fewer lines."""
    at, ahead = 0, first - 1
    stream.seek(0)
    while ahead and (part := stream.read(_PART)):
        feeds = part.count(b"\n")
        if feeds >= ahead:
            place = -1
            for _ in range(ahead):
                place = part.index(b"\n", place + 1)
            return at + place + 1
        ahead -= feeds
        at += len(part)
        if at > _FARTHEST:
            raise TooFar
    return at


def _lines(stream: BinaryIO, form: TextFile, *, is_first: bool) -> Iterator[str]:
    while line := stream.readline(_PART):
        text = line.decode(form.encoding, "replace")
        if is_first and form.bom:
            text = text.removeprefix("\ufeff")
        is_first = False
        yield text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text
        gone = len(line)
        while line and not line.endswith(b"\n") and gone < _FARTHEST:
            line = stream.readline(_PART)
            gone += len(line)


def _form(stream: BinaryIO, at: int = 0) -> TextFile:
    """Return the text of some lines at *at*. Raises `NotText` or `OnlyWhole`."""
    stream.seek(at)
    form = TextFile.decode(stream.read(_SAMPLE) + stream.readline(_PART))
    if form.encoding.startswith(("utf-16", "utf-32")):
        raise OnlyWhole
    return form


def _check(stream: BinaryIO, at: int, line: bytes, encoding: str) -> None:
    try:
        line.decode(encoding)
    except UnicodeDecodeError:
        stream.seek(at, os.SEEK_SET)
        raise
