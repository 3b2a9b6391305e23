"""Finding the text that an edit means: exactly, or with small differences, but never guessed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from unicodedata import normalize

from modules.files.editing import indentation
from modules.files.editing.edit_variants import (
    EditVariant,
    edit_variants,
    has_line_numbers,
    parse_line_numbers,
)
from modules.files.editing.look_alikes import find_look_alike, normalize_look_alikes
from utils.i18n import Phrase, phrase
from utils.text.lines import lines_of, nearest_block, numbered

_MAX_LINES_SHOWN = 30
_BOM = "\ufeff"
_SPACES = re.compile(r"[ \t]+")


class EditNotFound(Exception):
    """Edit that means no text or several; *message* says what there is instead."""

    def __init__(self, message: Phrase) -> None:
        super().__init__(str(message))
        self.message = message


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace `text[start:end]` by *new*; *tolerated* says in what the old text was not exact."""

    start: int
    end: int
    new: str
    tolerated: Phrase | None = None

    def applied(self, text: str) -> str:
        return text[: self.start] + self.new + text[self.end :]


def find_edit(text: str, old: str, new: str) -> Edit:
    r"""Return the edit of *text* that replaces its only *old* by *new*.

    All line ends in *text* are "\n". What is not there exactly may differ in white space, in
    characters that look alike, and by what `edit_variants` undo, the first of these that fits;
    *new* is changed alike. Raises `EditNotFound` where several places fit, none, or *new* is
    unclear.
    """
    note = phrase("old had CRLF line ends") if "\r\n" in old else None
    old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    if old.startswith(_BOM) and not text.startswith(_BOM):
        old, new = old.removeprefix(_BOM), new.removeprefix(_BOM)
        note = _join_notes(note, phrase("the byte order mark is not part of the text"))
    for variant in edit_variants(old, new):
        edit = _find_variant(text, variant)
        if edit is not None:
            return replace(edit, tolerated=_join_notes(note, variant.note, edit.tolerated))
    if (found := parse_line_numbers(old)) and found[1] == "│":
        raise EditNotFound(_nearest_block_message(lines_of(text), found[2]))
    if has_line_numbers(old):
        raise EditNotFound(phrase("old carries line numbers (12│); leave them out."))
    raise EditNotFound(_nearest_block_message(lines_of(text), old))


def _join_notes(*notes: Phrase | None) -> Phrase | None:
    parts = [part for part in notes if part is not None]
    if len(parts) < 2:
        return parts[0] if parts else None
    return phrase("{first}; {second}", first=parts[0], second=_join_notes(*parts[1:]) or "")


def _find_variant(text: str, variant: EditVariant) -> Edit | None:
    """Return the edit for one reading of it; None if nothing fits its old text."""
    old, new = variant.old, variant.new
    edit = _find_exact(text, old, new or "") or _find_by_lines(text, old, new or "")
    edit = edit or _find_look_alike(text, old, new or "")
    if edit is None or variant.line not in (None, text.count("\n", 0, edit.start) + 1):
        return None
    if new is None:
        message = phrase(
            "{why}, but new is so in part only. Give both just as they are to stand in the file.",
            why=variant.note or "",
        )
        raise EditNotFound(message)
    return edit


# Exactly


def _find_exact(text: str, old: str, new: str) -> Edit | None:
    found = _occurrences(text, old)
    if len(found) > 1:
        raise EditNotFound(
            _ambiguous(len(found), [text.count("\n", 0, offset) + 1 for offset in found])
        )
    return _without_double_indent(text, found[0], old, new) if found else None


def _without_double_indent(text: str, offset: int, old: str, new: str) -> Edit:
    """Return the edit of the *old* at *offset*; what stands before it in its line is not doubled.

    A single line whose only change is the white space before it is meant to be indented.
    """
    start = text.rfind("\n", 0, offset) + 1
    indent = text[start:offset]
    is_only_moved = "\n" not in old.strip() and new.strip() == old.strip()
    if (
        not indent
        or indent.strip()
        or old[0].isspace()
        or not new.startswith(indent)
        or new[len(indent) : len(indent) + 1].isspace()
        or is_only_moved
    ):
        return Edit(offset, offset + len(old), new)
    note = phrase("new has the indentation that old begins without; it was not doubled")
    return Edit(start, offset + len(old), new, note)


def _occurrences(text: str, old: str) -> list[int]:
    found = []
    offset = text.find(old)
    while offset >= 0:
        found.append(offset)
        offset = text.find(old, offset + 1)
    return found


def _ambiguous(count: int, lines: Sequence[int]) -> Phrase:
    shown = ", ".join(map(str, lines[:20])) + (", …" if len(lines) > 20 else "")
    return phrase(
        "old occurs {count} times, at lines {lines}. Take in more of the lines around the one you "
        "mean, or use replace_lines; all=true replaces every one.",
        count=count,
        lines=shown,
    )


# But for white space


@dataclass(frozen=True, slots=True)
class _MatchedBlock:
    """Lines of the file that match *old* but for small differences, and their replacement.

    *new* is None where its indentation can be meant in two ways.
    """

    first: int
    new: str | None
    tolerated: Phrase


def _find_by_lines(text: str, old: str, new: str) -> Edit | None:
    if not _has_all_words(text, old):
        return None
    lines = text.split("\n")
    for matcher in (_match_trailing_space, _match_indentation, _match_tabs, _match_inner_space):
        if block := _single_block(list(matcher(lines, old, new)), len(lines_of(old))):
            return _edit_of_block(lines, old, block)
    return None


def _has_all_words(text: str, old: str) -> bool:
    """Return whether every word of *old* is in *text*: else white space alone is not to blame."""
    return all(word in text for word in set(old.split()))


def _single_block(blocks: Sequence[_MatchedBlock], count: int) -> _MatchedBlock | None:
    """Return the only one of *blocks* of *count* lines. Raises `EditNotFound` where it is
    unclear."""
    if len(blocks) > 1:
        raise EditNotFound(_ambiguous(len(blocks), [block.first + 1 for block in blocks]))
    if not blocks:
        return None
    if blocks[0].new is None:
        message = phrase(
            "old is lines {first}-{last} but for the indentation, and new can be meant in two "
            "ways. Give both as they are to stand in the file.",
            first=blocks[0].first + 1,
            last=blocks[0].first + count,
        )
        raise EditNotFound(message)
    return blocks[0]


def _match_trailing_space(lines: Sequence[str], old: str, new: str) -> Iterator[_MatchedBlock]:
    """Yield the blocks that differ from *old* in white space at line ends only."""
    for first in _block_starts(lines, lines_of(old), str.rstrip):
        yield _MatchedBlock(first, new, phrase("white space at line ends differs"))


def _match_indentation(lines: Sequence[str], old: str, new: str) -> Iterator[_MatchedBlock]:
    """Yield the blocks whose every line is indented by the same more, or less, than in *old*."""
    wanted = [line.rstrip() for line in lines_of(old)]
    for first in _block_starts(lines, wanted, str.strip):
        block = [line.rstrip() for line in lines[first : first + len(wanted)]]
        if (step := indentation.indent_difference(wanted, block)) is None:
            continue
        stands_already = indentation.has_block_indentation(new, wanted, block)
        note = _indent_note(*step, stands_already=bool(stands_already))
        if stands_already:
            yield _MatchedBlock(first, new, note)
        else:
            yield _MatchedBlock(
                first, indentation.reindented(new, *step) if stands_already is False else None, note
            )


def _match_tabs(lines: Sequence[str], old: str, new: str) -> Iterator[_MatchedBlock]:
    """Yield the blocks that are indented by tabs where *old* is by spaces, or the other way."""
    note = phrase("the file is indented by tabs where old has spaces; new was indented alike")
    to_spaces_note = phrase(
        "the file is indented by spaces where old has tabs; new was indented alike"
    )
    for width in indentation.TAB_WIDTHS:
        for retab, change_note in (
            (indentation.with_tabs, note),
            (indentation.with_spaces, to_spaces_note),
        ):
            changed = retab(old, width)
            if changed not in (None, old):
                for block in _match_trailing_space(lines, changed, ""):
                    yield _MatchedBlock(block.first, retab(new, width), change_note)


def _match_inner_space(lines: Sequence[str], old: str, new: str) -> Iterator[_MatchedBlock]:
    """Yield the blocks that differ from *old* in the amount of white space within lines."""
    wanted = lines_of(old)
    for first in _block_starts(lines, wanted, _collapse_spaces):
        kept = _keep_common_lines(old, new, lines[first : first + len(wanted)])
        yield _MatchedBlock(first, kept, phrase("white space within lines differs"))


def _collapse_spaces(line: str) -> str:
    rest = line.lstrip()
    return line[: len(line) - len(rest)] + _SPACES.sub(" ", rest.rstrip())


def _block_starts(
    lines: Sequence[str], wanted: Sequence[str], key: Callable[[str], str]
) -> Iterator[int]:
    """Yield where a block begins whose lines are those *wanted* by their *key*."""
    keys = [key(line) for line in wanted]
    if not any(keys):
        return
    offset = next(number for number, line in enumerate(keys) if line)
    for first in range(len(lines) - len(keys) + 1):
        if key(lines[first + offset]) == keys[offset] and all(
            key(lines[first + number]) == line for number, line in enumerate(keys)
        ):
            yield first


def _keep_common_lines(old: str, new: str, block: Sequence[str]) -> str:
    """Return *new*; the lines it begins and ends with in common with *old* are those of *block*."""
    before, after = old.split("\n"), new.split("\n")
    if len(block) < len(before):  # *old* ends with a line end
        block = [*block, ""]
    max_common = min(len(before), len(after))
    head = next((n for n in range(max_common) if before[n] != after[n]), max_common)
    max_common -= head
    tail = next((n for n in range(max_common) if before[-1 - n] != after[-1 - n]), max_common)
    inner = after[head : len(after) - tail]
    return "\n".join([*block[:head], *inner, *block[len(block) - tail :]])


def _indent_note(more: str, less: str, *, stands_already: bool) -> Phrase:
    if stands_already:
        return phrase(
            "every line is indented by {more} where old has {less}; new stands so already",
            more=repr(more),
            less=repr(less),
        )
    return phrase(
        "every line is indented by {more} where old has {less}; new was indented alike",
        more=repr(more),
        less=repr(less),
    )


def _edit_of_block(lines: Sequence[str], old: str, block: _MatchedBlock) -> Edit:
    new = block.new or ""
    count = len(lines_of(old))
    start = sum(len(line) + 1 for line in lines[: block.first])
    length = sum(len(line) + 1 for line in lines[block.first : block.first + count]) - 1
    if not old.endswith("\n"):
        return Edit(start, start + length, new, block.tolerated)
    if block.first + count == len(lines):  # the last line of the file has no end
        return Edit(start, start + length, new.removesuffix("\n"), block.tolerated)
    return Edit(start, start + length + 1, new, block.tolerated)


# But for characters that look alike


def _find_look_alike(text: str, old: str, new: str) -> Edit | None:
    """Return the edit where *old* differs in quotes, dashes and the like; shared lines stay."""
    if text.isascii() and old.isascii():
        return None
    note = phrase("old differs in characters that look alike (quotes, dashes, odd spaces)")
    try:
        place = find_look_alike(text, old)
    except LookupError as error:
        lines = [line + 1 for line in error.args[0]]
        raise EditNotFound(_ambiguous(len(lines), lines)) from None
    if place is not None:
        start, end = place
        return Edit(start, end, _keep_common_lines(old, new, text[start:end].split("\n")), note)
    normalized = normalize_look_alikes(text)
    if not _has_all_words(normalized, normalize_look_alikes(old)):
        return None
    lines = normalized.split("\n")
    for matcher in (_match_trailing_space, _match_indentation):
        blocks = list(matcher(lines, normalize_look_alikes(old), new))
        if block := _single_block(blocks, len(lines_of(old))):
            edit = _edit_of_block(text.split("\n"), old, block)
            return replace(edit, tolerated=_join_notes(note, edit.tolerated))
    return None


# Nowhere


def _nearest_block_message(lines: Sequence[str], old: str) -> Phrase:
    """Return what to say when nothing fits: the nearest block and its first difference."""
    wanted = lines_of(old)
    near = nearest_block(lines, wanted)
    if near is None:
        if len(lines) == 1:
            return phrase("old does not occur, nor anything like it; the file has 1 line.")
        return phrase(
            "old does not occur, nor anything like it; the file has {count} lines.",
            count=len(lines),
        )
    block = lines[near.start : near.stop]
    first = near.start + 1
    where = phrase("are lines {first}-{last}", first=first, last=near.stop)
    return phrase(
        "old does not occur. The nearest {where}:\n{block}\nThe first difference:\n{difference}",
        where=where if len(near) > 1 else phrase("is line {first}", first=first),
        block=numbered(block[:_MAX_LINES_SHOWN], first),
        difference=_first_difference(wanted, block, first),
    )


def _first_difference(wanted: Sequence[str], block: Sequence[str], first: int) -> str:
    """Return the first line that differs as it is in both, white space made visible.

    Letters that look alike, one put together from two characters, are told by their numbers.
    """
    pairs = enumerate(zip_longest(wanted, block), first)
    number, (line, found) = next((n, pair) for n, pair in pairs if pair[0] != pair[1])
    look_alike = line and found and normalize("NFC", line) == normalize("NFC", found)
    spelled = ascii if look_alike else repr
    return f"old:  {spelled(line)}\nfile: {spelled(found)} (line {number})"
