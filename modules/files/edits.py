"""Finding the text that an edit means: exactly, or with white space forgiven, but never guessed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from unicodedata import normalize

from utils.phrases import Phrase, phrase
from utils.text import lines_of, nearest_block, numbered

_SHOWN_LINES = 30
_NUMBERED = re.compile(r"^ *\d+│", re.MULTILINE)


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

    All line ends in *text* are "\n". Where *old* does not occur exactly, a block of whole lines
    may differ from it in white space at the line ends, then in the same indentation missing from
    (or too much on) every line; *new* is indented alike. Raises `NotFound`.
    """
    tolerated = phrase("old had CRLF line ends") if "\r\n" in old else None
    old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    exact = _occurrences(text, old)
    if len(exact) == 1:
        return Edit(exact[0], exact[0] + len(old), new, tolerated)
    if exact:
        raise NotFound(_several(len(exact), [text.count("\n", 0, at) + 1 for at in exact]))
    if _is_numbered(old):
        raise NotFound(phrase("old carries line numbers (12│); leave them out."))
    lines = text.split("\n")
    for forgiving in (_trailing, _leading):
        blocks = list(forgiving(lines, old, new))
        if len(blocks) > 1:
            raise NotFound(_several(len(blocks), [block.first + 1 for block in blocks]))
        if blocks:
            return _as_edit(lines, old, blocks[0])
    raise NotFound(_nearest(lines_of(text), old))


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
        "mean, or use replace_lines.",
        count=count,
        lines=shown,
    )


def _is_numbered(old: str) -> bool:
    return len(_NUMBERED.findall(old)) == len(lines_of(old))


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines of the file that are *old* but for white space, and what is to stand there."""

    first: int
    new: str
    tolerated: Phrase


def _trailing(lines: Sequence[str], old: str, new: str) -> Iterator[_Block]:
    """Yield the blocks that differ from *old* in white space at line ends only."""
    wanted = [line.rstrip() for line in lines_of(old)]
    if any(wanted):
        for first in _candidates(lines, wanted):
            if all(lines[first + number].rstrip() == line for number, line in enumerate(wanted)):
                yield _Block(first, new, phrase("white space at line ends differs"))


def _leading(lines: Sequence[str], old: str, new: str) -> Iterator[_Block]:
    """Yield the blocks whose every line is indented by the same more, or less, than in *old*."""
    wanted = [line.rstrip() for line in lines_of(old)]
    if not any(wanted):
        return
    for first in _candidates(lines, wanted):
        block = [line.rstrip() for line in lines[first : first + len(wanted)]]
        if (step := _step(wanted, block)) is not None:
            indented = _indented(new, *step)
            if indented is not None:
                yield _Block(first, indented, _step_in_words(*step))


def _candidates(lines: Sequence[str], wanted: Sequence[str]) -> Iterator[int]:
    """Yield where a block as long as *wanted* begins whose first written line is the same."""
    offset, line = next((n, line.strip()) for n, line in enumerate(wanted) if line)
    for first in range(len(lines) - len(wanted) + 1):
        if lines[first + offset].strip() == line:
            yield first


def _step(wanted: Sequence[str], block: Sequence[str]) -> tuple[str, str] | None:
    """Return (what the file has more, what *wanted* has more) before every line; None if uneven."""
    steps = set()
    for line, found in zip(wanted, block, strict=True):
        if line.lstrip() != found.lstrip():
            return None
        if line:
            steps.add(_one_step(line, found))
    step = steps.pop()
    return step if not steps and any(step) else None


def _one_step(line: str, found: str) -> tuple[str, str]:
    """Return what stands before *found* but not before *line*, and the other way round."""
    if found.endswith(line):
        return found[: len(found) - len(line)], ""
    if line.endswith(found):
        return "", line[: len(line) - len(found)]
    return found[: len(found) - len(found.lstrip())], line[: len(line) - len(line.lstrip())]


def _indented(new: str, more: str, less: str) -> str | None:
    """Return *new* with *less* before its lines replaced by *more*; None if a line lacks *less*."""
    lines = new.split("\n")
    if not all(line.startswith(less) for line in lines if line.strip()):
        return None
    return "\n".join(more + line[len(less) :] if line.strip() else line for line in lines)


def _step_in_words(more: str, less: str) -> Phrase:
    return phrase(
        "every line is indented by {more} where old has {less}; new was indented alike",
        more=repr(more),
        less=repr(less),
    )


def _as_edit(lines: Sequence[str], old: str, block: _Block) -> Edit:
    count = len(lines_of(old))
    start = sum(len(line) + 1 for line in lines[: block.first])
    length = sum(len(line) + 1 for line in lines[block.first : block.first + count]) - 1
    if not old.endswith("\n"):
        return Edit(start, start + length, block.new, block.tolerated)
    if block.first + count == len(lines):  # the last line of the file has no end
        return Edit(start, start + length, block.new.removesuffix("\n"), block.tolerated)
    return Edit(start, start + length + 1, block.new, block.tolerated)


def _nearest(lines: Sequence[str], old: str) -> Phrase:
    """Return what to say when nothing fits: the nearest block and its first difference."""
    wanted = lines_of(old)
    near = nearest_block(lines, wanted)
    if near is None:
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
