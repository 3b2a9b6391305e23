"""A file is opened before it is handed over: what is wrong with it is said."""

from __future__ import annotations

import pytest

from modules.documents.check import check_document
from tests.modules.documents.document_files import (
    archive,
    book,
    notebook,
    parts_of,
    sheet_file,
    slide_with_box,
    slides_file,
    word_file,
)
from tests.modules.documents.test_reading import PDF
from tests.picture_files import picture_file
from utils.i18n import UserError


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.docx", word_file()),
        ("a.pptx", slides_file()),
        ("a.xlsx", sheet_file()),
        ("a.pdf", PDF),
        ("a.epub", book()),
        ("a.ipynb", notebook()),
    ],
)
def test_a_whole_file_passes(name: str, data: bytes) -> None:
    check_document(name, data)


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.pptx", slides_file(body="long text " * 400), "slide 1 has text outside the page"),
        ("a.pptx", slide_with_box(9, 1, "far out"), "slide 3 has text outside the page"),
        ("a.pdf", PDF.replace(b"20 100 Td", b"250 100 Td"), "page 1 has text outside the page"),
        ("a.pdf", PDF[:-10], "cut off"),
        ("a.docx", archive({**parts_of(word_file()), "word/document.xml": b"<x/>"}), "damaged"),
        ("a.xlsx", sheet_file().replace(b"PK\x01\x02", b"PK\x01\x03", 1), "damaged"),
        ("a.docx", picture_file(), "damaged"),
        ("a.docx", b" \n", "is empty"),
    ],
)
def test_what_is_wrong_is_named(name: str, data: bytes, reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        check_document(name, data)
