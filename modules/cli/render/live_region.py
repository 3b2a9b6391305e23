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

from modules.cli.render.cards.card_renderer import CardRenderer
from modules.cli.render.cards.heading import PinnedHead, ShownIfCut
from modules.cli.render.cards.helper_lines import HelperLines
from modules.cli.render.cards.plain_cards import duration
from modules.cli.render.cards.program_view import program_of
from modules.cli.render.markdown import LeftRule, MarkdownText, WrappedText
from modules.cli.render.markdown_stream import MarkdownStream
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
    tier: str = ""
    started_at: float = field(default_factory=time.monotonic)
    output: OutputTail = field(default_factory=lambda: OutputTail(OUTPUT_ROWS))
    helper: HelperLines | None = None
    """What it does where it is a helper."""


class LiveRegion:
    """State of what goes on right now; `__call__` returns it drawn, or None between the turns."""

    def __init__(self, translator: Translator, renderer: CardRenderer) -> None:
        self._translator = translator
        self._renderer = renderer
        self.blocks = MarkdownStream()
        self.calls: dict[str, LiveCall] = {}
        """The calls that are carried out, by their ids: several only where they run at once."""
        self.question: Said = ""
        self.notice: Said = ""
        self.typed: Sequence[str] = ()
        self._activity: Phrase | None = None
        self._activity_since = 0.0
        self.until: float | None = None
        """When what is waited for comes, in seconds since the epoch."""
        self._thinking_tail = ""

    @property
    def call(self) -> LiveCall | None:
        """The call that began last."""
        return next(reversed(self.calls.values()), None)

    def begin(self, activity: Phrase) -> None:
        """Say what goes on from now; the clock starts when it is something else than before."""
        if self._activity is None or activity.template != self._activity.template:
            self._activity_since = time.monotonic()
        self._activity = activity
        self.until = None

    def wait(self, why: Phrase, until: float) -> None:
        """Say that nothing goes on until *until* (seconds since the epoch), and count down."""
        self.begin(why)
        self.until = until

    def think(self, text: str) -> None:
        self._thinking_tail = (self._thinking_tail + text)[-TAIL_CHARACTERS:]

    def end_thinking(self) -> None:
        self._thinking_tail = ""

    def end(self) -> None:
        """Show nothing any more."""
        self._activity = None
        self.calls.clear()
        self._thinking_tail = ""
        self.question = ""
        self.blocks.discard()

    def __call__(self) -> RenderableType | None:
        if self.question:
            question = WrappedText(clean(self._translator.render(self.question)), "bold")
            return Group("", question, *self._typed_rows())
        activity = self.call or self._activity
        if activity is None:
            return None
        parts: list[RenderableType] = []
        if tail := self.blocks.tail(TAIL_CHARACTERS).strip("\n"):
            parts += ["", MarkdownText(tail)]
        if thought := clean(self._thinking_tail).strip():
            rows = [WrappedText(row, "dim italic") for row in thought.split("\n")]
            parts += ["", *rows[-THOUGHT_ROWS:]]
        parts.append("")
        if isinstance(activity, LiveCall):
            *earlier, activity = self.calls.values()
            for call in earlier:
                parts += self._running_call(call)
            head, *rest = self._running_call(activity)
            return PinnedHead(Group(*parts, head), Group(*rest, *self._typed_rows()))
        return Group(*parts, self._status(activity), *self._typed_rows())

    def _typed_rows(self) -> list[RenderableType]:
        """Return the end of what was typed: of a long paste the last rows, as in any line."""
        rows: list[RenderableType] = []
        for entry in self.typed:
            for number, line in enumerate(clean(entry[-TAIL_CHARACTERS:]).split("\n")):
                rows.append(WrappedText(f"{' ' if number else '›'} {line}", "bold"))
        hidden = len(rows) - TYPED_ROWS
        return [self._renderer.more(hidden), *rows[hidden:]] if hidden > 0 else rows

    def _running_call(self, call: LiveCall) -> list[RenderableType]:
        name, arguments = call.name, call.arguments
        seconds = int(time.monotonic() - call.started_at)
        mark = (self._spinner(), "cyan")
        head = self._renderer.head(name, arguments, mark=mark, seconds=seconds, tier=call.tier)
        head.append(f" · {self._hint()}", "dim")
        parts: list[RenderableType] = [head]
        if call.helper:
            parts.append(Text(str(call.helper), "dim", no_wrap=True, overflow="ellipsis"))
        if program := program_of(name, arguments):
            drawn = self._renderer.program(program.text, program.language, PROGRAM_ROWS)
            parts.append(ShownIfCut(head, drawn) if program.language == "bash" else drawn)
        if output := str(call.output):
            rows = output.split("\n")[-OUTPUT_ROWS:]
            parts.append(LeftRule(Text("\n".join(rows), "dim", overflow="fold"), OUTPUT_ROWS))
        return [head, *(Padding(part, (0, 0, 0, 2)) for part in parts[1:])]

    def _status(self, activity: Phrase) -> Text:
        line = Text(no_wrap=True, overflow="ellipsis")
        line.append(f"{self._spinner()} ", "cyan")
        line.append(clean(self._translator.render(activity)))
        if self.until is not None:
            left = phrase("{time} left", time=duration(max(0, round(self.until - time.time()))))
            line.append(f" · {self._translator.render(left)}", "dim")
        elif seconds := int(time.monotonic() - self._activity_since):
            line.append(f" · {duration(seconds)}", "dim")
        line.append(f" · {self._hint()}", "dim")
        return line

    def _hint(self) -> str:
        return clean(self._translator.render(self.notice or phrase("Ctrl-C stops")))

    def _spinner(self) -> str:
        return SPINNER[int(time.monotonic() * 10) % len(SPINNER)]
