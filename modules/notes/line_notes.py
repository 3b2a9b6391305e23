"""Notes on lines: found again by their text and their neighbours, stale when changed."""

from __future__ import annotations

import re
import zlib
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from utils.frozen import frozen

MAX_LINES = 500
"""Lines that one note may be about."""
_NEIGHBOURS = 8
_MAX_GROWTH = 200
"""Lines that what stands between two neighbours may have more than before."""
_PROTECTING = (
    r"(?:please )?(?:do not|don['’]?t|never) touch\b"
    r"|(?:请)?(?:不要|别|勿|切勿|不许|禁止)(?:改|修改|触碰|碰)|(?:请)?(?:不要|别|勿)动(?!态|画|手|用|作|力)"
)


@frozen
class LineNote:
    """A note on the lines *start* to *end* (from 1, inclusive) of a file.

    It is anchored by checksums, which tell nobody what the lines say: of its *lines* as they were
    noted, and of the lines next to them, *above* and *below*, from top to bottom. One that
    *is_stale* stands where its lines were, which have changed or are gone.
    """

    start: int
    end: int
    text: str
    lines: tuple[int, ...] = ()
    above: tuple[int, ...] = ()
    below: tuple[int, ...] = ()
    is_stale: bool = False

    @property
    def is_protecting(self) -> bool:
        """Whether its lines are not to be touched."""
        return is_protecting(self.text)

    @property
    def place(self) -> str:
        """Its lines as they are typed: "3" or "3-5"."""
        return str(self.start) if self.start == self.end else f"{self.start}-{self.end}"


def is_protecting(text: str) -> bool:
    """Return whether the note *text* says that something is not to be touched."""
    return re.match(_PROTECTING, " ".join(text.split()).casefold()) is not None


def anchored(start: int, end: int, text: str, lines: Sequence[str]) -> LineNote:
    """Return a note on the lines *start* to *end* of a file of *lines*."""
    return _placed(LineNote(start, end, text), start - 1, end, _checksums(lines))


def located(notes: Sequence[LineNote], lines: Sequence[str]) -> tuple[LineNote, ...]:
    """Return *notes* where they are in a file that now consists of *lines*, in order."""
    sums = _checksums(lines) if notes else ()
    return tuple(sorted((_located(note, sums) for note in notes), key=lambda n: (n.start, n.end)))


def _checksums(lines: Sequence[str]) -> tuple[int, ...]:
    return tuple(zlib.crc32(line.encode("utf-8", "surrogatepass")) for line in lines)


def _placed(note: LineNote, start: int, end: int, sums: Sequence[int]) -> LineNote:
    """Return *note* with the lines from *start* (from 0) to *end* (exclusive) as its anchor."""
    return replace(
        note,
        start=start + 1,
        end=end,
        lines=tuple(sums[start:end]),
        above=tuple(sums[max(0, start - _NEIGHBOURS) : start]),
        below=tuple(sums[end : end + _NEIGHBOURS]),
        is_stale=False,
    )


def _located(note: LineNote, sums: Sequence[int]) -> LineNote:
    """Return *note* where its lines are; stale where the place that had them has others now.

    The same text may stand elsewhere too: the place with more of the old neighbours counts.
    """
    count = len(note.lines)
    same = [(start, start + count) for start in _occurrences(note.lines, sums)]
    gap = max(_gaps(note, sums), key=lambda place: _rank(note, place, sums), default=None)
    if gap:
        same = [one for one in same if _is_inside(one, gap)] or [
            one for one in same if _kinship(note, one, sums) >= _kinship(note, gap, sums)
        ]
    if same:
        best = max(same, key=lambda place: _rank(note, place, sums))
        return _placed(note, *best, sums)
    start, end = gap or (note.start - 1, note.end)
    start = max(0, min(start, len(sums) - 1))
    end = max(start + 1, min(end, len(sums)))
    return replace(note, start=start + 1, end=end, is_stale=True)


def _is_inside(inner: tuple[int, int], outer: tuple[int, int]) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def _occurrences(wanted: Sequence[int], sums: Sequence[int]) -> Iterator[int]:
    wanted = tuple(wanted)
    for start in range(len(sums) - len(wanted) + 1) if wanted else ():
        if sums[start] == wanted[0] and tuple(sums[start : start + len(wanted)]) == wanted:
            yield start


def _gaps(note: LineNote, sums: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the places between the lines that were directly above and directly below."""
    starts = [n + 1 for n, line in enumerate(sums) if note.above and line == note.above[-1]]
    ends = [n for n, line in enumerate(sums) if note.below and line == note.below[0]]
    starts = starts if note.above else [0]
    ends = ends if note.below else [len(sums)]
    most = len(note.lines) + _MAX_GROWTH
    for start in starts:
        position = bisect_left(ends, start)
        if position < len(ends) and ends[position] - start <= most:
            yield start, ends[position]


def _rank(note: LineNote, place: tuple[int, int], sums: Sequence[int]) -> tuple[int, int]:
    return _kinship(note, place, sums), -abs(place[0] + 1 - note.start)


def _kinship(note: LineNote, place: tuple[int, int], sums: Sequence[int]) -> int:
    """Return how many of the old neighbours are still next to *place*."""
    start, end = place
    above = set(note.above).intersection(sums[max(0, start - _NEIGHBOURS) : start])
    below = set(note.below).intersection(sums[end : end + _NEIGHBOURS])
    return len(above) + len(below)


def rewound(
    notes: Sequence[LineNote], wanted: Sequence[Sequence[Any]], lines: Sequence[str]
) -> tuple[LineNote, ...]:
    """Return the notes that a file of *lines* has when it is to have *wanted* again.

    Each of these is a first line, a last line and a text. One of the same text among *notes* is
    that one still, and where it is now.
    """
    left, kept = list(notes), []
    for start, end, text in wanted:
        same = [note for note in left if note.text == text]
        if same:
            found = min(same, key=lambda note: abs(note.start - start))
            left.remove(found)
            kept.append(found)
        elif end <= len(lines):
            kept.append(anchored(start, end, text, lines))
    return located(kept, lines)
