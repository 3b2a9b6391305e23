"""The lower end of a terminal: what is said for good, and below it a few lines that change."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rich.console import Console, RenderableType
from rich.segment import Segment, SegmentLines

# Terminals that know synchronized output show a frame at once; the others ignore this.
BEGIN_FRAME, END_FRAME = "\x1b[?2026h", "\x1b[?2026l"
# While we do not know yet that the window was made narrower, rows must be cut, not wrapped: else
# their number is not what we think it is.
NO_WRAP, WRAP = "\x1b[?7l", "\x1b[?7h"


class LiveDisplay:
    """Writes to *console*; *live* returns what shall stand at the very end right now, or None.

    The live lines are cut to the width and to *live_rows*, so that no more than they is ever
    drawn again. Where the console cannot or may not move its cursor, there are none.
    """

    def __init__(
        self, console: Console, live: Callable[[], RenderableType | None], *, live_rows: int = 20
    ) -> None:
        self.console = console
        self.is_live = console.is_terminal and not (console.is_dumb_terminal or console.no_color)
        self._live = live
        self._live_rows = live_rows
        self._rows: list[str] = []
        self._cells: list[int] = []
        self._width = 0
        self._is_blank_above = True

    def say(self, renderable: RenderableType, *, gap: bool = True) -> None:
        """Print *renderable* for good, after one blank line if *gap*."""
        self.write("\n".join(self.rows(renderable)), gap=gap)

    def rows(self, renderable: RenderableType) -> list[str]:
        """Return what `say` would print, row by row."""
        return self._ansi(self._lines(renderable, self.console.width))

    def write(self, text: str, *, gap: bool = True) -> None:
        """Print *text* for good as it is, after one blank line if *gap*."""
        is_blank = not text
        text = f"{text}\n"
        if gap and not self._is_blank_above:
            text = f"\n{text}"
        self._is_blank_above = is_blank
        frame = self._erase(0) + text
        self._rows, self._cells = [], []
        self._write(frame + self._update_sequence())

    def mark_blank(self) -> None:
        """Take note that the line above is blank, or that there is none."""
        self._is_blank_above = True

    def mark_written(self) -> None:
        """Take note that somebody else wrote the line above."""
        self._is_blank_above = False

    def draw(self) -> None:
        """Bring the live lines up to date."""
        if self.is_live and (frame := self._update_sequence()):
            self._write(frame)

    def clear(self) -> None:
        """Take the live lines away."""
        if self._rows:
            frame = self._erase(0)
            self._rows, self._cells = [], []
            self._write(frame)

    def _update_sequence(self) -> str:
        """Return what to write to turn the live lines shown into those wanted."""
        lines = self._live_lines()
        rows = self._ansi(lines)
        if rows == self._rows and self._width == self.console.width:
            return ""
        unchanged = self._count_same(rows)
        frame = self._erase(unchanged)
        if rows:
            frame += NO_WRAP + "\n".join(rows[unchanged:]) + WRAP
        self._rows, self._width = rows, self.console.width
        self._cells = [Segment.get_line_length(line) for line in lines]
        return frame

    def _count_same(self, rows: list[str]) -> int:
        """Return how many rows at the top can stay; the last row shown never does."""
        if self._width != self.console.width:
            return 0
        same = 0
        for old, new in zip(self._rows[:-1], rows, strict=False):
            if old != new:
                break
            same += 1
        return min(same, max(len(rows) - 1, 0))

    def _erase(self, first: int) -> str:
        """Return what brings the cursor from the end of the last row to *first*, and clears."""
        if not self._rows:
            return ""
        width = max(self.console.width, 1)  # a terminal made narrower has wrapped the rows
        height = sum(max(1, -(-cells // width)) for cells in self._cells[first:])
        up = f"\x1b[{height - 1}A" if height > 1 else ""
        return f"\r{up}\x1b[J"

    def _live_lines(self) -> list[list[Segment]]:
        if not self.is_live or (renderable := self._live()) is None:
            return []
        limit = max(min(self._live_rows, self.console.height - 2), 1)
        # One column less: a full row would leave the cursor in a place terminals disagree about.
        return self._lines(renderable, self.console.width - 1, limit)[-limit:]

    def _lines(
        self, renderable: RenderableType, width: int, height: int | None = None
    ) -> list[list[Segment]]:
        """Return *renderable* in rows; it may be more than the *height* that it is told of."""
        options = self.console.options.update(width=max(width, 1), height=None)
        options.max_height = height or options.max_height
        lines = self.console.render_lines(renderable, options, pad=False)
        return [list(_trimmed(line)) for line in lines]

    def _ansi(self, lines: list[list[Segment]]) -> list[str]:
        """Return each of *lines* as text with its colours."""
        if not lines:
            return []
        with self.console.capture() as capture:
            drawn = SegmentLines(lines, new_lines=True)
            self.console.print(drawn, end="", crop=False, soft_wrap=True)
        return capture.get().split("\n")[: len(lines)]

    def _write(self, text: str) -> None:
        frame = f"{BEGIN_FRAME}{text}{END_FRAME}" if self.is_live else text
        self.console.file.write(frame)
        self.console.file.flush()


def _trimmed(line: Iterable[Segment]) -> Iterable[Segment]:
    """Return *line* without blanks at its end: they would wrap when the terminal is narrowed."""
    segments = list(line)
    while segments and not segments[-1].text.strip():
        segments.pop()
    if segments:
        text, style, control = segments[-1]
        segments[-1] = Segment(text.rstrip(), style, control)
    return segments
