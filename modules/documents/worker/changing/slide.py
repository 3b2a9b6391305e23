"""Changes one slide: its title, its text, its tables go; its look and its pictures stay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from lxml import etree
from pptx.enum.text import MSO_AUTO_SIZE
from pptx.oxml.ns import qn
from pptx.util import Pt

from modules.documents.outline import Block, Outline
from modules.documents.worker.archives import Members
from modules.documents.worker.making.slides import fill_paragraph, fill_table, lines_of
from modules.documents.worker.making.table_columns import column_widths, even_rows
from modules.documents.worker.problems import Problem
from modules.documents.worker.reading.slides import opened
from modules.documents.worker.slide_fit import EMU_PER_POINT, is_outside

_TITLES, _BODIES = (1, 3), (2, 4, 7)
"""Values of PP_PLACEHOLDER: titles, and what text goes into."""
_SIZES = (24, 22, 20, 18, 16, 14, 12)


def change_slide(data: bytes, part: str, outline: Outline) -> tuple[Members, str]:
    """Return the members of the presentation *data* whose slide *part* shows *outline* now.

    Raises `Problem` where there is no such slide, or where it cannot hold all of it.
    """
    presentation = opened(data)
    slides = list(presentation.slides)
    if not part.isdigit() or not 1 <= int(part) <= len(slides):
        raise Problem("no slide", part=part, count=len(slides))
    slide = slides[int(part) - 1]
    had_notes = slide.has_notes_slide
    blocks = [block for block in outline.blocks if block.kind not in ("speaker", "break")]
    if outline.notes or any(block.kind == "picture" for block in blocks):
        raise Problem("part content", part=part)
    size = presentation.slide_width, presentation.slide_height
    _fill(slide, blocks, size)
    members: Members = {_member(slide.part): _xml(slide._element)}
    speaker = "\n".join(block.text for block in outline.blocks if block.kind == "speaker")
    if speaker:
        if not had_notes:
            raise Problem("no notes", part=part)
        slide.notes_slide.notes_text_frame.text = speaker
        members[_member(slide.notes_slide.part)] = _xml(slide.notes_slide._element)
    return members, f"slide {part}"


def _fill(slide: Any, blocks: list[Block], size: tuple[int, int]) -> None:
    heading = blocks[0] if blocks and blocks[0].kind == "heading" else None
    title = slide.shapes.title
    if heading is not None:
        if title is None:
            raise Problem("no title", part="")
        _replace_text(title.text_frame, heading.text)
    rest = blocks[1:] if heading is not None else blocks
    text = [block for block in rest if block.kind != "table"]
    tables = [block for block in rest if block.kind == "table"]
    body = _body(slide, title)
    if text and body is None:
        body = _new_body(slide, size)
    _drop_others(slide, title, body if text else None)
    if text:
        _fill_body(body, text, size)
    for table in tables:
        if text or len(tables) > 1:
            raise Problem("part content", part="")
        _add_table(slide, table, size)
    if title is not None and is_outside(title, *size):
        raise Problem("does not fit", part="")


def _body(slide: Any, title: Any | None) -> Any | None:
    """Return the shape that holds the text of *slide*: its placeholder, or the largest text."""
    shapes = [one for one in slide.shapes if one.has_text_frame and not _is(one, title)]
    holders = [
        one for one in shapes if one.is_placeholder and int(one.placeholder_format.type) in _BODIES
    ]
    filled = [one for one in shapes if one.text_frame.text.strip() and not one.is_placeholder]
    largest = sorted(filled, key=lambda one: -len(one.text_frame.text))
    return next(iter([*holders, *largest]), None)


def _is(shape: Any, other: Any | None) -> bool:
    return other is not None and shape.shape_id == other.shape_id


def _new_body(slide: Any, size: tuple[int, int]) -> Any:
    width, height = size
    box = slide.shapes.add_textbox(width // 20, height // 4, width * 9 // 10, height * 13 // 20)
    box.text_frame.word_wrap = True
    return box


def _drop_others(slide: Any, title: Any | None, body: Any | None) -> None:
    """Take out what said what the slide no longer says: other text, tables; pictures stay."""
    for shape in list(slide.shapes):
        if _is(shape, title) or _is(shape, body):
            continue
        is_small_holder = shape.is_placeholder and int(shape.placeholder_format.type) > 12
        says_something = shape.has_text_frame and shape.text_frame.text.strip()
        if (says_something or getattr(shape, "has_table", False)) and not is_small_holder:
            shape._element.getparent().remove(shape._element)


def _replace_text(frame: Any, text: str) -> None:
    """Write *text* into *frame* in the look of its first letters."""
    paragraphs = list(frame.paragraphs)
    first = paragraphs[0]
    look = first.runs[0]._r.find(qn("a:rPr")) if first.runs else None
    for paragraph in paragraphs[1:]:
        paragraph._p.getparent().remove(paragraph._p)
    first.text = text
    if look is not None and first.runs:
        _take_look(first.runs[0]._r, look)


def _take_look(run: Any, look: Any) -> None:
    old = run.find(qn("a:rPr"))
    if old is not None:
        run.remove(old)
    run.insert(0, etree.fromstring(etree.tostring(look)))


def _fill_body(body: Any, blocks: list[Block], size: tuple[int, int]) -> None:
    """Write *blocks* into *body*, in the size that it had where they fit, else in a smaller one."""
    frame = body.text_frame
    own = [run.font.size.pt for one in frame.paragraphs for run in one.runs if run.font.size]
    sizes = [points for points in _SIZES if not own or points <= max(own)]
    for points in sizes or [_SIZES[-1]]:
        _write_blocks(body, frame, blocks, points)
        if not is_outside(body, *size):
            return
    raise Problem("does not fit", part="")


def _write_blocks(body: Any, frame: Any, blocks: list[Block], points: float) -> None:
    for paragraph in list(frame.paragraphs)[1:]:
        paragraph._p.getparent().remove(paragraph._p)
    frame.paragraphs[0]._p.getparent().replace(
        frame.paragraphs[0]._p, frame._txBody.makeelement(qn("a:p"), {})
    )
    frame.auto_size = MSO_AUTO_SIZE.NONE
    is_first = True
    for block, spans in _lines(blocks):
        paragraph = frame.paragraphs[0] if is_first else frame.add_paragraph()
        is_first = False
        fill_paragraph(paragraph, block, spans, points, has_bullets=body.is_placeholder)


def _lines(blocks: list[Block]) -> Iterator[tuple[Block, Any]]:
    for block in blocks:
        for spans in lines_of(block):
            yield block, tuple(replace(span, link="") for span in spans)


def _add_table(slide: Any, table: Block, size: tuple[int, int]) -> None:
    rows = even_rows(table.rows)
    width, height = size
    left, top = width // 20, height // 4
    room = width * 9 // 10 / EMU_PER_POINT
    if len(rows) * 26 > (height - top) / EMU_PER_POINT:
        raise Problem("does not fit", part="")
    shape = slide.shapes.add_table(len(rows), len(rows[0]), left, top, Pt(room), Pt(24 * len(rows)))
    fill_table(shape.table, rows, column_widths(rows, 14, room), 14)


def _member(part: Any) -> str:
    return str(part.partname).lstrip("/")


def _xml(element: Any) -> bytes:
    data: bytes = etree.tostring(element, xml_declaration=True, encoding="UTF-8", standalone=True)
    return data
