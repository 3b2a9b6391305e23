"""Columns of tables: how wide each is, and which have room beside each other."""

from __future__ import annotations

from modules.documents.outline import Rows, Spans, plain_text
from modules.documents.worker.slide_fit import text_width

CELL_MARGINS = 14.0, 8.0
"""Points beside and above the text of a cell."""
WIDER = 1.08
"""Times that the letters of a font may be wider than usual ones, as where the usual one is missing
and DejaVu stands in for it."""


def even_rows(rows: Rows) -> list[tuple[Spans, ...]]:
    """Return *rows* with as many cells as the longest has."""
    columns = max(map(len, rows))
    return [(*row, *[()] * (columns - len(row))) for row in rows]


def column_widths(rows: Rows, points: float, width: float) -> tuple[float, ...]:
    """Return how wide each column is to be, *width* points together: wider where more stands.

    A word is broken only where all words would not fit.
    """
    least, wanted = _least_widths(rows, points), []
    for column, room in zip(zip(*rows, strict=True), least, strict=True):
        widest = min(max(text_width(plain_text(cell), points) for cell in column) * WIDER, 320.0)
        wanted.append(max(room, widest + 2 * CELL_MARGINS[0]))
    if sum(wanted) <= width or sum(least) >= width:
        chosen = wanted if sum(wanted) <= width else least
        return tuple(one * width / sum(chosen) for one in chosen)
    share = (width - sum(least)) / (sum(wanted) - sum(least))
    return tuple(low + share * (high - low) for low, high in zip(least, wanted, strict=True))


def column_groups(rows: Rows, points: float, width: float) -> list[Rows]:
    """Return the tables, each *width* points wide at most, that one of *rows* is to be.

    Where all of its columns have no room, further ones stand in tables of their own, each behind
    the first column, which says what its rows are of.
    """
    least = _least_widths(rows, points)
    groups: list[list[int]] = [[0]]
    for column in range(1, len(least)):
        if len(groups[-1]) > 1 and sum(least[one] for one in (*groups[-1], column)) > width:
            groups.append([0])
        groups[-1].append(column)
    heads = [tuple(span for span in row[0] if not span.note) for row in rows]  # noted once
    return [
        [
            (head if number else row[0], *(row[column] for column in group[1:]))
            for head, row in zip(heads, rows, strict=True)
        ]
        for number, group in enumerate(groups)
    ]


def _least_widths(rows: Rows, points: float) -> list[float]:
    """Return how many points each column needs so that no word of usual length is broken."""
    least = []
    for column in zip(*rows, strict=True):
        words = (word for cell in column for word in plain_text(cell).split())
        widest = max((text_width(word, points) for word in words), default=0.0)
        least.append(max(min(widest * WIDER, 160.0), 24.0) + 2 * CELL_MARGINS[0])
    return least
