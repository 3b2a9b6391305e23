"""Breaking text into lines by the cells that it takes on a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import east_asian_width

_UNIT = re.compile(r"(?:(?:(?=[\0-\u2e7f\ufff0-\U0010ffff])\S)+|.)[，。；：、）]*\s*")
"""Unit that is not split at the end of a line: a word, or one Chinese character.

It is written with ranges, for a negated set takes four times as long to compile.
"""


def wrapped(text: str, width: int) -> Iterator[str]:
    """Yield *text* in lines of at most *width* cells of the terminal, longer words apart."""
    line, cells = "", 0
    for unit in _UNIT.findall(text):
        unit_cells = _cells(unit.rstrip())
        if line and cells + unit_cells > width:
            yield line.rstrip()
            line, cells = "", 0
        line += unit
        cells += _cells(unit)
    yield line.rstrip()


def _cells(text: str) -> int:
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)
