"""What was shown in part, or not at all: calls with their results, and thoughts.

The key that shows one of them whole is the same at any time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Group, RenderableType

from core.cards import Card, RunCard
from core.conversation.messages import ResultState
from modules.cli.render.cards.card_renderer import BRIEF_ROWS, CardRenderer
from modules.cli.render.cards.heading import Heading
from modules.cli.render.cards.program_view import program_of
from modules.cli.render.live_region import PROGRAM_ROWS
from modules.cli.render.markdown import WrappedText
from utils.i18n import Text as Said
from utils.text.clean import visible_lines

MAX_ITEMS = 50
"""Calls and thoughts that can still be shown whole."""


@dataclass
class RecentCall:
    """A call of the tool *name*; there is no *card* before it ended.

    *steps* are those of a helper, as they are shown; only who asks for all sees them.
    """

    name: str
    arguments: Mapping[str, Any]
    card: Card | None = None
    state: ResultState = "done"
    is_folded: bool = False
    """Whether its first line alone was shown."""
    call_id: str = ""
    steps: Sequence[RenderableType] = ()

    @property
    def rows(self) -> int:
        """About how many rows of each of its parts were shown."""
        return PROGRAM_ROWS if self.card is None else BRIEF_ROWS

    def body(self, renderer: CardRenderer, head: Heading, rows: int) -> RenderableType:
        """Return what stands below *head*, in about *rows* rows for each part."""
        is_whole = rows > max(PROGRAM_ROWS, BRIEF_ROWS)
        parts = [renderer.indented(step) for step in self.steps] if is_whole else []
        program = program_of(self.name, self.arguments)
        is_run = isinstance(self.card, RunCard)  # which has the program in itself
        if program and not is_run:
            drawn = renderer.program(program.text, program.language, rows)
            parts.append(renderer.indented(drawn))
        if self.card is not None:
            command = str(self.arguments.get("command", "")).strip() if is_run else ""
            result = renderer.result(self.card, self.state, head, command, rows=rows)
            parts += [result] if result is not None else []
        return Group(*parts)


@dataclass(frozen=True)
class RecentThought:
    """A thought, of which its time alone is shown once it is over."""

    text: str
    heading: Said


class RecentItems:
    """The latest calls and thoughts, the newest first; who asks on gets those before it in turn.

    *rows_of* returns what would be printed, row by row.
    """

    def __init__(
        self, renderer: CardRenderer, rows_of: Callable[[RenderableType], list[str]]
    ) -> None:
        self._renderer = renderer
        self._rows_of = rows_of
        self._items: deque[RecentCall | RecentThought] = deque(maxlen=MAX_ITEMS)
        self._next = 0

    def add(self, item: RecentCall | RecentThought) -> None:
        """Take note of what begins, or was thought."""
        self._items.appendleft(item)
        self._next = 0

    def finish(
        self,
        card: Card,
        state: ResultState,
        call_id: str = "",
        steps: Sequence[RenderableType] = (),
    ) -> None:
        """Take note of how the call *call_id* ended, or for "" the one that began last."""
        calls = (item for item in self._items if isinstance(item, RecentCall))
        call = next((one for one in calls if call_id in ("", one.call_id)), None)
        if call and call.card is None:
            call.card, call.state, call.steps = card, state, steps
            self._next = 0

    def next(self, rows: int) -> tuple[RenderableType, RenderableType] | None:
        """Return head and body of the next one that was cut, in *rows* rows for each part.

        After the last comes the first again; None when nothing was cut.
        """
        for _ in range(len(self._items)):
            item = self._items[self._next % len(self._items)]
            self._next += 1
            if isinstance(item, RecentThought):
                body = WrappedText(visible_lines(item.text.strip("\n")), "dim italic")
                return self._renderer.dim(item.heading), self._renderer.indented(body)
            head = self._renderer.head(item.name, item.arguments, mark=("▾", "dim"))
            whole = item.body(self._renderer, head, rows)
            shown = Group() if item.is_folded else item.body(self._renderer, head, item.rows)
            if self._rows_of(whole) != self._rows_of(shown):
                return head, whole
        return None
