"""Documents as text: each kind, with its marks, in every script."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
from openpyxl import Workbook
from openpyxl.chart import BarChart, Reference
from PIL import Image, ImageDraw, ImageFont
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE

from modules.documents.contained_run import ContainedRuns
from modules.documents.reader import DocumentReader
from modules.file_manager import FileManager
from modules.files.project import Project
from tests.modules.documents.document_files import (
    archive,
    book,
    notebook,
    open_document,
    parts_of,
    sheet_file,
    slides_file,
    word_file,
)

PDF = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R 3 0 R]/Count 2/MediaBox[0 0 300 200]>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F<</Type/Font/Subtype/Type1
/BaseFont/Helvetica>>>>>>>>endobj
4 0 obj<</Length 44>>stream
BT /F 12 Tf 20 100 Td (Total: 4,812,300) Tj ET
endstream endobj
trailer<</Root 1 0 R>>
%%EOF
"""


@pytest.fixture
def reader(tmp_path: Path) -> DocumentReader:
    return DocumentReader(ContainedRuns(tmp_path))


def test_a_word_document_has_its_sections_lists_tables_and_every_script(
    reader: DocumentReader,
) -> None:
    assert reader.read_text("a.docx", word_file()) == (
        "--- section 1 ---\n# Quarterly report\nRevenue rose.\n- a point\n"
        "| Region | Sales |\n| 南部 | 1,200 |\n"
        "--- section 2 ---\n## 第二节\nمرحبا بالعالم"
    )


def test_slides_have_their_numbers_and_what_the_speaker_says(reader: DocumentReader) -> None:
    assert reader.read_text("a.pptx", slides_file(count=2)) == (
        "--- slide 1 ---\n# 幻灯片 1\nfirst\nsecond\nNotes:\nsaid 1\n"
        "--- slide 2 ---\n# 幻灯片 2\nfirst\nsecond\nNotes:\nsaid 2"
    )


def test_a_chart_of_any_kind_is_its_numbers(reader: DocumentReader) -> None:
    presentation = Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    numbers = CategoryChartData()
    numbers.categories = ["North", "南部"]
    numbers.add_series("Sales", (4.5, 3))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, 900_000, 900_000, numbers)
    file = BytesIO()
    presentation.save(file)
    parts = {
        name: data.replace(b"c:barChart>", b"c:area3DChart>")
        for name, data in parts_of(file.getvalue()).items()
    }
    assert reader.read_text("a.pptx", archive(parts)) == (
        "--- slide 1 ---\n[chart: ]\n| | North | 南部 |\n| Sales | 4.5 | 3 |"
    )


def test_a_workbook_has_the_charts_of_its_sheets_and_those_that_are_sheets(
    reader: DocumentReader,
) -> None:
    workbook = Workbook()
    sheet = workbook.active
    for row in (["Region", "Sales"], ["North", 3], ["南部", 4]):
        sheet.append(row)
    for place in (None, workbook.create_chartsheet("Plot")):
        chart = BarChart()
        chart.title = "By region"
        chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True)
        chart.set_categories(Reference(sheet, min_col=1, min_row=2, max_row=3))
        sheet.add_chart(chart) if place is None else place.add_chart(chart)
    file = BytesIO()
    workbook.save(file)
    chart_lines = "[chart: By region]\n| | 'Sheet'!$A$2:$A$3 |\n| 'Sheet'!B1 | 'Sheet'!$B$2:$B$3 |"
    assert reader.read_text("a.xlsx", file.getvalue()) == (
        f"--- sheet Sheet ---\n1: Region | Sales\n2: North | 3\n3: 南部 | 4\n{chart_lines}\n"
        f"--- sheet Plot ---\n{chart_lines}"
    )


def test_a_word_document_has_the_numbers_of_its_charts(reader: DocumentReader) -> None:
    chart = (
        '<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" '
        'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><c:chart><c:title><c:tx>'
        "<c:rich><a:p><a:r><a:t>By region</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea>"
        "<c:pieChart><c:ser><c:tx><c:strRef><c:f>A1</c:f><c:strCache><c:pt><c:v>Sales</c:v></c:pt>"
        "</c:strCache></c:strRef></c:tx><c:cat><c:strRef><c:strCache><c:pt><c:v>南部</c:v></c:pt>"
        "</c:strCache></c:strRef></c:cat><c:val><c:numRef><c:f>B1</c:f><c:numCache><c:pt>"
        "<c:v>4.5</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser></c:pieChart></c:plotArea>"
        "</c:chart></c:chartSpace>"
    )
    relation = '<Relationship Id="c1" Type="http://x/relationships/chart" Target="charts/one.xml"/>'
    parts = parts_of(word_file())
    listed = parts["word/_rels/document.xml.rels"].decode()
    parts["word/_rels/document.xml.rels"] = listed.replace(
        "</Relationships>", f"{relation}</Relationships>"
    ).encode()
    parts["word/charts/one.xml"] = chart.encode()
    text = reader.read_text("a.docx", archive(parts)) or ""
    assert text.endswith(
        "مرحبا بالعالم\n--- charts ---\n[chart: By region]\n| | 南部 |\n| Sales | 4.5 |"
    )


def test_a_sheet_has_its_rows_values_and_formulas(reader: DocumentReader) -> None:
    assert reader.read_text("a.xlsx", sheet_file()) == (
        "--- sheet 销售 ---\n1: Region | Sales\n2: North | 1200.5\n3: South | 3\n"
        "4:  | =SUM(B2:B3)\n--- sheet Empty ---"
    )


def test_a_pdf_has_its_pages(reader: DocumentReader) -> None:
    assert reader.read_text("a.pdf", PDF) == (
        "--- page 1 ---\nTotal: 4,812,300\n--- page 2 ---\nTotal: 4,812,300"
    )


@pytest.mark.parametrize(
    ("kind", "content", "text"),
    [
        (
            "text",
            "<office:text><text:h text:outline-level='2'>标题</text:h>"
            "<text:p>a<text:s text:c='2'/>b<text:line-break/>c</text:p>"
            "<text:list><text:list-item><text:p>point</text:p></text:list-item></text:list>"
            "</office:text>",
            "--- section 1 ---\n## 标题\na  b\nc\n- point",
        ),
        (
            "presentation",
            "<office:presentation><draw:page><draw:frame><draw:text-box><text:p>שלום</text:p>"
            "</draw:text-box></draw:frame></draw:page></office:presentation>",
            "--- slide 1 ---\nשלום",
        ),
        (
            "spreadsheet",
            "<office:spreadsheet><table:table table:name='表'><table:table-row>"
            "<table:table-cell><text:p>a</text:p></table:table-cell>"
            "<table:table-cell table:number-columns-repeated='2'><text:p>b</text:p>"
            "</table:table-cell><table:table-cell table:number-columns-repeated='16000'/>"
            "</table:table-row><table:table-row table:number-rows-repeated='1048000'>"
            "<table:table-cell/></table:table-row></table:table></office:spreadsheet>",
            "--- sheet 表 ---\n1: a | b | b",
        ),
        (
            "spreadsheet",
            "<office:spreadsheet><table:table table:name='x'>"
            "<table:table-row table:number-rows-repeated='500'><table:table-cell/>"
            "<table:table-cell><text:p>ok</text:p></table:table-cell></table:table-row>"
            "<table:table-row><table:table-cell table:number-columns-repeated='16383'/>"
            "<table:table-cell><text:p>far</text:p></table:table-cell></table:table-row>"
            "</table:table></office:spreadsheet>",
            "\n".join(
                [
                    *("--- sheet x ---", *(f"{row}:  | ok" for row in range(1, 101))),
                    *("101–500:  | ok", "501: … | XFD: far"),
                ]
            ),
        ),
    ],
)
def test_open_documents_are_read(
    reader: DocumentReader, kind: str, content: str, text: str
) -> None:
    assert reader.read_text("a", open_document(kind, content)) == text


@pytest.mark.parametrize("kind", ["presentation", "text"])
def test_the_cells_of_an_embedded_sheet_are_read(reader: DocumentReader, kind: str) -> None:
    sheet = parts_of(
        open_document(
            "spreadsheet",
            "<office:spreadsheet><table:table><table:table-row><table:table-cell><text:p>Sales"
            "</text:p></table:table-cell><table:table-cell><text:p>4711</text:p></table:table-cell>"
            "<table:table-cell table:number-columns-repeated='16000'/></table:table-row>"
            "</table:table></office:spreadsheet>",
        )
    )
    frame = "<draw:frame><draw:object xlink:href='./Object 1'/></draw:frame>"
    inner = (
        f"<draw:page>{frame}</draw:page>"
        if kind == "presentation"
        else (f"<text:p>before{frame}</text:p>")
    )
    parts = parts_of(open_document(kind, f"<office:{kind}>{inner}</office:{kind}>"))
    parts["Object 1/content.xml"] = sheet["content.xml"]
    first = "--- slide 1 ---" if kind == "presentation" else "before"
    assert reader.read_text("a", archive(parts)) == f"{first}\n1: Sales | 4711"


def test_a_book_is_read_in_its_order_without_the_readings_above_letters(
    reader: DocumentReader,
) -> None:
    assert reader.read_text("a.epub", book()) == (
        "--- section 1 ---\n# 第一章\n漢字 here\n- point\n--- section 2 ---\nThe end"
    )


def test_a_program_in_a_book_keeps_its_lines_and_indents(reader: DocumentReader) -> None:
    chapter = (
        "<html><body><p>As\nhere:</p><pre><code><span>def</span> f(x):\n"
        "    if x:\n\t<b>return</b> 1<br/>    # end</code></pre>behind it<p>below</p></body></html>"
    )
    data = archive({**parts_of(book()), "b/one a.xhtml": chapter, "b/two.xhtml": " "})
    assert reader.read_text("a.epub", data) == (
        "--- section 1 ---\nAs here:\ndef f(x):\n    if x:\n\treturn 1\n    # end\n"
        "behind it\nbelow\n--- section 2 ---"
    )


def test_a_notebook_has_its_cells_and_what_they_put_out(reader: DocumentReader) -> None:
    assert reader.read_text("a.ipynb", notebook()) == (
        "--- cell 1, markdown ---\n# Title\ntext\n--- cell 2, code ---\n1 + 1\nOutput:\n2\n"
        "--- cell 3, code ---\nfail()\nOutput:\nNameError"
    )


def test_what_is_no_document_is_left_to_others(reader: DocumentReader) -> None:
    assert reader.read_text("a.zip", b"PK\x03\x04 whatever") is None
    assert reader.read_text("a.txt", b"text") is None


def test_a_scanned_page_is_read_by_ocr(reader: DocumentReader) -> None:
    page = Image.new("RGB", (1200, 300), "white")
    font = ImageFont.load_default(64)
    ImageDraw.Draw(page).text((60, 100), "Invoice 4711", font=font, fill="black")
    file = BytesIO()
    page.save(file, "PDF")
    text = reader.read_text("a.pdf", file.getvalue())
    assert text == "--- page 1, scanned, read by OCR ---\nInvoice 4711"


def test_a_scanned_page_without_ocr_is_said_to_be_one(
    reader: DocumentReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("modules.documents.ocr.system_program", lambda name: None)
    file = BytesIO()
    Image.new("RGB", (60, 60), "white").save(file, "PDF")
    text = reader.read_text("a.pdf", file.getvalue())
    assert text is not None
    assert text.startswith("--- page 1, scanned: it has no text, and no OCR is installed (apt")


def test_read_file_gives_ranges_of_a_document(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "deck").write_bytes(slides_file(count=3))
    (root / "text.pdf").write_bytes(PDF)
    project = Project(root)
    reader = DocumentReader(ContainedRuns(tmp_path))
    files = FileManager(project, documents=lambda: reader)
    try:
        part = files.read_file("deck", start_line=13, end_line=14).text
        assert part == "deck: lines 13-14 of 18\n13│--- slide 3 ---\n14│# 幻灯片 3"
        assert files.read_file("text.pdf", 2, 2).text.endswith("2│Total: 4,812,300")
    finally:
        project.close()
