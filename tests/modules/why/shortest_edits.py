"""What two texts alone say of where lines come from: what all the shortest edits agree on.

Of a line that equals others nobody can always tell which of them stayed. The model of that here is
slow and plain: all ways to turn one text into the other at the least cost, where a line that both
have once is worth more than any number of others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

_WORTH_OF_UNIQUE = 1_000


class ShortestEdits:
    """All the ways from the text *old* to *new* that keep the most."""

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        self._old, self._new = old, new
        self._counts = Counter(old), Counter(new)
        self._from_top = self._table(old, new)
        table = self._table(old[::-1], new[::-1])
        self._from_end = [row[::-1] for row in table[::-1]]

    @cached_property
    def kept(self) -> int:
        """The worth of what is kept at most."""
        return self._from_top[-1][-1]

    def worth(self, line: str) -> int:
        is_unique = all(count[line] == 1 for count in self._counts)
        return _WORTH_OF_UNIQUE if is_unique else 1

    def sources(self, place: int) -> tuple[list[int], bool]:
        """Return which old lines the new one at *place* may be, and whether it may be new."""
        top, end = self._from_top, self._from_end
        line = self._new[place]
        same = [
            n
            for n, one in enumerate(self._old)
            if one == line and top[n][place] + self.worth(line) + end[n + 1][place + 1] == self.kept
        ]
        may_be_new = any(
            top[n][place] + end[n][place + 1] == self.kept for n in range(len(self._old) + 1)
        )
        return same, may_be_new

    def _table(self, old: Sequence[str], new: Sequence[str]) -> list[list[int]]:
        table = [[0] * (len(new) + 1)]
        for line in old:
            row = [0]
            for place, other in enumerate(new):
                keeps = table[-1][place] + self.worth(line) if line == other else 0
                row.append(max(row[place], table[-1][place + 1], keeps))
            table.append(row)
        return table
