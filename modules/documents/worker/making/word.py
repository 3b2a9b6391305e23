"""Makes a Word document of an outline, with real headings, lists, tables and footnotes."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import docx
from docx import Document
from docx.enum.style import WD_STYLE_TYPE
from docx.enum.table import WD_TABLE_ALIGNMENT
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml.ns import qn
from docx.oxml.parser import OxmlElement
from docx.shared import Mm, Pt

from modules.documents.outline import (
    Block,
    Outline,
    Rows,
    Span,
    Spans,
    is_right_to_left,
    is_right_to_left_table,
    numeric_columns,
    plain_text,
)
from modules.documents.worker.archives import drop_macros
from modules.documents.worker.making.footnotes import Footnotes
from modules.documents.worker.making.table_columns import column_groups, column_widths, even_rows
from modules.documents.worker.slide_fit import EMU_PER_POINT

_CHINESE_FONT = "Microsoft YaHei"
_LIST_STYLES = {False: "List Bullet", True: "List Number"}
_INDENT = 18
"""Points by which a list stands further in than the one around it."""
_MAX_LIST_LEVEL = 2
"""Of the styles that Word has for lists: List Bullet, List Bullet 2, List Bullet 3."""


def default_template() -> bytes:
    """Return the empty document of python-docx."""
    return Path(docx.__file__).with_name("templates").joinpath("default.docx").read_bytes()


def make_word(
    outline: Outline, pictures: Sequence[bytes], template: bytes | None, *, default: bytes
) -> bytes:
    """Return the document of *outline*, in the styles of *template* where one is given.

    *default* is `default_template`, read before.
    """
    document = _of_template(template) if template else _new_document(default)
    document.core_properties.title = outline.title
    writer = WordWriter(document, outline, pictures)
    for block in outline.blocks:
        writer.add(block)
    writer.finish()
    file = BytesIO()
    document.save(file)
    return file.getvalue()


def _new_document(default: bytes) -> Any:
    """Return an empty document of A4, whose Chinese letters are those of a Chinese font."""
    document = Document(BytesIO(default))
    section = document.sections[0]
    section.page_width, section.page_height = Mm(210), Mm(297)
    section.left_margin = section.right_margin = Mm(25)
    section.top_margin = section.bottom_margin = Mm(25)
    for style in document.styles:
        properties = style.element.find(qn("w:rPr"))
        fonts = None if properties is None else properties.find(qn("w:rFonts"))
        if fonts is not None:
            fonts.attrib.pop(qn("w:eastAsiaTheme"), None)
            fonts.set(qn("w:eastAsia"), _CHINESE_FONT)
    normal = document.styles["Normal"]
    normal.font.size = Pt(11)
    language = OxmlElement("w:lang")  # which of the shapes of a Chinese letter is meant
    language.set(qn("w:eastAsia"), "zh-CN")
    normal.element.get_or_add_rPr().append(language)
    normal.element.get_or_add_rPr().get_or_add_rFonts().set(qn("w:eastAsia"), _CHINESE_FONT)
    return document


def _of_template(template: bytes) -> Any:
    """Return *template* without its text: its styles, headers and page are what is wanted."""
    document = Document(BytesIO(template))
    drop_macros(document.part)
    body = document.element.body
    for element in list(body):
        if element.tag != qn("w:sectPr"):
            body.remove(element)
    return document


class WordWriter:
    """Writes blocks at the end of *document*."""

    def __init__(self, document: Any, outline: Outline, pictures: Sequence[bytes]) -> None:
        self._document = document
        self._outline = outline
        self._pictures = pictures
        self._footnotes = Footnotes(document, add_spans)

    def add(self, block: Block) -> None:
        """Write *block*."""
        match block.kind:
            case "heading":
                self._paragraph(block.spans, f"Heading {min(block.level, 9)}")
            case "text":
                paragraph = self._paragraph(block.spans)
                if block.level:  # below an item of a list
                    paragraph.paragraph_format.left_indent = Pt(_INDENT * block.level)
            case "quote":
                self._paragraph(block.spans, "Quote")
            case "item":
                self._item(block)
            case "code":
                self._code(block)
            case "table":
                self._table(block)
            case "picture":
                self._picture(block)
            case "break":
                self._break()

    def _break(self) -> None:
        """Have what comes next begin a page, if anything is on this one."""
        body = self._document.element.body
        last = next((one for one in reversed(body) if one.tag != qn("w:sectPr")), None)
        if last is not None and not last.xpath(".//w:br[@w:type='page']"):
            self._document.add_page_break()

    def finish(self) -> None:
        """Write the footnotes that were named."""
        self._footnotes.finish()

    def _paragraph(self, spans: Spans, style: str = "") -> Any:
        paragraph = self._document.add_paragraph(style=self._style(style))
        self._fill(paragraph, spans)
        return paragraph

    def _fill(self, paragraph: Any, spans: Spans) -> None:
        is_rtl = is_right_to_left(plain_text(spans))
        if is_rtl:
            paragraph._p.get_or_add_pPr().append(OxmlElement("w:bidi"))
        for span in spans:
            if span.note:
                self._footnotes.refer(paragraph, self._outline.notes[span.note - 1], span.note)
            else:
                add_spans(paragraph, (span,))

    def _style(self, name: str, kind: WD_STYLE_TYPE = WD_STYLE_TYPE.PARAGRAPH) -> Any | None:
        """Return the style *name* where the document has it, else None, for the usual one.

        By its name python-docx finds none that is written as LibreOffice does: "Heading 1".
        """
        styles = (one for one in self._document.styles if one.type == kind and one.name)
        return next((one for one in styles if one.name.lower() == name.lower()), None)

    def _item(self, block: Block) -> None:
        level = min(block.level, _MAX_LIST_LEVEL)
        suffix = f" {level + 1}" if level else ""
        name = _LIST_STYLES[False] + suffix
        if block.number or not self._style(name):
            mark = f"{block.number}.\t" if block.number else "•\t"
            paragraph = self._paragraph((Span(mark), *block.spans))
            indent = Pt(_INDENT * (level + 1))
            paragraph.paragraph_format.left_indent = indent
            paragraph.paragraph_format.first_line_indent = -Pt(_INDENT)
            paragraph.paragraph_format.tab_stops.add_tab_stop(indent)
            paragraph.paragraph_format.space_after = Pt(2)
            return
        self._paragraph(block.spans, name)

    def _code(self, block: Block) -> None:
        paragraph = self._document.add_paragraph(style=self._style("No Spacing"))
        for number, line in enumerate(block.text.split("\n")):
            run = paragraph.add_run()
            if number:
                run.add_break()
            run.add_text(line)
            _monospaced(run)
            run.font.size = Pt(9.5)
        paragraph.paragraph_format.space_after = Pt(10)
        paragraph.paragraph_format.left_indent = Pt(14)

    def _table(self, block: Block) -> None:
        section = self._document.sections[-1]
        room = (section.page_width - section.left_margin - section.right_margin) / EMU_PER_POINT
        for rows in column_groups(even_rows(block.rows), 11, room):
            self._whole_table(rows, room)

    def _whole_table(self, rows: Rows, room: float) -> None:
        columns = len(rows[0])
        table = self._document.add_table(rows=0, cols=columns)
        kind = WD_STYLE_TYPE.TABLE
        style = self._style("Light Grid Accent 1", kind) or self._style("Table Grid", kind)
        if style is None:
            _add_borders(table)
        else:
            table.style = style
        table.alignment = WD_TABLE_ALIGNMENT.CENTER
        numeric = numeric_columns(rows)
        if is_right_to_left_table(rows):
            table._tbl.tblPr.append(OxmlElement("w:bidiVisual"))
        for row in rows:
            cells = table.add_row().cells
            for column, (cell, spans) in enumerate(zip(cells, row, strict=True)):
                self._fill(cell.paragraphs[0], spans)
                if column in numeric:
                    cell.paragraphs[0].alignment = WD_ALIGN_PARAGRAPH.RIGHT
        for column, width in enumerate(column_widths(rows, 11, room)):
            table.columns[column].width = Pt(width)  # LibreOffice goes by this, Word by the cells
            for cell in table.columns[column].cells:
                cell.width = Pt(width)
        head = table.rows[0]._tr.get_or_add_trPr()
        head.append(OxmlElement("w:tblHeader"))
        for row in table.rows:
            row._tr.get_or_add_trPr().append(OxmlElement("w:cantSplit"))
        self._document.add_paragraph()

    def _picture(self, block: Block) -> None:
        section = self._document.sections[-1]
        width = section.page_width - section.left_margin - section.right_margin
        height = section.page_height - section.top_margin - section.bottom_margin
        paragraph = self._document.add_paragraph()
        paragraph.paragraph_format.keep_with_next = bool(block.text)
        run = paragraph.add_run()
        shape = run.add_picture(BytesIO(self._pictures[block.file]))
        factor = min(1.0, width / shape.width, height * 0.8 / shape.height)
        shape.width, shape.height = int(shape.width * factor), int(shape.height * factor)
        shape._inline.docPr.set("descr", block.text)
        if block.text:
            self._paragraph((Span(block.text, italic=True),), "Caption")


def add_spans(paragraph: Any, spans: Spans) -> None:
    """Write *spans* at the end of *paragraph*."""
    for span in spans:
        parent = paragraph
        if span.address:
            parent = _hyperlink(paragraph, span.address)
        run = paragraph.add_run(span.text)
        if parent is not paragraph:
            parent.append(run._r)
            run.font.underline = True
        if span.bold:
            run.bold = True
        if span.italic:
            run.italic = True
        if span.struck:
            run.font.strike = True
        if span.code:
            _monospaced(run)
        if is_right_to_left(span.text):
            run._r.get_or_add_rPr().append(OxmlElement("w:rtl"))


def _monospaced(run: Any) -> None:
    run.font.name = "Consolas"
    run._r.get_or_add_rPr().get_or_add_rFonts().set(qn("w:eastAsia"), _CHINESE_FONT)


def _hyperlink(paragraph: Any, address: str) -> Any:
    """Return a new hyperlink to *address* at the end of *paragraph*, for runs."""
    identity = paragraph.part.relate_to(address, RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
    element = OxmlElement("w:hyperlink")
    element.set(qn("r:id"), identity)
    paragraph._p.append(element)
    return element


def _add_borders(table: Any) -> None:
    """Give *table* thin lines of its own, in a document that has no style for tables."""
    borders = OxmlElement("w:tblBorders")
    for side in ("top", "left", "bottom", "right", "insideH", "insideV"):
        line = OxmlElement(f"w:{side}")
        for name, value in (("val", "single"), ("sz", "4"), ("space", "0"), ("color", "8899AA")):
            line.set(qn(f"w:{name}"), value)
        borders.append(line)
    layout = table._tbl.tblPr.find(qn("w:tblLayout"))  # comes behind (CT_TblPr is a sequence)
    look = table._tbl.tblPr.find(qn("w:tblLook"))
    behind = layout if layout is not None else look
    if behind is None:
        table._tbl.tblPr.append(borders)
    else:
        behind.addprevious(borders)
