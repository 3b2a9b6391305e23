"""The few lines at the end of the screen that change while a turn runs."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from modules.cli.render.card_renderer import CardRenderer
from modules.cli.render.heading import FullRow, Pinned
from modules.cli.render.markdown import MarkdownText, Ruled, Wrapped
from modules.cli.render.markdown_stream import MarkdownStream
from modules.cli.render.plain_cards import duration
from modules.cli.render.program_view import given
from modules.cli.render.theme import SPINNER
from modules.translator import Translator
from utils.i18n import Phrase, phrase
from utils.i18n import Text as Said
from utils.text.clean import clean

TAIL_CHARACTERS = 2_000
OUTPUT_ROWS = 8
PROGRAM_ROWS = 6
THOUGHT_ROWS = 5
LINE_CHARACTERS = 2_000
TYPED_ROWS = 6


class OutputTail:
    """The last lines of a program's output while it comes in."""

    def __init__(self, rows: int) -> None:
        self._lines: deque[str] = deque(maxlen=rows)
        self._last = ""

    def feed(self, text: str) -> None:
        *lines, last = f"{self._last}{text}".split("\n")
        self._lines.extend(lines[-OUTPUT_ROWS:])
        self._last = last[-LINE_CHARACTERS:]

    def __str__(self) -> str:
        return clean("\n".join([*self._lines, self._last])).rstrip("\n")


@dataclass
class LiveCall:
    """A call that is being carried out."""

    name: str
    arguments: Mapping[str, Any]
    is_revised: bool = False
    began: float = field(default_factory=time.monotonic)
    output: OutputTail = field(default_factory=lambda: OutputTail(OUTPUT_ROWS))


class LiveRegion:
    """What goes on right now; `__call__` returns it drawn, or None between the turns."""

    def __init__(self, words: Translator, drawer: CardRenderer) -> None:
        self._words = words
        self._drawer = drawer
        self.blocks = MarkdownStream()
        self.call: LiveCall | None = None
        self.question: Said = ""
        self.notice: Said = ""
        self.typed: Sequence[str] = ()
        self._doing: Phrase | None = None
        self._since = 0.0
        self._thought = ""

    def begin(self, doing: Phrase) -> None:
        """Say what goes on from now; the clock starts when it is something else than before."""
        if self._doing is None or doing.template != self._doing.template:
            self._since = time.monotonic()
        self._doing = doing

    def think(self, text: str) -> None:
        self._thought = (self._thought + text)[-TAIL_CHARACTERS:]

    def end_thinking(self) -> None:
        self._thought = ""

    def end(self) -> None:
        """Show nothing any more."""
        self._doing = self.call = None
        self._thought = ""
        self.question = ""
        self.blocks.drop()

    def __call__(self) -> RenderableType | None:
        if self.question:
            question = Wrapped(clean(self._words.say(self.question)), "bold")
            return Group("", question, *self._typed())
        doing = self.call or self._doing
        if doing is None:
            return None
        parts: list[RenderableType] = []
        if tail := self.blocks.tail(TAIL_CHARACTERS).strip("\n"):
            parts += ["", MarkdownText(tail)]
        if thought := clean(self._thought).strip():
            rows = [Wrapped(row, "dim italic") for row in thought.split("\n")]
            parts += ["", *rows[-THOUGHT_ROWS:]]
        parts.append("")
        if isinstance(doing, LiveCall):
            head, *rest = self._running(doing)
            return Pinned(Group(*parts, head), Group(*rest, *self._typed()))
        return Group(*parts, self._status(doing), *self._typed())

    def _typed(self) -> list[RenderableType]:
        """Return the end of what was typed: of a long paste the last rows, as in any line."""
        rows: list[RenderableType] = []
        for entry in self.typed:
            for number, line in enumerate(clean(entry[-TAIL_CHARACTERS:]).split("\n")):
                rows.append(Wrapped(f"{' ' if number else '›'} {line}", "bold"))
        hidden = len(rows) - TYPED_ROWS
        return [self._drawer.more(hidden), *rows[hidden:]] if hidden > 0 else rows

    def _running(self, call: LiveCall) -> list[RenderableType]:
        name, arguments = call.name, call.arguments
        seconds = int(time.monotonic() - call.began)
        head = self._drawer.head(name, arguments, mark=(self._turning(), "cyan"), seconds=seconds)
        head.append(f" · {self._hint()}", "dim")
        parts: list[RenderableType] = [head]
        if program := given(name, arguments):
            drawn = self._drawer.program(program.text, program.language, PROGRAM_ROWS)
            parts.append(FullRow(head, drawn) if program.language == "bash" else drawn)
        if output := str(call.output):
            rows = output.split("\n")[-OUTPUT_ROWS:]
            parts.append(Ruled(Text("\n".join(rows), "dim", overflow="fold"), OUTPUT_ROWS))
        return [head, *(Padding(part, (0, 0, 0, 2)) for part in parts[1:])]

    def _status(self, doing: Phrase) -> Text:
        line = Text(no_wrap=True, overflow="ellipsis")
        line.append(f"{self._turning()} ", "cyan")
        line.append(clean(self._words.say(doing)))
        seconds = int(time.monotonic() - self._since)
        if seconds:
            line.append(f" · {duration(seconds)}", "dim")
        line.append(f" · {self._hint()}", "dim")
        return line

    def _hint(self) -> str:
        return clean(self._words.say(self.notice or phrase("Ctrl-C stops")))

    def _turning(self) -> str:
        return SPINNER[int(time.monotonic() * 10) % len(SPINNER)]
