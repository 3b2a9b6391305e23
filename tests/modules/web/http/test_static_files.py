"""The page's own files: kept by the browser for good, under an address that knows their state."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from modules.web.http.app import STATIC
from modules.web.http.static_files import SCRIPTS_OF_THE_PAGE, StaticFiles, folder_stamp
from tests.modules.web.serving import RunningServer
from tests.scripted_model import text_reply

AT_FIRST_USE = ("agents.css", "git.css", "results.css", "terminal.css")
"""Styles that come with what needs them."""
Serve = Callable[..., AbstractContextManager[RunningServer]]


def picture(served: RunningServer, session: str) -> Any:
    """Return what the page of *session* brings with it."""
    page = served.ask("GET", f"/s/{session}").body.decode()
    found = re.search(r'<script type="application/json" id="picture">(.*?)</script>', page, re.S)
    assert found
    return json.loads(found[1]) if found[1] else None


def test_what_the_page_names_is_never_asked_for_again(served: RunningServer) -> None:
    page = served.ask("GET", "/").body.decode()
    names = re.findall(r'(?:src|href)="(/static/[^"]+)"', page)
    assert len(names) > 8
    for name in names:
        answer = served.ask("GET", name)
        assert answer.status == 200, name
        assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_the_styles_of_all_areas_come_as_one(served: RunningServer) -> None:
    page = served.ask("GET", "/").body.decode()
    (name,) = re.findall(r'rel="stylesheet" href="([^"]+)"', page)
    styles = served.ask("GET", name).body.decode()
    assert "@import" not in styles
    for area in Path(STATIC, "css").glob("*.css"):
        is_in = area.read_text(encoding="utf-8") in styles
        assert is_in is (area.name not in ("page.css", "export.css", *AT_FIRST_USE)), area


def test_an_address_of_another_state_is_asked_about_every_time(served: RunningServer) -> None:
    for name in ("/static/js/main.js", "/static/v-0123456789abcdef/js/main.js"):
        answer = served.ask("GET", name)
        assert answer.status == 200
        assert answer.headers["cache-control"] == "no-cache"
        tag = {"If-None-Match": answer.headers["etag"]}
        assert served.ask("GET", name, headers=tag).status == 304


def test_the_address_is_another_when_a_file_is(tmp_path: Path) -> None:
    (tmp_path / "js").mkdir()
    (tmp_path / "js" / "a.js").write_text("1")
    first = folder_stamp(tmp_path)
    assert folder_stamp(tmp_path) == first
    (tmp_path / "js" / "a.js").write_text("2")
    os.utime(tmp_path / "js" / "a.js", ns=(1, 1))
    second = folder_stamp(tmp_path)
    (tmp_path / "js" / "b.js").write_text("")
    assert len({first, second, folder_stamp(tmp_path)}) == 3


def scripts_in(folder: Path) -> tuple[StaticFiles, FlaskClient]:
    """Return what serves *folder*, which gets scripts of a page, and a client of it."""
    for name in (*SCRIPTS_OF_THE_PAGE, "js/lone.js"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'export const name = "{name}";\n')
    files = StaticFiles(folder)
    app = Flask("test", static_folder=None)
    app.testing = True
    files.add_to(app)
    return files, app.test_client()


def test_a_page_that_is_open_gets_what_fits_its_bundle_after_an_edit(tmp_path: Path) -> None:
    files, client = scripts_in(tmp_path)
    first = files.base_url()
    assert "js/lone.js" not in client.get(f"{first}/js/page.js").text
    (tmp_path / "js/main.js").write_text('import { name } from "./lone.js";\n')
    second = files.base_url()
    assert "js/lone.js" in client.get(f"{second}/js/page.js").text
    assert client.get(f"{second}/js/lone.js").text.startswith("import { __require }")
    assert client.get(f"{first}/js/lone.js").text == 'export const name = "js/lone.js";\n'
    assert "js/lone.js" not in client.get(f"{first}/js/page.js").text


def test_a_script_that_cannot_be_joined_is_an_error_that_names_it(tmp_path: Path) -> None:
    files, client = scripts_in(tmp_path)
    (tmp_path / "js/changes/changes.js").write_text("export let name;\n")
    with pytest.raises(ValueError, match=r"js/changes/changes\.js has a form of import or export"):
        client.get(f"{files.base_url()}/js/page.js")
    assert client.get(f"{files.base_url()}/css/none.css").status_code == 404
    (tmp_path / "js/changes/changes.js").unlink()
    with pytest.raises(FileNotFoundError, match=r"changes\.js"):
        client.get("/static/js/main.js")


@pytest.mark.parametrize("name", ["js/../../secret.js", "js/none.js", "js", "js/a%00.js", ".js"])
def test_what_is_no_file_of_the_page_is_not_found(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.js").write_text("1")
    files, client = scripts_in(tmp_path / "static")
    for base in (files.base_url(), "/static"):
        assert client.get(f"{base}/{name}").status_code == 404


def test_the_page_of_an_open_session_brings_its_picture(serve: Serve) -> None:
    with serve(text_reply("Ends </script><script>alert(1)</script> <!-- here")) as served:
        session = served.new_session()
        with served.page() as page:
            page.attach(session)
            page.call("send", session=session, cmd="1", text="hi")
            page.wait_for("TurnFinished")
            page.wait_for("state", running=False)
            attached = page.attach(session)
        brought = picture(served, session)
    del attached["ok"], attached["state"], brought["state"]
    assert brought == attached
    assert "</script><script>" in json.dumps(brought)


def test_the_page_of_any_other_session_brings_none(served: RunningServer) -> None:
    assert picture(served, "nowhere") is None
    assert picture(served, "%3Cscript%3E") is None
