"""Text of an Excel workbook: sheet by sheet, row by row, values with the formulas behind them."""

from __future__ import annotations

import datetime
import warnings
import zipfile
from collections.abc import Iterator
from io import BytesIO
from itertools import zip_longest
from typing import Any

from openpyxl import load_workbook
from openpyxl.worksheet import _reader
from openpyxl.xml.functions import fromstring, tostring

from modules.documents.worker.archives import as_usual, open_archive, with_members
from modules.documents.worker.problems import Problem
from modules.documents.worker.reading.charts import chart_lines, related_charts, relations
from modules.documents.worker.reading.stray_cells import without_gaps
from modules.documents.worker.xml import attribute, part

_MAX_ROWS = 200_000
"""Rows of all sheets that are read; behind them a line says that there are more."""


_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_STYLES = "xl/styles.xml"
_BOOK = "xl/workbook.xml"
_SHEETS = ("xl/worksheets/", "xl/chartsheets/")
_from_iso = _reader.from_ISO8601


def _date_or_text(value: str) -> Any:
    """Return the date that *value* of a cell is; the text where openpyxl knows no such date.

    It would lose the whole workbook otherwise, as for `2014-02-14T08:27:48Z`.
    """
    try:
        return _from_iso(value.removesuffix("Z"))
    except ValueError:
        return value


_reader.from_ISO8601 = _date_or_text


def opened(data: bytes, *, values: bool) -> Any:
    """Return the workbook *data*, to be read only, with *values* or formulas. Raises `Problem`."""
    data = as_usual(data)
    warnings.simplefilter("ignore")  # of openpyxl, about extensions that it leaves out
    try:
        return _loaded(data, values)
    # openpyxl stumbles over this and that in styles that other programs wrote.
    except (ValueError, TypeError, LookupError, AttributeError):
        return _loaded(_with_plain_styles(data), values)


def _loaded(data: bytes, values: bool) -> Any:
    return load_workbook(BytesIO(data), read_only=True, data_only=values, keep_links=False)


def _with_plain_styles(data: bytes) -> bytes:
    """Return the workbook *data* with nothing left of its styles but the formats of numbers."""
    with open_archive(data) as archive:
        if _STYLES not in archive.namelist():
            raise Problem("damaged")
        styles = fromstring(archive.read(_STYLES))
    for one in list(styles):
        if not one.tag.endswith(("}numFmts", "}cellXfs")):
            styles.remove(one)
        for format_ in one if one.tag.endswith("}cellXfs") else ():
            number = format_.get("numFmtId", "0")
            format_.clear()
            format_.set("numFmtId", number)
    return with_members(data, {_STYLES: tostring(styles)})


def lines(data: bytes) -> list[str]:
    """Return the text of the workbook *data*. Raises `Problem`."""
    data = as_usual(data)
    with_values, with_formulas = opened(data, values=True), opened(data, values=False)
    with open_archive(data) as archive:
        beside = {name: [*_lines_beside(archive, name)] for name in archive.namelist()}
        chart_sheets = iter([*_chart_sheets(archive)])
    found: list[str] = []
    left = _MAX_ROWS
    for name in with_values.sheetnames:
        sheet, formulas = with_values[name], with_formulas[name]
        hidden = ", hidden" if getattr(sheet, "sheet_state", "visible") != "visible" else ""
        found.append(f"--- sheet {name}{hidden} ---")
        if not hasattr(sheet, "iter_rows"):  # a sheet that is a chart
            found += beside.get(next(chart_sheets, ""), ()) or ["[chart]"]
            continue
        for line in _row_lines(sheet, formulas):
            if left == 0:
                return [*found, "[more rows are not shown; use Python for them]"]
            left -= 1
            found.append(line)
        found += beside.get(sheet._worksheet_path, ())
    if not found:
        raise Problem("empty")
    return found


def _chart_sheets(archive: zipfile.ZipFile) -> Iterator[str]:
    """Yield the parts that sheets which are charts stand in, in their order in the workbook."""
    targets = {name: target for name, _, target in relations(archive, _BOOK)}
    for sheet in part(archive, _BOOK).iter("{*}sheet"):
        target = targets.get(attribute(sheet, "id"), "")
        if target.startswith(_SHEETS[1]):
            yield target


def _lines_beside(archive: zipfile.ZipFile, sheet: str) -> Iterator[str]:
    """Yield what was noted on cells of the part *sheet*, and the numbers of its charts."""
    if sheet.startswith(_SHEETS):
        yield from _comment_lines(archive, sheet)
        for name in related_charts(archive, sheet):
            yield from chart_lines(part(archive, name))


def _comment_lines(archive: zipfile.ZipFile, sheet: str) -> Iterator[str]:
    """Yield what was noted on cells of the part *sheet*."""
    for _, kind, target in relations(archive, sheet):
        if kind != "comments":
            continue
        for comment in fromstring(archive.read(target)).iter(f"{_MAIN}comment"):
            pieces = (one.text or "" for one in comment.iter(f"{_MAIN}t"))
            text = " ".join("".join(pieces).split())
            if text:
                yield f"[comment on {comment.get('ref')}: {text}]"


def _row_lines(sheet: Any, formulas: Any) -> Iterator[str]:
    sheet.reset_dimensions()
    formulas.reset_dimensions()
    rows = zip_longest(sheet.iter_rows(), formulas.iter_rows(), fillvalue=())
    for number, (values, sources) in enumerate(rows, 1):
        cells = [_cell_text(*pair) for pair in zip_longest(values, sources)]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            yield f"{number}: {' | '.join(without_gaps(cells))}"


def _cell_text(cell: Any, source: Any) -> str:
    value = getattr(cell, "value", None)
    formula = getattr(source, "value", None)
    text = plain_value(value)
    if isinstance(formula, str) and formula.startswith("=") and formula != text:
        return f"{text} ({formula})" if text else formula
    return text


def plain_value(value: Any) -> str:
    """Return *value* of a cell as one line."""
    match value:
        case None:
            return ""
        case bool():
            return "TRUE" if value else "FALSE"
        case float():
            return f"{value:.15g}"
        case datetime.datetime() if value.time() == datetime.time():
            return value.date().isoformat()
        case datetime.datetime():
            return value.isoformat(" ", "seconds")
        case datetime.date() | datetime.time():
            return value.isoformat()
        case _:
            return " ".join(str(value).split())
