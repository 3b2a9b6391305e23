"""Text of OpenDocument files: of a writer, of slides, of sheets."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from posixpath import normpath

from modules.documents.worker.archives import open_archive
from modules.documents.worker.problems import Problem
from modules.documents.worker.reading.stray_cells import without_gaps
from modules.documents.worker.xml import Element, attribute, name_of, part

_MAX_REPEATED = 100
"""Times that a repeated row is written out; of more, one line says which they are."""
_MAX_COLUMNS = 16_384
"""Of a sheet (LibreOffice 7.4 and Excel)."""
_BLOCKS = frozenset({"p", "h"})


def lines(data: bytes) -> list[str]:
    """Return the text of the document *data*. Raises `Problem`."""
    with open_archive(data) as archive:
        content = _content(part(archive, "content.xml"))
        if content is None:
            raise Problem("damaged")
        if name_of(content) != "spreadsheet":  # its charts show its own cells
            _put_in_objects(archive, content)
    match name_of(content):
        case "presentation" | "drawing":
            return [*_slide_lines(content)]
        case "spreadsheet":
            return [*_sheet_lines(content)]
        case _:
            return [*_Writer().lines(content)]


def _content(root: Element) -> Element | None:
    """Return what is in the body of the document *root*, None where there is nothing."""
    body = next(root.iter("{*}body"), None)
    return body[0] if body is not None and len(body) else None


def _put_in_objects(archive: zipfile.ZipFile, content: Element) -> None:
    """Put the tables of each embedded sheet and chart into its place in *content*."""
    names = set(archive.namelist())
    for one in list(content.iter("{*}object")):
        name = f"{normpath(attribute(one, 'href'))}/content.xml"
        embedded = _content(part(archive, name)) if name in names else None
        if embedded is not None:
            one.extend(list(embedded.iter("{*}table")))


class _Writer:
    """Walks the text of a writer's document; counts its headings."""

    def __init__(self) -> None:
        self._sections = 0

    def lines(self, parent: Element, depth: int = 0) -> Iterator[str]:
        for one in parent:
            match name_of(one):
                case "h":
                    self._sections += 1
                    yield f"--- section {self._sections} ---"
                    yield f"{'#' * int(attribute(one, 'outline-level') or 1)} {_text(one)}"
                case "p":
                    yield from self._paragraph(one)
                case "list-item" | "list-header":
                    for line in self.lines(one, depth):
                        yield line if line.startswith(" ") else f"{'  ' * (depth - 1)}- {line}"
                case "list":
                    yield from self.lines(one, depth + 1)
                case "table":
                    yield from _table_lines(one)
                case "tracked-changes" | "sequence-decls" | "forms":
                    pass
                case _:
                    yield from self.lines(one, depth)

    def _paragraph(self, paragraph: Element) -> Iterator[str]:
        """Yield the text of *paragraph* and, behind it, the tables of what is embedded in it."""
        if (text := _text(paragraph)).strip():
            yield from text.split("\n")
        for embedded in paragraph.iter("{*}object"):
            yield from self.lines(embedded)


def _slide_lines(content: Element) -> Iterator[str]:
    number = 0
    for page in content:
        if name_of(page) != "page":
            continue
        number += 1
        yield f"--- slide {number} ---"
        notes: list[str] = []
        for one in page:
            if name_of(one) == "notes":
                notes += _block_texts(one)
            elif tables := [*one.iter("{*}table")]:
                for table in tables:
                    yield from _table_lines(table)
            else:
                yield from _block_texts(one)
        if notes:
            yield "Notes:"
            yield from notes


def _sheet_lines(content: Element) -> Iterator[str]:
    for table in content:
        if name_of(table) == "table":
            yield f"--- sheet {attribute(table, 'name')} ---"
            yield from _table_lines(table)


def _table_lines(table: Element) -> Iterator[str]:
    is_sheet = name_of(table.getparent()) in ("spreadsheet", "object")
    number = 0
    for row in table.iter("{*}table-row"):
        cells = [*_cell_texts(row)]
        line = " | ".join(without_gaps(cells) if is_sheet else cells)
        repeated = max(1, int(attribute(row, "number-rows-repeated") or 1))
        shown = min(repeated, _MAX_REPEATED) if any(cells) else 0
        for offset in range(1, shown + 1):
            yield f"{number + offset}: {line}" if is_sheet else f"| {line} |"
        if 0 < shown < repeated:
            yield f"{number + shown + 1}–{number + repeated}: {line}"
        number += repeated


def _cell_texts(row: Element) -> Iterator[str]:
    """Yield the texts of the cells of *row*, also of empty ones but for the last in a sheet."""
    pending = columns = 0
    for cell in row:
        if name_of(cell) not in ("table-cell", "covered-table-cell"):
            continue
        text = " ".join(" ".join(_block_texts(cell)).split())
        formula = attribute(cell, "formula").partition(":")[2]
        text = f"{text} ({formula})" if formula else text
        repeated = int(attribute(cell, "number-columns-repeated") or 1)
        repeated = max(0, min(repeated, _MAX_COLUMNS - columns))
        columns += repeated
        if not text:
            pending += repeated  # a row may end with thousands
            continue
        yield from [""] * pending
        yield from [text] * repeated
        pending = 0
    if pending <= _MAX_REPEATED:
        yield from [""] * pending


def _block_texts(parent: Element) -> list[str]:
    """Return the texts of the paragraphs in *parent*, whatever is around them."""
    if name_of(parent) in _BLOCKS:
        return [_text(parent)] if _text(parent).strip() else []
    found: list[str] = []
    for one in parent:
        found += _block_texts(one)
    return found


def _text(element: Element) -> str:
    return "".join(_pieces(element))


def _pieces(element: Element) -> Iterator[str]:
    yield element.text or ""
    for one in element:
        match name_of(one):
            case "s":
                yield " " * min(int(attribute(one, "c") or 1), 1_000)
            case "tab":
                yield "\t"
            case "line-break":
                yield "\n"
            case "annotation" | "note-citation" | "tracked-changes" | "object" | "ruby-text" | "":
                pass
            case "page-number" if (one.text or "").startswith("<"):  # "<number>" of LibreOffice
                pass
            case "p" | "h":  # of a frame in the line
                yield " "
                yield from _pieces(one)
                yield " "
            case "note":
                yield f" [note: {' '.join(_block_texts(one))}]"
            case _:
                yield from _pieces(one)
        yield one.tail or ""
