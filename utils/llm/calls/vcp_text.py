"""The blocks of VCP in a text: those that stand for themselves, and whether any is damaged.

A block in code or in a quotation is text. Where one block is damaged, or what one is made of is
left over, nobody can tell which of the others are part of its values: then there are none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from utils.llm.calls.code_tracker import fence_after, parted
from utils.llm.calls.vcp_block import MARKER, OPENING, STRAY, Block, is_cut, read_block

_ENDS = 200
"""Characters at the begin and the end of a line that say what follows it."""
_BACKTICKS = re.compile(r"`+")
_QUOTED_LINE = re.compile(r"[ \t]*>")
_QUOTATION_MARK = re.compile(r"[\"'“‘«「『（(]\s*\Z")


@dataclass(frozen=True, slots=True)
class PlacedBlock:
    """A whole block, and where in its text it begins and ends."""

    block: Block
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Scan:
    """The *blocks* of a text in their order, and the *texts* around them, one more.

    There is no block where it *is_damaged*.
    """

    blocks: tuple[PlacedBlock, ...] = ()
    texts: tuple[str, ...] = ()
    is_damaged: bool = False

    def at(self, start: int) -> PlacedBlock | None:
        """Return the block that begins at *start*."""
        return next((one for one in self.blocks if one.start == start), None)


@lru_cache(maxsize=4)
def scan(text: str) -> Scan:
    """Return the blocks of *text*, which is whole. Time is linear in it."""
    blocks: list[PlacedBlock] = []
    texts = [""]
    outline = Outline()
    position = 0
    while opening := OPENING.search(text, position):
        before = text[position : opening.start()]
        texts[-1] += before
        if outline.is_shown_after(before):
            texts[-1] += opening[0]
            outline.read(opening[0])
            position = opening.end()
            continue
        block, position = read_block(text, opening.start())
        if block is None:
            return Scan(is_damaged=True)
        blocks.append(PlacedBlock(block, opening.start(), position))
        texts.append("")
        outline.read("\n")
    texts[-1] += text[position:]
    outline.read(text[position:] + "\n")
    if blocks and outline.is_in_fence:  # which of its ends is missing, nobody can tell
        return Scan(is_damaged=True)
    plain, quoted, spans = parted("\n".join(texts))
    if STRAY.search(plain) or (blocks and _are_cut(quoted, spans)):
        return Scan(is_damaged=True)
    return Scan(tuple(blocks), tuple(texts))


def _are_cut(quoted: list[str], spans: list[str]) -> bool:
    """Return whether code or a quotation holds a part of a block only.

    That was meant to go on: where it ends, and whether a block behind it is a part of its value,
    nobody can tell. One marker in a span of code is the name of it.
    """
    named = (span for span in spans if len(MARKER.findall(span)) > 1)
    return any(map(is_cut, (*quoted, *named)))


class Outline:
    """Follows a reply's text outside of blocks: whether what comes next would be shown as text.

    Time is linear in the text, however it is cut up.
    """

    def __init__(self) -> None:
        self._fence = ""
        self._begin_line()

    def _begin_line(self) -> None:
        self._line: list[str] = []
        self._head = self._tail = ""
        self._runs = 0

    def read(self, text: str) -> None:
        *lines, last = text.split("\n")
        for line in lines:
            self._add(line)
            self._fence = fence_after("".join(self._line), self._fence)
            self._begin_line()
        self._add(last)

    def _add(self, part: str) -> None:
        """Add *part* to the line, and its runs of backticks to those in it."""
        is_same_run = part.startswith("`") and self._tail.endswith("`")
        self._runs += len(_BACKTICKS.findall(part)) - is_same_run
        self._line.append(part)
        self._head = (self._head + part)[:_ENDS] if len(self._head) < _ENDS else self._head
        self._tail = (self._tail + part)[-_ENDS:]

    @property
    def is_in_fence(self) -> bool:
        return bool(self._fence)

    def is_shown_after(self, text: str) -> bool:
        """Read *text*; return whether what follows stands in code, a quotation or its marks."""
        self.read(text)
        if _QUOTED_LINE.match(self._head) or _QUOTATION_MARK.search(self._tail):
            return True
        return bool(self._fence) or self._runs % 2 == 1
