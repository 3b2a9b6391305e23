"""Looking at data and pages: CSV, JSON, JSON lines, notebooks, SQLite, HTML and SVG.

Each look returns what is there, or raises `Unusable` with the reason.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

from utils.i18n import Phrase, Text, phrase

_SEEN = frozenset({"img", "svg", "canvas", "video", "iframe", "object", "math", "script"})
_UNCLOSED = frozenset({"script", "style", "title", "textarea"})
_ENTITY = re.compile(r"<!(ENTITY|DOCTYPE[^>]*\[)", re.IGNORECASE)
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)
_DELIMITERS = ",;\t|"
"""What separates cells; a semicolon where a comma stands in numbers."""
_QUOTED_CELL = re.compile(r'"[^"]*"')
_MAX_CELL = 10_000_000  # characters
_MAX_TITLE = 3  # lines above the header of a table
_Row = tuple[int, list[str]]
"""The number of a row, and its cells."""


class Unusable(Exception):
    """What the file holds is no result; *why* is the reason."""

    def __init__(self, why: Phrase) -> None:
        super().__init__(str(why))
        self.why = why


def delimiter_of(text: str, ending: str) -> str:
    """Return what separates the cells of the table *text*: what its first row has most of."""
    if ending == "tsv":
        return "\t"
    plain = (_QUOTED_CELL.sub("", line) for line in text.split("\n"))
    first = next((line for line in plain if any(one in line for one in _DELIMITERS)), "")
    return max(_DELIMITERS, key=first.count)


def look_at_table(text: str, delimiter: str) -> Text:
    """Look at the table *text*, whose cells *delimiter* separates."""
    csv.field_size_limit(_MAX_CELL)
    try:
        rows = list(csv.reader(io.StringIO(text), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise Unusable(phrase("it is not whole CSV: {why}", why=str(error))) from None
    filled = [(number, row) for number, row in enumerate(rows, 1) if row]
    if not filled:
        raise Unusable(phrase("it has no rows"))
    filled = _without_title(filled)
    width = len(filled[0][1])
    for number, row in filled:
        if len(row) != width:
            raise Unusable(
                phrase(
                    "row {row} has another number of cells ({n}) than the first ({width})",
                    row=number,
                    n=len(row),
                    width=width,
                )
            )
    if len(filled) == 1:
        raise Unusable(phrase("it has a single row: a header without data, or data without one"))
    return _table_size(len(filled) - 1, width)


def _table_size(rows: int, columns: int) -> Text:
    if rows == columns == 1:
        return phrase("1 row, 1 column")
    if rows == 1:
        return phrase("1 row, {columns:,} columns", columns=columns)
    if columns == 1:
        return phrase("{rows:,} rows, 1 column", rows=rows)
    return phrase("{rows:,} rows, {columns:,} columns", rows=rows, columns=columns)


def _without_title(rows: list[_Row]) -> list[_Row]:
    """Return *rows* from the header on, where a title and what is said to it stand above that."""
    beginning = next((at for at, (_, row) in enumerate(rows) if len(row) > 1), 0)
    return rows[beginning:] if beginning <= _MAX_TITLE else rows


def entries(count: int) -> Text:
    """Return what is said of *count* members of an archive or of JSON."""
    return phrase("1 entry") if count == 1 else phrase("{n:,} entries", n=count)


def look_at_json(text: str) -> Text:
    value = _parsed(text, "")
    if value in ({}, [], "", None):
        raise Unusable(phrase("it holds nothing: {value}", value=json.dumps(value)))
    if isinstance(value, list | dict):
        return entries(len(value))
    return ""


def look_at_json_lines(text: str) -> Text:
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        raise Unusable(phrase("it has no lines"))
    for number, line in lines:
        _parsed(line, str(number))
    return phrase("1 line") if len(lines) == 1 else phrase("{n:,} lines", n=len(lines))


def look_at_notebook(text: str) -> Text:
    value = _parsed(text, "")
    cells = value.get("cells") if isinstance(value, dict) else None
    if not isinstance(cells, list) or "nbformat" not in value:
        raise Unusable(phrase("a notebook has cells, and this has none"))
    if not any(isinstance(cell, dict) and _source(cell).strip() for cell in cells):
        raise Unusable(phrase("all its cells are empty"))
    for number, cell in enumerate(cells, 1):
        outputs = cell.get("outputs", []) if isinstance(cell, dict) else []
        for output in outputs if isinstance(outputs, list) else []:
            if isinstance(output, dict) and output.get("output_type") == "error":
                what = f"{output.get('ename', '')}: {output.get('evalue', '')}"[:200]
                raise Unusable(phrase("cell {n} ended in an error: {what}", n=number, what=what))
    return phrase("1 cell") if len(cells) == 1 else phrase("{n:,} cells", n=len(cells))


def _source(cell: dict[str, Any]) -> str:
    source = cell.get("source", "")
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


def _parsed(text: str, line: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        at = getattr(error, "lineno", 1)
        why = getattr(error, "msg", str(error))
        raise Unusable(phrase("line {line} is not JSON: {why}", line=line or at, why=why)) from None
    except RecursionError:
        raise Unusable(phrase("it is nested too deeply")) from None


def look_at_sqlite(head: bytes, size: int) -> Text:
    """Look at a database of *size* bytes that begins with *head*."""
    if not head.startswith(b"SQLite format 3\0") or len(head) < 100:
        raise Unusable(phrase("it is not a valid SQLite database"))
    page = int.from_bytes(head[16:18], "big")
    pages = int.from_bytes(head[28:32], "big")
    page = 65_536 if page == 1 else page
    if page * pages > size:
        raise Unusable(
            phrase("it is cut off: {size:,} of {whole:,} bytes", size=size, whole=page * pages)
        )
    return ""


class _Page(HTMLParser):
    """What is to be seen on a page: *has_content*, the *pictures* it names, what stays *open*."""

    def __init__(self) -> None:
        super().__init__()
        self.has_content = False
        self.pictures: list[str] = []
        self.closed: set[str] = set()
        self.began: set[str] = set()
        self._silent = ""

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.began.add(tag)
        self._silent = tag if tag in _UNCLOSED else self._silent
        self.has_content |= tag in _SEEN
        if tag == "img" and (source := dict(attrs).get("src")):
            self.pictures.append(source)

    def handle_endtag(self, tag: str) -> None:
        self.closed.add(tag)
        self._silent = "" if tag == self._silent else self._silent

    def handle_data(self, data: str) -> None:
        self.has_content |= bool(data.strip()) and not self._silent

    @property
    def open(self) -> str:
        """The element in which the page breaks off, "" where it does not."""
        unclosed = [tag for tag in ("html", "body") if tag in self.began - self.closed]
        return self._silent or (unclosed[0] if unclosed and self.closed else "")


def look_at_html(text: str) -> list[str]:
    """Look at a page; return the addresses of the pictures on it."""
    page = _Page()
    page.feed(text)
    page.close()
    if page.open:
        raise Unusable(phrase("<{tag}> is not closed: the page is cut off", tag=page.open))
    if not page.has_content:
        raise Unusable(phrase("there is nothing to be seen on the page"))
    return page.pictures


def look_at_xml(text: str, *, root: str = "") -> Text:
    """Look at XML, whose *root* has to be of that name."""
    if _ENTITY.search(text):
        raise Unusable(phrase("it declares entities of its own, which are not opened"))
    try:
        tree = ElementTree.fromstring(text)  # noqa: S314 - it has no entities to blow up
    except ElementTree.ParseError as error:
        raise Unusable(phrase("it is not whole XML: {why}", why=str(error))) from None
    if root and tree.tag.rpartition("}")[2] != root:
        raise Unusable(phrase("its root is <{tag}>, not <{root}>", tag=tree.tag, root=root))
    if not len(tree) and not (tree.text or "").strip():
        raise Unusable(phrase("there is nothing in it"))
    return ""


_MARKDOWN_PICTURE = re.compile(r"!\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)")


def look_at_markdown(text: str) -> list[str]:
    """Look at Markdown; return the addresses of the pictures in it."""
    fence = ""
    for found in _FENCE.finditer(text):
        mark = found[1]
        if not fence:
            fence = mark
        elif mark[0] == fence[0] and len(mark) >= len(fence):
            fence = ""
    if fence:
        raise Unusable(phrase("its last code block is not closed: the text is cut off"))
    return _MARKDOWN_PICTURE.findall(text)
