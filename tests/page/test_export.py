"""The page that a session is exported to: it has all it shows in itself, and asks nobody."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

from playwright.sync_api import Page, expect

from modules.web import embedding
from tests.page.served_page import ServedPage, replies, send
from tests.scripted_model import text_reply


def png(*, more: int = 0) -> bytes:
    """Return a picture of one red pixel, with *more* bytes that nobody looks at."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        checksum = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    pixel = chunk(b"IDAT", zlib.compress(b"\0\xff\0\0"))
    return b"\x89PNG\r\n\x1a\n" + head + pixel + chunk(b"IEND", b"") + b"\0" * more


def exported(served_page: ServedPage, text: str, folder: Path) -> tuple[Page, list[str]]:
    """Return the exported page of a session in which *text* was said, and what it complained of."""
    served_page.model.replies = [text_reply(text)]
    page = served_page.open()
    send(page, "show")
    expect(page.locator(".end")).to_have_count(1)
    session = page.url.rpartition("/s/")[2].partition("?")[0]
    address = f"/api/sessions/{session}/export?format=html"
    file = folder / "talk.html"
    file.write_text(page.evaluate(f"fetch('{address}').then(answer => answer.text())"))
    replay = served_page.context().new_page()
    complaints: list[str] = []
    replay.on("console", lambda message: complaints.append(message.text))
    replay.on("request", lambda request: complaints.append(request.url[:80]))
    replay.goto(file.as_uri())
    expect(replies(replay)).to_have_count(1)
    return replay, complaints


def test_pictures_are_in_the_exported_page(served_page: ServedPage, tmp_path: Path) -> None:
    (served_page.project / "图 片").mkdir()
    (served_page.project / "图 片" / "画(1).png").write_bytes(png())
    (served_page.project / "b.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    text = "![画](<图 片/画(1).png>) and ![too](./图%20片/画(1).png) and ![b][c]\n\n[c]: b.svg\n"
    replay, complaints = exported(served_page, text, tmp_path)
    pictures = replies(replay).locator("img")
    expect(pictures).to_have_count(3)
    for picture in pictures.all():
        picture.scroll_into_view_if_needed()
    replay.wait_for_function("() => [...document.images].every((each) => each.naturalWidth)")
    asked = [each for each in complaints if not each.startswith(("data:image/", "file:"))]
    assert asked == []


def test_a_picture_that_is_not_in_it_is_told_of(served_page: ServedPage, tmp_path: Path) -> None:
    (served_page.project / "large.png").write_bytes(png(more=embedding.MAX_PICTURE_BYTES))
    (served_page.project / "a.txt").write_text("no picture\n")
    text = "![large](large.png) ![gone](画.png) ![](../../x.png) ![a](a.txt) ![h](http://h.test/)"
    replay, complaints = exported(served_page, text, tmp_path)
    expect(replies(replay).locator("p")).to_have_text(
        "[large: large.png] [gone: 画.png] [x.png] [a: a.txt] [h]"
    )
    assert [each for each in complaints if not each.startswith("file:")] == []


def test_the_exported_page_colours_code_and_runs_no_other_script(
    served_page: ServedPage, tmp_path: Path
) -> None:
    replay, complaints = exported(served_page, "```python\ndef f(): pass\n```", tmp_path)
    expect(replies(replay).locator(".hljs-keyword").first).to_have_text("def")
    assert [each for each in complaints if not each.startswith("file:")] == []
    replay.evaluate(
        "document.body.append(Object.assign(document.createElement('script'),"
        "{textContent: 'window.ran = 1'}))"
    )
    assert replay.evaluate("window.ran") is None
    assert "script-src 'sha256-" in complaints[-1]
