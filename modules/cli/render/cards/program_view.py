"""The program of a call in a few rows: of a long one the middle is left out until it is asked for.

The key is the same wherever it is offered: at a question, while the program runs, and afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from modules.cli.render.markdown import code

_LANGUAGES = {"command": "bash", "code": "python"}
"""The arguments that are programs, and what they are written in."""


@dataclass(frozen=True)
class ProgramView:
    """Draws *text* in at most *rows* rows; for its middle stands *left_out* of so many rows.

    *text* is harmless already (`source`).
    """

    text: str
    language: str
    rows: int
    left_out: Callable[[int], Text]

    def is_cut(self, width: int) -> bool:
        """Return whether there is more to it than is drawn in *width* cells."""
        return self._count(width) > self.rows

    def _count(self, width: int) -> int:
        width = max(width, 1)
        return sum(max(-(-cell_len(line) // width), 1) for line in self.text.split("\n"))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width, shown = max(options.max_width, 1), max(self.rows - 1, 2)
        count = self._count(width)
        if count <= self.rows:
            yield code(self.text, self.language)
            return
        end = shown // 2
        size = shown * (width + 1)  # characters that are enough for the rows shown
        yield self._drawn(_wrapped_rows(self.text[:size], width)[: shown - end])
        yield self.left_out(count - shown)
        yield self._drawn(_wrapped_rows(self.text[-size:], width)[-end:])

    def _drawn(self, rows: list[str]) -> RenderableType:
        return code("\n".join(rows), self.language)


def _wrapped_rows(text: str, width: int) -> list[str]:
    return [row for line in text.split("\n") for row in (chop_cells(line, width) or [""])]


@dataclass(frozen=True)
class ProgramCall:
    """A call of the tool *name* that was given a program."""

    name: str
    arguments: Mapping[str, Any]
    text: str
    language: str


def program_of(name: str, arguments: Mapping[str, Any]) -> ProgramCall | None:
    """Return the call as one that was given a program, None if it is none."""
    for key, language in _LANGUAGES.items():
        if isinstance(text := arguments.get(key), str) and text.strip():
            return ProgramCall(name, arguments, text.strip("\n"), language)
    return None
