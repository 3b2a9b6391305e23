"""Files that say more than their text: sounds and films, notebooks, pages with scripts."""

from __future__ import annotations

import json
import socket
import wave
from base64 import b64encode
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.page.accessibility import faults
from tests.page.served_page import ServedPage
from tests.picture_files import picture_file

HOSTILE = """<h1>Out</h1><script>parent.hurt = 1; top.location = "http://EVIL/top"</script>
<img src="http://EVIL/picture" onerror="parent.hurt = 1"><style>h1 {background: url(http://EVIL/c)}
</style><form action="http://EVIL/form"></form>"""
PAGE = """<!doctype html><title>Page</title><p id=said>still</p><script src=own.js></script><script>
const tries = [() => parent.document.title, () => top.document.cookie,
  () => fetch("http://EVIL/fetch", {mode: "no-cors"}), () => fetch(".env").then(taken),
  () => fetch("../secret.txt").then(taken), () => fetch("OURS/api/server").then(taken),
  () => { new Image().src = "http://EVIL/image"; throw 0; }];
const taken = (answer) => { if (!answer.ok) throw answer.status; };
(async () => {
  const got = [];
  for (const each of tries) try { await each(); got.push(`${each}`); } catch {}
  document.getElementById("said").textContent = `${own} ${got.length ? got : "nothing"}`;
})();
</script>"""


def opened(served_page: ServedPage, name: str) -> Page:
    page = served_page.open()
    page.get_by_role("treeitem", name=name).click()
    return page


def sound(path: Path) -> bytes:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(1)
        file.setframerate(8_000)
        file.writeframes(bytes(8_000))
    return path.read_bytes()


def asked(served_page: ServedPage, path: str, wanted: str) -> tuple[int, dict[str, str], bytes]:
    """Return status, headers and body of the part *wanted* of the raw file *path*."""
    server = served_page.server
    connection = HTTPConnection(urlsplit(server.url).netloc, timeout=60)
    headers = {"Authorization": f"Bearer {server.authenticator.token}", "Range": wanted}
    connection.request("GET", f"/api/files/raw?path={path}", headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, body


def test_a_sound_plays_and_is_given_in_parts(served_page: ServedPage) -> None:
    data = sound(served_page.project / "tone.wav")
    status, headers, body = asked(served_page, "tone.wav", "bytes=10-19")
    assert (status, body) == (206, data[10:20])
    assert headers["content-range"] == f"bytes 10-19/{len(data)}"
    assert headers["accept-ranges"] == "bytes"
    assert asked(served_page, "tone.wav", "bytes=-4")[2] == data[-4:]
    assert asked(served_page, "tone.wav", f"bytes={len(data)}-")[0] == 416
    page = opened(served_page, "tone.wav")
    player = page.locator("audio")
    expect(player).to_have_js_property("duration", 1)
    seek = """it => new Promise(over => {
        it.addEventListener("seeked", () => over(it.currentTime), {once: true});
        it.currentTime = 0.5;
    })"""
    assert player.evaluate(seek) == 0.5


def test_a_notebook_is_shown_by_cells(served_page: ServedPage) -> None:
    with socket.create_server(("127.0.0.1", 0)) as evil:
        evil.setblocking(False)
        hostile = HOSTILE.replace("EVIL", f"127.0.0.1:{evil.getsockname()[1]}")
        write_notebook(served_page.project / "work.ipynb", hostile)
        page = opened(served_page, "work.ipynb")
        look_at_the_notebook(page)
        assert page.evaluate("window.hurt") is None
        assert urlsplit(page.url).netloc == urlsplit(served_page.server.url).netloc
        assert faults(page) == []
        page.get_by_role("button", name="Preview").click()
        expect(page.locator(".cm-content")).to_contain_text("nbformat")
        with pytest.raises(BlockingIOError):
            evil.accept()


def write_notebook(path: Path, html: str) -> None:
    picture = b64encode(picture_file(size=(40, 20))).decode()
    traceback = ["\x1b[31mZeroDivisionError\x1b[0m", "division by zero"]
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": ["one\n", "two\n"]},
        {"output_type": "execute_result", "data": {"text/plain": "a table", "text/html": [html]}},
        {"output_type": "display_data", "data": {"image/png": picture, "text/plain": "<Figure>"}},
        {"output_type": "display_data", "data": {"text/latex": ["$x^2$"]}},
        {"output_type": "error", "ename": "Z", "evalue": "", "traceback": traceback},
    ]
    cells = [
        {"cell_type": "markdown", "source": ["## Title\n", "and $x$"]},
        {"cell_type": "code", "execution_count": 3, "source": "print(1)", "outputs": outputs},
        {"cell_type": "code", "execution_count": None, "source": [], "outputs": []},
        {"cell_type": "raw", "source": "<b>raw</b>"},
    ]
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))


def look_at_the_notebook(page: Page) -> None:
    cells = page.locator(".notebook .cell")
    expect(cells).to_have_count(4)
    expect(cells.nth(0).get_by_role("heading", name="Title")).to_be_visible()
    expect(page.locator(".notebook .math")).to_have_count(2)
    expect(cells.nth(1).locator("figcaption")).to_contain_text("In [3]")
    expect(cells.nth(1).locator(".output").first).to_have_text("one\ntwo")
    expect(cells.nth(1).locator(".output").last).to_contain_text("ZeroDivisionError")
    expect(cells.nth(1).locator("button img")).to_have_js_property("naturalWidth", 40)
    frame = cells.nth(1).locator("iframe")
    expect(frame).to_have_attribute("sandbox", "")
    expect(frame.content_frame.get_by_role("heading", name="Out")).to_be_visible()
    expect(cells.nth(3)).to_have_text("<b>raw</b>")


def test_what_is_no_notebook_says_so(served_page: ServedPage) -> None:
    (served_page.project / "odd.ipynb").write_text('{"cells": 3}')
    page = opened(served_page, "odd.ipynb")
    expect(page.locator(".notebook")).to_contain_text("This is not a valid notebook")


def test_a_page_runs_on_an_origin_of_its_own_and_reaches_nothing(served_page: ServedPage) -> None:
    folder = served_page.project / "out"
    folder.mkdir()
    (folder / "own.js").write_text("const own = 'ran';")
    (folder / ".env").write_text("hidden")
    (served_page.project / "secret.txt").write_text("above")
    with socket.create_server(("127.0.0.1", 0)) as evil:
        evil.setblocking(False)
        text = PAGE.replace("EVIL", f"127.0.0.1:{evil.getsockname()[1]}")
        (folder / "page.html").write_text(text.replace("OURS", served_page.server.url))
        page = served_page.open()
        page.evaluate("window.mine = 1")
        page.get_by_role("treeitem", name="out").click()
        page.get_by_role("treeitem", name="page.html").click()
        page.get_by_role("button", name="Preview").click()
        still = page.frame_locator("iframe.preview").locator("#said")
        expect(still).to_have_text("still")
        page.get_by_role("button", name="Run its scripts").click()
        said = page.frame_locator("iframe.previewed").locator("#said")
        expect(said).to_have_text("ran nothing")
        frame = next(one for one in page.frames if one.url.endswith("/page.html"))
        assert ".localhost:" in frame.url
        assert faults(page) == []
        page.get_by_role("button", name="Run it again").click()
        expect(said).to_have_text("ran nothing")
        assert page.evaluate("window.mine") == 1
        with pytest.raises(BlockingIOError):
            evil.accept()


def test_a_preview_stays_where_it_was_read_when_the_file_changes(served_page: ServedPage) -> None:
    path = served_page.project / "long.md"
    path.write_text("".join(f"Paragraph {n}\n\n" for n in range(200)))
    page = opened(served_page, "long.md")
    page.get_by_role("button", name="Preview").click()
    shown = page.locator(".preview")
    expect(shown).to_contain_text("Paragraph 199")
    shown.evaluate("it => it.scrollTop = 3000")
    path.write_text(path.read_text() + "The new end\n")
    expect(shown).to_contain_text("The new end")
    expect(shown).to_have_js_property("scrollTop", 3000)
