"""Text of a Word document: headings, paragraphs, tables, notes, headers, diagrams, charts."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator

from modules.documents.worker.archives import open_archive
from modules.documents.worker.problems import Problem
from modules.documents.worker.reading.charts import chart_lines, related_charts
from modules.documents.worker.reading.diagrams import diagram_texts
from modules.documents.worker.xml import Element, attribute, name_of, part

_PREFIX = "word/"
_HEADING_STYLES = {"title": 1, **{f"heading {level}": level for level in range(1, 10)}}
_DROPPED = frozenset({"del", "moveFrom", "instrText", "delText", "Fallback", "pPr", "rPr", "rt"})
"""What was deleted, codes of fields, the older twin of a drawing, readings above letters."""
_BREAKS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "softHyphen": ""}


def lines(data: bytes) -> list[str]:
    """Return the text of the document *data*. Raises `Problem`."""
    with open_archive(data) as archive:
        names = archive.namelist()
        body = part(archive, "word/document.xml")
        levels = heading_levels(archive)
        found = [*_document_lines(body, levels)]
        for title, beginning in (("header", "header"), ("footer", "footer")):
            texts = _part_texts(archive, names, beginning)
            found += [f"--- {title} ---", *texts] if texts else []
        for title, name in (("footnotes", "footnotes"), ("endnotes", "endnotes")):
            found += _notes(archive, names, title, f"word/{name}.xml")
        diagrams = [*_diagrams(archive, names)]
        found += ["--- diagrams ---", *diagrams] if diagrams else []
        charts = dict.fromkeys(related_charts(archive, "word/document.xml"))
        numbers = [line for name in charts for line in chart_lines(part(archive, name))]
        found += ["--- charts ---", *numbers] if numbers else []
        comments = _part_texts(archive, names, "comments.xml")
        found += ["--- comments ---", *comments] if comments else []
    return found


def heading_levels(archive: zipfile.ZipFile) -> dict[str, int]:
    """Return the level of the headings of each style, by the id of the style."""
    if "word/styles.xml" not in archive.namelist():
        return {}
    levels: dict[str, int] = {}
    bases: dict[str, str] = {}
    for style in part(archive, "word/styles.xml"):
        if name_of(style) != "style":
            continue
        identity = attribute(style, "styleId")
        for one in style:
            match name_of(one):
                case "name" if level := _HEADING_STYLES.get(attribute(one, "val").lower()):
                    levels[identity] = level
                case "basedOn":
                    bases[identity] = attribute(one, "val")
    for identity, base in bases.items():
        if base in levels and identity not in levels:
            levels[identity] = levels[base]
    return levels


def heading_level(paragraph: Element, levels: dict[str, int]) -> int:
    """Return the level of *paragraph* as a heading, 0 for none."""
    for properties in paragraph:
        if name_of(properties) != "pPr":
            continue
        for one in properties:
            match name_of(one):
                case "pStyle" if attribute(one, "val") in levels:
                    return levels[attribute(one, "val")]
                case "outlineLvl" if attribute(one, "val").isdigit():
                    level = int(attribute(one, "val"))
                    return level + 1 if level < 9 else 0
    return 0


def _document_lines(root: Element, levels: dict[str, int]) -> Iterator[str]:
    body = next((one for one in root if name_of(one) == "body"), None)
    if body is None:
        raise Problem("damaged")
    number = 0
    for block in blocks_of(body):
        if name_of(block) == "tbl":
            yield from table_lines(block)
            continue
        text = paragraph_text(block)
        if (level := heading_level(block, levels)) and text.strip():
            number += 1
            yield f"--- section {number} ---"
            yield f"{'#' * level} {text.strip()}"
        elif text.strip():
            mark = "- " if _is_item(block) else ""
            yield from (mark + text).split("\n")


def blocks_of(parent: Iterable[Element]) -> Iterator[Element]:
    """Yield the paragraphs and tables of *parent* in order, also those in content controls."""
    for one in parent:
        match name_of(one):
            case "p" | "tbl":
                yield one
            case "sdt" | "sdtContent" | "ins" | "moveTo" | "customXml" | "smartTag":
                yield from blocks_of(one)


def paragraph_text(paragraph: Element) -> str:
    """Return the text of *paragraph*, with marks for notes and that of its text boxes behind."""
    boxes: list[str] = []
    text = "".join(_pieces(paragraph, boxes))
    return "\n".join([text, *boxes] if text.strip() else boxes or [text])


def _pieces(element: Element, boxes: list[str]) -> Iterator[str]:
    for one in element:
        name = name_of(one)
        if name in _DROPPED:
            continue
        if name in ("t", "delInstrText"):
            yield one.text or ""
        elif name in _BREAKS:
            yield _BREAKS[name]
        elif name in ("footnoteReference", "endnoteReference"):
            yield f"[^{attribute(one, 'id')}]"
        elif name == "txbxContent":
            boxes += filter(str.strip, map(paragraph_text, blocks_of(one)))
        elif name == "docPr" and attribute(one, "descr"):
            yield f"[picture: {attribute(one, 'descr')}]"
        else:
            yield from _pieces(one, boxes)


def _is_item(paragraph: Element) -> bool:
    return any(
        name_of(one) == "numPr"
        or (name_of(one) == "pStyle" and attribute(one, "val").lower().startswith("list"))
        for properties in paragraph
        if name_of(properties) == "pPr"
        for one in properties
    )


def table_lines(table: Element) -> Iterator[str]:
    """Yield a line for each row of *table*: its cells between bars."""
    for row in table:
        if name_of(row) == "tr":
            cells = (one for one in _cells(row))
            yield f"| {' | '.join(map(_cell_text, cells))} |"


def _cells(row: Element) -> Iterator[Element]:
    for one in row:
        match name_of(one):
            case "tc":
                yield one
            case "sdt" | "sdtContent":
                yield from _cells(one)


def _cell_text(cell: Element) -> str:
    texts: list[str] = []
    for block in blocks_of(cell):
        is_table = name_of(block) == "tbl"
        texts += table_lines(block) if is_table else [paragraph_text(block)]
    return " ".join(" ".join(texts).split())


def _part_texts(archive: zipfile.ZipFile, names: list[str], beginning: str) -> list[str]:
    """Return the texts, each once, of the parts of *archive* whose names begin so."""
    found: dict[str, None] = {}
    for name in sorted(names):
        if name.startswith(_PREFIX + beginning) and name.endswith(".xml"):
            for paragraph in part(archive, name).iter("{*}p"):
                if text := paragraph_text(paragraph).strip():
                    found[text] = None
    return [*found]


def _diagrams(archive: zipfile.ZipFile, names: list[str]) -> Iterator[str]:
    for name in sorted(names):
        if name.startswith(f"{_PREFIX}diagrams/data") and name.endswith(".xml"):
            yield from (f"- {text}" for text in diagram_texts(part(archive, name)))


def _notes(archive: zipfile.ZipFile, names: list[str], title: str, name: str) -> list[str]:
    if name not in names:
        return []
    found: list[str] = []
    for note in part(archive, name):
        text = " ".join(paragraph_text(one).strip() for one in note.iter("{*}p")).strip()
        if text and not attribute(note, "type"):
            found.append(f"[^{attribute(note, 'id')}]: {text}")
    return [f"--- {title} ---", *found] if found else []
