"""What stands on a page of a PDF beside its text: fields of forms, as filled in, and comments."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

_CHOSEN = frozenset({pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON})
_BUTTON = pdfium.FPDF_FORMFIELD_PUSHBUTTON
_FREE_TEXT = pdfium.FPDF_ANNOT_FREETEXT
_COMMENTS = frozenset(
    {
        *(pdfium.FPDF_ANNOT_TEXT, _FREE_TEXT, pdfium.FPDF_ANNOT_HIGHLIGHT),
        *(pdfium.FPDF_ANNOT_UNDERLINE, pdfium.FPDF_ANNOT_SQUIGGLY, pdfium.FPDF_ANNOT_STRIKEOUT),
        *(pdfium.FPDF_ANNOT_CARET, pdfium.FPDF_ANNOT_STAMP, pdfium.FPDF_ANNOT_SQUARE),
    }
)


def annotation_lines(document: pypdfium2.PdfDocument, page: pypdfium2.PdfPage) -> Iterator[str]:
    """Yield a line for each field of *page* that is filled in, and for each comment."""
    said: set[str] = set()
    for number in range(pdfium.FPDFPage_GetAnnotCount(page)):
        annotation = pdfium.FPDFPage_GetAnnot(page, number)
        try:
            line = _line(document, annotation)
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)
        if line and line not in said:  # each button of a group is an annotation of its own
            said.add(line)
            yield line


def _line(document: pypdfium2.PdfDocument, annotation: Any) -> str:
    subtype = pdfium.FPDFAnnot_GetSubtype(annotation)
    if subtype in _COMMENTS:
        text = _text(lambda *to: pdfium.FPDFAnnot_GetStringValue(annotation, b"Contents", *to))
        return f"[{'text' if subtype == _FREE_TEXT else 'comment'}: {text}]" if text else ""
    if subtype != pdfium.FPDF_ANNOT_WIDGET or document.formenv is None:
        return ""
    form = document.formenv
    kind = pdfium.FPDFAnnot_GetFormFieldType(form, annotation)
    if kind == _BUTTON or (kind in _CHOSEN and not pdfium.FPDFAnnot_IsChecked(form, annotation)):
        return ""
    name = _text(lambda *to: pdfium.FPDFAnnot_GetFormFieldName(form, annotation, *to))
    value = _text(lambda *to: pdfium.FPDFAnnot_GetFormFieldValue(form, annotation, *to))
    return f"[field {name}: {value}]" if value else ""


def _text(read: Callable[[Any, int], int]) -> str:
    """Return the text that *read* puts into a buffer: as UTF-16, its bytes with the end counted."""
    size = read(None, 0)
    if size <= 2:
        return ""
    buffer = ctypes.create_string_buffer(size)
    read(ctypes.cast(buffer, ctypes.POINTER(pdfium.FPDF_WCHAR)), size)
    return " ".join(buffer.raw[: size - 2].decode("utf-16-le", "replace").split())
