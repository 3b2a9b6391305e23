"""Makes a PDF of an outline: fonts embedded, footnotes at the bottom of their page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import zip_longest
from unicodedata import bidirectional

from fpdf.fonts import FontFace
from PIL import Image

from modules.documents.outline import (
    Block,
    Outline,
    Rows,
    Span,
    Spans,
    in_bold,
    is_right_to_left,
    is_right_to_left_table,
    marked_text,
    numeric_columns,
    plain_text,
)
from modules.documents.worker.making.fonts import FontFile
from modules.documents.worker.making.pdf_pages import (
    FIRST_FONT,
    LINE_HEIGHT,
    MARGIN,
    MM_PER_POINT,
    Pages,
)
from modules.documents.worker.making.table_columns import column_groups, column_widths, even_rows

_TEXT, _CODE, _TABLE = 11.0, 9.5, 10.0
_FIRST_LINES = 4
"""Lines of a text that are not parted from a heading above it, if it has no footnote."""
_HEADINGS = (20.0, 16.0, 13.5, 12.0, 11.5, 11.0)
_ROW_LINE = _TABLE * LINE_HEIGHT * MM_PER_POINT
_PADDING = 1.0
_HEADING_ROOM = 40.0
"""Millimetres of a page that a row of a table leaves to the heading above it."""
_CODE_FONT = "code"
_STYLES = ("", "B", "I", "BI")


class PdfWriter:
    """Writes one PDF with *fonts*, the first for what it has, the others for what that lacks.

    It opens them at once: a confined process can open no file.
    """

    def __init__(self, fonts: Sequence[FontFile], code_font: FontFile | None = None) -> None:
        self._pdf = pdf = Pages(format="A4")
        pdf.set_margins(MARGIN, MARGIN)
        for number, font in enumerate(fonts):
            self._add_font(f"f{number}", font, _STYLES[:2] if number else _STYLES)
        self._code_font = _CODE_FONT if code_font else FIRST_FONT
        if code_font:
            self._add_font(_CODE_FONT, code_font, _STYLES)
        pdf.set_fallback_fonts(
            [f"f{number}" for number in range(0 if code_font else 1, len(fonts))], exact_match=False
        )
        pdf.set_text_shaping(True)
        for opened in pdf.fonts.values():
            _ = opened.hbfont  # opens the file once more, for the shapes of its letters
        self._outline = Outline("", ())
        self._pictures: Sequence[bytes] = ()

    def _add_font(self, family: str, font: FontFile, styles: Sequence[str]) -> None:
        for style in styles:
            file, index = font.styled(style)
            self._pdf.add_font(family, style, file, collection_font_number=index)

    def write(self, outline: Outline, pictures: Sequence[bytes]) -> bytes:
        pdf = self._pdf
        self._outline, self._pictures = outline, pictures
        pdf.outline = outline
        pdf.set_title(outline.title)
        pdf.set_font(FIRST_FONT, size=_TEXT)
        pdf.add_page()
        for block, following in zip_longest(outline.blocks, outline.blocks[1:]):
            self._add(block, following)
        pdf.write_last_notes()
        return bytes(pdf.output())

    def _add(self, block: Block, following: Block | None) -> None:
        match block.kind:
            case "heading":
                self._heading(block, following)
            case "item":
                self._item(block)
            case "code":
                self._code(block)
            case "table":
                self._table(block)
            case "picture":
                self._picture(block)
            case "break":
                if not self._pdf.is_at_top():
                    self._pdf.add_page()
            case "quote":
                self._paragraph(block.spans, indent=8)
            case "text":
                self._paragraph(block.spans, indent=6.0 * block.level)

    def _heading(self, block: Block, following: Block | None) -> None:
        size = _HEADINGS[min(block.level, len(_HEADINGS)) - 1]
        self._pdf.ln(size * 0.22)
        # A heading is not left alone at the bottom of a page.
        is_picture = following is not None and following.kind == "picture"
        below = self._picture_size(following)[1] + 10 if following and is_picture else size * 2.2
        if following is not None and following.kind == "table":
            below = self._first_rows_height(even_rows(following.rows))
        self._paragraph(in_bold(block.spans), size=size, keep=below)
        self._pdf.start_section(block.text[:200] or " ", level=0)

    def _item(self, block: Block) -> None:
        mark = f"{block.number}." if block.number else "•"
        self._paragraph(block.spans, indent=6.0 * (block.level + 1), mark=mark, gap=1.0)

    def _paragraph(
        self,
        spans: Spans,
        *,
        size: float = _TEXT,
        indent: float = 0.0,
        mark: str = "",
        gap: float = 2.4,
        keep: float = 0.0,
    ) -> None:
        """Write *spans*; with the footnotes that they name, on the page where they end."""
        pdf = self._pdf
        text = plain_text(spans)
        is_rtl = is_right_to_left(text)
        marked = _marked(spans)
        height = size * LINE_HEIGHT * MM_PER_POINT
        pdf.set_font(FIRST_FONT, size=size)
        left = pdf.l_margin + (0 if is_rtl else indent)
        width = pdf.epw - indent
        count = pdf.line_count(width, height, text or " ")
        new_notes = [span.note for span in spans if span.note]
        # A long text goes on on the next page; its notes stand where it ends.
        begun = count if new_notes or keep else min(count, _FIRST_LINES)
        pdf.make_room(begun * height + keep, new_notes)
        if mark:
            place = pdf.w - pdf.r_margin - indent if is_rtl else left - 5.5
            pdf.set_x(place)
            pdf.cell(5.5, height, mark)
        pdf.set_x(left)
        if _has_right_to_left(text):  # the columns of fpdf2 know one direction only
            align = "R" if is_rtl else "L"
            style = "B" if spans and all(span.bold for span in spans) else ""
            pdf.set_font(FIRST_FONT, style, size)
            shown = marked_text(spans)
            pdf.multi_cell(width, height, shown, align=align, new_x="LMARGIN", new_y="NEXT")
            pdf.set_font(FIRST_FONT, size=size)
        else:
            self._runs(marked, width, size)
        pdf.ln(gap)

    def _runs(self, spans: Spans, width: float, size: float) -> None:
        """Write *spans* in lines of *width*, each in its look, from where the pen is."""
        pdf = self._pdf
        # fpdf2 keeps the direction of the paragraph before, and would turn Chinese letters around.
        pdf.text_shaping |= {"paragraph_direction": None, "fragment_direction": None}
        left = pdf.get_x()
        columns = pdf.text_columns(
            text_align="L",
            l_margin=left,
            r_margin=pdf.w - left - width,
            line_height=LINE_HEIGHT,
        )
        with columns:
            for span in spans:
                style = ("B" if span.bold else "") + ("I" if span.italic else "")
                style += "S" if span.struck else ""
                pdf.set_font(self._code_font if span.code else FIRST_FONT, style, size)
                if span.note:
                    pdf.char_vpos = "SUP"
                    columns.write(str(span.note))
                    pdf.char_vpos = "LINE"
                else:
                    columns.write(span.text, link=span.address)
        pdf.set_font(FIRST_FONT, size=size)

    def _code(self, block: Block) -> None:
        pdf = self._pdf
        height = _CODE * LINE_HEIGHT * MM_PER_POINT
        pdf.set_font(self._code_font, size=_CODE)
        pdf.set_fill_color(244, 245, 248)
        pdf.multi_cell(
            0, height, block.text.expandtabs(4), fill=True, new_x="LMARGIN", new_y="NEXT", align="L"
        )
        pdf.set_font(FIRST_FONT, size=_TEXT)
        pdf.ln(2.4)

    def _table(self, block: Block) -> None:
        rows = even_rows(block.rows)
        for part in column_groups(rows, _TABLE, self._pdf.epw / MM_PER_POINT):
            self._whole_table(part)

    def _whole_table(self, rows: Rows) -> None:
        pdf = self._pdf
        notes = [span.note for row in rows for spans in row for span in spans if span.note]
        pdf.make_room(20, notes)
        if is_right_to_left_table(rows):
            rows = [row[::-1] for row in rows]
        numeric = numeric_columns(rows)
        widths = column_widths(rows, _TABLE, pdf.epw / MM_PER_POINT)
        lines = self._cell_lines(rows, widths)
        most = int((pdf.room_of_a_page() - _HEADING_ROOM) / _ROW_LINE)
        head_lines = _most_lines(lines[0]) if len(rows) > 1 else 0
        has_head = 0 < head_lines <= most // 3
        most -= head_lines if has_head else 0
        pdf.set_font(FIRST_FONT, size=_TABLE)
        head = FontFace(emphasis="BOLD", fill_color=(238, 241, 246))
        with pdf.table(
            headings_style=head,
            col_widths=widths,
            line_height=_ROW_LINE,
            padding=_PADDING,
            text_align="LEFT",
            first_row_as_headings=has_head,
        ) as table:
            for row in (part for one in lines for part in _parts_of_row(one, most)):
                cells = table.row()
                for column, text in enumerate(row):
                    is_right = column in numeric or is_right_to_left(text)
                    cells.cell(text, align="R" if is_right else None)
        pdf.ln(3)

    def _cell_lines(self, rows: Rows, widths: Sequence[float]) -> list[list[list[str]]]:
        """Return the lines that each cell of *rows* is set in, in columns of *widths*."""
        pdf, found = self._pdf, []
        for number, row in enumerate(rows):
            # In bold letters, as a header has, no line is longer.
            pdf.set_font(FIRST_FONT, "" if number else "B", _TABLE)
            rooms = (pdf.epw * width / sum(widths) - 2 * _PADDING for width in widths)
            cells = zip(map(marked_text, row), rooms, strict=True)
            found.append(
                [pdf.lines(room, _ROW_LINE, text) if text else [""] for text, room in cells]
            )
        pdf.set_font(FIRST_FONT, size=_TEXT)
        return found

    def _first_rows_height(self, rows: Rows) -> float:
        """Return how many millimetres the header of a table and the row below it need; of a row
        that is parted, a part.
        """
        room = self._pdf.epw / MM_PER_POINT
        part = column_groups(rows, _TABLE, room)[0]
        lines = self._cell_lines(part[:2], column_widths(part, _TABLE, room))
        height = sum(_most_lines(one) * _ROW_LINE + 2 * _PADDING for one in lines)
        return min(height, self._pdf.room_of_a_page() - _HEADING_ROOM)

    def _picture(self, block: Block) -> None:
        pdf = self._pdf
        width, height = self._picture_size(block)
        pdf.make_room(height + 10, [])
        x = pdf.l_margin + (pdf.epw - width) / 2
        data = BytesIO(self._pictures[block.file])
        pdf.image(data, x=x, w=width, h=height, alt_text=block.text or None)
        pdf.ln(2)
        if block.text:
            self._paragraph((Span(block.text, italic=True),), size=_TABLE)

    def _picture_size(self, block: Block) -> tuple[float, float]:
        """Return how many millimetres wide and high the picture of *block* is to be."""
        with Image.open(BytesIO(self._pictures[block.file])) as picture:
            ratio = picture.height / picture.width
            natural = picture.width * MM_PER_POINT
        width = min(self._pdf.epw, self._pdf.eph * 0.7 / ratio, natural)
        return width, width * ratio


def _most_lines(row: Sequence[Sequence[str]]) -> int:
    return max(map(len, row))


def _parts_of_row(row: Sequence[Sequence[str]], most: int) -> Iterator[list[str]]:
    """Yield the texts of *row*, whose cells are lines; one higher than *most* in parts.

    Two of these have room on a page.
    """
    height = _most_lines(row)
    step = height if height <= most else most // 2
    for first in range(0, height, step):
        yield ["\n".join(lines[first : first + step]) for lines in row]


def _has_right_to_left(text: str) -> bool:
    return any(bidirectional(letter) in ("R", "AL") for letter in text)


def _marked(spans: Spans) -> Spans:
    return tuple(span for span in spans if span.note or span.text)
