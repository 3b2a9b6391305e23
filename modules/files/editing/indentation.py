"""Indentation of the lines of an edit: moved as a block, or from spaces to tabs and back."""

from __future__ import annotations

import os
from collections.abc import Sequence

TAB_WIDTHS = (2, 3, 4, 8)
"""Spaces that a tab may stand for."""


def indent_difference(wanted: Sequence[str], block: Sequence[str]) -> tuple[str, str] | None:
    """Return (what *block* has more, what *wanted* has more) before every line; None if uneven."""
    differences = set()
    for line, found in zip(wanted, block, strict=True):
        if line.lstrip() != found.lstrip():
            return None
        if line:
            differences.add(_line_difference(line, found))
    difference = differences.pop()
    return difference if not differences and any(difference) else None


def _line_difference(line: str, found: str) -> tuple[str, str]:
    """Return what stands before *found* but not before *line*, and the other way round."""
    if found.endswith(line):
        return found[: len(found) - len(line)], ""
    if line.endswith(found):
        return "", line[: len(line) - len(found)]
    return found[: len(found) - len(found.lstrip())], line[: len(line) - len(line.lstrip())]


def has_block_indentation(new: str, wanted: Sequence[str], block: Sequence[str]) -> bool | None:
    """Return whether *new* is indented as the *block* of the file is, not as *wanted* is.

    Lines that *new* shares with only one of the two tell; without such the depth of its shallowest
    line does. None where that tells nothing, or both.
    """
    lines = {line.rstrip() for line in new.split("\n") if line.strip()}
    as_wanted = lines & (set(wanted) - set(block))
    as_block = lines & (set(block) - set(wanted))
    if as_wanted or as_block:
        return None if as_wanted and as_block else bool(as_block)
    margin, of_file = _common_indent(lines), _common_indent(block)
    if not lines or margin == _common_indent(wanted):
        return False
    if margin == of_file:
        return True
    return None if len(margin) > len(of_file) else False


def _common_indent(lines: Sequence[str] | set[str]) -> str:
    """Return the white space that all written *lines* begin with."""
    return os.path.commonprefix(
        [line[: len(line) - len(line.lstrip())] for line in lines if line.strip()]
    )


def reindented(new: str, more: str, less: str) -> str | None:
    """Return *new* with *less* before its lines replaced by *more*; None if a line lacks *less*."""
    lines = new.split("\n")
    if not all(line.startswith(less) for line in lines if line.strip()):
        return None
    return "\n".join(more + line[len(less) :] if line.strip() else line for line in lines)


def with_tabs(text: str, width: int) -> str | None:
    """Return *text* with a tab for every *width* spaces its lines begin with; None if some stay."""
    lines = []
    for line in text.split("\n"):
        rest = line.lstrip(" ")
        tabs, odd = divmod(len(line) - len(rest), width)
        if odd and rest:
            return None
        lines.append("\t" * tabs + rest)
    return "\n".join(lines)


def with_spaces(text: str, width: int) -> str | None:
    """Return *text* with *width* spaces for every tab its lines begin with."""
    lines = []
    for line in text.split("\n"):
        rest = line.lstrip("\t")
        lines.append(" " * width * (len(line) - len(rest)) + rest)
    return "\n".join(lines)
