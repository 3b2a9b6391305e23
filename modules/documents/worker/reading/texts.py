"""The text of a document of any kind, as lines with marks for its pages, slides, sheets, cells."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from modules.documents.kinds import Kind
from modules.documents.worker.problems import Problem

_READERS: dict[Kind, str] = {
    "docx": "word",
    "pptx": "slides",
    "xlsx": "sheets",
    "pdf": "pdf",
    "odt": "open_document",
    "odp": "open_document",
    "ods": "open_document",
    "epub": "epub",
    "ipynb": "notebook",
}
_MAX_CHARACTERS = 20_000_000


def import_reader(kind: Kind) -> object:
    """Import what reads documents of *kind*: nothing can be imported by a confined process."""
    return import_module(f"modules.documents.worker.reading.{_READERS[kind]}")


def document_lines(kind: Kind, data: bytes) -> tuple[list[str], Sequence[int]]:
    """Return the lines of the document *data*, and which of its pages are only scanned.

    Raises `Problem`.
    """
    reader = import_reader(kind)
    found = reader.lines(data)  # type: ignore[attr-defined]
    lines, scanned = found if isinstance(found, tuple) else (found, ())
    if sum(map(len, lines)) > _MAX_CHARACTERS:
        raise Problem("memory")
    return [line for text in lines for line in text.split("\n")], scanned
