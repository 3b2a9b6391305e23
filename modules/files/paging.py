"""A part of a text as one answer to the model: numbered, bounded, with how to read on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from core.cards import TextCard
from core.tools import Outcome, ToolError
from modules.files.editing.long_text import LongText
from modules.files.editing.text_file import TextFile
from utils.i18n import Phrase, phrase
from utils.text.lines import counted, lines_of, numbered, size_in_words

_MOST_BYTES = 32_000
_LONGEST_LINE = 4_000


def read_part(
    shown: str, file: TextFile | LongText, start_line: int, end_line: int | None, note: str = ""
) -> Outcome:
    """Return the lines asked for, as many as one answer may hold."""
    if isinstance(file, LongText):
        return _read(shown, file, start_line, end_line, note)
    lines = lines_of(file.text)
    return _read(shown, _Whole(file, lines, len(lines)), start_line, end_line, note)


def read_excerpt(
    shown: str, form: TextFile, lines: Iterable[str], start_line: int, end_line: int, size: int
) -> Outcome:
    """Return lines of a file so long that nobody counts its lines; *lines* begin at *start_line*.

    *size* is that of the file, in bytes.
    """
    chosen = _fitting(islice(lines, end_line - start_line + 1))
    if not chosen:
        raise ToolError(phrase("{path} has no line {line}.", path=shown, line=start_line))
    end = start_line + len(chosen) - 1
    head = f"{shown}: lines {start_line}-{end} (the file has {size_in_words(size)})"
    head += f", {form.name}" if not form.is_plain else ""
    part = phrase("lines {first}-{last}", first=start_line, last=end)
    if end == start_line:
        part = phrase("line {n}", n=end)
    card = TextCard(phrase("Read {path}", path=shown), part)
    rest = f"\n… go on with start_line={end + 1}, if there are more" if end < end_line else ""
    return Outcome(f"{head}\n{numbered(chosen, start_line)}{rest}", card)


@dataclass(frozen=True, slots=True)
class _Whole:
    """A text that is held whole, with the face of a `LongText`."""

    form: TextFile
    lines: Sequence[str]
    count: int

    @property
    def is_ended(self) -> bool:
        return self.form.text.endswith("\n")

    def part(self, first: int, last: int) -> Iterable[str]:
        return self.lines[first - 1 : last]


def _read(
    shown: str, file: LongText | _Whole, start_line: int, end_line: int | None, note: str
) -> Outcome:
    count = file.count
    if not count:
        card = TextCard(phrase("Read {path}", path=shown), phrase("empty"))
        return Outcome(f"{shown} is empty.", card)
    last = count if end_line is None else min(end_line, count)
    if not 1 <= start_line <= last:
        raise ToolError(
            phrase(
                "{path} has lines 1 to {count}; lines {first} to {last} were asked for.",
                path=shown,
                count=count,
                first=start_line,
                last=last if end_line is None else end_line,
            )
        )
    chosen = _fitting(file.part(start_line, last))
    end = start_line + len(chosen) - 1
    head = f"{shown}: lines {start_line}-{end} of {count}"
    head += f", {file.form.name}" if not file.form.is_plain else ""
    head += ", no newline at the end" if not file.is_ended else ""
    head += f"  # {note}" if note else ""
    left = counted(last - end, "more line")
    rest = f"\n… {left}; go on with start_line={end + 1}" if end < last else ""
    card = TextCard(phrase("Read {path}", path=shown), _part(start_line, end, count))
    return Outcome(f"{head}\n{numbered(chosen, start_line)}{rest}", card)


def _part(first: int, last: int, count: int) -> Phrase:
    """Say for people which of *count* lines were read."""
    if last - first + 1 == count:
        return phrase("1 line") if count == 1 else phrase("{n} lines", n=count)
    if first == last:
        return phrase("line {first} of {count}", first=first, count=count)
    return phrase("lines {first}-{last} of {count}", first=first, last=last, count=count)


def _fitting(lines: Iterable[str]) -> list[str]:
    """Return as many of *lines* as one answer may hold, at least one; very long ones cut."""
    chosen: list[str] = []
    room = _MOST_BYTES
    for line in lines:
        if len(line) > _LONGEST_LINE:
            line = f"{line[:_LONGEST_LINE]}… [{len(line)} characters; use Python for the rest]"
        room -= len(line.encode("utf-8", "surrogatepass")) + 8
        if room < 0 and chosen:
            break
        chosen.append(line)
    return chosen
