"""Diffs of several files line by line, for the full-screen viewer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from rich.console import RenderableType
from rich.text import Text

from core.cards import DiffCard
from modules.cli.input.viewer import ViewLine
from modules.cli.render.cards.card_rows import NO_NEWLINE, diff_lines, diff_row
from modules.cli.render.markdown import WrappedText
from modules.translator import Translator
from utils.text.clean import visible, visible_lines

_PROMPT_ROWS = 4
"""Rows of a window that the prompt has, with what stands round it."""


def diff_view(
    cards: Sequence[DiffCard], translator: Translator, *, is_whole: bool = False
) -> list[ViewLine]:
    """Return the lines of *cards*, each file below its path.

    A hunk begins at the gap above it; in files that are there *is_whole*, with what changed.
    """
    lines: list[ViewLine] = []
    for card in cards:
        lines += [ViewLine("", "", _blank)] if lines else []
        lines += _file_lines(card, translator, is_whole)
    return lines


def fits(
    lines: Sequence[ViewLine], rows_of: Callable[[RenderableType], list[str]], height: int
) -> bool:
    """Return whether *lines* can be seen at once in a window of *height*, above a prompt."""
    room = height - _PROMPT_ROWS
    return len(lines) <= room and sum(len(rows_of(line.draw())) for line in lines) <= room


def _file_lines(card: DiffCard, translator: Translator, is_whole: bool) -> Iterator[ViewLine]:
    path = visible(card.path)
    yield ViewLine(path, "file", partial(_file_head, card, path), (path, "", 0))
    if note := translator.render(card.note):
        yield ViewLine(note, "", partial(WrappedText, note, "dim"))
    rows = list(diff_lines(card.diff))
    digits = max((len(str(number)) for _, number, _ in rows), default=1)
    before = ""
    for sign, number, text in rows:
        if sign == "\\":
            remark = translator.render(NO_NEWLINE)
            yield ViewLine(remark, "", partial(Text, " " * (digits + 3) + remark, "dim"))
        else:
            draw = partial(diff_row, sign, number, text, digits)
            begins = sign in "+-" and before in ("", " ") if is_whole else sign == "@" or not before
            place = None if sign == "@" else (path, sign, number)
            yield ViewLine(visible_lines(text), "hunk" if begins else "", draw, place)
        before = sign


def _file_head(card: DiffCard, path: str) -> RenderableType:
    head = WrappedText(path, "bold")
    if card.added or card.removed:
        head.append(f"  +{card.added:,}", "green")
        head.append(f" −{card.removed:,}", "red")
    return head


def _blank() -> RenderableType:
    return Text("")
