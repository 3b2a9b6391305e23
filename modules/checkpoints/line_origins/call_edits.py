"""The edits of calls: exactly which lines of a text each left, where lines read the same too.

A call that edits a text says in its arguments where. Done again on the text before it, that tells
more than the two texts do: which of two equal lines is the new one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from types import NoneType
from typing import Any, get_args

from core.tools import ToolError
from modules.checkpoints.line_origins.line_alignment import KeptLines, kept_lines
from modules.checkpoints.line_origins.origins import Origin
from modules.files.editing.edit_operations import (
    EditOperation,
    EditRequest,
    Replacement,
    apply_edit,
)
from utils.text.lines import lines_of

_TYPES: Mapping[str, tuple[type, ...]] = {
    "operation": (str,),
    "old": (str, NoneType),
    "new": (str, NoneType),
    "all": (bool,),
    "start_line": (int, NoneType),
    "end_line": (int, NoneType),
}
ArgumentsOf = Callable[[Origin], Mapping[str, Any] | None]
"""Gives the arguments of the call that an origin is of; None where nothing of it is kept."""


class CallEdits:
    """Tells which lines the edits of calls kept; *texts* gives the text of a digest, if any."""

    def __init__(self, arguments_of: ArgumentsOf, texts: Callable[[str], str | None]) -> None:
        self._arguments_of = arguments_of
        self._texts = texts

    def kept_lines(
        self, origin: Origin, path: str, old: str, new: str
    ) -> Sequence[KeptLines] | None:
        """Return what stays of the content of the digest *old* in that of *new*, top to bottom.

        None where the call of *origin* is no edit, or something else than it made the new text.
        """
        if origin.writer != "call" or (request := self._request(origin)) is None:
            return None
        before, after = self._texts(old), self._texts(new)
        if before is None or after is None:
            return None
        with suppress(ToolError):
            result = apply_edit(before, request, path)
            if result.text == after:
                return [*_kept(before, after, result.replacements)]
        return None

    def _request(self, origin: Origin) -> EditRequest | None:
        """Return the edit that the arguments of the call ask for, None for other calls."""
        arguments = self._arguments_of(origin) or {}
        if arguments.get("operation") not in get_args(EditOperation):
            return None
        names = [one.name for one in fields(EditRequest)]
        known = {name: arguments[name] for name in names if name in arguments}
        fits = all(isinstance(one, _TYPES[name]) for name, one in known.items())
        return EditRequest(**known) if fits else None


def _kept(before: str, after: str, replacements: Sequence[Replacement]) -> Iterator[KeptLines]:
    """Yield the lines beside *replacements*, and those that stay within the replaced ones.

    Who replaces ten lines to change one has nine of them stay.
    """
    old, new = lines_of(before), lines_of(after)
    place = new_place = 0
    for one in [*_beside(before, after, replacements), KeptLines(len(old), len(new), 0)]:
        inside = kept_lines(old[place : one.start], new[new_place : one.new_start])
        for kept in inside:
            yield KeptLines(place + kept.start, new_place + kept.new_start, kept.length)
        if one.length:
            yield one
        place, new_place = one.start + one.length, one.new_start + one.length


def _beside(before: str, after: str, replacements: Sequence[Replacement]) -> Iterator[KeptLines]:
    """Yield the whole lines that no replacement touches."""
    start = new_start = 0
    for one in [*replacements, Replacement(len(before), len(before), 0)]:
        length = one.start - start
        if (kept := _whole_lines(before, after, start, new_start, length)).length > 0:
            yield kept
        start, new_start = one.end, new_start + length + one.length


def _whole_lines(before: str, after: str, start: int, new_start: int, length: int) -> KeptLines:
    """Return which lines lie whole, in both texts, in *length* characters from these places on."""
    lines = before[start : start + length].split("\n")
    begins = all(
        not at or text[at - 1] == "\n" for text, at in ((before, start), (after, new_start))
    )
    ends = all(
        text[at : at + 1] in ("", "\n")
        for text, at in ((before, start + length), (after, new_start + length))
    )
    skipped = 0 if begins else 1
    count = len(lines) - skipped - (not ends or not lines[-1])
    return KeptLines(
        before.count("\n", 0, start) + skipped, after.count("\n", 0, new_start) + skipped, count
    )
