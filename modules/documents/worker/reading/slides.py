"""Text of a PowerPoint presentation: slide by slide, in their order, with notes and tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import Any

from pptx import Presentation

from modules.documents.worker.archives import as_plain, as_usual
from modules.documents.worker.problems import Problem
from modules.documents.worker.reading.charts import chart_lines
from modules.documents.worker.reading.diagrams import DIAGRAM, diagram_texts
from modules.documents.worker.xml import parse

_DATA_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}dm"
_TOP_FIRST = 100_000
"""EMU (914,400 an inch) within which shapes are of one row."""


def opened(data: bytes) -> Any:
    """Return the presentation *data*. Raises `Problem`."""
    return Presentation(BytesIO(as_usual(as_plain("pptx", data))))


def lines(data: bytes) -> list[str]:
    """Return the text of the presentation *data*. Raises `Problem`."""
    found: list[str] = []
    for number, slide in enumerate(opened(data).slides, 1):
        found.append(f"--- slide {number}{_hidden_mark(slide)} ---")
        found += slide_lines(slide)
    if not found:
        raise Problem("empty")
    return found


def slide_lines(slide: Any) -> Iterator[str]:
    """Yield the text of *slide*: its title, its shapes from the top, its notes."""
    title = slide.shapes.title
    if title is not None and title.text_frame.text.strip():
        yield f"# {_plain(title.text_frame.text)}"
    others = (shape for shape in slide.shapes if title is None or shape.shape_id != title.shape_id)
    for shape in _in_order(others):
        yield from shape_lines(shape)
    if slide.has_notes_slide:
        notes = slide.notes_slide.notes_text_frame
        if notes is not None and notes.text.strip():
            yield "Notes:"
            yield from _plain(notes.text).split("\n")


def shape_lines(shape: Any) -> Iterator[str]:
    """Yield the text of *shape* and of what is in it."""
    if hasattr(shape, "shapes"):  # a group
        for inner in _in_order(shape.shapes):
            yield from shape_lines(inner)
    elif getattr(shape, "has_table", False) and shape.has_table:
        for row in shape.table.rows:
            cells = (" ".join(cell.text_frame.text.split()) for cell in row.cells)
            yield f"| {' | '.join(cells)} |"
    elif getattr(shape, "has_chart", False) and shape.has_chart:
        yield from chart_lines(shape.chart._chartSpace)
    elif shape.has_text_frame:
        for paragraph in shape.text_frame.paragraphs:
            if text := _plain(paragraph.text).strip():
                yield f"{'  ' * paragraph.level}{text}"
    else:
        yield from (f"- {text}" for text in _diagram_texts(shape))
        described = shape._element.xpath(".//p:cNvPr/@descr")
        if described and described[0].strip():
            yield f"[picture: {_plain(described[0]).strip()}]"


def _diagram_texts(shape: Any) -> Iterator[str]:
    """Yield the texts of the diagram (SmartArt) that *shape* is, which stand in a part beside it.

    Raises `Problem`.
    """
    for named in shape._element.iter(f"{DIAGRAM}relIds"):
        relation = named.get(_DATA_ID, "")
        if relation in shape.part.rels and not shape.part.rels[relation].is_external:
            yield from diagram_texts(parse(shape.part.related_part(relation).blob))


def _in_order(shapes: Iterable[Any]) -> list[Any]:
    """Return *shapes* from the top down, those of a row from the left."""
    return sorted(shapes, key=lambda shape: ((shape.top or 0) // _TOP_FIRST, shape.left or 0))


def _hidden_mark(slide: Any) -> str:
    return ", hidden" if slide._element.get("show") in ("0", "false") else ""


def _plain(text: str) -> str:
    return text.replace("\v", "\n")
