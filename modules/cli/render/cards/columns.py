"""Tables without lines; in a narrow window each row is stacked under its first cell."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from modules.cli.render.markdown import WrappedText

_MIN_CELLS = 24
"""Cells that the columns behind the first need to be readable."""


@dataclass(frozen=True)
class Columns:
    """*rows* of clean cells under the words of *head*; without those each first cell is a label.

    The rows with the numbers *alarms* are red, those of *gone* are grey.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    alarms: tuple[int, ...] = ()
    gone: tuple[int, ...] = ()

    def _style(self, number: int) -> str:
        return "bold red" if number in self.alarms else "dim" if number in self.gone else ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        first = max((cell_len(row[0]) for row in (self.head, *self.rows) if row), default=0)
        if not self.rows:
            return
        if options.max_width - first < _MIN_CELLS:
            yield from self._stacked()
        else:
            yield self._side_by_side()

    def _side_by_side(self) -> Table:
        table = Table.grid(padding=(0, 2, 0, 0))
        for number in range(max(map(len, (self.head, *self.rows)), default=0)):
            is_label = not self.head and number == 0
            table.add_column(style="dim" if is_label else "", overflow="fold", no_wrap=is_label)
        if self.head:
            table.add_row(*(Text(cell, "bold") for cell in self.head))
        for number, row in enumerate(self.rows):
            style = self._style(number)
            table.add_row(*(WrappedText(cell, style) for cell in row))
        return table

    def _stacked(self) -> RenderResult:
        for number, (first, *others) in enumerate(self.rows):
            style = self._style(number)
            yield WrappedText(first, style or ("bold" if self.head else "dim"))
            if any(others):
                indent = len(first) - len(first.lstrip()) + 2
                text = WrappedText("  ".join(filter(None, others)), style)
                yield Padding(text, (0, 0, 0, indent))
