"""Results of formulas that look at a changed sheet: those that the file keeps would be old."""

from __future__ import annotations

import posixpath
import re
import zipfile

from lxml import etree

from modules.documents.worker.archives import Members
from modules.documents.worker.xml import Element, attribute, name_of
from modules.documents.worker.xml import part as part_of

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_BOOK, _RELATIONS = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_BEFORE_CALCULATION = ("sheets", "functionGroups", "externalReferences", "definedNames")
"""What stands before the settings of the calculation in a workbook (ECMA-376, part 1, 18.2.27)."""
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s>/]")
_ANYWHERE = re.compile(r"\bINDIRECT\b|:[^!,()+*/]*!", re.IGNORECASE)
"""In a formula that may look at any sheet: by a text, or from one sheet to another."""


def without_old_results(
    archive: zipfile.ZipFile, name: str, member: str, changed: Element
) -> Members:
    """Return the members of a workbook whose sheet *name*, in *member*, is *changed* now: without
    the results of the formulas that looked at it, directly or not, and to be worked out anew.

    Other sheets are not among them.
    """
    members = sheet_members(archive)
    sheets = {
        other: part_of(archive, path)
        for other, path in members.items()
        if path != member and _FORMULA.search(archive.read(path))
    }
    book = part_of(archive, _BOOK)
    found: Members = {}
    for other in _looking_at(name, {one: _formulas(root) for one, root in sheets.items()}, book):
        if _drop_results(sheets[other]):
            found[members[other]] = _xml(sheets[other])
    if (found or _formulas(changed)) and _set_to_work_out(book):
        found[_BOOK] = _xml(book)
    return found


def sheet_members(archive: zipfile.ZipFile) -> dict[str, str]:
    """Return the member of each sheet that there is, by its name."""
    names = set(archive.namelist())
    paths = {}
    for one in part_of(archive, _RELATIONS):
        target = one.get("Target", "")
        path = target[1:] if target.startswith("/") else posixpath.normpath(f"xl/{target}")
        paths[one.get("Id")] = path
    sheets = part_of(archive, _BOOK).iter(f"{{{_MAIN}}}sheet")
    found = {attribute(one, "name"): paths.get(one.get(_RELATION)) for one in sheets}
    return {name: path for name, path in found.items() if path in names}


def _looking_at(name: str, formulas: dict[str, str], book: Element) -> list[str]:
    """Return the sheets whose *formulas* look at the sheet *name*, at one that does, and so on."""
    defined = {one.get("name", ""): one.text or "" for one in book.iter(f"{{{_MAIN}}}definedName")}
    words = [name]
    found: list[str] = []
    for word in words:  # grows by what looks at them
        said = word.replace("'", "''").casefold()
        words += [
            one for one, text in defined.items() if said in text.casefold() and one not in words
        ]
        for other, text in formulas.items():
            if other not in found and (said in text.casefold() or _ANYWHERE.search(text)):
                found.append(other)
                words.append(other)
    return found


def _formulas(sheet: Element) -> str:
    """Return the formulas of the cells of *sheet*, one a line."""
    return "\n".join(one.text or "" for one in sheet.iter(f"{{{_MAIN}}}f"))


def _drop_results(sheet: Element) -> bool:
    """Take out the results of the formulas of *sheet*; return whether there were any."""
    is_any = False
    for formula in sheet.iter(f"{{{_MAIN}}}f"):
        cell = formula.getparent()
        for value in [one for one in cell if name_of(one) == "v"]:
            cell.remove(value)
            cell.attrib.pop("t", None)
            is_any = True
    return is_any


def _set_to_work_out(book: Element) -> bool:
    """Have *book* work out its formulas when it is opened; return whether that is new."""
    settings = book.find(f"{{{_MAIN}}}calcPr")
    if settings is None:
        settings = etree.Element(f"{{{_MAIN}}}calcPr")
        [one for one in book if name_of(one) in _BEFORE_CALCULATION][-1].addnext(settings)
    if settings.get("fullCalcOnLoad") in ("1", "true"):
        return False
    settings.set("fullCalcOnLoad", "1")
    return True


def _xml(element: Element) -> bytes:
    data: bytes = etree.tostring(element, xml_declaration=True, encoding="UTF-8", standalone=True)
    return data
