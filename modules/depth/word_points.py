"""Points that each sign of a line gives to each depth; the depth with the most has the line.

`points.tsv` has them, one sign a row: what it gives to social, brief, standard and deep, in tenths.
`tools/depth_points.py` learns them from the labelled lines of the tests.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Iterable
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from core.loop.depth import Depth
from modules.depth.line_signs import signs_of

DEPTHS: tuple[Depth, ...] = ("social", "brief", "standard", "deep")
MOST_UNKNOWN = 3
"""Unknown words that are counted: more of them say no more."""
_TABLE = Path(__file__).with_name("points.tsv")
_TOLD = 3
"""Signs that are told of a line."""

Points = tuple[int, ...]


class Tally(NamedTuple):
    """Points of a line for each of `DEPTHS`, in tenths.

    *words* gave the winner the most, and *evidence* is what they gave together: shape alone, as
    that a line is short, tells of nothing.
    """

    points: Points
    words: tuple[str, ...]
    evidence: int

    @property
    def depth(self) -> Depth:
        return DEPTHS[self.points.index(max(self.points))]

    def lead(self, depth: Depth) -> int:
        """Return by how much *depth* leads all others; less than 0 where one of them leads."""
        at = DEPTHS.index(depth)
        return self.points[at] - max(self.points[:at] + self.points[at + 1 :])


def plain_words(line: str) -> tuple[str, ...]:
    """Return the words of *line* that gave its depth the most, as people read them."""
    signs = (sign.strip("^$ ") for sign in tally(line).words)
    return tuple(dict.fromkeys(sign for sign in signs if sign and not sign.startswith("(")))


@lru_cache(maxsize=16)
def tally(line: str) -> Tally:
    """Return the points of *line*."""
    table, signs = _table(), signs_of(line)
    found = {sign: table[sign] for sign in known_signs(signs, table) if sign in table}
    sums = tuple(map(sum, zip(*found.values(), strict=True)))
    best = sums.index(max(sums))
    words = sorted((one for one in found if _tells(one)), key=lambda one: -found[one][best])
    told = [one for one in words if found[one][best] > 0][:_TOLD]
    return Tally(sums, tuple(told), sum(found[one][best] for one in told))


def known_signs(signs: Iterable[str], known: Container[str]) -> list[str]:
    """Return *signs*, and how many of the words among them are not *known*."""
    signs = list(signs)
    unknown = sum(is_word(sign) and sign not in known for sign in signs)
    return signs + [f"(unknown {one})" for one in range(1, min(unknown, MOST_UNKNOWN) + 1)]


def is_word(sign: str) -> bool:
    """Return whether *sign* is one word, or one Chinese character."""
    return sign.isalpha() and (sign.isascii() or len(sign) == 1)


def _tells(sign: str) -> bool:
    return sign == "(picture)" or not (sign.startswith("(") or sign == "?$")


class _Table:
    """The points of each sign, a row being read once it is asked for: a line has few of them."""

    def __init__(self, text: str) -> None:
        self._rows = text.rstrip("\n").split("\n")[1:]  # sorted

    def __contains__(self, sign: object) -> bool:
        return isinstance(sign, str) and self._find(sign) is not None

    def __getitem__(self, sign: str) -> Points:
        if (row := self._find(sign)) is None:
            raise KeyError(sign)
        return tuple(map(int, row.split("\t")[1:]))

    def _find(self, sign: str) -> str | None:
        start = f"{sign}\t"
        at = bisect_left(self._rows, start)
        row = self._rows[at] if at < len(self._rows) else ""
        return row if row.startswith(start) else None


@cache
def _table() -> _Table:
    return _Table(_TABLE.read_bytes().decode())
