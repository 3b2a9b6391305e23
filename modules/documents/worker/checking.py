"""Checks of a document that is to be handed over: whole, not empty, and all text on its page."""

from __future__ import annotations

from typing import Any

from modules.documents.kinds import Kind
from modules.documents.worker import slide_fit
from modules.documents.worker.archives import check_archive, open_archive
from modules.documents.worker.problems import Problem
from modules.documents.worker.reading import pdf, sheets, slides
from modules.documents.worker.reading.texts import document_lines

_END_OF_PDF = b"%%EOF"
_TAIL = 2048
"""Bytes in which a whole PDF says that it ends (ISO 32000-1, implementation note 18: 1,024)."""
_TEXT = 1
"""FPDF_PAGEOBJ_TEXT of pdfium's fpdf_edit.h."""
_TOLERANCE_POINTS = 4.0


def check(kind: Kind, data: bytes, part: str) -> None:
    """Raise `Problem` unless *data* is a whole document of *kind* that shows something.

    Of one whose *part* alone is ours, no more is asked of the others.
    """
    if not data:
        raise Problem("empty")
    if kind == "pdf":
        _check_pdf(data)
        return
    if kind != "ipynb":
        check_archive(data)
    lines, _ = document_lines(kind, data)
    if not _shows_something(lines) and not _has_media(kind, data):
        raise Problem("empty")
    if kind == "pptx":
        _check_slides(data, part)
    elif kind == "xlsx" and not part:  # what was just written has no values yet
        _check_sheets(data)


def _shows_something(lines: list[str]) -> bool:
    return any(line.strip("# ") and not line.startswith("--- ") for line in lines)


def _has_media(kind: Kind, data: bytes) -> bool:
    if kind == "ipynb":
        return False
    with open_archive(data) as archive:
        return any("media/" in name or "Pictures/" in name for name in archive.namelist())


def _check_pdf(data: bytes) -> None:
    if not data.rstrip(b"\0 \r\n\t").endswith(_END_OF_PDF) and _END_OF_PDF not in data[-_TAIL:]:
        raise Problem("damaged")
    is_empty = True
    with pdf.opened(data) as document:
        for number in range(1, len(document) + 1):
            page = document[number - 1]
            left, bottom, right, top = page.get_bbox()
            for one in page.get_objects(max_depth=4):
                is_empty = False
                if one.type == _TEXT and _stands_out(one, left, bottom, right, top):
                    raise Problem("outside", place="page", number=number)
            page.close()
    if is_empty:
        raise Problem("empty")


def _stands_out(one: Any, left: float, bottom: float, right: float, top: float) -> bool:
    x1, y1, x2, y2 = one.get_bounds()
    slack = _TOLERANCE_POINTS
    is_outside = x1 < left - slack or y1 < bottom - slack or x2 > right + slack or y2 > top + slack
    return bool(is_outside and x2 > x1 and y2 > y1)


def _check_slides(data: bytes, part: str) -> None:
    presentation = slides.opened(data)
    width, height = presentation.slide_width, presentation.slide_height
    for number, slide in enumerate(presentation.slides, 1):
        if part and number != int(part):
            continue
        if any(slide_fit.is_outside(shape, width, height) for shape in slide.shapes):
            raise Problem("outside", place="slide", number=number)


def _check_sheets(data: bytes) -> None:
    """Raise `Problem` for a value that a formula could not work out when it was saved."""
    workbook = sheets.opened(data, values=True)
    for name in workbook.sheetnames:
        sheet = workbook[name]
        if not hasattr(sheet, "iter_rows"):
            continue
        sheet.reset_dimensions()
        for row in sheet.iter_rows():
            for cell in row:
                if getattr(cell, "data_type", "") == "e":
                    place = f"{name}!{cell.coordinate}"
                    raise Problem("formula", cell=place, value=str(cell.value))
