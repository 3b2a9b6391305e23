"""Numbers of the charts of Word, Excel and PowerPoint, which stand in parts of their own."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator

from modules.documents.worker.xml import Element, name_of, part

_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"


def chart_lines(chart: Element) -> Iterator[str]:
    """Yield the title of *chart*, the root of its part, and its numbers as a table.

    A chart of a workbook often keeps no numbers, only the cells that they are in: then these.
    """
    yield f"[chart: {_title(chart)}]"
    heads: list[str] = []
    for series in chart.iter(f"{_CHART}ser"):
        categories = _values(series, "cat", "xVal")
        if categories and categories != heads:
            heads = categories
            yield f"| | {' | '.join(heads)} |"
        name = " ".join(_values(series, "tx"))
        yield f"| {name} | {' | '.join(_values(series, 'val', 'yVal'))} |"


def _title(chart: Element) -> str:
    title = next(chart.iter(f"{_CHART}title"), None)
    if title is None or name_of(title.getparent()) != "chart":  # that of an axis
        return ""
    paragraphs = (
        "".join(text.text or "" for text in one.iter(f"{_DRAWING}t"))
        for one in title.iter(f"{_DRAWING}p")
    )
    return " ".join([*paragraphs, *_texts(title, "v")]).strip()


def _values(series: Element, *names: str) -> list[str]:
    """Return the values in the parts *names* of *series*, else the cells that they are in."""
    parts = [one for one in series if name_of(one) in names]
    kept = [text for one in parts for text in _texts(one, "v")]
    return kept or [text for one in parts for text in _texts(one, "f")]


def _texts(element: Element, name: str) -> list[str]:
    return [" ".join((one.text or "").split()) for one in element.iter(f"{_CHART}{name}")]


def related_charts(archive: zipfile.ZipFile, name: str) -> Iterator[str]:
    """Yield the names of the charts in *archive* that the part *name*, or its drawings, show."""
    for _, kind, target in relations(archive, name):
        if kind == "chart":
            yield target
        elif kind == "drawing":
            yield from related_charts(archive, target)


def relations(archive: zipfile.ZipFile, name: str) -> Iterator[tuple[str, str, str]]:
    """Yield id, kind and part of what the part *name* is related to within *archive*."""
    folder, base = posixpath.split(name)
    listed, names = f"{folder}/_rels/{base}.rels", archive.namelist()
    if listed not in names:
        return
    for relation in part(archive, listed):
        target = posixpath.normpath(posixpath.join("/", folder, relation.get("Target", "")))[1:]
        if target in names and relation.get("TargetMode") != "External":
            kind = relation.get("Type", "").rpartition("/")[2]
            yield relation.get("Id", ""), kind, target
