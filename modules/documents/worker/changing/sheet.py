"""Changes one sheet of an Excel workbook: its cells; their formats, and all other sheets, stay."""

from __future__ import annotations

import re
import zipfile
from datetime import date
from typing import Any

from lxml import etree
from openpyxl.utils import get_column_letter

from modules.documents.outline import Outline, plain_text
from modules.documents.worker.archives import Members, open_archive
from modules.documents.worker.changing.formula_results import sheet_members, without_old_results
from modules.documents.worker.making.sheets import is_harmless_formula, typed_value
from modules.documents.worker.problems import Problem
from modules.documents.worker.xml import Element, attribute, name_of
from modules.documents.worker.xml import part as part_of

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_BOOK, _CHAIN = "xl/workbook.xml", "xl/calcChain.xml"
_RELATIONS = "xl/_rels/workbook.xml.rels"
_FIRST_DAY, _FIRST_DAY_1904 = date(1899, 12, 30), date(1904, 1, 1)
"""Day 0 of Excel's two calendars (ECMA-376, part 1, 18.17.4.1)."""
_DROPPED = ("mergeCells", "dimension")
_REFERENCE = re.compile(r"([A-Z]+)(\d+)")


def change_sheet(data: bytes, part: str, outline: Outline) -> tuple[Members, str]:
    """Return the members of the workbook *data* whose sheet *part* holds *outline* now.

    *part* is its name or its number. Raises `Problem`.
    """
    with open_archive(data) as archive:
        name, member, identity = _find(archive, part)
        root = part_of(archive, member)
        if root.find(f"{{{_MAIN}}}tableParts") is not None:
            raise Problem("sheet table", part=name)
        _fill(root, outline, _first_day(archive))
        members: Members = {member: _xml(root)}
        if _CHAIN in archive.namelist():
            members |= _calculation_chain(archive, identity, root)
        members |= without_old_results(archive, name, member, root)
    return members, f"sheet {name}"


def _find(archive: zipfile.ZipFile, wanted: str) -> tuple[str, str, str]:
    """Return the name of the sheet *wanted*, that of its member, and its number in the book."""
    sheets = list(part_of(archive, _BOOK).iter(f"{{{_MAIN}}}sheet"))
    names = [attribute(one, "name") for one in sheets]
    if wanted in names:
        index = names.index(wanted)
    elif wanted.isdigit() and 1 <= int(wanted) <= len(names):
        index = int(wanted) - 1
    else:
        raise Problem("no sheet", part=wanted, names=", ".join(names)[:500])
    member = sheet_members(archive).get(names[index])
    if member is None:
        raise Problem("damaged")
    return names[index], member, sheets[index].get("sheetId", "")


def _first_day(archive: zipfile.ZipFile) -> date:
    """Return day 0 of the calendar of the workbook: old ones of a Mac have another."""
    settings = part_of(archive, _BOOK).find(f"{{{_MAIN}}}workbookPr")
    is_of_1904 = settings is not None and settings.get("date1904") in ("1", "true", "on")
    return _FIRST_DAY_1904 if is_of_1904 else _FIRST_DAY


def _fill(root: Element, outline: Outline, first_day: date) -> None:
    """Write *outline* into the sheet *root*; a cell keeps the format that its place had."""
    data = root.find(f"{{{_MAIN}}}sheetData")
    if data is None:
        raise Problem("damaged")
    formats = {cell.get("r"): cell.get("s") for cell in data.iter(f"{{{_MAIN}}}c") if cell.get("s")}
    columns = _column_formats(data)
    for element in list(data):
        data.remove(element)
    for name in _DROPPED:
        for element in root.findall(f"{{{_MAIN}}}{name}"):
            root.remove(element)
    for number, row in enumerate(_rows(outline), 1):
        element = etree.SubElement(data, f"{{{_MAIN}}}row", r=str(number))
        for column, text in enumerate(row, 1):
            letter = get_column_letter(column)
            style = formats.get(f"{letter}{number}") or (columns.get(letter) if number > 1 else "")
            if text or style:
                _add_cell(element, f"{letter}{number}", text, style or "", first_day)


def _column_formats(data: Element) -> dict[str, str]:
    """Return the format of the last cell of each column, which new rows below take."""
    found: dict[str, str] = {}
    for cell in data.iter(f"{{{_MAIN}}}c"):
        place = _REFERENCE.fullmatch(cell.get("r", ""))
        if place and place[2] != "1" and cell.get("s"):
            found[place[1]] = cell.get("s", "")
    return found


def _rows(outline: Outline) -> list[list[str]]:
    rows: list[list[str]] = []
    has_table = any(block.kind == "table" for block in outline.blocks)
    for block in outline.blocks:
        if block.kind == "table":
            rows += [[plain_text(cell) for cell in row] for row in block.rows]
        elif block.kind != "break" and not (has_table and block.kind == "heading" and not rows):
            rows.append([block.text])
    return rows


def _add_cell(row: Element, reference: str, text: str, style: str, first_day: date) -> None:
    cell = etree.SubElement(row, f"{{{_MAIN}}}c", r=reference)
    if style:
        cell.set("s", style)
    if not text:
        return
    value, _ = typed_value(text)
    if isinstance(value, date):
        value = (value - first_day).days
    if isinstance(value, int | float):
        etree.SubElement(cell, f"{{{_MAIN}}}v").text = repr(value)
    elif is_harmless_formula(value):
        etree.SubElement(cell, f"{{{_MAIN}}}f").text = value[1:]
    else:
        cell.set("t", "inlineStr")
        inner = etree.SubElement(cell, f"{{{_MAIN}}}is")
        told: Any = etree.SubElement(inner, f"{{{_MAIN}}}t")
        told.text = "".join(one for one in value if one >= " " or one in "\t\n")
        told.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")


def _calculation_chain(archive: zipfile.ZipFile, identity: str, sheet: Element) -> Members:
    """Return the list of the cells with formulas, without those of the sheet that are gone."""
    root = part_of(archive, _CHAIN)
    formulas = (one for one in sheet.iter(f"{{{_MAIN}}}c") if len(one) and name_of(one[0]) == "f")
    kept = {cell.get("r") for cell in formulas}
    current = ""
    gone = []
    for element in root:
        current = element.get("i", current)
        element.set("i", current)  # one without has that of the one before it
        if current == identity and element.get("r") not in kept:
            gone.append(element)
    for element in gone:
        root.remove(element)
    if len(root):
        return {_CHAIN: _xml(root)} if gone else {}
    return {_CHAIN: None, **_without_chain(archive)}


def _without_chain(archive: zipfile.ZipFile) -> Members:
    """Return the members that name the list of formulas, without it: an empty one is not valid."""
    found: Members = {}
    for name in ("[Content_Types].xml", _RELATIONS):
        root = part_of(archive, name)
        for element in list(root):
            if "calcChain.xml" in (element.get("PartName", "") + element.get("Target", "")):
                root.remove(element)
        found[name] = _xml(root)
    return found


def _xml(element: Element) -> bytes:
    data: bytes = etree.tostring(element, xml_declaration=True, encoding="UTF-8", standalone=True)
    return data
