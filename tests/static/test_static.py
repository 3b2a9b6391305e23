"""The page's files: complete, translated, unchanged where they are other people's, and tested."""

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from string import Formatter
from typing import Any, get_args

import pytest

from core.cards import Card
from core.events import Event
from modules.web.http.script_bundle import PageScripts
from modules.web.http.static_files import SCRIPTS_OF_THE_PAGE

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "static"
VENDOR = STATIC / "vendor"
SCRIPTS = sorted((STATIC / "js").rglob("*.js"))
FIRST_PAINT = 69_500
"""Bytes, each file packed by gzip, of the scripts that come before the first paint."""

Libraries = list[dict[str, Any]]


@pytest.fixture(scope="module")
def libraries() -> Libraries:
    found: Libraries = json.loads((VENDOR / "vendor.json").read_text(encoding="utf-8"))
    return found


def node(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which("node")
    if program is None:
        if os.environ.get("ONEFOLD_NO_SKIP"):
            pytest.fail("node is missing")
        pytest.skip("node is missing: the page's own tests were not run")
    return subprocess.run([program, *arguments], cwd=ROOT, capture_output=True, text=True)


def names_drawn(script: str) -> set[str]:
    """Return the keys of the table `DRAWN` in *script*."""
    text = (STATIC / "js" / script).read_text(encoding="utf-8")
    table = re.search(r"const DRAWN = \{(.*?)\n\};", text, re.DOTALL)
    assert table
    found = re.findall(r"^  (\w+): \(|\b(\w+): \w+Card\b", table[1], re.MULTILINE)
    return {name for pair in found for name in pair if name}


def test_every_event_is_drawn() -> None:
    assert names_drawn("store/reducer.js") == {kind.__name__ for kind in get_args(Event)}


def test_every_card_is_drawn() -> None:
    kinds = {get_args(kind.__annotations__["kind"])[0] for kind in map(resolved, get_args(Card))}
    assert names_drawn("cards/cards.js") == kinds


def resolved(card: type) -> Any:
    """Return a stand-in for *card* whose annotations are no strings."""
    import typing

    return type(card.__name__, (), {"__annotations__": typing.get_type_hints(card)})


def test_the_tests_of_the_scripts_pass() -> None:
    # One by one: not every version takes a folder.
    scripts = sorted(map(str, Path(__file__).parent.glob("*.test.mjs")))
    run = node("--test", *scripts)
    assert run.returncode == 0, run.stdout[-4000:]


def imports_of(script: Path) -> list[Path]:
    text = script.read_text(encoding="utf-8")
    names = re.findall(r'^(?:import|export)\b[^;]*?from "([^"]+)"', text, re.M | re.S)
    return [(script.parent / name).resolve() for name in names]


def test_no_scripts_import_each_other_in_a_circle() -> None:
    above = TopologicalSorter({script: imports_of(script) for script in SCRIPTS})
    assert list(above.static_order())  # raises CycleError, which names them


def test_the_first_paint_needs_little() -> None:
    import gzip

    bundle = PageScripts(STATIC, SCRIPTS_OF_THE_PAGE)
    scripts = [bundle.text(name) for name in ("js/early.js", "js/main.js", PageScripts.NAME)]
    assert sum(len(gzip.compress(text.encode())) for text in scripts) < FIRST_PAINT


def test_styles_are_named_like_the_scripts_of_their_area() -> None:
    areas = {path.parent.name for path in SCRIPTS}
    styles = {path.stem for path in (STATIC / "css").glob("*.css")}
    assert styles - areas == {"base", "page"}


def test_a_folder_of_scripts_stays_small() -> None:
    folders = Counter(path.parent.name for path in SCRIPTS)
    assert folders.most_common(1)[0][1] <= 12


def test_other_peoples_work_is_what_it_was(libraries: Libraries) -> None:
    for library in libraries:
        folder = VENDOR / library["folder"]
        found = {
            path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }
        assert found == library["files"], library["name"]
        assert "LICENSE" in found


def test_nothing_else_stands_beside_it(libraries: Libraries) -> None:
    folders = {path.name for path in VENDOR.iterdir()} - {"vendor.json"}
    assert folders == {library["folder"] for library in libraries}
    page = (ROOT / "THIRD_PARTY.md").read_text(encoding="utf-8")
    assert all(f"| {each['name']} | {each['version']} |" in page for each in libraries)


def test_the_scripts_name_the_versions_that_are_there(libraries: Libraries) -> None:
    used = set(re.findall(r"vendor/([\w.-]+@[\d.]+)", "".join(p.read_text() for p in SCRIPTS)))
    assert used == {library["folder"] for library in libraries}


def test_the_lock_file_names_no_registry() -> None:
    assert "resolved" not in (ROOT / "tools" / "package-lock.json").read_text(encoding="utf-8")


MARKUP = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function")


@pytest.mark.parametrize("forbidden", MARKUP)
def test_text_never_becomes_markup_by_hand(forbidden: str) -> None:
    assert [path.name for path in SCRIPTS if forbidden in path.read_text(encoding="utf-8")] == []


def test_nothing_is_inline_that_the_content_policy_forbids() -> None:
    page = (ROOT / "templates" / "index.html").read_text(encoding="utf-8")
    page = page.replace('<script type="application/json"', "")  # data, which is never run
    assert re.findall(r"<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon\w+=", page) == []
    assert re.findall(r"https?://", page) == []


# --- words ---------------------------------------------------------------------------------------


def templates() -> Iterator[tuple[str, str]]:
    """Yield every sentence of the page, and the script that says it."""
    for path in SCRIPTS:
        text = path.read_text(encoding="utf-8")
        for literal in re.findall(r'(?:\bt\(\s*|template: )("(?:[^"\\]|\\.)*")', text):
            yield json.loads(literal), path.name


def places(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name is not None}


@pytest.fixture(scope="module")
def chinese() -> dict[str, str]:
    path = STATIC / "i18n" / "page.zh.json"
    found: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    return found


def test_the_page_is_there_in_chinese(chinese: dict[str, str]) -> None:
    said = dict(templates())
    assert {text: where for text, where in said.items() if text not in chinese} == {}
    assert chinese.keys() - said.keys() == set()


def test_a_translation_of_the_page_names_the_same_values(chinese: dict[str, str]) -> None:
    assert {text for text, said in chinese.items() if places(text) != places(said)} == set()


def test_every_sentence_of_the_page_is_written_out() -> None:
    computed = re.compile(r"[^\w.]t\((?!\s*\"|template\b|\))")
    assert [path.name for path in SCRIPTS if computed.search(path.read_text("utf-8"))] == []
