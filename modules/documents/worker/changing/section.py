"""Changes one section of a Word document: what is below one heading, up to the next like it."""

from __future__ import annotations

from copy import deepcopy
from io import BytesIO
from typing import Any

from docx import Document
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from lxml import etree

from modules.documents.outline import Block, Outline
from modules.documents.worker.archives import Members, as_plain, open_archive
from modules.documents.worker.making.word import WordWriter
from modules.documents.worker.problems import Problem
from modules.documents.worker.reading.word import (
    blocks_of,
    heading_level,
    heading_levels,
    paragraph_text,
)
from modules.documents.worker.xml import name_of

_DOCUMENT = "word/document.xml"


def change_section(data: bytes, part: str, outline: Outline) -> tuple[Members, str]:
    """Return the members of the document *data* whose section *part* holds *outline* now.

    Sections are counted as the text of the document counts them. Raises `Problem`.
    """
    with open_archive(data) as archive:
        levels = heading_levels(archive)
    document = Document(BytesIO(as_plain("docx", data)))
    body = document.element.body
    headings = [element for element in blocks_of(body) if _level_of(element, levels)]
    if not part.isdigit() or not 1 <= int(part) <= len(headings):
        raise Problem("no section", part=part, count=len(headings))
    if outline.notes or any(_wants_more(block) for block in outline.blocks):
        raise Problem("part content", part=part)
    heading = headings[int(part) - 1]
    level = _level_of(heading, levels)
    old = _elements_of(heading, level, levels)
    new = [*_written(document, _levelled(outline, level)), *_page_setups(old)]
    if outline.blocks and outline.blocks[0].kind != "heading":
        old = old[1:]  # the heading stays
        place = heading
    else:
        place = heading.getprevious()
    parent = heading.getparent()  # the body, or a content control in it
    index = 0 if place is None else parent.index(place) + 1
    for element in old:
        parent.remove(element)
    for offset, element in enumerate(new):
        parent.insert(index + offset, element)
    xml = etree.tostring(document.element, xml_declaration=True, encoding="UTF-8", standalone=True)
    return {_DOCUMENT: xml}, f"section {part}"


def _wants_more(block: Block) -> bool:
    """Return whether *block* needs more than the text of the document: a picture, a link."""
    return block.kind == "picture"


def _elements_of(heading: Any, level: int, levels: dict[str, int]) -> list[Any]:
    """Return *heading* and what is below it, up to the next heading of its level or above."""
    found = [heading]
    element = heading.getnext()
    while element is not None and name_of(element) != "sectPr":
        others = (_level_of(one, levels) for one in blocks_of([element]))
        if any(other and other <= level for other in others):
            break
        found.append(element)
        element = element.getnext()
    return found


def _level_of(block: Any, levels: dict[str, int]) -> int:
    """Return the level of *block* where it begins a section, 0 where it does not."""
    if name_of(block) != "p" or not paragraph_text(block).strip():
        return 0
    return heading_level(block, levels)


def _page_setups(elements: list[Any]) -> list[Any]:
    """Return empty paragraphs with the page setups that end in *elements*.

    Each is that of all pages since the one before it.
    """
    found = []
    for setup in (one for element in elements for one in element.iter(qn("w:sectPr"))):
        paragraph = OxmlElement("w:p")
        paragraph.get_or_add_pPr().append(deepcopy(setup))
        found.append(paragraph)
    return found


def _levelled(outline: Outline, level: int) -> Outline:
    """Return *outline* with its headings moved so that the first has *level*, without links."""
    from dataclasses import replace

    first = next((block.level for block in outline.blocks if block.kind == "heading"), level)
    starts = bool(outline.blocks) and outline.blocks[0].kind == "heading"
    shift = level - first + (0 if starts else 1)
    blocks = tuple(
        replace(
            block,
            spans=tuple(replace(span, link="") for span in block.spans),
            level=max(1, block.level + shift) if block.kind == "heading" else block.level,
        )
        for block in outline.blocks
        if block.kind != "break"
    )
    return replace(outline, blocks=blocks)


def _written(document: Any, outline: Outline) -> list[Any]:
    """Return the elements that the blocks of *outline* are, taken out of *document* again."""
    body = document.element.body
    before = set(body)
    writer = WordWriter(document, outline, ())
    for block in outline.blocks:
        writer.add(block)
    new = [element for element in body if element not in before]
    for element in new:
        body.remove(element)
    return new
