"""The parts of a text's change that a person takes or takes back one by one; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from utils.text.line_diff import LineChange, line_changes, with_ends

_CONTEXT = 3


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
    before, after = with_ends(old), with_ends(new)
    changes = line_changes(before, after, exact_up_to=0)
    if changes is None:
        return None
    return [_hunk(before, after, group) for group in _groups(changes)]


def without(old: str, new: str, hunk: Hunk) -> str:
    """Return *new* with *hunk*, one of those between the two, taken back."""
    before, after = with_ends(old), with_ends(new)
    kept = before[hunk.start : hunk.end]
    return "".join([*after[: hunk.new_start], *kept, *after[hunk.new_end :]])


def with_only(old: str, new: str, hunk: Hunk) -> str:
    """Return *old* with *hunk*, one of those between the two, and no other change."""
    before, after = with_ends(old), with_ends(new)
    taken = after[hunk.new_start : hunk.new_end]
    return "".join([*before[: hunk.start], *taken, *before[hunk.end :]])


def _groups(changes: Sequence[LineChange]) -> list[list[LineChange]]:
    """Join the changes whose surroundings would meet."""
    groups: list[list[LineChange]] = []
    for change in changes:
        if groups and change.start - groups[-1][-1].end <= 2 * _CONTEXT:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _hunk(old: Sequence[str], new: Sequence[str], changes: Sequence[LineChange]) -> Hunk:
    start, end = changes[0].start, changes[-1].end
    new_start, new_end = changes[0].new_start, changes[-1].new_end
    above = min(_CONTEXT, start)
    below = old[end : end + _CONTEXT]
    rows = [_row(" ", line) for line in old[start - above : start]]
    done = start
    for change in changes:
        rows += [_row(" ", line) for line in old[done : change.start]]
        rows += [_row("-", line) for line in old[change.start : change.end]]
        rows += [_row("+", line) for line in new[change.new_start : change.new_end]]
        done = change.end
    rows += [_row(" ", line) for line in below]
    sizes = end - start + above + len(below), new_end - new_start + above + len(below)
    places = start - above + (sizes[0] > 0), new_start - above + (sizes[1] > 0)
    mark = f"@@ -{places[0]},{sizes[0]} +{places[1]},{sizes[1]} @@"
    added = sum(change.added for change in changes)
    removed = sum(change.removed for change in changes)
    return Hunk(start, end, new_start, new_end, "\n".join([mark, *rows]), added, removed)


def _row(sign: str, line: str) -> str:
    if line.endswith("\n"):
        return sign + line[:-1]
    return f"{sign}{line}\n\\ No newline at end of file"
