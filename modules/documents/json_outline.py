"""A small JSON outline of a document: a title, and parts with a heading and what is below it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.tools import ToolError
from modules.documents.markdown_outline import PictureIndex, inline_spans, markdown_outline
from modules.documents.outline import Block, Outline, Span, Spans
from utils.i18n import Phrase, phrase

_PARTS = ("parts", "slides", "sections", "sheets", "pages")
_HEADINGS = ("heading", "title", "name")
_TEXTS = ("text", "content")
_POINTS = ("points", "bullets", "items")
_TABLES = ("table", "rows", "data")
_PICTURES = ("picture", "image")
_KNOWN = (*_HEADINGS, *_TEXTS, *_POINTS, *_TABLES, *_PICTURES, "level", "notes")
_MAX_LEVEL, _MAX_DEPTH = 6, 5
_SHAPE = (
    '{"title": "…", "parts": [{"heading": "…", "text": "Markdown", "points": ["…"], '
    '"table": [["head"], ["row"]], "picture": "chart.png", "notes": "…"}]}'
)
Fields = Mapping[str, Any]


def json_outline(value: Any, picture_index: PictureIndex) -> Outline:
    """Return the outline that *value* is. Raises `ToolError` that says how one looks."""
    _check_names(value, ("title", "subtitle", *_PARTS))
    parts = _value(value, _PARTS)
    if not isinstance(parts, list) or not parts or not all(isinstance(p, dict) for p in parts):
        raise ToolError(phrase("An outline in JSON looks like this: {shape}", shape=_SHAPE))
    title = _text(value, ("title",))
    blocks: list[Block] = []
    notes: list[Spans] = []
    if title:
        blocks.append(Block("heading", (Span(title),), level=1))
    if subtitle := _text(value, ("subtitle",)):
        blocks.append(Block("text", (Span(subtitle),)))
    for part in parts:
        blocks += _part_blocks(part, notes, picture_index, 2 if title else 1)
    return Outline(title or _first_heading(blocks), tuple(blocks), tuple(notes))


def _first_heading(blocks: list[Block]) -> str:
    return next((block.text for block in blocks if block.kind == "heading"), "")


def _part_blocks(
    part: Fields, notes: list[Spans], picture_index: PictureIndex, level: int
) -> Iterator[Block]:
    _check_names(part, _KNOWN)
    level = _level(part) or level
    if heading := _text(part, _HEADINGS):
        yield Block("heading", (Span(heading),), level=level)
    else:
        yield Block("break")
    if text := _text(part, _TEXTS):
        inner = markdown_outline(text, picture_index)
        start = len(notes)
        notes += inner.notes
        yield from (_renumbered(block, start) for block in inner.blocks)
    yield from _items(part, _list(part, _POINTS))
    if rows := _rows(part):
        yield Block("table", rows=rows)
    if picture := _text(part, _PICTURES):
        yield Block("picture", (Span(heading),), file=picture_index(picture))
    if speaker := _text(part, ("notes",)):
        yield Block("speaker", (Span(speaker),))


# --- its fields, of the kinds that they have to be of ---------------------------------------------


def _check_names(fields: Fields, known: Sequence[str]) -> None:
    if unknown := [name for name in fields if name not in known]:
        raise ToolError(
            phrase(
                "An outline in JSON has no {names} there; it looks like this: {shape}",
                names=", ".join(unknown),
                shape=_SHAPE,
            )
        )


def _wrong(name: str, wanted: Phrase) -> ToolError:
    return ToolError(
        phrase(
            "“{name}” of an outline has to be {wanted}. It looks like this: {shape}",
            name=name,
            wanted=wanted,
            shape=_SHAPE,
        )
    )


def _name(fields: Fields, names: Sequence[str]) -> str:
    """Return which of *names* the *fields* have, the first where they have none."""
    return next((name for name in names if fields.get(name) is not None), names[0])


def _value(fields: Fields, names: Sequence[str]) -> Any:
    return fields.get(_name(fields, names))


def _text(fields: Fields, names: Sequence[str]) -> str:
    """Return the text in the first of *names* that is there, "" where none is."""
    value = _value(fields, names)
    if value is None:
        return ""
    if (text := _plain(value)) is None:
        raise _wrong(_name(fields, names), phrase("a text"))
    return text


def _plain(value: Any) -> str | None:
    """Return *value* as a text; None for what is neither a text nor a number."""
    is_plain = isinstance(value, str | int | float) and not isinstance(value, bool)
    return str(value) if is_plain else None


def _level(part: Fields) -> int:
    """Return the level of the heading of *part*, 0 where it does not say."""
    value = part.get("level")
    if value is None:
        return 0
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _MAX_LEVEL:
        return value
    raise _wrong("level", phrase("a whole number from 1 to {most}", most=_MAX_LEVEL))


def _list(part: Fields, names: Sequence[str]) -> list[Any]:
    value = _value(part, names)
    if value is not None and not isinstance(value, list):
        raise _wrong(_name(part, names), phrase("a list"))
    return value or []


def _items(part: Fields, points: list[Any], depth: int = 0) -> Iterator[Block]:
    """Yield the items that *points* are; a list among them are the points of the one before."""
    for point in points:
        if isinstance(point, list) and depth < _MAX_DEPTH:
            yield from _items(part, point, depth + 1)
        elif (text := _plain(point)) is not None:
            yield Block("item", inline_spans(text), level=depth)
        else:
            raise _wrong(_name(part, _POINTS), phrase("a list of texts"))


def _rows(part: Fields) -> tuple[tuple[Spans, ...], ...]:
    """Return the table of *part*: rows that are lists, or all objects, whose names are the head."""
    rows = _list(part, _TABLES)
    if rows and all(isinstance(row, dict) for row in rows):
        head = list(dict.fromkeys(name for row in rows for name in row))
        rows = [head, *([row.get(name) for name in head] for row in rows)]
    if not all(isinstance(row, list) for row in rows):
        raise _wrong(_name(part, _TABLES), phrase("a list of rows, each a list of cells"))
    return tuple(tuple(_cell(part, cell) for cell in row) for row in rows) if any(rows) else ()


def _cell(part: Fields, cell: Any) -> Spans:
    if cell is None:
        return ()
    text = str(cell).upper() if isinstance(cell, bool) else _plain(cell)
    if text is None:
        raise _wrong(_name(part, _TABLES), phrase("a list of rows, each a list of cells"))
    return (Span(text),) if text else ()


def _renumbered(block: Block, start: int) -> Block:
    """Return *block* with its footnotes counted on from *start*."""

    def moved(spans: Spans) -> Spans:
        return tuple(replace(one, note=one.note + start) if one.note else one for one in spans)

    rows = tuple(tuple(map(moved, row)) for row in block.rows)
    return replace(block, spans=moved(block.spans), rows=rows)
