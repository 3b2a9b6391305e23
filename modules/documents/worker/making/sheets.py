"""Makes an Excel workbook of an outline: a sheet for each part, typed values in its tables."""

from __future__ import annotations

import datetime
import math
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from decimal import Decimal
from io import BytesIO
from typing import Any

from openpyxl import Workbook, load_workbook
from openpyxl.drawing.image import Image
from openpyxl.drawing.spreadsheet_drawing import SpreadsheetDrawing
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.utils import get_column_letter
from openpyxl.workbook import Workbook as Book
from openpyxl.worksheet._writer import WorksheetWriter
from openpyxl.worksheet.properties import PageSetupProperties
from openpyxl.writer.excel import ExcelWriter

from modules.documents.outline import (
    Block,
    Outline,
    Spans,
    is_right_to_left,
    marked_text,
    note_text,
    numeric_columns,
    plain_text,
)

_SENTENCE_ENDS = (". ", "! ", "? ", "。", "！", "？")
_FORBIDDEN = re.compile(r"[\[\]:*?/\\]|^'|'$")
_MAX_NAME = 31
_NUMBER = re.compile(r"[-+−]?(?:\d{1,3}(?:,\d{3})+|\d{1,15})(?:\.\d+)?")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_HARMFUL = re.compile(r"\[|\||\b(?:WEBSERVICE|DDE|CALL|REGISTER|FILTERXML|RTD)\b", re.IGNORECASE)
"""What makes a formula look elsewhere than in its workbook."""
_TEXT_WIDTH = 70
"""Of a column of text, in letters: more is wider than a page, and LibreOffice prints it cut off."""
_MAX_WIDTH, _MIN_WIDTH = 60, 8
_PICTURE_WIDTH, _PICTURE_HEIGHT = 640, 480
_ROW_HEIGHT = 20  # pixels, as pictures are measured
_LINE_POINTS, _MAX_HEIGHT = 15.0, 409.0
"""Of a line of letters of 11 points; of a row, the most that Excel takes."""
_MAX_LINES = int(_MAX_HEIGHT / _LINE_POINTS) - 1
_MAX_TALL_WIDTH = 120
"""Of a column of cells that would else be higher than a row can be, in letters."""
_HEAD_FILL = PatternFill("solid", fgColor="FFDCE6F1")


def make_sheets(outline: Outline, pictures: Sequence[bytes], template: bytes | None) -> bytes:
    """Return the workbook of *outline*; behind the sheets of *template* where one is given."""
    workbook = load_workbook(BytesIO(template)) if template else Workbook()
    if not template:
        workbook.remove(workbook.active)
    writer = _BookWriter(workbook, outline, pictures)
    for block in outline.blocks:
        writer.add(block)
    writer.finish()
    return saved(workbook)


def saved(workbook: Book) -> bytes:
    """Return *workbook* as a file; openpyxl would write its sheets to the disk first."""
    import zipfile

    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
        _MemoryWriter(workbook, archive).write_data()
    return file.getvalue()


class _MemoryWriter(ExcelWriter):  # type: ignore[misc]  # openpyxl has no types
    """Writes sheets to memory: the process can make no file."""

    def write_worksheet(self, ws: Any) -> None:
        sheet = BytesIO()
        ws._drawing = SpreadsheetDrawing()
        ws._drawing.charts, ws._drawing.images = ws._charts, ws._images
        writer = WorksheetWriter(ws, out=sheet)
        writer.write()
        ws._rels = writer._rels
        self._archive.writestr(ws.path[1:], sheet.getvalue())
        self.manifest.append(ws)


class _BookWriter:
    """Writes blocks into sheets: a heading begins one once there is something for it."""

    def __init__(self, workbook: Book, outline: Outline, pictures: Sequence[bytes]) -> None:
        self._workbook = workbook
        self._outline = outline
        self._pictures = pictures
        self._sheet: Any | None = None
        self._sheets: list[Any] = []
        self._text_sheets: list[Any] = []
        """Sheets that have no table: their text is wrapped."""
        self._heading = ""
        self._pending: list[tuple[str, int]] = []
        """Headings, with their levels, below which nothing stands yet."""

    def add(self, block: Block) -> None:
        match block.kind:
            case "heading":
                if block.level <= 2:
                    self._flush()
                    self._sheet = None
                self._pending.append((marked_text(block.spans), block.level))
                self._heading = block.text
            case "break":
                pass
            case "table":
                self._add_table(block)
            case "picture":
                self._add_picture(block)
            case _:
                for line in marked_text(block.spans).split("\n"):
                    mark = f"{block.number}. " if block.number else "• "
                    text = ("  " * block.level + mark if block.kind == "item" else "") + line
                    for piece in _row_texts(text):
                        self._append_text(piece)

    def _add_picture(self, block: Block) -> None:
        sheet = self._opened()
        if block.text and block.text != self._heading:
            self._append_text(block.text)
        image = Image(BytesIO(self._pictures[block.file]))
        factor = min(1.0, _PICTURE_WIDTH / image.width, _PICTURE_HEIGHT / image.height)
        image.width, image.height = int(image.width * factor), int(image.height * factor)
        row = self._next_row() + 1
        sheet.add_image(image, f"A{row}")
        sheet.cell(row + math.ceil(image.height / _ROW_HEIGHT), 1)  # what follows stands below it

    def finish(self) -> None:
        self._flush()
        for sheet in self._sheets:
            sheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
            sheet.page_setup.fitToHeight = 0  # as wide as a page, as long as it takes
        for sheet in self._text_sheets:
            sheet.column_dimensions["A"].width = _TEXT_WIDTH
            for row in sheet.iter_rows():
                alignment = row[0].alignment
                row[0].alignment = Alignment(
                    wrap_text=True,
                    vertical="top",
                    horizontal=alignment.horizontal,
                    readingOrder=alignment.readingOrder,
                )
        if self._outline.notes:
            sheet = self._workbook.create_sheet(self._name("Notes"))
            for number, note in enumerate(self._outline.notes, 1):
                cell = sheet.cell(number, 1, f"[{number}] {note_text(note)}")
                cell.alignment = Alignment(wrap_text=True, vertical="top")
            sheet.column_dimensions["A"].width = _TEXT_WIDTH
            self._sheets.append(sheet)
        for sheet in self._sheets:
            _set_heights(sheet)
        if not self._workbook.sheetnames:
            self._workbook.create_sheet(self._name(self._outline.title or "Sheet1"))

    def _flush(self) -> None:
        """Write the headings that have nothing below them, so that none is lost."""
        if self._pending and self._sheet is None:
            self._opened()
        for text, _ in self._pending:
            self._append_text(text, bold=True)
        self._pending = []

    def _opened(self, *, is_table: bool = False) -> Any:
        """Return the sheet for what comes next, its headings written; a table needs none above."""
        if self._sheet is None:
            name = self._name(self._heading or self._outline.title or "Sheet1")
            self._sheet = self._workbook.create_sheet(name)
            self._sheets.append(self._sheet)
            self._text_sheets.append(self._sheet)
            if is_right_to_left(self._heading):
                self._sheet.sheet_view.rightToLeft = True
            if is_table and [text for text, _ in self._pending] == [name]:
                self._pending = []  # the name of the sheet says it
        pending, self._pending = self._pending, []
        for text, _ in pending:
            self._append_text(text, bold=True)
        return self._sheet

    def _next_row(self) -> int:
        sheet = self._sheet
        if sheet is None:
            return 1
        return 1 if sheet.max_row == 1 and sheet.cell(1, 1).value is None else sheet.max_row + 1

    def _append_text(self, text: str, *, bold: bool = False) -> None:
        sheet = self._opened()
        cell = sheet.cell(self._next_row(), 1)
        _set_text(cell, text)
        cell.font = Font(bold=bold, size=14 if bold else 11)
        if is_right_to_left(text):
            cell.alignment = Alignment(horizontal="right", readingOrder=2)

    def _add_table(self, block: Block) -> None:
        sheet = self._opened(is_table=True)
        self._text_sheets = [one for one in self._text_sheets if one is not sheet]
        first = self._next_row() + (self._next_row() > 1)
        numeric = numeric_columns(block.rows)
        for offset, row in enumerate(block.rows):
            for column, spans in enumerate(row, 1):
                cell = sheet.cell(first + offset, column)
                set_value(cell, marked_text(spans))
                if offset == 0:
                    cell.font, cell.fill = Font(bold=True), _HEAD_FILL
                is_head_of_numbers = offset == 0 and column - 1 in numeric
                cell.alignment = Alignment(
                    wrap_text=True,
                    vertical="top",
                    horizontal="right" if is_head_of_numbers else None,
                )
        if first == 1:
            sheet.freeze_panes = "A2"
        _set_widths(sheet, block.rows)

    def _name(self, wanted: str) -> str:
        """Return a name for a sheet that is like *wanted* and new."""
        base = _FORBIDDEN.sub(" ", wanted).strip()[:_MAX_NAME] or "Sheet"
        taken = {name.casefold() for name in self._workbook.sheetnames}
        name, number = base, 2
        while name.casefold() in taken:
            suffix = f" {number}"
            name, number = base[: _MAX_NAME - len(suffix)] + suffix, number + 1
        return name


def _set_text(cell: Any, text: str) -> None:
    cell.value = text
    cell.data_type = "s"  # also where it begins like a formula


def set_value(cell: Any, text: str) -> None:
    """Write *text* into *cell*: as a number, a date or a formula where it is clearly one."""
    value, number_format = typed_value(text)
    if isinstance(value, str) and not is_harmless_formula(value):
        _set_text(cell, value)
        return
    cell.value = value
    if number_format:
        cell.number_format = number_format


def is_harmless_formula(text: str) -> bool:
    """Return whether *text* is a formula that looks at nothing but its workbook."""
    return text.startswith("=") and len(text) > 1 and not _HARMFUL.search(text)


def typed_value(text: str) -> tuple[Any, str]:
    """Return what *text* of a cell is, and the format of its number, "" for the usual one.

    Numbers with leading zeros and with more digits than a double holds stay texts.
    """
    plain = text.strip()
    percent = plain.endswith("%")
    digits = plain.removesuffix("%").strip()
    if _NUMBER.fullmatch(digits) and not re.match(r"[-+−]?0\d", digits):
        number = Decimal(digits.replace(",", "").replace("−", "-"))
        decimals = len(digits.partition(".")[2])
        shape = "#,##0" if "," in digits else "0"
        shape += f".{'0' * decimals}" if decimals else ""
        if percent:
            return float(number / 100), f"{shape}%"
        value = float(number) if decimals else int(number)
        return value, shape if "," in digits or decimals else ""
    if _DATE.fullmatch(plain):
        try:
            return datetime.date.fromisoformat(plain), "yyyy-mm-dd"
        except ValueError:
            return text, ""
    return text, ""


def _set_widths(sheet: Any, rows: Sequence[tuple[Spans, ...]]) -> None:
    for column in range(max(map(len, rows))):
        texts = [plain_text(row[column]) for row in rows if column < len(row)]
        wanted = max((_letters(line) for text in texts for line in text.split("\n")), default=0) + 3
        letter = get_column_letter(column + 1)
        tall = max((math.ceil(_letters(text) / _MAX_LINES) for text in texts), default=0) + 3
        width = max(_MIN_WIDTH, min(_MAX_WIDTH, wanted), min(_MAX_TALL_WIDTH, tall))
        known = sheet.column_dimensions[letter].width if letter in sheet.column_dimensions else 0
        sheet.column_dimensions[letter].width = max(width, known)


def _row_texts(text: str) -> Iterator[str]:
    """Yield the parts of *text* that each fit into a row of a column of text, behind a sentence or
    a word where there is one.
    """
    room = (_TEXT_WIDTH - 3) * _MAX_LINES
    while _letters(text) > room:
        most = bisect_right(range(len(text)), room, key=lambda end: _letters(text[:end])) - 1
        ends = (max(map(text[:most].rfind, marks)) + 1 for marks in (_SENTENCE_ENDS, " "))
        cut = next((end for end in ends if end > most // 2), most)
        yield text[:cut].rstrip()
        text = text[cut:].lstrip()
    yield text


def _set_heights(sheet: Any) -> None:
    """Make rows as high as their wrapped text: not every program does, and then lines overlap."""
    widths = {name: one.width for name, one in sheet.column_dimensions.items()}
    for row in sheet.iter_rows():
        wrapped = [cell for cell in row if cell.alignment.wrap_text and cell.value is not None]
        heights = (
            _lines(str(cell.value), widths[cell.column_letter] * _LINE_POINTS / _points(cell))
            * _points(cell)
            for cell in wrapped
            if cell.column_letter in widths
        )
        if (height := max(heights, default=0.0)) > _LINE_POINTS * 1.5:
            sheet.row_dimensions[row[0].row].height = min(height, _MAX_HEIGHT)


def _points(cell: Any) -> float:
    """Return how many points high a line of *cell* is."""
    return float(cell.font.size or 11) * _LINE_POINTS / 11


def _lines(text: str, width: float) -> int:
    """Return about how many lines *text* takes in a cell of *width* letters, rather too many."""
    room = max(1.0, width - 3)
    return sum(max(1, math.ceil(_letters(line) / room)) for line in text.split("\n"))


def _letters(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(one) in ("W", "F") else 1 for one in text)
