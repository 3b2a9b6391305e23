"""A part of a text as one answer to the model: numbered, bounded, with how to read on."""

from __future__ import annotations

from core.cards import TextCard
from core.tools import Outcome, ToolError
from modules.files.text_file import TextFile
from utils.phrases import Phrase, phrase
from utils.text import counted, lines_of, numbered

_MOST_BYTES = 32_000
_LONGEST_LINE = 4_000


def read_part(
    shown: str, file: TextFile, start_line: int, end_line: int | None, note: str = ""
) -> Outcome:
    """Return the lines asked for, as many as one answer may hold."""
    lines = lines_of(file.text)
    if not lines:
        card = TextCard(phrase("Read {path}", path=shown), phrase("empty"))
        return Outcome(f"{shown} is empty.", card)
    last = len(lines) if end_line is None else min(end_line, len(lines))
    if not 1 <= start_line <= last:
        raise ToolError(
            phrase(
                "{path} has lines 1 to {count}; lines {first} to {last} were asked for.",
                path=shown,
                count=len(lines),
                first=start_line,
                last=last if end_line is None else end_line,
            )
        )
    chosen = _fitting(lines[start_line - 1 : last])
    end = start_line + len(chosen) - 1
    head = f"{shown}: lines {start_line}-{end} of {len(lines)}"
    head += f", {file.name}" if not file.is_plain else ""
    head += ", no newline at the end" if not file.text.endswith("\n") else ""
    head += f"  # {note}" if note else ""
    left = counted(last - end, "more line")
    rest = f"\n… {left}; go on with start_line={end + 1}" if end < last else ""
    card = TextCard(phrase("Read {path}", path=shown), _part(start_line, end, len(lines)))
    return Outcome(f"{head}\n{numbered(chosen, start_line)}{rest}", card)


def _part(first: int, last: int, count: int) -> Phrase:
    """Say for people which of *count* lines were read."""
    if last - first + 1 == count:
        return phrase("1 line") if count == 1 else phrase("{n} lines", n=count)
    if first == last:
        return phrase("line {first} of {count}", first=first, count=count)
    return phrase("lines {first}-{last} of {count}", first=first, last=last, count=count)


def _fitting(lines: list[str]) -> list[str]:
    """Return as many of *lines* as one answer may hold, at least one; very long ones cut."""
    chosen: list[str] = []
    room = _MOST_BYTES
    for line in lines:
        if len(line) > _LONGEST_LINE:
            line = f"{line[:_LONGEST_LINE]}… [{len(line)} characters; see run_python for the rest]"
        room -= len(line.encode("utf-8", "surrogatepass")) + 8
        if room < 0 and chosen:
            break
        chosen.append(line)
    return chosen
