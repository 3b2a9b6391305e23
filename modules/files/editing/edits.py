"""Finding the text that an edit means: exactly, or with trifles forgiven, but never guessed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from unicodedata import normalize

from modules.files.editing import indentation
from modules.files.editing.edit_variants import EditVariant, is_numbered, numbers, readings
from modules.files.editing.look_alikes import plain, span
from utils.i18n import Phrase, phrase
from utils.text.lines import lines_of, nearest_block, numbered

_SHOWN_LINES = 30
_MARK = "\ufeff"
_GAP = re.compile(r"[ \t]+")


class NotFound(Exception):
    """The edit means no text or several; *what* says what there is instead."""

    def __init__(self, what: Phrase) -> None:
        super().__init__(str(what))
        self.what = what


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
    characters that look alike, and by what `readings` undo, the first of these that fits; *new* is
    changed alike. Raises `NotFound` where several places fit, none, or *new* is unclear.
    """
    told = phrase("old had CRLF line ends") if "\r\n" in old else None
    old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    if old.startswith(_MARK) and not text.startswith(_MARK):
        old, new = old.removeprefix(_MARK), new.removeprefix(_MARK)
        told = _joined(told, phrase("the byte order mark is not part of the text"))
    for reading in readings(old, new):
        edit = _meant(text, reading)
        if edit is not None:
            return replace(edit, tolerated=_joined(told, reading.told, edit.tolerated))
    if (found := numbers(old)) and found[1] == "│":
        raise NotFound(_nearest(lines_of(text), found[2]))
    if is_numbered(old):
        raise NotFound(phrase("old carries line numbers (12│); leave them out."))
    raise NotFound(_nearest(lines_of(text), old))


def _joined(*told: Phrase | None) -> Phrase | None:
    parts = [part for part in told if part is not None]
    if len(parts) < 2:
        return parts[0] if parts else None
    return phrase("{first}; {second}", first=parts[0], second=_joined(*parts[1:]) or "")


def _meant(text: str, reading: EditVariant) -> Edit | None:
    """Return the edit for one reading of it; None if nothing fits its old text."""
    old, new = reading.old, reading.new
    edit = _exact(text, old, new or "") or _in_lines(text, old, new or "")
    edit = edit or _alike(text, old, new or "")
    if edit is None or reading.at not in (None, text.count("\n", 0, edit.start) + 1):
        return None
    if new is None:
        what = phrase(
            "{why}, but new is so in part only. Give both just as they are to stand in the file.",
            why=reading.told or "",
        )
        raise NotFound(what)
    return edit


# Exactly


def _exact(text: str, old: str, new: str) -> Edit | None:
    found = _occurrences(text, old)
    if len(found) > 1:
        raise NotFound(_several(len(found), [text.count("\n", 0, at) + 1 for at in found]))
    return _indented_once(text, found[0], old, new) if found else None


def _indented_once(text: str, at: int, old: str, new: str) -> Edit:
    """Return the edit of the *old* at *at*; what stands before it in its line is not doubled.

    A single line whose only change is the white space before it is meant to be indented.
    """
    start = text.rfind("\n", 0, at) + 1
    indent = text[start:at]
    is_only_moved = "\n" not in old.strip() and new.strip() == old.strip()
    if (
        not indent
        or indent.strip()
        or old[0].isspace()
        or not new.startswith(indent)
        or new[len(indent) : len(indent) + 1].isspace()
        or is_only_moved
    ):
        return Edit(at, at + len(old), new)
    told = phrase("new has the indentation that old begins without; it was not doubled")
    return Edit(start, at + len(old), new, told)


def _occurrences(text: str, old: str) -> list[int]:
    found = []
    at = text.find(old)
    while at >= 0:
        found.append(at)
        at = text.find(old, at + 1)
    return found


def _several(count: int, lines: Sequence[int]) -> Phrase:
    shown = ", ".join(map(str, lines[:20])) + (", …" if len(lines) > 20 else "")
    return phrase(
        "old occurs {count} times, at lines {lines}. Take in more of the lines around the one you "
        "mean, or use replace_lines; all=true replaces every one.",
        count=count,
        lines=shown,
    )


# But for white space


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines of the file that are *old* but for trifles, and what is to stand there.

    *new* is None where its indentation can be meant in two ways.
    """

    first: int
    new: str | None
    tolerated: Phrase


def _in_lines(text: str, old: str, new: str) -> Edit | None:
    if not _has_words(text, old):
        return None
    lines = text.split("\n")
    for forgiving in (_trailing, _leading, _tabs, _inner):
        if block := _only(list(forgiving(lines, old, new)), len(lines_of(old))):
            return _as_edit(lines, old, block)
    return None


def _has_words(text: str, old: str) -> bool:
    """Return whether every word of *old* is in *text*: else white space alone is not to blame."""
    return all(word in text for word in set(old.split()))


def _only(blocks: Sequence[_Block], count: int) -> _Block | None:
    """Return the only one of *blocks* of *count* lines. Raises `NotFound` where it is unclear."""
    if len(blocks) > 1:
        raise NotFound(_several(len(blocks), [block.first + 1 for block in blocks]))
    if not blocks:
        return None
    if blocks[0].new is None:
        what = phrase(
            "old is lines {first}-{last} but for the indentation, and new can be meant in two "
            "ways. Give both as they are to stand in the file.",
            first=blocks[0].first + 1,
            last=blocks[0].first + count,
        )
        raise NotFound(what)
    return blocks[0]


def _trailing(lines: Sequence[str], old: str, new: str) -> Iterator[_Block]:
    """Yield the blocks that differ from *old* in white space at line ends only."""
    for first in _same(lines, lines_of(old), str.rstrip):
        yield _Block(first, new, phrase("white space at line ends differs"))


def _leading(lines: Sequence[str], old: str, new: str) -> Iterator[_Block]:
    """Yield the blocks whose every line is indented by the same more, or less, than in *old*."""
    wanted = [line.rstrip() for line in lines_of(old)]
    for first in _same(lines, wanted, str.strip):
        block = [line.rstrip() for line in lines[first : first + len(wanted)]]
        if (step := indentation.step(wanted, block)) is None:
            continue
        stands_already = indentation.stands_already(new, wanted, block)
        told = _step_in_words(*step, stands_already=bool(stands_already))
        if stands_already:
            yield _Block(first, new, told)
        else:
            yield _Block(
                first, indentation.moved(new, *step) if stands_already is False else None, told
            )


def _tabs(lines: Sequence[str], old: str, new: str) -> Iterator[_Block]:
    """Yield the blocks that are indented by tabs where *old* is by spaces, or the other way."""
    told = phrase("the file is indented by tabs where old has spaces; new was indented alike")
    back = phrase("the file is indented by spaces where old has tabs; new was indented alike")
    for width in indentation.WIDTHS:
        for change, words in ((indentation.with_tabs, told), (indentation.with_spaces, back)):
            changed = change(old, width)
            if changed not in (None, old):
                for block in _trailing(lines, changed, ""):
                    yield _Block(block.first, change(new, width), words)


def _inner(lines: Sequence[str], old: str, new: str) -> Iterator[_Block]:
    """Yield the blocks that differ from *old* in how much white space parts the words of a line."""
    wanted = lines_of(old)
    for first in _same(lines, wanted, _even):
        kept = _as_in_file(old, new, lines[first : first + len(wanted)])
        yield _Block(first, kept, phrase("white space within lines differs"))


def _even(line: str) -> str:
    rest = line.lstrip()
    return line[: len(line) - len(rest)] + _GAP.sub(" ", rest.rstrip())


def _same(lines: Sequence[str], wanted: Sequence[str], key: Callable[[str], str]) -> Iterator[int]:
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


def _as_in_file(old: str, new: str, block: Sequence[str]) -> str:
    """Return *new*; the lines it begins and ends with in common with *old* are those of *block*."""
    before, after = old.split("\n"), new.split("\n")
    if len(block) < len(before):  # *old* ends with a line end
        block = [*block, ""]
    most = min(len(before), len(after))
    head = next((n for n in range(most) if before[n] != after[n]), most)
    most -= head
    tail = next((n for n in range(most) if before[-1 - n] != after[-1 - n]), most)
    inner = after[head : len(after) - tail]
    return "\n".join([*block[:head], *inner, *block[len(block) - tail :]])


def _step_in_words(more: str, less: str, *, stands_already: bool) -> Phrase:
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


def _as_edit(lines: Sequence[str], old: str, block: _Block) -> Edit:
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


def _alike(text: str, old: str, new: str) -> Edit | None:
    """Return the edit where *old* differs in quotes, dashes and the like; shared lines stay."""
    if text.isascii() and old.isascii():
        return None
    told = phrase("old differs in characters that look alike (quotes, dashes, odd spaces)")
    try:
        place = span(text, old)
    except LookupError as error:
        lines = [line + 1 for line in error.args[0]]
        raise NotFound(_several(len(lines), lines)) from None
    if place is not None:
        start, end = place
        return Edit(start, end, _as_in_file(old, new, text[start:end].split("\n")), told)
    simple = plain(text)
    if not _has_words(simple, plain(old)):
        return None
    lines = simple.split("\n")
    for forgiving in (_trailing, _leading):
        blocks = list(forgiving(lines, plain(old), new))
        if block := _only(blocks, len(lines_of(old))):
            edit = _as_edit(text.split("\n"), old, block)
            return replace(edit, tolerated=_joined(told, edit.tolerated))
    return None


# Nowhere


def _nearest(lines: Sequence[str], old: str) -> Phrase:
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
        block=numbered(block[:_SHOWN_LINES], first),
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
