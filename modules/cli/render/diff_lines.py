"""Diffs of several files line by line, for the full-screen viewer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from rich.console import RenderableType
from rich.text import Text

from core.cards import DiffCard
from modules.cli.input.viewer import ViewLine
from modules.cli.render.card_rows import NO_NEWLINE, diff_lines, diff_row
from modules.cli.render.markdown import WrappedText
from modules.translator import Translator
from utils.text.clean import visible, visible_lines

_PROMPT_ROWS = 4
"""Rows of a window that the prompt has, with what stands round it."""


def diff_view(cards: Sequence[DiffCard], translator: Translator) -> list[ViewLine]:
    """Return the lines of *cards*, each file below its path and each hunk below its gap."""
    lines: list[ViewLine] = []
    for card in cards:
        lines += [ViewLine("", "", _blank)] if lines else []
        lines += _file_lines(card, translator)
    return lines


def fits(
    lines: Sequence[ViewLine], rows_of: Callable[[RenderableType], list[str]], height: int
) -> bool:
    """Return whether *lines* can be seen at once in a window of *height*, above a prompt."""
    room = height - _PROMPT_ROWS
    return len(lines) <= room and sum(len(rows_of(line.draw())) for line in lines) <= room


def _file_lines(card: DiffCard, translator: Translator) -> Iterator[ViewLine]:
    path = visible(card.path)
    yield ViewLine(path, "file", partial(_file_head, card, path))
    if note := translator.render(card.note):
        yield ViewLine(note, "", partial(WrappedText, note, "dim"))
    rows = list(diff_lines(card.diff))
    digits = max((len(str(number)) for _, number, _ in rows), default=1)
    is_first = True
    for sign, number, text in rows:
        if sign == "\\":
            remark = translator.render(NO_NEWLINE)
            yield ViewLine(remark, "", partial(Text, " " * (digits + 3) + remark, "dim"))
        else:
            draw = partial(diff_row, sign, number, text, digits)
            yield ViewLine(visible_lines(text), "hunk" if is_first or sign == "@" else "", draw)
        is_first = False


def _file_head(card: DiffCard, path: str) -> RenderableType:
    head = WrappedText(path, "bold")
    if card.added or card.removed:
        head.append(f"  +{card.added:,}", "green")
        head.append(f" −{card.removed:,}", "red")
    return head


def _blank() -> RenderableType:
    return Text("")
