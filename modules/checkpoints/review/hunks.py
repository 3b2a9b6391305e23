"""Hunks of a text's change, which a person accepts or reverts one by one; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from utils.text.line_diff import LineChange, line_changes, with_ends

_CONTEXT_LINES = 3


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


def revert_hunk(old: str, new: str, hunk: Hunk) -> str:
    """Return *new* with *hunk*, one of those between the two, taken back."""
    before, after = with_ends(old), with_ends(new)
    old_lines = before[hunk.start : hunk.end]
    return "".join([*after[: hunk.new_start], *old_lines, *after[hunk.new_end :]])


def apply_hunk(old: str, new: str, hunk: Hunk) -> str:
    """Return *old* with *hunk*, one of those between the two, and no other change."""
    before, after = with_ends(old), with_ends(new)
    new_lines = after[hunk.new_start : hunk.new_end]
    return "".join([*before[: hunk.start], *new_lines, *before[hunk.end :]])


def _groups(changes: Sequence[LineChange]) -> list[list[LineChange]]:
    """Join the changes whose surroundings would meet."""
    groups: list[list[LineChange]] = []
    for change in changes:
        if groups and change.start - groups[-1][-1].end <= 2 * _CONTEXT_LINES:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _hunk(old: Sequence[str], new: Sequence[str], changes: Sequence[LineChange]) -> Hunk:
    start, end = changes[0].start, changes[-1].end
    new_start, new_end = changes[0].new_start, changes[-1].new_end
    above = min(_CONTEXT_LINES, start)
    below = old[end : end + _CONTEXT_LINES]
    diff_lines = [_diff_line(" ", line) for line in old[start - above : start]]
    position = start
    for change in changes:
        diff_lines += [_diff_line(" ", line) for line in old[position : change.start]]
        diff_lines += [_diff_line("-", line) for line in old[change.start : change.end]]
        diff_lines += [_diff_line("+", line) for line in new[change.new_start : change.new_end]]
        position = change.end
    diff_lines += [_diff_line(" ", line) for line in below]
    sizes = end - start + above + len(below), new_end - new_start + above + len(below)
    first_lines = start - above + (sizes[0] > 0), new_start - above + (sizes[1] > 0)
    header = f"@@ -{first_lines[0]},{sizes[0]} +{first_lines[1]},{sizes[1]} @@"
    added = sum(change.added for change in changes)
    removed = sum(change.removed for change in changes)
    return Hunk(start, end, new_start, new_end, "\n".join([header, *diff_lines]), added, removed)


def _diff_line(sign: str, line: str) -> str:
    if line.endswith("\n"):
        return sign + line[:-1]
    return f"{sign}{line}\n\\ No newline at end of file"
