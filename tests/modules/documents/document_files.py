"""Real documents for tests: made by the libraries of their kinds, or part by part."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from io import BytesIO

from docx import Document
from openpyxl import Workbook
from pptx import Presentation
from pptx.util import Inches, Pt

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def archive(parts: Mapping[str, str | bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a zip archive of *parts*."""
    file = BytesIO()
    with zipfile.ZipFile(file, "w", compression) as made:
        for name, content in parts.items():
            made.writestr(name, content)
    return file.getvalue()


def parts_of(data: bytes) -> dict[str, bytes]:
    """Return the members of the archive *data*."""
    with zipfile.ZipFile(BytesIO(data)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def word_file(*, heading: str = "Quarterly report", text: str = "Revenue rose.") -> bytes:
    document = Document()
    document.add_heading(heading, 1)
    document.add_paragraph(text)
    document.add_paragraph("a point", style="List Bullet")
    table = document.add_table(2, 2)
    for row, cells in enumerate((("Region", "Sales"), ("南部", "1,200"))):
        for column, cell in enumerate(cells):
            table.cell(row, column).text = cell
    document.add_heading("第二节", 2)
    document.add_paragraph("مرحبا بالعالم")
    return _saved(document)


def slides_file(*, body: str = "first\nsecond", count: int = 1) -> bytes:
    presentation = Presentation()
    for number in range(1, count + 1):
        slide = presentation.slides.add_slide(presentation.slide_layouts[1])
        slide.shapes.title.text = f"幻灯片 {number}"
        slide.placeholders[1].text = body
        slide.notes_slide.notes_text_frame.text = f"said {number}"
    return _saved(presentation)


def slide_with_box(left: float, top: float, text: str) -> bytes:
    """Return a presentation with a text box *left* and *top* inches from the corner."""
    presentation = Presentation()
    for _ in range(3):
        slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    box = slide.shapes.add_textbox(Inches(left), Inches(top), Inches(3), Inches(1))
    box.text_frame.text = text
    box.text_frame.paragraphs[0].runs[0].font.size = Pt(20)
    return _saved(presentation)


def sheet_file() -> bytes:
    workbook = Workbook()
    sheet = workbook.active
    sheet.title = "销售"
    for row in (("Region", "Sales"), ("North", 1200.5), ("South", 3)):
        sheet.append(row)
    sheet["B4"] = "=SUM(B2:B3)"
    workbook.create_sheet("Empty")
    return _saved(workbook)


def open_document(kind: str, content: str) -> bytes:
    namespaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "text", "table")
    )
    draw = (
        'xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" '
        'xmlns:xlink="http://www.w3.org/1999/xlink"'
    )
    body = f"<office:document-content {namespaces} {draw}><office:body>{content}</office:body>"
    return archive(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f"{body}</office:document-content>",
        }
    )


def book() -> bytes:
    return archive(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container><rootfiles><rootfile full-path="b/c.opf"/>'
            "</rootfiles></container>",
            "b/c.opf": '<package><manifest><item id="x" href="two.xhtml"/>'
            '<item id="y" href="one%20a.xhtml"/></manifest>'
            '<spine><itemref idref="y"/><itemref idref="x"/></spine></package>',
            "b/one a.xhtml": "<?xml version='1.0'?><html><body><h1>第一章</h1>"
            "<p>漢<ruby>字<rt>かんじ</rt></ruby> here</p><ul><li>point</li></ul></body></html>",
            "b/two.xhtml": "<html><head><title>no</title></head><body><p>The end</p>"
            "<script>no()</script></body></html>",
        }
    )


def notebook() -> bytes:
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "text"]},
        {
            "cell_type": "code",
            "source": "1 + 1",
            "outputs": [{"output_type": "execute_result", "data": {"text/plain": "2"}}],
        },
        {
            "cell_type": "code",
            "source": ["fail()"],
            "outputs": [{"output_type": "error", "traceback": ["\x1b[31mNameError\x1b[0m"]}],
        },
    ]
    return json.dumps({"cells": cells, "nbformat": 4}).encode()


def _saved(document: object) -> bytes:
    file = BytesIO()
    document.save(file)  # type: ignore[attr-defined]
    return file.getvalue()
