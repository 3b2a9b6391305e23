"""Cells far from the others in a row of a sheet: with their column, not behind a line of bars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_MAX_GAP = 50  # empty cells in a row of which each is shown


def without_gaps(cells: Iterable[str]) -> Iterator[str]:
    """Yield *cells*; for very many empty ones "…", and the column of the next that is not."""
    gap = 0
    for column, text in enumerate(cells, 1):
        if not text:
            gap += 1
            continue
        if gap > _MAX_GAP:
            yield "…"
            yield f"{_letters(column)}: {text}"
        else:
            yield from ("" for _ in range(gap))
            yield text
        gap = 0


def _letters(column: int) -> str:
    """Return the name of *column*, which counts from 1: "AB" for 28.

    As `openpyxl.utils.get_column_letter`, which an OpenDocument sheet need not load all of it for.
    """
    name = ""
    while column:
        column, letter = divmod(column - 1, 26)
        name = f"{chr(ord('A') + letter)}{name}"
    return name
