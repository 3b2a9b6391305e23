"""The alignment of two texts: which lines of the new one stood in the old one already.

Lines that both have once tell most, and stay before any others. Beside these as many as possible
do, in as few pieces as possible: a line such as "}" goes with what stands round it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from itertools import accumulate
from typing import NamedTuple

from utils.text.line_diff import differing, line_changes

_MOST_CELLS = 40_000
"""Pairs of lines that are compared between two aligned ones; beyond that it is an estimate."""
_MOST_LINES = 400_000  # differing lines; where more differ all of them are new
_EXACT_UP_TO = 3_000  # differing lines, of which an estimate compares frequent ones as well
_WORTH_OF_UNIQUE = 1_000
_NEVER = -(1 << 60)

Lines = Sequence[str]
Place = tuple[int, int]
"""Of a line in the old text, and in the new one."""
_Align = Callable[[Lines, Lines], Iterator["KeptLines"]]


class KeptLines(NamedTuple):
    """*length* lines from *start* of the old text on are those from *new_start* of the new one."""

    start: int
    new_start: int
    length: int


def kept_lines(old: Lines, new: Lines) -> list[KeptLines]:
    """Return what of *old* stays in *new*, from top to bottom."""
    span = differing(old, new)
    kept = [KeptLines(0, 0, span.start)]
    if span.removed and span.added and span.removed + span.added <= _MOST_LINES:
        middle = old[span.start : span.end], new[span.new_start : span.new_end]
        found = _Alignment(_unique(old) & _unique(new)).of(*middle)
        kept += _moved_by(found, span.start, span.new_start)
    kept.append(KeptLines(span.end, span.new_end, len(old) - span.end))
    return [one for one in kept if one.length]


def _unique(lines: Lines) -> Set[str]:
    return {line for line, count in Counter(lines).items() if count == 1}


def _moved_by(kept: Iterator[KeptLines], start: int, new_start: int) -> Iterator[KeptLines]:
    return (KeptLines(start + one.start, new_start + one.new_start, one.length) for one in kept)


class _Alignment:
    """Aligns parts of two texts that have the lines *unique* once each."""

    def __init__(self, unique: Set[str]) -> None:
        self._unique = unique

    def of(self, old: Lines, new: Lines) -> Iterator[KeptLines]:
        """Yield what stays, of *old* in *new*: for certain the lines that no other one crosses."""
        yield from _between(_uncrossed(self._places(old, new)), old, new, self._compared)

    def _places(self, old: Lines, new: Lines) -> list[Place]:
        """Return where the unique lines of both parts stand, in the order of the old one."""
        places = {line: place for place, line in enumerate(new) if line in self._unique}
        return [(n, places[line]) for n, line in enumerate(old) if line in places]

    def _compared(self, old: Lines, new: Lines) -> Iterator[KeptLines]:
        if _is_comparable(old, new):
            yield from _most_kept(old, new, self._unique)
        else:
            yield from _between(_most_in_order(self._places(old, new)), old, new, self._estimated)

    def _estimated(self, old: Lines, new: Lines) -> Iterator[KeptLines]:
        if _is_comparable(old, new):
            yield from _most_kept(old, new, self._unique)
            return
        changes = line_changes(old, new, most=_MOST_LINES, exact_up_to=_EXACT_UP_TO) or []
        start = new_start = 0
        for one in changes:
            yield KeptLines(start, new_start, one.start - start)
            start, new_start = one.end, one.new_end
        yield KeptLines(start, new_start, len(old) - start)


def _is_comparable(old: Lines, new: Lines) -> bool:
    return (len(old) + 1) * (len(new) + 1) <= _MOST_CELLS


def _between(places: Sequence[Place], old: Lines, new: Lines, align: _Align) -> Iterator[KeptLines]:
    """Yield the lines of *places*, and what *align* finds between them."""
    start = new_start = 0
    for place, new_place in [*places, (len(old), len(new))]:
        part, new_part = old[start:place], new[new_start:new_place]
        if part and new_part:
            yield from _moved_by(align(part, new_part), start, new_start)
        if place < len(old):
            yield KeptLines(place, new_place, 1)
        start, new_start = place + 1, new_place + 1


def _uncrossed(places: Sequence[Place]) -> list[Place]:
    """Return those of *places* that are in one order with all the others."""
    new_places = [new_place for _, new_place in places]
    most = list(accumulate(new_places, max))
    least = list(accumulate(reversed(new_places), min))[::-1]
    return [one for n, one in enumerate(places) if most[n] == one[1] == least[n]]


def _most_in_order(places: Sequence[Place]) -> list[Place]:
    """Return the most of *places* that are in one order."""
    ends: list[int] = []  # by the length of a row: the least place in the new text at its end
    last: list[int] = []  # and the number of the pair there
    before: list[int] = []  # by pair: the one before it in its row
    for number, (_, new_place) in enumerate(places):
        length = bisect_left(ends, new_place)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [new_place]
        last[length : length + 1] = [number]
    found = []
    number = last[-1] if last else -1
    while number >= 0:
        found.append(places[number])
        number = before[number]
    return found[::-1]


def _most_kept(old: Lines, new: Lines, unique: Set[str]) -> Iterator[KeptLines]:
    """Yield the most lines of *old* that can stay, in as few pieces as possible."""
    steps = _steps(old, new, unique)
    place, new_place = 0, 0
    is_kept = True
    while place < len(old) or new_place < len(new):
        step = steps[place][new_place][is_kept]
        is_kept = step == "keep"
        if is_kept:
            yield KeptLines(place, new_place, 1)
        place += step != "add"
        new_place += step != "remove"


def _steps(old: Lines, new: Lines, unique: Set[str]) -> list[list[tuple[str, str]]]:
    """Return the best next step from each pair of places, after a change and after a kept line.

    A kept line counts more than all the changes that there can be, and each change less one.
    """
    worth = len(old) + len(new) + 1
    below = below_kept = [0] * (len(new) + 1)  # the best from each place in *new* on
    steps = []
    for place in range(len(old), -1, -1):
        row, row_kept = [0] * (len(new) + 1), [0] * (len(new) + 1)
        row_steps = [("", "")] * (len(new) + 1)
        line = old[place] if place < len(old) else None
        line_worth = worth * _WORTH_OF_UNIQUE if line in unique else worth
        for new_place in range(len(new), -1, -1):
            if line is None and new_place == len(new):
                continue
            remove = below[new_place] if line is not None else _NEVER
            add = row[new_place + 1] if new_place < len(new) else _NEVER
            keep = _NEVER
            if new_place < len(new) and line == new[new_place]:
                keep = below_kept[new_place + 1] + line_worth
            change, step = (remove, "remove") if remove >= add else (add, "add")
            row[new_place] = max(keep, change)
            row_kept[new_place] = max(keep, change - 1)
            row_steps[new_place] = (
                "keep" if keep >= change else step,
                "keep" if keep >= change - 1 else step,
            )
        below, below_kept = row, row_kept
        steps.append(row_steps)
    return steps[::-1]
