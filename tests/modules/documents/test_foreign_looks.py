"""Files of others as the beginning: their slides as they are, their sheets, their template."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from openpyxl import Workbook, load_workbook
from openpyxl.workbook.defined_name import DefinedName
from pptx import Presentation
from pptx.util import Inches

from modules.documents.feature import Documents
from modules.documents.problems import DocumentError
from modules.files.project import Project
from tests.modules.documents.document_files import archive, parts_of, slide_with_box


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "project"


@pytest.fixture
def documents(root: Path, tmp_path: Path) -> Iterator[Documents]:
    root.mkdir()
    project = Project(root)
    yield Documents(project, tmp_path / "previews", tmp_path)
    project.close()


def test_a_slide_is_changed_where_another_has_text_outside_the_page(
    documents: Documents, root: Path
) -> None:
    data = slide_with_box(-4, 1, "a note beside the slide")  # on the third
    (root / "d.pptx").write_bytes(data)
    documents.make_document("d.pptx", "- shorter", part="1")
    first, _, third = Presentation(root / "d.pptx").slides
    assert [shape.text_frame.text for shape in first.shapes] == ["shorter"]
    assert third.part.blob == Presentation(BytesIO(data)).slides[2].part.blob


def test_a_sheet_is_changed_where_another_has_a_value_that_could_not_be_worked_out(
    documents: Documents, root: Path
) -> None:
    book = Workbook()
    book.active.title = "Sales"
    book.active["A1"] = 1
    other = book.create_sheet("Lookup")
    other["A1"] = "#N/A"
    book.save(root / "d.xlsx")
    documents.make_document("d.xlsx", "| n |\n|---|\n| 2 |", part="Sales")
    changed = load_workbook(root / "d.xlsx")
    assert changed["Sales"]["A2"].value == 2
    assert changed["Lookup"]["A1"].value == "#N/A"


def test_results_of_formulas_that_looked_at_a_changed_sheet_are_not_kept(
    documents: Documents, root: Path
) -> None:
    book = Workbook()
    book.active.title = "Sales"
    book.active["A1"] = 20
    for name, formula in (
        *(("Sum", "=SUM(Sales!A1:A9)"), ("Year", "=Sum!A1*2"), ("Other", "=1+1")),
        *(("Named", "=total+1"), ("Texts", '=INDIRECT("Sa"&"les!A1")')),
    ):
        book.create_sheet(name)["A1"] = formula
    book.defined_names["total"] = DefinedName("total", attr_text="Sales!$A$1")
    file = BytesIO()
    book.save(file)
    parts = parts_of(file.getvalue())
    parts["xl/workbook.xml"] = parts["xl/workbook.xml"].replace(b' fullCalcOnLoad="1"', b"")
    for path in [path for path in parts if path.startswith("xl/worksheets/")]:
        parts[path] = parts[path].replace(b"<v></v>", b"<v>20</v>").replace(b"<v />", b"<v>20</v>")
    (root / "d.xlsx").write_bytes(archive(parts))
    documents.make_document("d.xlsx", "| 1 |\n|---|\n| 2 |", part="Sales")
    results = load_workbook(root / "d.xlsx", data_only=True)
    assert {sheet.title: sheet["A1"].value for sheet in results} == {
        **{"Sales": 1, "Sum": None, "Year": None},
        **{"Other": 20, "Named": None, "Texts": None},
    }
    new = parts_of((root / "d.xlsx").read_bytes())
    assert b'fullCalcOnLoad="1"' in new["xl/workbook.xml"]
    assert new["xl/worksheets/sheet4.xml"] == parts["xl/worksheets/sheet4.xml"]


def test_a_template_whose_places_are_outside_its_page_is_named(
    documents: Documents, root: Path
) -> None:
    portrait = Presentation()  # the layouts are those of a wide page
    portrait.slide_width, portrait.slide_height = Inches(7.5), Inches(10)
    portrait.save(root / "tall.pptx")
    with pytest.raises(DocumentError, match=r"outside the page\. The template tall\.pptx"):
        documents.make_document("a.pptx", "# Cover\n\n## Part\n\ntext", template="tall.pptx")
