"""Three-way merging of text, line by line."""

from __future__ import annotations

from dataclasses import dataclass

from utils.text.line_diff import line_changes


@dataclass(frozen=True, slots=True)
class _Edit:
    """Lines *start* to *end* (exclusive) of the base become *lines*."""

    start: int
    end: int
    lines: list[bytes]


def is_text(data: bytes) -> bool:
    """Return whether *data* can be taken line by line: no NUL in it, or marked as UTF-16."""
    return b"\0" not in data or data[:2] in (b"\xff\xfe", b"\xfe\xff")


def merge(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Return *base* with the changes of both sides, None where they meet or it is not text.

    Changes to neighbouring lines count as meeting; the same change on both sides does not.
    """
    if not all(map(is_text, (base, ours, theirs))):
        return None
    lines = _lines(base)
    edits = _edits(lines, _lines(ours)), _edits(lines, _lines(theirs))
    if edits[0] is None or edits[1] is None:
        return None
    return _apply_edits(lines, sorted(edits[0] + edits[1], key=lambda edit: (edit.start, edit.end)))


def merge_preferring_theirs(base: bytes, ours: bytes, theirs: bytes) -> bytes:
    """Return *base* with the changes of both sides, those of *theirs* alone where they meet.

    What cannot be merged line by line is *theirs*.
    """
    if not all(map(is_text, (base, ours, theirs))):
        return theirs
    lines = _lines(base)
    our_edits, their_edits = _edits(lines, _lines(ours)), _edits(lines, _lines(theirs))
    if our_edits is None or their_edits is None:
        return theirs
    our_edits = [
        edit for edit in our_edits if not any(_overlap(edit, their) for their in their_edits)
    ]
    result = _apply_edits(
        lines, sorted(our_edits + their_edits, key=lambda edit: (edit.start, edit.end))
    )
    return theirs if result is None else result


def merge_common(base: bytes, one: bytes, other: bytes) -> bytes:
    """Return *base* with the changes that both sides made alike, and no other."""
    if not all(map(is_text, (base, one, other))):
        return base
    lines = _lines(base)
    edits = _edits(lines, _lines(one)), _edits(lines, _lines(other))
    if edits[0] is None or edits[1] is None:
        return base
    result = _apply_edits(lines, [edit for edit in edits[0] if edit in edits[1]])
    return base if result is None else result


def _overlap(one: _Edit, other: _Edit) -> bool:
    return one.start <= other.end and other.start <= one.end


def _apply_edits(base: list[bytes], edits: list[_Edit]) -> bytes | None:
    out: list[bytes] = []
    position = 0
    last: _Edit | None = None
    for edit in edits:
        if edit == last:
            continue
        if last is not None and edit.start <= last.end:
            return None
        out += base[position : edit.start] + edit.lines
        position, last = edit.end, edit
    return b"".join(out + base[position:])


def _edits(base: list[bytes], side: list[bytes]) -> list[_Edit] | None:
    """Return what *side* changed; None when it is too much to find out in reasonable time."""
    changes = line_changes(base, side)
    if changes is None:
        return None
    return [_Edit(one.start, one.end, side[one.new_start : one.new_end]) for one in changes]


def _lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)  # bytes end lines at \n, \r and both, and nowhere else
