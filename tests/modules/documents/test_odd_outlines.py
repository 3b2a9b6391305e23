"""Outlines that no room was thought of: very deep, very high, very many notes, code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pypdfium2
import pytest
from openpyxl import load_workbook
from PIL import Image
from pptx import Presentation

from core.tools import ToolError
from modules.documents.feature import Documents
from modules.files.project import Project
from tests.modules.documents.test_making import shown_text
from tests.picture_files import picture_file


@pytest.fixture
def documents(tmp_path: Path) -> Iterator[Documents]:
    root = tmp_path / "project"
    root.mkdir()
    project = Project(root)
    yield Documents(project, tmp_path / "previews", tmp_path)
    project.close()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "project"


def pages(path: Path) -> list[str]:
    document = pypdfium2.PdfDocument(path.read_bytes())
    return [page.get_textpage().get_text_range() for page in document]


def slides(path: Path) -> list[str]:
    return [
        "\n".join(shape.text_frame.text for shape in slide.shapes if shape.has_text_frame)
        for slide in Presentation(path).slides
    ]


@pytest.mark.parametrize("kind", ["docx", "pptx", "xlsx", "pdf", "html"])
def test_what_stands_behind_a_deep_list_is_there(
    documents: Documents, root: Path, kind: str
) -> None:
    points = "\n".join(f"{'  ' * level}- level {level}" for level in range(40))
    documents.make_document(f"a.{kind}", f"# Deep\n\n{points}\n\n## Behind it\n\nthe end")
    text = shown_text(root / f"a.{kind}")
    assert [one for one in ("level 0", "level 39", "Behind it", "the end") if one not in text] == []


def test_what_is_nested_too_deeply_is_no_document(documents: Documents, root: Path) -> None:
    with pytest.raises(ToolError, match="nested too deeply"):
        documents.make_document("a.html", f"{'> ' * 300}deep\n\nthe end")
    assert not (root / "a.html").exists()


def test_a_row_of_a_pdf_that_is_higher_than_a_page_goes_on_below(
    documents: Documents, root: Path
) -> None:
    words = [f"word{number}" for number in range(900)]
    filler = "Some words that are there. " * 190
    table = f"| A | B |\n|---|---|\n| x | {' '.join(words)} |\n| y | {'字' * 2_500} |"
    documents.make_document("a.pdf", f"# Title\n\n{filler}\n\n## Below\n\n{table}")
    found = pages(root / "a.pdf")
    assert re.findall(r"word\d+", " ".join(found)) == words
    assert "".join(found).count("字") == 2_500
    heading = next(text for text in found if "Below" in text)
    assert "word0" in heading


def test_footnotes_that_are_higher_than_a_page_go_on_on_the_next(
    documents: Documents, root: Path
) -> None:
    claims = " ".join(f"Claim {number}.[^{number}]" for number in range(60))
    notes = "\n".join(f"[^{number}]: Source-{number} {'x' * 150}" for number in range(59))
    last = f"[^59]: Source-59 {' '.join(f'point{n} of it' for n in range(900))}"
    documents.make_document("a.pdf", f"# Title\n\n{claims}\n\n## More\n\nend\n\n{notes}\n{last}")
    found = pages(root / "a.pdf")
    assert "More" in "".join(found)
    numbers = [int(one) for one in re.findall(r"Source-(\d+)", "".join(found))]
    assert numbers == list(range(60))
    points = re.findall(r"point(\d+)", "".join(found))
    assert list(map(int, points)) == list(range(900))
    assert len(found) < 12


def test_a_cover_has_no_more_text_than_there_is_room(documents: Documents, root: Path) -> None:
    documents.make_document("a.pptx", f"# Title\n\n{'Many words. ' * 300}\n\n## Next\n\nend")
    found = slides(root / "a.pptx")
    assert found[0].strip() == "Title"
    assert "".join(found).count("Many words.") == 300


def test_code_keeps_its_indents_where_it_goes_on_on_another_slide(
    documents: Documents, root: Path
) -> None:
    lines = [f"    line_{number} = {number}" for number in range(80)]
    code = "\n".join(["def f():", *lines])
    documents.make_document("a.pptx", f"# Code\n\n```\n{code}\n```\n\n## More")
    found = "\n".join(slides(root / "a.pptx")).replace("\v", "\n").split("\n")
    assert [line for line in found if "line_" in line] == lines


def test_letters_of_code_in_a_pdf_are_all_as_wide(documents: Documents, root: Path) -> None:
    documents.make_document("a.pdf", "# Code\n\n```\niiiiiiiiii|\nMMMMMMMMMM|\n```\n\nand `code`.")
    page = pypdfium2.PdfDocument((root / "a.pdf").read_bytes())[0].get_textpage()
    text = page.get_text_range()
    ends = [page.get_charbox(at)[0] for at, letter in enumerate(text) if letter == "|"]
    assert len(ends) == 2
    assert ends[0] == pytest.approx(ends[1], abs=0.5)


@pytest.mark.parametrize("layouts", [[0], [6], [1], [5]])
def test_a_template_without_a_place_for_text_or_title_loses_neither(
    documents: Documents, root: Path, layouts: list[int]
) -> None:
    template = Presentation()
    for number, layout in reversed(list(enumerate(template.slide_layouts))):
        if number not in layouts:
            template.slide_layouts.remove(layout)
    template.save(root / "t.pptx")
    text = "# Cover\n\nbelow it\n\n## Part\n\n- a point\n\n## Next\n\nthe end"
    documents.make_document("a.pptx", text, template="t.pptx")
    assert [sorted(one.split("\n")) for one in slides(root / "a.pptx")] == [
        ["Cover", "below it"],
        ["Part", "a point"],
        ["Next", "the end"],
    ]
    for slide in list(Presentation(root / "a.pptx").slides)[1:]:
        title, body = sorted(slide.shapes, key=lambda one: one.text_frame.text not in "PartNext")
        assert title.top + title.height <= body.top


def test_brackets_of_a_pdf_read_from_the_right_are_as_they_were_written(
    documents: Documents, root: Path
) -> None:
    lines = ["שלום (עולם) טוב", "نص [بين قوسين] (آخر) هنا", "(a) שלום"]
    documents.make_document("a.pdf", "\n\n".join(lines))
    text = documents.reader().read_text("a.pdf", (root / "a.pdf").read_bytes()) or ""
    assert text.splitlines()[1:4] == lines


def test_rows_of_a_sheet_are_as_high_as_their_wrapped_text(
    documents: Documents, root: Path
) -> None:
    text = f"# Text\n\n{'Many words. ' * 40}\n\nshort[^1]\n\n## Table\n\n| a | b |\n|---|---|\n"
    text += f"| x | {'字' * 120} |\n| y | z |\n\n[^1]: {'A source. ' * 30}"
    documents.make_document("a.xlsx", text)
    book = load_workbook(root / "a.xlsx")
    heights = {
        name: [book[name].row_dimensions[row].height for row in range(1, book[name].max_row + 1)]
        for name in book.sheetnames
    }
    # Wider ones are cut off at the edge of a page that LibreOffice prints.
    assert [book[name].column_dimensions["A"].width for name in ("Text", "Notes")] == [70, 70]
    assert heights == {"Text": [None, 120, None], "Table": [None, 75, None], "Notes": [75]}


@pytest.mark.parametrize("kind", ["pptx", "pdf"])
def test_a_small_picture_is_not_blown_up(documents: Documents, root: Path, kind: str) -> None:
    Image.new("RGB", (30, 20), "red").save(root / "icon.png")
    documents.make_document(f"a.{kind}", "# Icon\n\n![icon](icon.png)")
    data = (root / f"a.{kind}").read_bytes()
    if kind == "pptx":
        shapes = [one for slide in Presentation(BytesIO(data)).slides for one in slide.shapes]
        assert [round(one.width.pt) for one in shapes if one.shape_type == 13] == [30]
    else:
        drawn = pypdfium2.PdfDocument(data)[0].render().to_pil().convert("RGB")
        counts = {color: count for count, color in drawn.getcolors(1_000_000)}
        assert counts[(255, 0, 0)] == pytest.approx(600, abs=100)


def test_a_table_of_many_columns_goes_on_on_the_next_slide(
    documents: Documents, root: Path
) -> None:
    def row(cell: str) -> str:
        return f"| {' | '.join(cell.format(number) for number in range(20))} |"

    table = "\n".join([row("Column-{}"), row("---"), row("value-{}")])
    documents.make_document("a.pptx", f"# Cover\n\n## Wide\n\n{table}\n\n## Next\n\nend")
    tables = [
        [[cell.text for cell in row.cells] for row in shape.table.rows]
        for slide in Presentation(root / "a.pptx").slides
        for shape in slide.shapes
        if shape.has_table
    ]
    assert [head[0] for head, _ in tables] == ["Column-0"] * len(tables)
    assert [cell for _, values in tables for cell in values[1:]] == [
        f"value-{number}" for number in range(1, 20)
    ]
    assert len(tables) == 3


def test_text_that_is_higher_than_a_row_of_a_sheet_goes_on_in_the_next(
    documents: Documents, root: Path
) -> None:
    words = [f"word{number}" for number in range(700)]
    sentences = "".join(f"{' '.join(words[at : at + 10])}. " for at in range(0, 700, 10)).strip()
    table = f"| A | B |\n|---|---|\n| x | {'字' * 1_300} |"
    text = f"# Notes\n\n{sentences}\n\n{'字' * 2_000}\n\n## Table\n\n{table}"
    documents.make_document("a.xlsx", text)
    notes, cells = load_workbook(root / "a.xlsx")
    rows = [str(row[0].value) for row in notes.iter_rows()]
    latin = [row for row in rows if "字" not in row]
    assert " ".join(latin).split() == ["Notes", *sentences.split()]
    assert all(row.endswith(".") for row in latin[1:])
    assert "".join(row for row in rows if "字" in row) == "字" * 2_000
    for sheet in (notes, cells):
        assert max(row.height or 0 for row in sheet.row_dimensions.values()) < 409


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("图表.png", "![sales](图表.png)"),
        ("图表 1.png", "![sales](<图表 1.png>)"),
        ("my chart (2).png", "before ![sales](my chart (2).png) behind"),
        ("my chart.png", "![sales](my%20chart.png)"),
        ("50%20.png", "![sales](50%20.png)"),
        ("my chart.png", '<img src="my chart.png" alt="sales">'),
    ],
)
def test_a_picture_is_found_by_any_name(
    documents: Documents, root: Path, name: str, written: str
) -> None:
    (root / name).write_bytes(picture_file())
    documents.make_document("a.pptx", f"# Title\n\n## Part\n\n{written}")
    pictures = [
        shape
        for slide in Presentation(root / "a.pptx").slides
        for shape in slide.shapes
        if hasattr(shape, "image")
    ]
    assert len(pictures) == 1
    assert "![" not in "\n".join(slides(root / "a.pptx"))


@pytest.mark.parametrize("written", ["![a](没有 图.png)", "![a](没有%20图.png)"])
def test_a_picture_that_is_missing_is_named_as_it_was_written(
    documents: Documents, written: str
) -> None:
    with pytest.raises(ToolError, match=r"There is no 没有 图\.png"):
        documents.make_document("a.docx", f"# Title\n\n{written}")


def test_a_picture_in_code_and_in_a_point_stays_text(documents: Documents, root: Path) -> None:
    documents.make_document("a.docx", "`![a](my chart.png)`\n\n```\n![b](my chart.png)\n```")
    point = '{"parts": [{"heading": "H", "points": ["![c](my chart.png)"]}]}'
    documents.make_document("b.docx", point)
    shown = shown_text(root / "a.docx") + shown_text(root / "b.docx")
    assert re.findall(r"!\[(\w)\]\(my chart\.png\)", shown) == ["a", "b", "c"]
