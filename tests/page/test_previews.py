"""Previews: what says more as a picture than as text."""

from __future__ import annotations

import re
import struct
import zlib

import pytest
from playwright.sync_api import Frame, Page, expect

from tests.page.served_page import ServedPage, send
from tests.page.test_files import row
from tests.scripted_model import call_reply, text_reply


@pytest.fixture
def page(served_page: ServedPage) -> Page:
    (served_page.project / "t.csv").write_text('tree,apples\n"Boskoop, red",12\n')
    evil = "<h1>Hi</h1><script>parent.document.title='pwned'</script>"
    (served_page.project / "page.html").write_text(evil)
    return served_page.open()


def picture(width: int) -> bytes:
    """Return a PNG of that width."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    head = struct.pack(">IIBBBBB", width, 1, 8, 0, 0, 0, 0)
    lines = zlib.compress(bytes(width + 1))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", lines) + chunk(b"IEND", b"")


def pdf(text: str) -> bytes:
    """Return a PDF of one small page that says *text*."""
    drawn = f"BT /F1 24 Tf 20 50 Td ({text}) Tj ET".encode()
    page = b"/MediaBox [0 0 200 100] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >>"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R %s >>" % page,
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(drawn), drawn),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    whole, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(whole))
        whole += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % len(whole)
    return whole + b"xref\n0 6\n0000000000 65535 f \n" + table + end


def is_viewer(frame: Frame) -> bool:
    return frame.url.startswith("chrome-extension://") or frame.locator("embed").count() > 0


def test_a_picture_that_is_made_anew_is_shown_anew(served_page: ServedPage) -> None:
    (served_page.project / "plot.png").write_bytes(picture(7))
    (served_page.project / "next.png").write_bytes(picture(9))
    page = served_page.open()
    row(page, "plot.png").click()
    shown = page.locator(".preview img")
    expect(shown).to_have_js_property("naturalWidth", 7)
    served_page.model.replies = [
        call_reply("delete_file", id="d", path="plot.png"),
        call_reply("rename_file", id="r", path="next.png", new_path="plot.png"),
        text_reply("![the plot](plot.png)"),
    ]
    send(page, "plot it again")
    expect(page.locator(".reply img")).to_have_js_property("naturalWidth", 9)
    expect(shown).to_have_js_property("naturalWidth", 9)


def test_a_picture_that_is_not_there_is_told_of(served_page: ServedPage) -> None:
    (served_page.project / "a.txt").write_text("no picture\n")
    (served_page.project / "broken.png").write_bytes(b"no picture either")
    (served_page.project / "there.png").write_bytes(picture(9))
    page = served_page.open()
    served_page.model.replies = [
        text_reply("See ![the plot](gone.png), ![](a.txt), ![odd](broken.png), ![this](there.png).")
    ]
    send(page, "show me")
    told = "See [the plot: gone.png], [a.txt], [odd: broken.png], ."
    expect(page.locator(".reply")).to_have_text(told)
    expect(page.locator(".reply img")).to_have_js_property("naturalWidth", 9)


def test_html_is_previewed_in_a_sandbox(page: Page) -> None:
    row(page, "page.html").click()
    page.get_by_role("button", name="Preview").click()
    frame = page.locator("iframe.preview")
    expect(frame).to_have_attribute("sandbox", "")
    expect(frame.content_frame.get_by_role("heading", name="Hi")).to_be_visible()
    assert "pwned" not in page.title()


def test_a_table_is_drawn_from_csv(page: Page) -> None:
    row(page, "t.csv").click()
    expect(page.get_by_role("cell", name="Boskoop, red")).to_be_visible()


def test_a_table_has_a_cell_in_each_column_though_its_rows_are_uneven(
    served_page: ServedPage,
) -> None:
    (served_page.project / "uneven.csv").write_text("a,b\n1\n2,3,4\n")
    page = served_page.open()
    row(page, "uneven.csv").click()
    expect(page.locator(".preview:visible tbody td")).to_have_text(["1", "", "", "2", "3", "4"])
    expect(page.locator(".preview:visible thead th")).to_have_count(3)


def test_decimals_behind_a_comma_sort_as_numbers(served_page: ServedPage) -> None:
    values = ["2,25", "-1,5", "1.234,5", "10", "-10,75", "1,125"]
    (served_page.project / "n.csv").write_text("n;x\n" + "".join(f"{n};\n" for n in values))
    page = served_page.open()
    row(page, "n.csv").click()
    page.get_by_role("columnheader", name="n").get_by_role("button").click()
    cells = page.locator(".preview:visible tbody td:first-child")
    expect(cells).to_have_text(["-10,75", "-1,5", "1,125", "2,25", "10", "1.234,5"])


def test_a_table_that_is_shown_in_part_says_so(served_page: ServedPage) -> None:
    (served_page.project / "many.csv").write_text(
        "n,square\n" + "".join(f"{n},x\n" for n in range(501))
    )
    (served_page.project / "whole.csv").write_text(
        "n,square\n" + "".join(f"{n},x\n" for n in range(500))
    )
    (served_page.project / "empty.csv").write_text("")
    page = served_page.open()
    row(page, "many.csv").click()
    preview = page.locator(".preview:visible")
    expect(preview.locator("tbody tr")).to_have_count(500)
    words = "Only the first rows are shown. Turn off Preview to see all as text."
    expect(preview.locator(".cut")).to_have_text(words)
    expect(page.locator(".pane").get_by_role("button", name="Copy as CSV")).to_have_count(0)
    row(page, "whole.csv").click()
    expect(page.locator(".preview:visible .cut")).to_have_count(0)
    expect(page.get_by_role("button", name="Copy as CSV")).to_be_visible()
    expect(page.locator(".preview:visible tbody tr")).to_have_count(500)
    row(page, "empty.csv").click()
    expect(page.locator(".preview:visible")).to_have_text("This file is empty.")


@pytest.mark.parametrize("name", ["broken.png", "broken.mp3", "broken.webm"])
def test_a_damaged_picture_or_recording_is_said_to_be_one(
    served_page: ServedPage, name: str
) -> None:
    (served_page.project / name).write_bytes(b"no such thing")
    page = served_page.open()
    row(page, name).click()
    expect(page.locator(".preview:visible")).to_have_text(
        "This file is damaged, or its format is unknown to this browser."
    )


def test_a_pdf_is_shown_in_the_pane(served_to_whole_chromium: ServedPage) -> None:
    (served_to_whole_chromium.project / "a.pdf").write_bytes(pdf("Hello"))
    page = served_to_whole_chromium.open()
    faults: list[str] = []
    page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    with page.expect_response(lambda answer: "/api/files/raw" in answer.url) as answer:
        row(page, "a.pdf").click()
    assert answer.value.headers["content-type"] == "application/pdf"
    shown = page.locator("iframe.preview")
    expect(shown).to_have_attribute("title", "a.pdf")
    # Chromium's viewer has taken the file up once it knows the size of its pages.
    sizer = shown.content_frame.locator("body").first
    expect(sizer).to_be_attached()
    page.wait_for_function("() => window.frames.length === 1")
    while not any(is_viewer(frame) for frame in page.frames):  # or the time of the test is up
        page.wait_for_timeout(50)
    assert faults == []


def test_a_link_in_a_previewed_file_starts_from_its_folder(served_page: ServedPage) -> None:
    docs = served_page.project / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("[b](b.md#top) [up](../top.txt) ![p](p.png)\n")
    (docs / "b.md").write_text("the other\n")
    (docs / "p.png").write_bytes(picture(3))
    page = served_page.open()
    row(page, "docs").click()
    row(page, "a.md").click()
    page.get_by_role("button", name="Preview", exact=True).click()
    preview = page.locator(".preview")
    source = re.compile(r"path=docs%2Fp\.png(&round=\d+)?$")  # the line may have come back
    expect(preview.locator("img")).to_have_attribute("src", source)
    expect(preview.get_by_role("link", name="up")).to_have_attribute("data-path", "top.txt")
    expect(page).to_have_url(re.compile("/s/"))
    before = page.url
    preview.get_by_role("link", name="b", exact=True).click()
    expect(page.locator(".editor .cm-content")).to_contain_text("the other")
    expect(page.locator(".pane-tab.shown")).to_contain_text("b.md")
    assert page.url == before
