"""A text file that is too long to hold at once: it is read line by line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import BinaryIO

from modules.files.text_file import NotText, TextFile

LONGEST = 100_000_000
"""Bytes of the longest file that is gone through."""
_SAMPLE = 64_000


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


def _form(stream: BinaryIO, at: int = 0) -> TextFile:
    """Return the text of some lines at *at*. Raises `NotText` or `OnlyWhole`."""
    stream.seek(at)
    form = TextFile.decode(stream.read(_SAMPLE) + stream.readline())
    if form.encoding.startswith(("utf-16", "utf-32")):
        raise OnlyWhole
    return form


def _check(stream: BinaryIO, at: int, line: bytes, encoding: str) -> None:
    try:
        line.decode(encoding)
    except UnicodeDecodeError:
        stream.seek(at, os.SEEK_SET)
        raise
