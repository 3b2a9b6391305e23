"""Ranges of lines that have one origin, and what is to be said of their file."""

from __future__ import annotations

from core.tools import ToolError
from modules.checkpoints.line_origins.origins import FileOrigins, Origin
from utils.i18n import Phrase, Text, phrase
from utils.text.clean import visible

Ranges = tuple[tuple[int, int], ...]
"""First and last lines, from 1."""
MAX_ORIGINS = 200
"""Origins on one card."""


def ranges_by_origin(found: FileOrigins, start: int = 0, end: int = 0) -> dict[Origin, Ranges]:
    """Return which of the lines *start* to *end* (all for 0) come from where, from the top.

    What is no text, or is gone, has one origin and no ranges. Raises `ToolError` for lines that
    there are not.
    """
    if found.kind or found.is_gone:
        if start:
            raise ToolError(_no_lines(found))
        return dict.fromkeys(found.origins, ())
    count = len(found.lines)
    if max(start, end) > count == 1:
        raise ToolError(phrase("{path} has 1 line.", path=visible(found.path)))
    if max(start, end) > count:
        raise ToolError(phrase("{path} has {count} lines.", path=visible(found.path), count=count))
    by_origin: dict[Origin, list[tuple[int, int]]] = {}
    for number in range(start or 1, (end or count) + 1):
        ranges = by_origin.setdefault(found.origins[number - 1], [])
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1] = ranges[-1][0], number
        else:
            ranges.append((number, number))
    return {origin: tuple(ranges) for origin, ranges in by_origin.items()}


def _no_lines(found: FileOrigins) -> Phrase:
    if found.is_gone:
        return phrase("{path} no longer exists.", path=visible(found.path))
    return phrase("{path} is not text and has no lines.", path=visible(found.path))


def note_on(found: FileOrigins, origins: int) -> Text:
    """Return what is to be known of a file beside where its lines come from."""
    if found.is_gone:
        return phrase("Deleted: this is who deleted or moved it.")
    if found.kind:
        return phrase("Not text ({kind}): this is who last wrote it.", kind=found.kind)
    if not found.lines:
        return phrase("Empty file: no lines.")
    if origins > MAX_ORIGINS:
        return phrase("{count:,} more origins. Ask for fewer lines.", count=origins - MAX_ORIGINS)
    if found.former:
        return phrase("Earlier names: {paths}", paths=", ".join(map(visible, found.former[:5])))
    return ""
