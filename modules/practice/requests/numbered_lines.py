"""Parser of the answers of `read_file`: a head, then lines with their numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBER = re.compile(r" *[0-9]+│")
_RANGE = re.compile(r": lines ([0-9]+)-([0-9]+) of ([0-9]+)")


@dataclass(frozen=True, slots=True)
class FileExcerpt:
    """The *lines* of a file from number *first* to *last*, of *count* in all; 0 where unknown."""

    lines: tuple[str, ...]
    first: int = 0
    last: int = 0
    count: int = 0

    @classmethod
    def parse(cls, text: str) -> FileExcerpt:
        head, _, body = text.partition("\n")
        matches = ((_NUMBER.match(line), line) for line in body.split("\n"))
        lines = tuple(line[number.end() :] for number, line in matches if number)
        if line_range := _RANGE.search(head):
            return cls(lines, *map(int, line_range.groups()))
        return cls(lines)
