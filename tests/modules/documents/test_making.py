"""Outlines made into documents, each opened by another reader than what made it."""

from __future__ import annotations

import ctypes
import datetime
import json
import re
from collections.abc import Iterator
from html import unescape
from io import BytesIO
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
from docx import Document
from docx.enum.section import WD_ORIENT, WD_SECTION
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.oxml import OxmlElement
from fontTools.fontBuilder import FontBuilder
from openpyxl import Workbook, load_workbook
from openpyxl.utils.datetime import CALENDAR_MAC_1904, CALENDAR_WINDOWS_1900
from pptx import Presentation
from pptx.util import Inches, Pt

from core.cards import Change
from core.tools import ToolError
from modules.documents.contained_run import ContainedRuns
from modules.documents.feature import Documents
from modules.documents.problems import problem
from modules.documents.reader import DocumentReader
from modules.documents.worker.making.fonts import choose_fonts
from modules.documents.worker.problems import Problem
from modules.files.project import Project
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.modules.documents.document_files import archive, parts_of, word_file
from tests.picture_files import picture_file
from tests.scripted_model import call_reply, run_turn, text_reply
from utils.i18n import UserError

ENGLISH = """# Quarterly report

Northwind, third quarter

## Summary

- Revenue rose by **12 %** to 4,812,300 EUR[^1]
- Costs fell
  - North: 3 %

1. First sales
2. Then costs

## Sales by region

| Region | Q3 | Growth |
|---|---|---|
| North | 1,310,022 | 8.8% |
| 007 | =1+1 | =WEBSERVICE("http://127.0.0.1/") |

![Revenue](chart.png)

[^1]: Annual report, https://example.org/report
"""
CHINESE = """# 季度报告

## 摘要

- 本季度收入增长 12%，达到 4,812,300 元[^来源]

## 各地区销售

| 地区 | 第三季度 |
|---|---|
| 南部 | 1,102,450 |

## العربية

مرحبا بالعالم

[^来源]: 国家统计局，2026 年。
"""
SHOWN = {
    ENGLISH: ("Quarterly report", "Summary", "4,812,300", "Sales by region", "example.org/report"),
    CHINESE: ("季度报告", "摘要", "各地区销售", "国家统计局", "4,812,300", "南部"),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "chart.png").write_bytes(picture_file(size=(400, 200)))
    return root


@pytest.fixture
def documents(root: Path, tmp_path: Path) -> Iterator[Documents]:
    project = Project(root)
    yield Documents(project, tmp_path / "previews", tmp_path)
    project.close()


def shown_text(path: Path) -> str:
    """Return all text of a document, by a reader that had no part in making it."""
    data = path.read_bytes()
    if path.suffix == ".html":
        return data.decode()
    if path.suffix == ".pdf":
        pages = pypdfium2.PdfDocument(data)
        return "\n".join(page.get_textpage().get_text_range() for page in pages)
    texts = [part.decode() for name, part in parts_of(data).items() if name.endswith(".xml")]
    joined = "\n".join(re.sub(r"</(a:p|w:p|row|si)>", "\n", text) for text in texts)
    return unescape(re.sub(r"<[^>]*>", "", joined))


@pytest.mark.parametrize("kind", ["docx", "pptx", "xlsx", "pdf", "html"])
@pytest.mark.parametrize("outline", [ENGLISH, CHINESE], ids=["english", "chinese"])
def test_every_heading_and_number_is_there(
    documents: Documents, root: Path, kind: str, outline: str
) -> None:
    outcome = documents.make_document(f"out/a.{kind}", outline)
    assert outcome.changes == (Change("created", f"out/a.{kind}"),)
    text = shown_text(root / f"out/a.{kind}")
    if kind == "xlsx":
        text += " ".join(load_workbook(root / "out/a.xlsx").sheetnames)
        text = text.replace("1310022", "1,310,022").replace("1102450", "1,102,450")
    assert [one for one in SHOWN[outline] if one not in text] == []


def test_values_of_a_sheet_have_their_types(documents: Documents, root: Path) -> None:
    documents.make_document("a.xlsx", ENGLISH)
    workbook = load_workbook(root / "a.xlsx")
    sheet = workbook["Sales by region"]
    rows = [[cell.value for cell in row] for row in sheet["A1:C3"]]
    assert rows == [
        ["Region", "Q3", "Growth"],
        ["North", 1_310_022, 0.088],
        ["007", "=1+1", '=WEBSERVICE("http://127.0.0.1/")'],
    ]
    assert [sheet["B3"].data_type, sheet["C3"].data_type] == ["f", "s"]
    assert sheet["C2"].number_format == "0.0%"
    assert len(sheet._images) == 1


def test_a_footnote_of_a_document_is_a_real_one(documents: Documents, root: Path) -> None:
    documents.make_document("a.docx", ENGLISH)
    parts = parts_of((root / "a.docx").read_bytes())
    (identity,) = re.findall(rb'<w:footnoteReference w:id="(\d+)"', parts["word/document.xml"])
    note = re.search(
        rb'<w:footnote w:id="%s">(.*)</w:footnote>' % identity, parts["word/footnotes.xml"]
    )
    assert note is not None
    assert b"https://example.org/report" in note[1]
    assert b"footnotes+xml" in parts["[Content_Types].xml"]


def test_fonts_are_embedded_in_a_pdf_with_every_letter(documents: Documents, root: Path) -> None:
    documents.make_document("a.pdf", CHINESE)
    data = (root / "a.pdf").read_bytes()
    assert data.count(b"/FontFile") >= 2
    assert b"/BaseFont /Helvetica" not in data
    with pytest.raises(UserError, match=r"no font on this computer has .* \(U\+10FFFD\)"):
        documents.make_document("b.pdf", "# \U0010fffd")
    assert not (root / "b.pdf").exists()


def test_text_that_does_not_fit_goes_on_to_more_slides_in_letters_of_12_points_or_more(
    documents: Documents, root: Path
) -> None:
    words = " ".join(f"word{n}" for n in range(900))
    points = "\n".join(f"- point {n} 要点{n}，说明文字" for n in range(60))
    rows = "\n".join(f"| {n} | cell {n} |" for n in range(60))
    text = f"# A\n\n## Long\n\n{words}\n\n## Points\n\n{points}\n\n## Rows\n\n|a|b|\n|-|-|\n{rows}"
    documents.make_document("a.pptx", text)  # which checks that nothing is outside
    presentation = Presentation(root / "a.pptx")
    sizes = {
        run.font.size.pt
        for slide in presentation.slides
        for shape in slide.shapes
        if shape.has_text_frame
        for paragraph in shape.text_frame.paragraphs
        for run in paragraph.runs
        if run.font.size
    }
    assert min(sizes) >= 12
    shown = shown_text(root / "a.pptx")
    assert [n for n in range(900) if not re.search(rf"\bword{n}\b", shown)] == []
    assert [n for n in range(60) if f"要点{n}，" not in shown or f"cell {n}" not in shown] == []
    assert len(presentation.slides) > 8


def test_a_small_outline_in_json_is_taken(documents: Documents, root: Path) -> None:
    content = (
        '{"title": "T", "parts": [{"heading": "One", "points": ["a", ["deeper"]], "notes": "say"},'
        '{"heading": "Two", "table": [["h"], [3]]}]}'
    )
    documents.make_document("a.pptx", content)
    slides = Presentation(root / "a.pptx").slides
    assert [slide.shapes.title.text for slide in slides] == ["T", "One", "Two"]
    assert slides[1].notes_slide.notes_text_frame.text == "say"
    for wrong, reason in (
        ('{"title": "T"}', "looks like this"),
        ('{"parts": [{"headline": "x"}]}', "has no headline"),
        ('{"parts": [{"text": "x"}], "theme": "dark"}', "has no theme"),
        ('{"parts": [', "is none"),
        (" ", "is empty"),
    ):
        with pytest.raises(ToolError, match=reason):
            documents.make_document("b.pptx", wrong)


WRONG: tuple[Any, ...] = ("x", 0, 1.5, True, [None], [[{}]], [{"a": {}}], {"a": 1})


@pytest.mark.parametrize(
    "name", ["level", "points", "table", "heading", "text", "picture", "notes"]
)
def test_a_field_of_the_wrong_kind_is_named(documents: Documents, name: str) -> None:
    is_text = name not in ("level", "points", "table")
    for value in WRONG:
        if is_text and isinstance(value, str | int | float) and not isinstance(value, bool):
            continue  # a text, or a number that is taken as one
        content = json.dumps({"title": "T", "parts": [{"heading": "H", name: value}]})
        with pytest.raises(ToolError, match=f"“{name}” of an outline has to be"):
            documents.make_document("b.docx", content)


def test_points_below_points_and_rows_with_names_are_all_there(
    documents: Documents, root: Path
) -> None:
    part = {
        "heading": "bad\0 letters \ud800",
        "points": ["a", ["b", "c", ["d"]], "e"],
        "table": [{"x": 1, "y": None}, {"y": True, "z": "last"}],
    }
    documents.make_document("a.docx", json.dumps({"parts": [part]}))
    assert documents.reader().read_text("a.docx", (root / "a.docx").read_bytes()) == (
        "--- section 1 ---\n# bad letters \ufffd\n- a\n- b\n- c\n- d\n- e\n"
        "| x | y | z |\n| 1 |  |  |\n|  | TRUE | last |"
    )
    documents.make_document("a.pptx", json.dumps({"parts": [part]}))
    slide = Presentation(root / "a.pptx").slides[0]
    levels = [(one.text, one.level) for one in slide.placeholders[1].text_frame.paragraphs]
    assert levels == [("a", 0), ("b", 1), ("c", 1), ("d", 2), ("e", 0)]


HTML = """\
---
title: "In front"
---
<!-- for me -->

## A <!-- inline -->

~~Old~~ new<br>line

<style>p { color: red }</style>
<p>One &amp; <b>two</b></p>

| one row |
|---|
"""


@pytest.mark.parametrize("kind", ["docx", "pptx", "xlsx", "pdf", "html"])
def test_comments_and_html_are_not_shown_as_text(
    documents: Documents, root: Path, kind: str
) -> None:
    outcome = documents.make_document(f"a.{kind}", HTML)
    text = shown_text(root / f"a.{kind}")
    assert ("for me" in text) == (kind == "pptx")
    assert ("left out" in outcome.text) == (kind != "pptx")
    for gone in ("inline -->", "color: red", "title:", "<b>"):
        assert gone not in text
    for there in ("In front", "Old", "new", "line", "One & two", "one row"):
        assert there in unescape(text)
    if kind == "pptx":
        notes = [slide.has_notes_slide for slide in Presentation(root / "a.pptx").slides]
        assert notes == [True, False, False]


def test_a_template_with_macros_gives_its_look_alone(documents: Documents, root: Path) -> None:
    documents.make_document("a.docx", ENGLISH)
    documents.make_document("a.pptx", ENGLISH)
    documents.make_document("a.xlsx", ENGLISH)
    for kind, change in TEMPLATES.items():
        parts = parts_of((root / f"a.{kind}").read_bytes())
        types = parts["[Content_Types].xml"]
        parts["[Content_Types].xml"] = types.replace(MAIN[kind].encode(), change.encode()).replace(
            b"</Types>", b'<Default Extension="bin" ContentType="application/x-macros"/></Types>'
        )
        folder = {"docx": "word", "pptx": "ppt", "xlsx": "xl"}[kind]
        (relations,) = (name for name in parts if re.match(rf"{folder}/_rels/\w+\.xml\.rels", name))
        macros = f'<Relationship Id="rM" Type="{MACROS}" Target="vbaProject.bin"/></Relationships>'
        parts[relations] = parts[relations].replace(b"</Relationships>", macros.encode())
        (root / f"t.{kind}").write_bytes(archive({**parts, f"{folder}/vbaProject.bin": b"macros"}))
        documents.make_document(f"b.{kind}", "# Made\n\ntext", template=f"t.{kind}")
        made = parts_of((root / f"b.{kind}").read_bytes())
        assert MAIN[kind] in made["[Content_Types].xml"].decode()
        assert "vbaProject" not in str([*made, *made.values()])
        assert "4,812,300" in str(documents.reader().read_text("t", archive(parts)))


MACROS = "http://schemas.microsoft.com/office/2006/relationships/vbaProject"
_OFFICE = "application/vnd.openxmlformats-officedocument"
MAIN = {
    "docx": f"{_OFFICE}.wordprocessingml.document.main+xml",
    "pptx": f"{_OFFICE}.presentationml.presentation.main+xml",
    "xlsx": f"{_OFFICE}.spreadsheetml.sheet.main+xml",
}
TEMPLATES = {
    "docx": "application/vnd.ms-word.document.macroEnabled.main+xml",
    "pptx": f"{_OFFICE}.presentationml.template.main+xml",
    "xlsx": "application/vnd.ms-excel.sheet.macroEnabled.main+xml",
}


def test_the_look_of_a_template_is_taken_and_not_its_text(documents: Documents, root: Path) -> None:
    deck = Presentation()
    deck.slide_width = Inches(11)
    deck.slides.add_slide(deck.slide_layouts[0]).shapes.title.text = "of the template"
    deck.save(str(root / "t.pptx"))
    text = Document()
    text.styles["Heading 1"].font.size = Pt(33)
    text.add_paragraph("of the template")
    text.sections[0].header.paragraphs[0].text = "Letterhead"
    text.save(str(root / "t.docx"))
    for kind in ("pptx", "docx"):
        documents.make_document(f"a.{kind}", ENGLISH, template=f"t.{kind}")
        assert "of the template" not in shown_text(root / f"a.{kind}")
    assert Presentation(root / "a.pptx").slide_width == Inches(11)
    made = Document(str(root / "a.docx"))
    assert made.styles["Heading 1"].font.size == Pt(33)
    assert made.sections[0].header.paragraphs[0].text == "Letterhead"


def test_a_long_text_in_a_pdf_goes_on_on_the_next_page_and_takes_no_footnote(
    documents: Documents, root: Path
) -> None:
    long = "This goes on and on. " * 170
    documents.make_document(
        "a.pdf", f"# A\n\nSaid.[^1]\n\n## Long\n\n{long}\n\n[^1]: The source.\n"
    )
    first, second = (
        page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(root / "a.pdf")
    )
    assert "1. The source." in first
    assert "Long\r\nThis goes on" in first
    assert "goes on" in second


def test_what_stands_in_a_list_does_not_end_it(documents: Documents, root: Path) -> None:
    table, code = "| a | b |\n   |---|---|\n   | 1 | 2 |", "```\n   run()\n   ```"
    documents.make_document(
        "a.html",
        f"1. one\n\n   {table}\n\n2. two\n\n   {code}\n\n   ![](chart.png)\n\n3. three\n\nend",
    )
    page = (root / "a.html").read_text()
    body = re.sub(r"data:[^\"]*", "", page.partition("<body>")[2])
    assert re.findall(r"</?(?:ol|li|table|pre|img|p)\b", body) == [
        *("<ol", "<li", "<table", "</table", "</li", "<li", "<pre", "</pre", "<img", "</li"),
        *("<li", "</li", "</ol", "<p", "</p"),
    ]


@pytest.mark.parametrize(
    ("character", "package"),
    [
        *(("ก", "fonts-noto-core"), ("अ", "fonts-noto-core"), ("ب", "fonts-noto-core")),
        *(("字", "fonts-noto-cjk"), ("한", "fonts-noto-cjk"), ("🚀", "fonts-symbola")),
    ],
)
def test_the_package_with_a_missing_font_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, character: str, package: str
) -> None:
    made = FontBuilder(1000)
    made.setupGlyphOrder([".notdef", "any"])
    made.setupCharacterMap(dict.fromkeys(range(32, 127), "any"))
    made.save(tmp_path / "latin.ttf")
    fonts = [tmp_path / "latin.ttf"]
    monkeypatch.setattr("modules.documents.worker.making.fonts.font_files", lambda: iter(fonts))
    with pytest.raises(Problem) as missing:
        choose_fonts(f"Sales {character}")
    said = str(problem("a.pdf", {"error": missing.value.code, **missing.value.values}))
    assert f"no font on this computer has {character} (U+" in said
    assert f"(Debian: apt install {package})" in said


def test_what_cannot_be_made_is_said(documents: Documents, root: Path) -> None:
    (root / "a.docx").write_bytes(b"there")
    refused: tuple[tuple[dict[str, Any], str], ...] = (
        ({"path": "a.docx", "content": "x"}, "exists already"),
        ({"path": "a.odt", "content": "x"}, "ends with its kind"),
        ({"path": "../a.docx", "content": "x"}, "outside"),
        ({"path": "b.docx", "content": "![](http://127.0.0.1/x.png)"}, "file of the project"),
        ({"path": "b.docx", "content": "![](none.png)"}, "none.png"),
        ({"path": "b.pdf", "content": "x", "template": "chart.png"}, "takes no template"),
        ({"path": "b.docx", "content": "x", "template": "chart.png"}, "cannot be the template"),
        ({"path": "b.docx", "content": "x", "template": "a.docx"}, "template cannot be used"),
        ({"path": "b.docx", "content": "x", "part": "1"}, "There is no"),
        ({"path": "b.docx", "content": "# A\n\n<!-- open\n\n# B"}, "Line 3 begins a comment"),
        ({"path": "b.html", "content": "#"}, "is empty"),
        ({"path": "b.docx", "content": "#"}, "is empty"),
    )
    for arguments, reason in refused:
        with pytest.raises((ToolError, UserError), match=reason):
            documents.make_document(**arguments)
    assert (root / "a.docx").read_bytes() == b"there"


def test_a_deck_of_40_has_39_slides_as_they_were_and_undo_takes_the_change_back(
    tmp_path: Path,
) -> None:
    deck = "\n\n".join(f"# Slide {n}\n\n- point {n}" for n in range(1, 41))
    with assembled_terminal(
        tmp_path,
        call_reply("make_document", path="d.pptx", content=deck),
        text_reply("made"),
        call_reply("make_document", path="d.pptx", content="# 更短\n\n- one", part="3"),
        text_reply("changed"),
    ) as env:
        before, after = run(env, "make it"), run(env, "slide 3 shorter")
        old, new = parts_of(before), parts_of(after)
        assert list(old) == list(new)
        assert [name for name in old if old[name] != new[name]] == ["ppt/slides/slide3.xml"]
        slides = Presentation(BytesIO(after)).slides
        assert len(slides) == 40
        assert [slides[2].shapes.title.text, slides[2].placeholders[1].text] == ["更短", "one"]
        assert "make_document" not in str(env.model.tool_lists[0])
        run_turn(env.terminal, "/undo")
        assert (env.root / "d.pptx").read_bytes() == before


def run(env: AssembledTerminal, line: str) -> bytes:
    run_turn(env.terminal, line)
    return (env.root / "d.pptx").read_bytes()


@pytest.mark.parametrize(
    ("kind", "part", "member"),
    [("docx", "2", "word/document.xml"), ("xlsx", "Sales by region", "xl/worksheets/sheet3.xml")],
)
def test_one_section_and_one_sheet_are_changed_alone(
    documents: Documents, root: Path, kind: str, part: str, member: str
) -> None:
    documents.make_document(f"a.{kind}", ENGLISH)
    old = parts_of((root / f"a.{kind}").read_bytes())
    content = "## 新的\n\n| a | b |\n|---|---|\n| x | 42 |"
    documents.make_document(f"a.{kind}", content, part=part)
    new = parts_of((root / f"a.{kind}").read_bytes())
    assert [name for name in old if old[name] != new[name]] == [member]
    if kind == "xlsx":
        sheet = load_workbook(root / "a.xlsx")[part]
        rows = [[cell.value for cell in row] for row in sheet.iter_rows(max_row=2, max_col=2)]
        assert rows == [["a", "b"], ["x", 42]]
        return
    text = shown_text(root / "a.docx")
    assert "新的" in text
    assert "Costs fell" not in text
    assert "1,310,022" in text


def test_a_section_that_is_changed_leaves_all_others_and_the_page_setup(
    documents: Documents, root: Path
) -> None:
    made = Document()
    for number in range(1, 4):
        made.add_heading(f"Heading {number}", 1)
        made.add_paragraph(f"text {number}")
        if number == 2:
            made.add_section(WD_SECTION.NEW_PAGE).orientation = WD_ORIENT.LANDSCAPE
    made.save(str(root / "a.docx"))
    old = [element.xml for element in Document(str(root / "a.docx")).element.body]
    documents.make_document("a.docx", "# Anew\n\nother text", part="2")
    new = [element.xml for element in Document(str(root / "a.docx")).element.body]
    assert (new[:2], new[-3:]) == (old[:2], old[-3:])
    assert [one.orientation for one in Document(str(root / "a.docx")).sections] == [
        WD_ORIENT.PORTRAIT,
        WD_ORIENT.LANDSCAPE,
    ]


def test_styles_as_libreoffice_writes_them_are_taken(documents: Documents, root: Path) -> None:
    parts = parts_of(word_file())
    names = parts["word/styles.xml"].replace(b'w:val="heading ', b'w:val="Heading ')
    names = names.replace(b'w:type="table"', b'w:type="character"')  # it has none for tables
    written = archive({**parts, "word/styles.xml": names})
    (root / "a.docx").write_bytes(written)
    text = "# Anew\n\n- one\n\n> said\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    documents.make_document("a.docx", text, part="1")
    documents.make_document("b.docx", "# Head\n\ntext", template="a.docx")
    for name, heading in (("a.docx", "Anew"), ("b.docx", "Head")):
        first = Document(str(root / name)).paragraphs[0]
        assert (first.text, first.style.style_id) == (heading, "Heading1")
    (properties,) = Document(str(root / "a.docx")).element.body.xpath("./w:tbl/w:tblPr")
    order = [one.tag.rpartition("}")[2] for one in properties]
    assert order.index("tblBorders") < order.index("tblLook")


@pytest.mark.parametrize("kind", ["pdf", "docx"])
def test_a_table_too_wide_for_the_page_goes_on_below_in_letters_as_large(
    documents: Documents, root: Path, kind: str
) -> None:
    head = " | ".join(f"Column-{n}" for n in range(24))
    numbers = " | ".join(f"{n}{n}0{n},000" for n in range(1, 24))
    table = f"| {head} |\n|{'---|' * 24}\n| North[^1] | {numbers} |\n\n[^1]: Once"
    documents.make_document(f"a.{kind}", f"# Wide\n\n{table}")
    text = shown_text(root / f"a.{kind}")
    for n in range(1, 24):  # none broken within
        assert f"Column-{n}" in text
        assert f"{n}{n}0{n},000" in text
    assert text.count("North") == text.count("Column-0") > 1
    assert text.count("Once") == 1
    if kind == "pdf":
        assert min(sizes_of_letters((root / "a.pdf").read_bytes())) >= 9


def sizes_of_letters(data: bytes) -> set[float]:
    """Return the sizes in points of the letters in a PDF."""
    found = set()
    for page in pypdfium2.PdfDocument(data):
        for one in page.get_objects([pypdfium2.raw.FPDF_PAGEOBJ_TEXT]):
            size = ctypes.c_float()
            pypdfium2.raw.FPDFTextObj_GetFontSize(one.raw, size)
            found.add(size.value * one.get_matrix().a)
    return found


@pytest.mark.parametrize("epoch", [CALENDAR_WINDOWS_1900, CALENDAR_MAC_1904])
def test_a_date_in_a_changed_sheet_is_one_of_the_calendar_of_its_workbook(
    documents: Documents, root: Path, epoch: datetime.datetime
) -> None:
    workbook = Workbook()
    workbook.epoch = epoch
    workbook.active["A2"] = datetime.date(2020, 1, 1)
    workbook.save(root / "a.xlsx")
    documents.make_document("a.xlsx", "| Day |\n|---|\n| 2026-11-29 |", part="1")
    (_, (cell,)) = load_workbook(root / "a.xlsx").active.iter_rows()
    assert cell.value == datetime.datetime(2026, 11, 29)


@pytest.mark.parametrize(
    ("part", "sections"),
    [
        ("1", ["Anew", "First", "In a control", "Last"]),
        ("2", ["Contents", "Anew", "In a control", "Last"]),
        ("3", ["Contents", "First", "Anew", "Last"]),
        ("4", ["Contents", "First", "In a control", "Anew"]),
    ],
)
def test_sections_in_content_controls_are_counted_as_they_are_read(
    documents: Documents, root: Path, part: str, sections: list[str]
) -> None:
    made = Document()
    for heading in ("Contents", "First", "In a control", "Last"):
        made.add_heading(heading, 1)
        made.add_paragraph(f"below {heading}")
    for first in (0, 3):  # as Word has a table of contents that it made
        control = OxmlElement("w:sdt")
        made.element.body[first].addprevious(control)
        control.append(content := OxmlElement("w:sdtContent"))
        content.extend([control.getnext(), control.getnext().getnext()])
    made.save(str(root / "a.docx"))
    documents.make_document("a.docx", "# Anew\n\nbelow Anew", part=part)
    reader = DocumentReader(ContainedRuns(root.parent))
    text = reader.read_text("a.docx", (root / "a.docx").read_bytes())
    assert text == "\n".join(
        f"--- section {number} ---\n# {heading}\nbelow {heading}"
        for number, heading in enumerate(sections, 1)
    )


def test_a_part_that_is_not_there_or_does_not_fit_changes_nothing(
    documents: Documents, root: Path
) -> None:
    documents.make_document("a.pptx", ENGLISH)
    before = (root / "a.pptx").read_bytes()
    for content, part, reason in (
        ("# x", "9", "has no slide 9: it has"),
        ("# x\n\n" + "long text " * 600, "2", "does not fit on one slide"),
        ("x[^1]\n\n[^1]: y", "2", "no footnotes"),
    ):
        with pytest.raises(UserError, match=reason):
            documents.make_document("a.pptx", content, part=part)
    assert (root / "a.pptx").read_bytes() == before


LAYOUT = """\
## مرحبا

مرحبا بالعالم

---

## 中文一节

- a bullet

  below the bullet

1. first

---

| Name | Sold |
|---|---|
| a | 1,200 |
| b | 17 % |

![what it shows](chart.png)

after the picture
"""


def test_lists_breaks_and_numbers_are_set_as_they_are_meant(
    documents: Documents, root: Path
) -> None:
    for kind in ("pptx", "docx", "html", "xlsx", "pdf"):
        documents.make_document(f"a.{kind}", LAYOUT)
    deck = Presentation(root / "a.pptx")
    texts = [slide.placeholders[1].text_frame.paragraphs for slide in [*deck.slides][:2]]
    assert all(slide.shapes for slide in deck.slides)  # a break makes no empty slide
    assert [one.text for one in texts[1]] == ["a bullet", "below the bullet", "first"]
    assert [int(one._p.pPr.get("marL", -1)) > 0 for one in texts[1]] == [False, True, True]
    word = Document(str(root / "a.docx"))
    cells = [cell.paragraphs[0].alignment for row in word.tables[0].rows for cell in row.cells]
    assert cells == [None, WD_ALIGN_PARAGRAPH.RIGHT] * 3
    page = (root / "a.html").read_text()
    assert re.search(r"<ul>.*below the bullet</p>\s*</li></ul>\s*<ol>", page, re.DOTALL)
    assert page.count('class="number"') == 3
    sheet = load_workbook(root / "a.xlsx").worksheets[-1]
    rows = {cell.value: cell.row for (cell, *_) in sheet.iter_rows() if cell.value}
    picture = sheet._images[0].anchor
    assert rows["what it shows"] < picture._from.row + 1 < rows["after the picture"] - 9
    # A line that is turned around would be read from its end.
    assert "中文一节" in shown_text(root / "a.pdf")
