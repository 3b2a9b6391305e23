"""Markdown cut into blocks while it streams, so that each is drawn once, when it is whole.

The work grows with the length of the text alone: a piece is looked at once when it comes, and once
more when its block is done.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_BLOCK = 8_000
"""Characters after which a block is cut where it stands, so that the reader sees it."""

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}(\s|$)")
_ITEM = re.compile(r" *([-*+]|\d{1,9}[.)])(\s|$)")


@dataclass(frozen=True, slots=True)
class Block:
    """A whole block; *is_joined*: no blank line stood between it and the one before."""

    text: str
    is_joined: bool


class MarkdownStream:
    """Takes a text in pieces and gives it back in blocks; `tail` is what has no block yet."""

    def __init__(self) -> None:
        self._pieces: list[str] = []  # of the last line, which has no newline yet
        self._pieces_size = 0
        self._reset()
        self._is_joined = False

    def _reset(self) -> None:
        self._lines: list[str] = []
        self._size = 0
        self._fence = ""
        self._fence_line = ""
        self._indent = 0  # of the text in the list item that is open, 0 outside of lists
        self._is_after_blank = False

    def feed(self, text: str) -> Iterator[Block]:
        """Take *text*; yield the blocks that are whole by now."""
        head, newline, rest = text.partition("\n")
        self._pieces.append(head)
        self._pieces_size += len(head)
        if newline:
            *lines, last = rest.split("\n")
            for line in ("".join(self._pieces), *lines):
                yield from self._add_line(line)
            self._pieces, self._pieces_size = [last], len(last)
        if self._pieces_size > MAX_BLOCK:
            yield from self._add_line("".join(self._pieces))
            if not self._fence:
                yield from self._flush(is_joined=True)
            self._pieces, self._pieces_size = [], 0

    def finish(self) -> Iterator[Block]:
        """Yield what is left; the next piece begins a new text."""
        if self._pieces_size:
            yield from self._add_line("".join(self._pieces))
        yield from self._flush(is_joined=False)
        self._pieces, self._pieces_size = [], 0
        self._reset()

    def discard(self) -> None:
        """Forget what has no block yet."""
        self._pieces, self._pieces_size = [], 0
        self._reset()
        self._is_joined = False

    def tail(self, limit: int) -> str:
        """Return the end of what has no block yet, about *limit* characters of it."""
        parts = ["".join(_last_parts(self._pieces, limit))[-limit:]]
        remaining = limit - len(parts[0])
        lines = list(_last_parts(self._lines, remaining)) if remaining > 0 else []
        if self._fence and len(lines) < len(self._lines):
            lines = [self._fence_line, *lines]
        return "\n".join([*lines, *parts])

    def _add_line(self, line: str) -> Iterator[Block]:
        """Take one whole line."""
        if self._fence:
            yield from self._add_code_line(line)
        elif fence := _FENCE.match(line):
            if not self._indent:
                yield from self._flush(is_joined=True)
            self._fence, self._fence_line = fence[1], line
            self._append(line)
        elif not line.strip():
            yield from self._add_blank_line()
        else:
            yield from self._add_text_line(line)

    def _add_code_line(self, line: str) -> Iterator[Block]:
        self._append(line)
        is_end = line.strip().startswith(self._fence) and not line.strip().strip(self._fence[0])
        if is_end:
            self._fence = ""
            if not self._indent:
                yield from self._flush(is_joined=True)
        elif self._size > MAX_BLOCK:
            fence, fence_line = self._fence, self._fence_line
            self._append(fence)
            yield from self._flush(is_joined=True)
            self._fence, self._fence_line = fence, fence_line
            self._append(fence_line)

    def _add_blank_line(self) -> Iterator[Block]:
        if self._indent:
            self._append("")
            self._is_after_blank = True
        else:
            yield from self._flush(is_joined=False)
        if not self._lines:
            self._is_joined = False

    def _add_text_line(self, line: str) -> Iterator[Block]:
        indent = len(line) - len(line.lstrip(" "))
        is_inside = 0 < self._indent <= indent  # of the item that is open
        item = None if is_inside else _ITEM.match(line)
        is_heading = not is_inside and bool(_HEADING.match(line))
        is_outside = self._is_after_blank and not is_inside
        if item or is_heading or is_outside or self._size > MAX_BLOCK:
            yield from self._flush(is_joined=not self._is_after_blank)
            self._indent = item.end() if item else 0
        self._is_after_blank = False
        self._append(line)
        if is_heading:
            yield from self._flush(is_joined=True)

    def _append(self, line: str) -> None:
        self._lines.append(line)
        self._size += len(line) + 1

    def _flush(self, *, is_joined: bool) -> Iterator[Block]:
        """Yield the lines there are as a block; *is_joined* is for the block after it."""
        text = "\n".join(self._lines).rstrip()
        if text:
            yield Block(text, self._is_joined)
            self._is_joined = is_joined
        self._reset()


def _last_parts(parts: list[str], limit: int) -> list[str]:
    """Return the last of *parts*, together at least *limit* characters if there are so many."""
    first, size = len(parts), 0
    while first and size < limit:
        first -= 1
        size += len(parts[first]) + 1
    return parts[first:]
