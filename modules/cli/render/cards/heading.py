"""The first line of a call: what is done to what, then figures that must not be cut off."""

from __future__ import annotations

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.text import Text

MIN_ABOUT_CELLS = 12
"""Cells of what a call is about that are kept, however narrow the window is."""


class Heading:
    """A line of *lead*, *about* and what is added by `append`; *about* is cut in its middle.

    *is_all* is whether *about* says all that is done.
    """

    def __init__(self, lead: Text, about: str, *, is_all: bool = True) -> None:
        self._lead = lead
        self._about = about
        self._is_all = is_all
        self._tail = Text()

    def append(self, text: str, style: str = "") -> None:
        """Add *text* to the end of the line, which stays in sight."""
        self._tail.append(text, style)

    def fits(self, width: int) -> bool:
        """Return whether all of it can be read in *width* cells."""
        return self._is_all and cell_len(self._about) <= self._room(width)

    def _room(self, width: int) -> int:
        return width - self._lead.cell_len - self._tail.cell_len

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        line = Text(no_wrap=True, overflow="ellipsis")
        line.append_text(self._lead)
        line.append(elide_middle(self._about, max(self._room(options.max_width), MIN_ABOUT_CELLS)))
        yield line.append_text(self._tail)


class ShownIfCut:
    """Draws *body* only where the line of *heading* does not show all of what is done."""

    def __init__(self, heading: Heading, body: RenderableType) -> None:
        self._heading = heading
        self._body = body

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if not self._heading.fits(console.width):
            yield self._body


class PinnedHead:
    """Draws *head*, and below it as many of the last rows of *body* as there is room for."""

    def __init__(self, head: RenderableType, body: RenderableType) -> None:
        self._head = head
        self._body = body

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        head_lines = console.render_lines(self._head, options, pad=False)
        body_lines = console.render_lines(self._body, options, pad=False)
        room = max(options.max_height - len(head_lines), 0)
        for line in [*head_lines, *body_lines[max(len(body_lines) - room, 0) :]]:
            yield from line
            yield Segment.line()


def elide_middle(text: str, width: int) -> str:
    """Return *text* in *width* cells: its beginning and its end, where it is longer."""
    if cell_len(text) <= width:
        return text
    start = (width - 1) * 2 // 3
    end = "".join(reversed(chop_cells(text[::-1], max(width - 1 - start, 1))[0]))
    return f"{set_cell_size(text, start).rstrip()}…{end.lstrip()}"
