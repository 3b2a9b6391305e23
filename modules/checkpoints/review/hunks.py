"""The parts of a text's change that a person takes or takes back one by one; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from modules.checkpoints.restore.merge3 import common

if TYPE_CHECKING:
    from difflib import SequenceMatcher

_CONTEXT = 3
_LONGEST = 20_000  # lines that differ; matching them takes time that grows with the square

Opcode = tuple[str, int, int, int, int]
"""What `SequenceMatcher.get_opcodes` gives: kind, and the lines of the old and the new text."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines *start* to *end* (exclusive) of the old text become *new_start* to *new_end*.

    *diff* shows that as a unified diff with some lines around it, heads of hunks included.
    """

    start: int
    end: int
    new_start: int
    new_end: int
    diff: str
    added: int
    removed: int


def hunks(old: str, new: str) -> list[Hunk] | None:
    """Return what differs between two texts, from top to bottom, the same for the same texts.

    None stands for more than can be found out in reasonable time.
    """
    before, after = lines_of(old), lines_of(new)
    head = common(before, after)
    tail = common(before[head:][::-1], after[head:][::-1])
    inner = before[head : len(before) - tail], after[head : len(after) - tail]
    if len(inner[0]) + len(inner[1]) > _LONGEST:
        return None
    from difflib import SequenceMatcher  # 9 ms: only when something changed

    codes = _moved(SequenceMatcher(None, *inner), head)
    return [_hunk(before, after, group) for group in _groups(codes)]


def without(old: str, new: str, hunk: Hunk) -> str:
    """Return *new* with *hunk*, one of those between the two, taken back."""
    before, after = lines_of(old), lines_of(new)
    kept = before[hunk.start : hunk.end]
    return "".join([*after[: hunk.new_start], *kept, *after[hunk.new_end :]])


def with_only(old: str, new: str, hunk: Hunk) -> str:
    """Return *old* with *hunk*, one of those between the two, and no other change."""
    before, after = lines_of(old), lines_of(new)
    taken = after[hunk.new_start : hunk.new_end]
    return "".join([*before[: hunk.start], *taken, *before[hunk.end :]])


def lines_of(text: str) -> list[str]:
    """Return the lines of *text* with their ends; only a newline ends one."""
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _moved(matcher: SequenceMatcher[str], by: int) -> list[Opcode]:
    return [
        (kind, start + by, end + by, new_start + by, new_end + by)
        for kind, start, end, new_start, new_end in matcher.get_opcodes()
        if kind != "equal"
    ]


def _groups(codes: Sequence[Opcode]) -> list[list[Opcode]]:
    """Join the changes whose surroundings would meet."""
    groups: list[list[Opcode]] = []
    for code in codes:
        if groups and code[1] - groups[-1][-1][2] <= 2 * _CONTEXT:
            groups[-1].append(code)
        else:
            groups.append([code])
    return groups


def _hunk(old: Sequence[str], new: Sequence[str], codes: Sequence[Opcode]) -> Hunk:
    start, end = codes[0][1], codes[-1][2]
    new_start, new_end = codes[0][3], codes[-1][4]
    above = min(_CONTEXT, start)
    below = old[end : end + _CONTEXT]
    rows = [_row(" ", line) for line in old[start - above : start]]
    done = start
    for _, first, last, new_first, new_last in codes:
        rows += [_row(" ", line) for line in old[done:first]]
        rows += [_row("-", line) for line in old[first:last]]
        rows += [_row("+", line) for line in new[new_first:new_last]]
        done = last
    rows += [_row(" ", line) for line in below]
    sizes = end - start + above + len(below), new_end - new_start + above + len(below)
    places = start - above + (sizes[0] > 0), new_start - above + (sizes[1] > 0)
    mark = f"@@ -{places[0]},{sizes[0]} +{places[1]},{sizes[1]} @@"
    added = sum(last - first for _, _, _, first, last in codes)
    removed = sum(last - first for _, first, last, _, _ in codes)
    return Hunk(start, end, new_start, new_end, "\n".join([mark, *rows]), added, removed)


def _row(sign: str, line: str) -> str:
    if line.endswith("\n"):
        return sign + line[:-1]
    return f"{sign}{line}\n\\ No newline at end of file"
