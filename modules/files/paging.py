"""Paging of texts: one numbered, bounded part as an answer to the model, with how to read on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from core.cards import TextCard
from core.tools import Outcome, ToolError
from modules.files.editing.long_text import LongText
from modules.files.editing.text_file import TextFile
from utils.i18n import Phrase, phrase
from utils.text.lines import format_size, lines_of, numbered, with_count

_MAX_BYTES = 32_000
_MAX_LINE = 4_000


def read_part(
    display_path: str,
    file: TextFile | LongText,
    start_line: int,
    end_line: int | None,
    note: str = "",
) -> Outcome:
    """Return the lines asked for, as many as one answer may hold."""
    if isinstance(file, LongText):
        return _read_part(display_path, file, start_line, end_line, note)
    lines = lines_of(file.text)
    return _read_part(display_path, _WholeText(file, lines, len(lines)), start_line, end_line, note)


def read_excerpt(
    display_path: str,
    form: TextFile,
    lines: Iterable[str],
    start_line: int,
    end_line: int,
    size: int,
) -> Outcome:
    """Return lines of a file so long that nobody counts its lines; *lines* begin at *start_line*.

    *size* is that of the file, in bytes.
    """
    page_lines = _fit(islice(lines, end_line - start_line + 1))
    if not page_lines:
        raise ToolError(phrase("{path} has no line {line}.", path=display_path, line=start_line))
    end = start_line + len(page_lines) - 1
    header = f"{display_path}: lines {start_line}-{end} (the file has {format_size(size)})"
    header += f", {form.format_name}" if not form.is_utf8_lf else ""
    line_range = phrase("lines {first}-{last}", first=start_line, last=end)
    if end == start_line:
        line_range = phrase("line {n}", n=end)
    card = TextCard(phrase("Read {path}", path=display_path), line_range)
    continuation = (
        f"\n… go on with start_line={end + 1}, if there are more" if end < end_line else ""
    )
    return Outcome(f"{header}\n{numbered(page_lines, start_line)}{continuation}", card)


@dataclass(frozen=True, slots=True)
class _WholeText:
    """Text that is in memory as a whole, with the interface of a `LongText`."""

    text_format: TextFile
    lines: Sequence[str]
    count: int

    @property
    def is_ended(self) -> bool:
        return self.text_format.text.endswith("\n")

    def read_lines(self, first: int, last: int) -> Iterable[str]:
        return self.lines[first - 1 : last]


def _read_part(
    display_path: str, file: LongText | _WholeText, start_line: int, end_line: int | None, note: str
) -> Outcome:
    count = file.count
    if not count:
        card = TextCard(phrase("Read {path}", path=display_path), phrase("empty"))
        return Outcome(f"{display_path} is empty.", card)
    last = count if end_line is None else min(end_line, count)
    if not 1 <= start_line <= last:
        raise ToolError(
            phrase(
                "{path} has lines 1 to {count}; lines {first} to {last} were asked for.",
                path=display_path,
                count=count,
                first=start_line,
                last=last if end_line is None else end_line,
            )
        )
    page_lines = _fit(file.read_lines(start_line, last))
    end = start_line + len(page_lines) - 1
    header = f"{display_path}: lines {start_line}-{end} of {count}"
    header += f", {file.text_format.format_name}" if not file.text_format.is_utf8_lf else ""
    header += ", no newline at the end" if not file.is_ended else ""
    header += f"  # {note}" if note else ""
    lines_left = with_count(last - end, "more line")
    continuation = f"\n… {lines_left}; go on with start_line={end + 1}" if end < last else ""
    card = TextCard(phrase("Read {path}", path=display_path), _range_phrase(start_line, end, count))
    return Outcome(f"{header}\n{numbered(page_lines, start_line)}{continuation}", card)


def _range_phrase(first: int, last: int, count: int) -> Phrase:
    """Say for people which of *count* lines were read."""
    if last - first + 1 == count:
        return phrase("1 line") if count == 1 else phrase("{n:,} lines", n=count)
    if first == last:
        return phrase("line {first} of {count}", first=first, count=count)
    return phrase("lines {first}-{last} of {count}", first=first, last=last, count=count)


def _fit(lines: Iterable[str]) -> list[str]:
    """Return as many of *lines* as one answer may hold, at least one; very long ones cut."""
    chosen: list[str] = []
    remaining = _MAX_BYTES
    for line in lines:
        if len(line) > _MAX_LINE:
            line = f"{line[:_MAX_LINE]}… [{len(line)} characters; use Python for the rest]"
        remaining -= len(line.encode("utf-8", "surrogatepass")) + 8
        if remaining < 0 and chosen:
            break
        chosen.append(line)
    return chosen
