"""Text of the diagrams (SmartArt) of Word and PowerPoint, which stand in parts of their own."""

from __future__ import annotations

from collections.abc import Iterator

from modules.documents.worker.xml import Element

DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"


def diagram_texts(data: Element) -> Iterator[str]:
    """Yield the texts of the diagram whose model is *data*, in the order in which it has them."""
    for point in data.iter(f"{DIAGRAM}pt"):
        pieces = (text.text or "" for text in point.iter(f"{_DRAWING}t"))
        if text := " ".join("".join(pieces).split()):
            yield text
