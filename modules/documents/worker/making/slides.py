"""Makes slides of an outline: text that does not fit goes on to one more slide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import pptx.oxml.slide
import pptx.oxml.theme
from pptx import Presentation
from pptx.enum.text import MSO_ANCHOR, MSO_AUTO_SIZE, PP_ALIGN
from pptx.oxml.ns import qn
from pptx.util import Emu, Pt

from modules.documents.outline import (
    Block,
    Outline,
    Rows,
    Span,
    Spans,
    in_bold,
    is_right_to_left,
    is_right_to_left_table,
    numeric_columns,
    plain_text,
)
from modules.documents.worker.archives import drop_macros
from modules.documents.worker.making.slide_pages import MIN_POINTS, SlidePage, paged
from modules.documents.worker.slide_fit import EMU_PER_POINT, line_count

_WIDTH, _HEIGHT = Emu(12_192_000), Emu(6_858_000)
"""13⅓ by 7½ inches: 16 to 9."""
_TITLE_POINTS = (32, 28, 24, 20)
_NOTE_POINTS = 12
_BOLD = 1.1
"""Times that bold letters are wider."""
_INDENTS = (342_900, 742_950, 1_143_000, 1_600_200, 2_057_400)
"""Where the text of an item begins, by its level: as in the master."""
_NUMBER_ROOM = 1.9
"""Times the size of the letters, for a number of two digits."""
_MARGIN = Emu(457_200)
_TOP, _TITLE_TOP, _TITLE_HEIGHT = Emu(1_450_000), Emu(320_000), Pt(80)
"""Where text and titles stand that a layout has no place for."""
_TITLE, _BODY, _CENTER_TITLE, _SUBTITLE, _OBJECT = 1, 2, 3, 4, 7
"""Values of PP_PLACEHOLDER."""


def default_template() -> bytes:
    """Return the empty presentation of python-pptx."""
    return Path(pptx.__file__).with_name("templates").joinpath("default.pptx").read_bytes()


def keep_templates() -> None:
    """Have python-pptx take its other templates from memory from now on, not from their files."""
    folder = Path(pptx.__file__).with_name("templates")
    kept = {path.stem: path.read_bytes() for path in folder.glob("*.xml")}
    for module in (pptx.oxml.slide, pptx.oxml.theme):
        module.parse_from_template = lambda name: pptx.oxml.parse_xml(kept[name])


def make_slides(
    outline: Outline, pictures: Sequence[bytes], template: bytes | None, *, default: bytes
) -> bytes:
    """Return the presentation of *outline*, in the look of *template* where one is given.

    *default* is `default_template`, read before.
    """
    presentation = _of_template(template) if template else _new_presentation(default)
    deck = _Deck(presentation, outline, pictures)
    deck.fill()
    file = BytesIO()
    presentation.save(file)
    return file.getvalue()


def _new_presentation(default: bytes) -> Any:
    """Return an empty presentation, wide, with larger margins and quieter letters."""
    presentation = Presentation(BytesIO(default))
    factor = _WIDTH / presentation.slide_width
    presentation.slide_width, presentation.slide_height = _WIDTH, _HEIGHT
    master = presentation.slide_master
    for holder in (master, *presentation.slide_layouts):
        for shape in holder.shapes:
            if shape._element.xpath(".//a:xfrm"):
                shape.left, shape.width = int(shape.left * factor), int(shape.width * factor)
    _place(master.placeholders, (_TITLE,), _MARGIN, (320_000, 1_000_000))
    _place(master.placeholders, (_BODY,), _MARGIN, (1_450_000, 4_750_000))
    for layout in presentation.slide_layouts:
        _place(layout.placeholders, (_CENTER_TITLE, _SUBTITLE), Emu(2 * _MARGIN))
    for sizes in master._element.iter(qn("p:titleStyle")):
        _align_left(sizes)
        for letters in sizes.iter(qn("a:defRPr")):
            letters.set("sz", str(_TITLE_POINTS[0] * 100))
            letters.set("b", "1")
    return presentation


def _place(
    holders: Iterable[Any], kinds: tuple[int, ...], left: Emu, rows: tuple[int, int] | None = None
) -> None:
    """Have the placeholders of *kinds* begin at *left* and end as far from the other side.

    With *rows* also that far from the top, and so high; all in EMU.
    """
    for shape in holders:
        if _kind(shape) not in kinds:
            continue
        shape.left, shape.width = left, Emu(_WIDTH - 2 * left)
        if rows:
            shape.top, shape.height = Emu(rows[0]), Emu(rows[1])
        else:
            _align_left(shape._element)


def _align_left(element: Any) -> None:
    for level in element.iter(qn("a:lvl1pPr")):
        level.set("algn", "l")


def _of_template(template: bytes) -> Any:
    """Return *template* without its slides: its masters and layouts are what is wanted."""
    presentation = Presentation(BytesIO(template))
    drop_macros(presentation.part)
    listed = presentation.slides._sldIdLst
    for entry in list(listed):
        presentation.part.drop_rel(entry.get(qn("r:id")))
        listed.remove(entry)
    return presentation


class _Deck:
    """A presentation that is being filled."""

    def __init__(self, presentation: Any, outline: Outline, pictures: Sequence[bytes]) -> None:
        self._presentation = presentation
        self._outline = outline
        self._pictures = pictures
        layouts = list(presentation.slide_layouts)
        self._content = _layout_with(layouts, {_BODY, _OBJECT}) or layouts[0]
        self._cover = _layout_with(layouts, {_SUBTITLE}) or self._content
        self._bare = _layout_without_body(layouts) or self._content

    def fill(self) -> None:
        width, height = self._body_size()
        for page in paged(self._outline, width, height, self._title_room()):
            self._add(page)

    def _body_size(self) -> tuple[float, float]:
        """Return how many points wide and high the text of a slide may be."""
        body = _body(self._content)
        if body is None:
            return (
                (self._presentation.slide_width - 2 * _MARGIN) / EMU_PER_POINT - 15,
                (self._presentation.slide_height * 0.97 - _TOP) / EMU_PER_POINT - 8,
            )
        bottom = min(body.top + body.height, self._presentation.slide_height - Emu(250_000))
        return body.width / EMU_PER_POINT - 15, (bottom - body.top) / EMU_PER_POINT - 8

    def _title_room(self) -> float:
        title = next((one for one in self._content.placeholders if _kind(one) == _TITLE), None)
        return float((title.width if title is not None else self._wide()) / EMU_PER_POINT - 15)

    def _add(self, page: SlidePage) -> None:
        is_plain = bool(page.table or page.picture) and not page.cover
        layout = self._cover if page.cover else self._bare if is_plain else self._content
        slide = self._presentation.slides.add_slide(layout)
        self._set_title(slide, page.title, is_cover=page.cover)
        if page.cover:
            self._set_subtitle(slide, page)
        elif page.table:
            self._add_table(slide, page)
        elif page.picture:
            self._add_picture(slide, page.picture)
        elif page.blocks:
            self._set_body(slide, page)
        if not page.cover:
            _drop_empty(slide)
        if page.notes:
            self._add_notes(slide, page)
        if page.speaker:
            slide.notes_slide.notes_text_frame.text = page.speaker

    def _set_title(self, slide: Any, title: str, *, is_cover: bool) -> None:
        shape = slide.shapes.title
        if shape is None:
            if not title:
                return
            shape = slide.shapes.add_textbox(_MARGIN, _TITLE_TOP, self._wide(), _TITLE_HEIGHT)
            shape.text_frame.word_wrap = True
        if not title:
            shape._element.getparent().remove(shape._element)
            return
        is_in_the_way = shape.top + shape.height > _TOP
        if not is_cover and is_in_the_way and _body(self._content) is None:
            # A title that stands where our text goes.
            shape.left, shape.width = _MARGIN, self._wide()
            shape.top, shape.height = _TITLE_TOP, _TITLE_HEIGHT
        shape.text_frame.text = title
        width = shape.width / EMU_PER_POINT - 15
        room = max(1, int(shape.height / EMU_PER_POINT - 8))
        for points in _TITLE_POINTS:
            if line_count(title, points * _BOLD, width) * points * 1.2 <= room:
                break
        for paragraph in shape.text_frame.paragraphs:
            _set_direction(paragraph, title)
            for run in paragraph.runs:
                run.font.size = Pt(points)

    def _wide(self) -> int:
        """Return how wide a slide is between its margins, in EMU."""
        return int(self._presentation.slide_width - 2 * _MARGIN)

    def _set_subtitle(self, slide: Any, page: SlidePage) -> None:
        kinds = (_SUBTITLE, _BODY, _OBJECT)
        holder = next((one for one in slide.placeholders if _kind(one) in kinds), None)
        if not page.blocks:
            if holder is not None:
                holder._element.getparent().remove(holder._element)
            return
        self._fill_frame((holder or self._text_box(slide)).text_frame, page, has_bullets=False)

    def _set_body(self, slide: Any, page: SlidePage) -> None:
        holder = next((one for one in slide.placeholders if _kind(one) in (_BODY, _OBJECT)), None)
        self._fill_frame((holder or self._text_box(slide)).text_frame, page, has_bullets=True)

    def _text_box(self, slide: Any) -> Any:
        """Return a box for the text of *slide*, whose layout has none."""
        width, height = self._body_size()
        return slide.shapes.add_textbox(_MARGIN, _TOP, Pt(width + 15), Pt(height + 8))

    def _fill_frame(self, frame: Any, page: SlidePage, *, has_bullets: bool) -> None:
        frame.word_wrap = True
        frame.auto_size = MSO_AUTO_SIZE.NONE
        is_first = True
        for block in page.blocks:
            for line in lines_of(block):
                paragraph = frame.paragraphs[0] if is_first else frame.add_paragraph()
                is_first = False
                fill_paragraph(paragraph, block, line, page.points, has_bullets=has_bullets)

    def _add_table(self, slide: Any, page: SlidePage) -> None:
        width, _ = self._body_size()
        top = _body_top(self._content)
        shape = slide.shapes.add_table(
            len(page.table), len(page.table[0]), _MARGIN, top, Pt(width), Pt(24 * len(page.table))
        )
        fill_table(shape.table, page.table, page.column_widths, page.points)

    def _add_picture(self, slide: Any, block: Block) -> None:
        width, height = self._body_size()
        top = _body_top(self._content)
        picture = slide.shapes.add_picture(BytesIO(self._pictures[block.file]), 0, top)
        factor = min(
            width * EMU_PER_POINT / picture.width,
            height * EMU_PER_POINT / picture.height,
            picture.image.size[0] * EMU_PER_POINT / picture.width,  # a pixel a point: no larger
        )
        picture.width, picture.height = int(picture.width * factor), int(picture.height * factor)
        picture.left = (self._presentation.slide_width - picture.width) // 2
        picture._element.nvPicPr.cNvPr.set("descr", block.text)

    def _add_notes(self, slide: Any, page: SlidePage) -> None:
        width, _ = self._body_size()
        height = Pt(page.notes_height)
        top = self._presentation.slide_height - height - Emu(200_000)
        box = slide.shapes.add_textbox(_MARGIN, top, Pt(width + 15), height)
        box.name = "Footnotes"
        box.text_frame.word_wrap = True
        for number, note in enumerate(page.notes):
            frame = box.text_frame
            paragraph = frame.paragraphs[0] if not number else frame.add_paragraph()
            spans = (Span(f"{note}. "), *self._outline.notes[note - 1])
            add_runs(paragraph, spans, _NOTE_POINTS)
            _set_direction(paragraph, plain_text(self._outline.notes[note - 1]))


def fill_table(table: Any, rows: Rows, widths: Sequence[float], points: float) -> None:
    """Write *rows* into *table*, whose columns get *widths*, in letters of so many *points*."""
    for column, width in zip(table.columns, widths, strict=True):
        column.width = Pt(width)
    numeric = numeric_columns(rows)
    if is_right_to_left_table(rows):
        table._tbl.tblPr.set("rtl", "1")
    for cells, row in zip(table.rows, rows, strict=True):
        for column, (cell, spans) in enumerate(zip(cells.cells, row, strict=True)):
            cell.vertical_anchor = MSO_ANCHOR.MIDDLE
            cell.margin_top = cell.margin_bottom = Pt(3)
            paragraph = cell.text_frame.paragraphs[0]
            add_runs(paragraph, spans, points)
            _set_direction(paragraph, plain_text(spans))
            if column in numeric:
                paragraph.alignment = PP_ALIGN.RIGHT


def lines_of(block: Block) -> Iterator[Spans]:
    if block.kind != "code":
        yield block.spans
        return
    for line in block.text.split("\n"):
        yield (Span(line or " ", code=True),)


def fill_paragraph(
    paragraph: Any, block: Block, spans: Spans, points: float, *, has_bullets: bool
) -> None:
    """Write *spans* of *block* into *paragraph*, with the bullet that its kind has."""
    size = block_points(block, points)
    bold = block.kind == "heading"
    add_runs(paragraph, in_bold(spans) if bold else spans, size)
    if block.kind == "item":
        paragraph.level = min(block.level, 4)
    _set_direction(paragraph, plain_text(spans))
    _set_bullet(paragraph._p.get_or_add_pPr(), block, size, has_bullets=has_bullets)


def _set_bullet(properties: Any, block: Block, size: float, *, has_bullets: bool) -> None:
    """Give a paragraph the number, the bullet or the indent that *block* has."""
    level = min(block.level, len(_INDENTS) - 1)
    if block.kind == "item" and block.number:
        room = int(size * _NUMBER_ROOM * EMU_PER_POINT)
        _indent(properties, _INDENTS[level] - _INDENTS[0] + room, -room)
        number = {"type": "arabicPeriod", "startAt": str(block.number)}
        properties.append(properties.makeelement(qn("a:buAutoNum"), number))
    elif block.kind == "item" and not has_bullets:
        _indent(properties, _INDENTS[level], -_INDENTS[0])
        properties.append(properties.makeelement(qn("a:buChar"), {"char": "•"}))
    elif block.kind != "item":
        is_in_list = block.kind == "text" and block.level
        indent = _INDENTS[min(block.level, len(_INDENTS)) - 1] if is_in_list else 0
        _indent(properties, _INDENTS[0] if block.kind == "quote" else indent, 0)
        properties.append(properties.makeelement(qn("a:buNone"), {}))


def _indent(properties: Any, left: int, first: int) -> None:
    """Have a paragraph begin at *left*, its first line *first* from there; in EMU."""
    properties.set("marL", str(left))
    properties.set("indent", str(first))


def block_points(block: Block, points: float) -> float:
    """Return the size of the letters of *block* where those of a plain one have *points*."""
    if block.kind == "code":
        return max(MIN_POINTS, points - 4)
    return max(MIN_POINTS, points - 2 * min(block.level, 2)) if block.kind == "item" else points


def add_runs(paragraph: Any, spans: Spans, points: float) -> None:
    """Add *spans* to *paragraph* as runs, the marks of footnotes raised."""
    for span in spans:
        for number, text in enumerate((str(span.note) if span.note else span.text).split("\n")):
            if number:
                paragraph.add_line_break()
            if not text:
                continue
            run = paragraph.add_run()
            run.text = text
            run.font.size = Pt(points)
            _set_look(run, span)


def _set_look(run: Any, span: Span) -> None:
    if span.bold:
        run.font.bold = True
    if span.italic:
        run.font.italic = True
    if span.code:
        run.font.name = "Consolas"
    if span.note:
        run._r.get_or_add_rPr().set("baseline", "30000")
    if span.struck:
        run._r.get_or_add_rPr().set("strike", "sngStrike")
    if span.address:
        run.hyperlink.address = span.address


def _set_direction(paragraph: Any, text: str) -> None:
    if is_right_to_left(text):
        properties = paragraph._p.get_or_add_pPr()
        properties.set("rtl", "1")
        properties.set("algn", "r")


def _kind(shape: Any) -> int:
    return int(shape.placeholder_format.type)


def _layout_with(layouts: Sequence[Any], kinds: set[int]) -> Any | None:
    """Return the first of *layouts* that has a title and one placeholder of *kinds*."""
    for layout in layouts:
        found = [_kind(one) for one in layout.placeholders]
        if (_TITLE in found or _CENTER_TITLE in found) and sum(k in kinds for k in found) == 1:
            return layout
    return None


def _layout_without_body(layouts: Sequence[Any]) -> Any | None:
    for layout in layouts:
        found = {_kind(one) for one in layout.placeholders}
        if _TITLE in found and not found & {_BODY, _OBJECT, _SUBTITLE} and max(found) > 12:
            return layout
    return None


def _body(layout: Any) -> Any | None:
    return next((one for one in layout.placeholders if _kind(one) in (_BODY, _OBJECT)), None)


def _body_top(layout: Any) -> int:
    body = _body(layout)
    return int(body.top) if body is not None else _TOP


def _drop_empty(slide: Any) -> None:
    """Take out the placeholders that nothing was written into: they would ask for text."""
    for holder in list(slide.placeholders):
        if holder.has_text_frame and not holder.text_frame.text:
            holder._element.getparent().remove(holder._element)
