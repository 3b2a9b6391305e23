"""Text of a PDF, by page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pypdfium2

from modules.documents.worker.problems import Problem
from modules.documents.worker.reading.box_font import install_box_font
from modules.documents.worker.reading.pdf_annotations import annotation_lines

_IMAGE = 3
"""FPDF_PAGEOBJ_IMAGE of pdfium's fpdf_edit.h."""
_EAST_ASIAN = r"[\u3000-\u30ff\u31f0-\u9fff\uf900-\ufaff\uff01-\uff60]"
_COLUMN = re.compile(rf"^(?:{_EAST_ASIAN}{{1,3}} ?{_EAST_ASIAN}?(?:\n|\Z)){{5,}}", re.MULTILINE)
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_OPENING, _CLOSING = "([{", ")]}"
_TURNED = dict(zip(_OPENING, _CLOSING, strict=True))
_PASSWORD = 4
"""FPDF_ERR_PASSWORD of pdfium's fpdfview.h."""


@contextmanager
def opened(data: bytes) -> Iterator[pypdfium2.PdfDocument]:
    """Yield the PDF *data*. Raises `Problem`."""
    install_box_font()
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        is_locked = getattr(error, "err_code", None) == _PASSWORD
        raise Problem("encrypted" if is_locked else "damaged") from None
    try:
        if not len(document):
            raise Problem("empty")
        yield document
    finally:
        document.close()


def lines(data: bytes) -> tuple[list[str], Sequence[int]]:
    """Return the text of the PDF *data*, and which of its pages, from 1, are only scanned."""
    found: list[str] = []
    scanned: list[int] = []
    with opened(data) as document:
        document.init_forms()
        for number in range(1, len(document) + 1):
            page = document[number - 1]
            text = page_text(page)
            if not text.strip() and has_image(page):
                scanned.append(number)
            found += [f"--- page {number} ---", *text.splitlines()]
            found += annotation_lines(document, page)
            page.close()
    return found, scanned


def page_text(page: pypdfium2.PdfPage) -> str:
    """Return the text of *page*, in its reading order."""
    text_page = page.get_textpage()
    try:
        text: str = text_page.get_text_range()
    finally:
        text_page.close()
    # pdfium marks a word that is hyphenated at the end of a line by U+FFFE or U+0002.
    text = text.replace("\ufffe\r\n", "").replace("\x02\r\n", "").replace("\ufffe", "-")
    text = text.replace("\r\n", "\n").replace("\x02", "-").replace("\0", "")
    return _joined("\n".join(map(_with_brackets_turned, text.split("\n"))))


def _with_brackets_turned(line: str) -> str:
    """Return *line* with the brackets around words that are read from the right turned around.

    A PDF has them as they are drawn: mirrored.
    """
    if not _RIGHT_TO_LEFT.search(line):
        return line
    letters, opened = list(line), 0
    closing: list[int] = []  # where one is closed that was not opened
    for place, letter in enumerate(line):
        if letter in _CLOSING and not opened:
            closing.append(place)
        elif letter in _CLOSING:
            opened -= 1
        elif letter in _OPENING and closing and line[closing[-1]] == _TURNED[letter]:
            first = closing.pop()
            letters[first], letters[place] = letter, line[first]
        elif letter in _OPENING:
            opened += 1
    return "".join(letters)


def _joined(text: str) -> str:
    """Return *text* with characters that stand one below the other, as in columns that are read
    from above, in one line; a list of short words is none.
    """
    return _COLUMN.sub(lambda found: _one_line(found[0]), text)


def _one_line(column: str) -> str:
    lines = column.splitlines()
    alone = sum(len(line) == 1 for line in lines)
    return f"{''.join(lines)}\n" if alone * 4 >= len(lines) * 3 else column


def has_image(page: pypdfium2.PdfPage) -> bool:
    return any(one.type == _IMAGE for one in page.get_objects(max_depth=4))
