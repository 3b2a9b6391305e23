"""Whether text fits on a slide: about how high it is, by the widths of usual letters."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from lxml import etree

EMU_PER_POINT = 12_700
_LINE_HEIGHT = 1.2
"""Of the size of the letters."""
_DEFAULT_POINTS = 18.0
_NARROW, _BROAD = frozenset("iljftrI.,;:'|!()[] "), frozenset("mwMW@%")
_TOLERANCE_POINTS = 8.0
_NAMESPACES = {
    "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
    "p": "http://schemas.openxmlformats.org/presentationml/2006/main",
}


class TextLine(NamedTuple):
    """A paragraph as it is to be set: its text, the size of its letters and its indent, points."""

    text: str
    points: float
    indent: float = 0.0
    before: float = 0.0
    """Points of space above it."""


def text_width(text: str, points: float) -> float:
    """Return about how many points *text* is wide on one line; rather too many than too few."""
    return sum(map(_em, text)) * points


def _em(letter: str) -> float:
    if unicodedata.east_asian_width(letter) in ("W", "F"):
        return 1.0
    if unicodedata.combining(letter):
        return 0.0
    if letter in _NARROW:
        return 0.32
    if letter in _BROAD:
        return 0.9
    return 0.68 if letter.isupper() else 0.56


def line_count(text: str, points: float, width: float) -> int:
    """Return about how many lines of *width* points *text* takes."""
    return sum(_lines_of(part, points, max(width, points)) for part in text.split("\n"))


def _lines_of(text: str, points: float, width: float) -> int:
    count, used = 1, 0.0
    for word in _words(text):
        size = text_width(word, points)
        if used and used + text_width(word.rstrip(), points) > width:
            count, used = count + 1, 0.0
        used += size
        while used > width and size > width:
            count, used = count + 1, used - width
    return count


def _words(text: str) -> Iterator[str]:
    """Yield the parts of *text* between which a line may end; each Chinese character is one."""
    word = ""
    for letter in text:
        if unicodedata.east_asian_width(letter) in ("W", "F"):
            if word:
                yield word
            yield letter
            word = ""
        else:
            word += letter
            if letter in " -\t":
                yield word
                word = ""
    if word:
        yield word


def text_height(lines: Iterable[TextLine], width: float) -> float:
    """Return about how many points high *lines* are in a frame that is *width* points wide."""
    return sum(
        line.before
        + line_count(line.text, line.points, width - line.indent) * line.points * _LINE_HEIGHT
        for line in lines
    )


def is_outside(shape: Any, width: int, height: int) -> bool:
    """Return whether text of *shape* is outside of a slide *width* and *height* EMU large."""
    if not shape.has_text_frame or not shape.text_frame.text.strip():
        return False
    if None in (shape.left, shape.top, shape.width, shape.height):
        return False
    slack = _TOLERANCE_POINTS * EMU_PER_POINT
    frame = shape.text_frame
    needed = text_height(frame_lines(shape), frame_width(shape)) * EMU_PER_POINT
    needed += frame.margin_top + frame.margin_bottom
    excess = max(0.0, needed - shape.height) if not shape.rotation else 0.0
    above, below = _anchor_shares(shape)
    return bool(
        shape.left < -slack
        or shape.left + shape.width > width + slack
        or shape.top - above * excess < -slack
        or shape.top + min(needed, shape.height) + below * excess > height + slack
    )


def _anchor_shares(shape: Any) -> tuple[float, float]:
    """Return which parts of what does not fit stand out above and below *shape*."""
    anchors = _found(shape._element, ".//a:bodyPr/@anchor")
    match anchors[0] if anchors else "t":
        case "ctr":
            return 0.5, 0.5
        case "b":
            return 1.0, 0.0
        case _:
            return 0.0, 1.0


def frame_width(shape: Any) -> float:
    """Return how many points the text of *shape* may be wide."""
    frame = shape.text_frame
    return float(shape.width - frame.margin_left - frame.margin_right) / EMU_PER_POINT


def frame_lines(shape: Any) -> list[TextLine]:
    """Return the paragraphs of *shape* with the sizes that they are shown in."""
    scale = _autofit_scale(shape)
    lines = []
    for paragraph in shape.text_frame.paragraphs:
        points = max((paragraph_points(shape, paragraph, run) for run in paragraph.runs), default=0)
        points = points or paragraph_points(shape, paragraph, None)
        indent = paragraph.level * 0.3 * 72 + (12 if shape.is_placeholder else 0)
        lines.append(TextLine(paragraph.text.replace("\v", "\n"), points * scale, indent))
    return lines


def _autofit_scale(shape: Any) -> float:
    scales = _found(shape._element, ".//a:bodyPr/a:normAutofit/@fontScale")
    try:
        return int(scales[0].rstrip("%")) / 100_000 if scales else 1.0
    except ValueError:
        return 1.0


def paragraph_points(shape: Any, paragraph: Any, run: Any | None) -> float:
    """Return the size of *run*: its own, or what the layout and the master say."""
    if run is not None and run.font.size is not None:
        return float(run.font.size.pt)
    if paragraph.font.size is not None:
        return float(paragraph.font.size.pt)
    level = paragraph.level + 1
    for element in _inherited(shape):
        found = _found(element, f"(.//a:lvl{level}pPr/a:defRPr/@sz)[1]")
        if found:
            return int(found[0]) / 100
    return _DEFAULT_POINTS


def _inherited(shape: Any) -> Iterator[Any]:
    """Yield the elements that say of what size the letters of *shape* are, the nearest first."""
    yield shape._element
    if not shape.is_placeholder:
        return
    slide = shape.part.slide
    kind = shape.placeholder_format.type
    for holder in slide.slide_layout.placeholders:
        if holder.placeholder_format.idx == shape.placeholder_format.idx:
            yield holder._element
            break
    is_title = str(kind).startswith(("TITLE", "CENTER_TITLE"))
    style = ".//p:titleStyle" if is_title else ".//p:bodyStyle"
    yield from _found(slide.slide_layout.slide_master._element, style)


def _found(element: Any, path: str) -> list[Any]:
    found: list[Any] = etree.XPath(path, namespaces=_NAMESPACES)(element)
    return found
