"""Pages of a PDF as pictures, each with its text."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO

from modules.documents.worker.reading import pdf

_WIDTH = 1_200
"""Pixels of the longer side of a page."""
_MAX_SCALE = 4.0


def page_pictures(
    data: bytes, first: int, last: int, width: int = _WIDTH
) -> tuple[Sequence[bytes], list[str], int]:
    """Return the pages *first* to *last* of the PDF *data* as PNG, their texts, and how many there
    are in all. Their longer side has *width* pixels. Raises `Problem`.
    """
    pictures: list[bytes] = []
    texts: list[str] = []
    with pdf.opened(data) as document:
        count = len(document)
        for number in range(first, min(last, count) + 1):
            page = document[number - 1]
            scale = min(_MAX_SCALE, width / max(*page.get_size(), 1.0))
            file = BytesIO()
            page.render(scale=scale).to_pil().convert("RGB").save(file, "PNG")
            pictures.append(file.getvalue())
            texts.append(" ".join(pdf.page_text(page).split())[:_MAX_ALT])
            page.close()
    return pictures, texts, count


_MAX_ALT = 2_000
"""Characters of the text that stands for a page."""
