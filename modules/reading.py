"""A part of a text as one answer to the model: numbered, bounded, with how to read on."""

from __future__ import annotations

from core.cards import TextCard
from core.tools import Outcome, ToolError
from modules.text_file import TextFile
from utils.phrases import phrase
from utils.text import lines_of, numbered

_MOST_BYTES = 32_000
_LONGEST_LINE = 4_000


def read_part(
    shown: str, file: TextFile, start_line: int, end_line: int | None, note: str = ""
) -> Outcome:
    """Return the lines asked for, as many as one answer may hold."""
    lines = lines_of(file.text)
    if not lines:
        return Outcome(f"{shown} is empty.", TextCard(phrase("Read {path}", path=shown)))
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
    rest = f"\n… {last - end} more lines; go on with start_line={end + 1}" if end < last else ""
    body = phrase("lines {first}-{last} of {count}", first=start_line, last=end, count=len(lines))
    card = TextCard(phrase("Read {path}", path=shown), body)
    return Outcome(f"{head}\n{numbered(chosen, start_line)}{rest}", card)


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
