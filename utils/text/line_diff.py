"""The difference of two texts, line by line: found once for merging, for hunks and for the eye."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import AnyStr, NamedTuple

from utils.text.lines import with_count

MOST_LINES = 20_000
"""Differing lines that are compared: the time for it grows with the square."""
_CONTEXT = 3
WHOLE = 1 << 40
"""Lines of context for which a diff has all of the text."""


class LineChange(NamedTuple):
    """Lines *start* to *end* (exclusive) of the old text become *new_start* to *new_end*."""

    start: int
    end: int
    new_start: int
    new_end: int

    @property
    def removed(self) -> int:
        return self.end - self.start

    @property
    def added(self) -> int:
        return self.new_end - self.new_start


def differing(old: Sequence[object], new: Sequence[object]) -> LineChange:
    """Return the one change that spans all that differs; it is empty where nothing does."""
    head = _common_prefix_length(old, new)
    tail = _common_prefix_length(old[head:][::-1], new[head:][::-1])
    return LineChange(head, len(old) - tail, head, len(new) - tail)


def line_changes(
    old: Sequence[AnyStr],
    new: Sequence[AnyStr],
    *,
    most: int = MOST_LINES,
    exact_up_to: int = MOST_LINES,
) -> list[LineChange] | None:
    """Return what differs, from top to bottom, the same for the same lines.

    With more than *exact_up_to* differing lines frequent ones are not compared with each other.
    None stands for more than *most*, which cannot be found out in reasonable time.
    """
    span = differing(old, new)
    count = span.removed + span.added
    if not count:
        return []
    if count > most:
        return None
    from difflib import SequenceMatcher  # 9 ms: only when something changed

    matcher = SequenceMatcher(
        None,
        old[span.start : span.end],
        new[span.new_start : span.new_end],
        autojunk=count > exact_up_to,
    )
    by = span.start
    return [
        LineChange(start + by, end + by, new_start + by, new_end + by)
        for kind, start, end, new_start, new_end in matcher.get_opcodes()
        if kind != "equal"
    ]


def _common_prefix_length(one: Sequence[object], other: Sequence[object]) -> int:
    """Return how many items the two begin with in common."""
    for number, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return number
    return min(len(one), len(other))


def with_ends(text: str) -> list[str]:
    """Return the lines of *text* with their ends; only a newline ends one."""
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


class Difference(NamedTuple):
    """A unified diff without the lines that name files, and how many lines come and go."""

    diff: str
    added: int
    removed: int

    def truncated(self, lines: int) -> str:
        """Return the diff, with at most *lines* lines of it."""
        parts = self.diff.split("\n")
        if len(parts) <= lines:
            return self.diff
        return "\n".join([*parts[:lines], f"… {with_count(len(parts) - lines, 'more line')}"])


def text_diff(before: str, after: str, context: int = _CONTEXT) -> Difference:
    """Return what changed between two texts whose lines end in "\\n", with *context* lines that
    did not before and behind it."""
    old, new = _diff_lines(before), _diff_lines(after)
    span = differing(old, new)
    start = max(0, span.start - context)
    old, new = old[start : span.end + context], new[start : span.new_end + context]
    lines = [_offset_opcodes(line, start) for line in _unified(old, new, context)]
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    return Difference("\n".join(lines), added, removed)


def _unified(old: list[str], new: list[str], context: int) -> list[str]:
    import difflib  # 9 ms: only when something changed

    return list(difflib.unified_diff(old, new, lineterm="", n=context))[2:]


def _diff_lines(text: str) -> list[str]:
    lines = text.split("\n")
    if lines[-1]:
        lines[-1] += "\n\\ No newline at end of file"
        return lines
    return lines[:-1]


_HUNK = re.compile(r"^@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@$")


def _offset_opcodes(line: str, offset: int) -> str:
    """Return *line*, the line numbers of a hunk's head moved by the lines that were left out."""
    if match := _HUNK.match(line):
        old, old_size, new, new_size = match.groups("")
        return f"@@ -{int(old) + offset}{old_size} +{int(new) + offset}{new_size} @@"
    return line
