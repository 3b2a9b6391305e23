"""Documents as pages, drawn once, or as their text where they cannot be drawn."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from modules.documents.contained_run import ContainedRuns
from modules.documents.previews import DocumentPreviews
from modules.documents.problems import DocumentError
from tests.modules.documents.document_files import (
    archive,
    notebook,
    parts_of,
    slides_file,
    word_file,
)
from tests.modules.documents.test_reading import PDF
from tests.modules.documents.test_reading_of_others import CHINESE_FONT, in_hex, pdf


@pytest.fixture
def previews(tmp_path: Path) -> DocumentPreviews:
    return DocumentPreviews(tmp_path / "previews", ContainedRuns(tmp_path))


def test_slides_are_drawn_with_their_text_and_kept(
    previews: DocumentPreviews, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = slides_file(count=2)
    preview = previews.preview("a.pptx", data)
    assert preview is not None
    assert (preview.page_count, preview.note, preview.outline) == (2, None, "")
    assert "幻灯片 2" in preview.pages[1].alt
    with Image.open(preview.pages[0].picture) as picture:
        assert picture.size == (1200, 900)
        darkest, _ = picture.convert("L").getextrema()
        assert isinstance(darkest, int)
        assert darkest < 60
    monkeypatch.setattr("modules.documents.office.office_program", lambda: None)
    assert previews.preview("other.pptx", data) == preview


def test_a_page_of_a_deck_is_the_slide_of_its_number_behind_a_hidden_one(
    previews: DocumentPreviews,
) -> None:
    parts = parts_of(slides_file(count=3))
    hidden = parts["ppt/slides/slide2.xml"].replace(b"<p:sld ", b'<p:sld show="0" ', 1)
    assert hidden != parts["ppt/slides/slide2.xml"]
    preview = previews.preview("a.pptx", archive({**parts, "ppt/slides/slide2.xml": hidden}))
    assert preview is not None
    assert [f"幻灯片 {n}" in page.alt for n, page in enumerate(preview.pages, 1)] == [True] * 3


def test_what_libreoffice_cannot_draw_is_its_text_with_the_part_that_may_be_missing(
    previews: DocumentPreviews, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("modules.documents.office.system_program", lambda name: "/bin/false")
    preview = previews.preview("a.docx", word_file())
    assert preview is not None
    assert "# Quarterly report" in preview.outline
    assert "missing: apt install libreoffice-writer-nogui" in str(preview.note)


def test_a_pdf_is_drawn_without_libreoffice(previews: DocumentPreviews) -> None:
    preview = previews.preview("a.pdf", PDF)
    assert preview is not None
    assert [page.alt for page in preview.pages] == ["Total: 4,812,300"] * 2


def test_a_pdf_that_only_names_its_chinese_font_is_drawn_in_another(
    previews: DocumentPreviews,
) -> None:
    line = pdf(b"BT /F 200 Tf 50 100 Td " + in_hex("一") + b" Tj ET", font=CHINESE_FONT)
    preview = previews.preview("a.pdf", line)
    assert preview is not None
    with Image.open(preview.pages[0].picture) as picture:
        dark = sum(picture.convert("L").histogram()[:128]) / (picture.width * picture.height)
    assert 0.005 < dark < 0.1  # nothing at all, or a box, would be 0 or 0.3


def test_without_libreoffice_there_is_the_text_and_a_word_on_it(
    previews: DocumentPreviews, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("modules.documents.previews.office_program", lambda: None)
    preview = previews.preview("a.pptx", slides_file())
    assert preview is not None
    assert preview.pages == ()
    assert preview.outline.startswith("--- slide 1 ---\n# 幻灯片 1")
    assert "LibreOffice is installed: apt install" in str(preview.note)


def test_a_notebook_is_its_text_and_a_broken_file_says_so(previews: DocumentPreviews) -> None:
    preview = previews.preview("a.ipynb", notebook())
    assert preview is not None
    assert preview.outline.startswith("--- cell 1, markdown ---")
    assert previews.preview("a.txt", b"text") is None
    with pytest.raises(DocumentError, match="damaged"):
        previews.preview("a.pdf", b"%PDF-1.7")
