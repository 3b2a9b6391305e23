"""The pages of documentation lead where they say; that on the architecture names what there is."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
ARCHITECTURE = ROOT / "docs" / "architecture.md"
SOURCE_ROOTS = ("core", "modules", "utils", "static/js", "prompts", "templates", "tests")
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
_PATH = re.compile(
    r"(?<![\w/])(?:(?:core|modules|utils|static|templates|prompts|docs|tests)/[\w./]*\w/?"
    r"|(?:main|config)\.py)"
)
_SPAN = re.compile(r"`([^`]+)`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_file(page: Path) -> None:
    targets = _LINK.findall(page.read_text(encoding="utf-8"))
    files = [target for target in targets if "://" not in target]
    assert [target for target in files if not (page.parent / target).exists()] == []


def test_every_path_of_the_architecture_exists() -> None:
    paths = _PATH.findall(ARCHITECTURE.read_text(encoding="utf-8"))
    assert len(paths) > 100
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_every_name_of_the_architecture_is_in_a_file_beside_it() -> None:
    lines = ARCHITECTURE.read_text(encoding="utf-8").splitlines()
    missing = [
        (span, name)
        for line in lines
        for span in _SPAN.findall(line)
        if not _PATH.fullmatch(span)
        for name in re.findall(r"\w+", span)
        if name not in words_beside(line)
    ]
    assert missing == []


def words_beside(line: str) -> frozenset[str]:
    """Return the words of all files that *line* names, of all sources where it names none."""
    paths = _PATH.findall(line) or SOURCE_ROOTS
    return frozenset[str]().union(*(words_of(ROOT / path) for path in paths))


@cache
def words_of(path: Path) -> frozenset[str]:
    """Return the words of the file *path*, or of all sources in that folder."""
    files = [path] if path.is_file() else [*path.rglob("*.py"), *path.rglob("*.js")]
    return frozenset(
        word for file in files for word in re.findall(r"\w+", file.read_text(encoding="utf-8"))
    )
