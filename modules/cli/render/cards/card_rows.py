"""Single rows of the cards: of a diff, of a search, of a plan."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from core.cards import Todo
from modules.cli.render.markdown import HangingIndent, WrappedText
from utils.i18n import phrase
from utils.text.clean import visible, visible_lines

NO_NEWLINE = phrase("No newline at end of file")
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_TODO_MARKS = {
    "pending": ("○", "dim"),
    "in_progress": ("●", "bold cyan"),
    "completed": ("✓", "dim strike"),
}
_SIGN_STYLES = {"+": "green", "-": "red", " ": "dim"}


def diff_lines(diff: str) -> Iterator[tuple[str, int, str]]:
    """Yield the sign, the line number and the text of each row.

    A gap has the sign "@", and what the diff calls the lines behind it; the remark that no newline
    follows has a backslash, and no text.
    """
    old = new = 0
    is_first = True
    for line in diff.split("\n"):
        sign, text = line[:1], line[1:]
        if hunk := _HUNK.match(line):
            old, new = int(hunk[1]), int(hunk[2])
            heading = line[hunk.end() :].strip()
            if heading or not is_first:
                yield "@", 0, heading
            is_first = False
        elif sign == "-":
            yield sign, old, text
            old += 1
        elif sign in ("+", " "):
            yield sign, new, text
            new += 1
            old += sign == " "
        elif sign == "\\":
            yield sign, 0, ""


def diff_row(sign: str, number: int, text: str, digits: int) -> RenderableType:
    if sign == "@":
        return WrappedText(f"{'⋮':>{digits}} {visible(text)}".rstrip(), "dim")
    style = _SIGN_STYLES[sign]
    head = Text.assemble((f"{number:>{digits}} ", "dim"), ("−" if sign == "-" else sign, style))
    return HangingIndent(head.append(" "), Text(visible_lines(text), style, overflow="fold"))


def hit_row(line: int, text: str, pattern: str) -> Text:
    found_text = Text(visible_lines(text.strip()).replace("\n", " "))
    if pattern:
        found_text.highlight_regex(re.compile(re.escape(pattern), re.IGNORECASE), "bold yellow")
    row = Text(no_wrap=True, overflow="ellipsis")
    row.append(f"{line:>5}  ", "dim")
    return row.append_text(found_text)


def todo_row(todo: Todo) -> Text:
    sign, style = _TODO_MARKS[todo.status]
    row = WrappedText(f"{sign} ", style.removesuffix(" strike"))
    row.append(visible(todo.title), style)
    return row


def size(count: int) -> str:
    """Return a number of bytes as people write it."""
    if count < 1000:
        return f"{count} B"
    value = count / 1000
    units = ["kB", "MB", "GB"]
    while value >= 1000 and len(units) > 1:
        value /= 1000
        units.pop(0)
    return f"{value:.1f} {units[0]}"
