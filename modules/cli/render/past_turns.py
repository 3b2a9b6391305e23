"""Turns of an earlier time, folded: what was said, and a line for each call.

They are drawn many at once and with little work, so that a conversation of thousands of messages
is there before anybody waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from rich.console import Group, RenderableType

from core.events import (
    Event,
    HelperEvent,
    TextDelta,
    ThinkingDelta,
    ThinkingFinished,
    ThoughtKept,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
)
from modules.cli.render.cards.card_renderer import CardRenderer
from modules.cli.render.cards.helper_lines import HelperLines
from modules.cli.render.cards.plain_cards import duration, picture_phrase
from modules.cli.render.live import LiveDisplay
from modules.cli.render.markdown import MarkdownText, WrappedText
from modules.cli.render.recent import RecentCall, RecentItems, RecentThought
from modules.cli.render.turn_end import mark_line, turn_end_lines
from modules.translator import Translator
from utils.i18n import phrase
from utils.text.clean import clean

MAX_LINES = 20
"""Lines of a text that are drawn of it,"""
MAX_CHARACTERS = 4_000
"""and characters of them."""
FORMATTED_TURNS = 100
"""The newest turns, whose text is formatted; that takes too long for all of a long session."""
TURNS_AT_ONCE = 10
"""Turns that are written together."""


class PastTurns:
    """Draws turns on *display*; *recent* takes note of what of them can be shown whole.

    *yuan* is what a dollar is in yuan, 0 for costs in dollars alone.
    """

    def __init__(
        self,
        display: LiveDisplay,
        renderer: CardRenderer,
        translator: Translator,
        recent: RecentItems,
        yuan: float,
    ) -> None:
        self._display = display
        self._renderer = renderer
        self._translator = translator
        self._recent = recent
        self._yuan = yuan

    def draw(
        self, turns: Sequence[Sequence[Event]], is_stopped: Callable[[], bool] = lambda: False
    ) -> None:
        """Print *turns*, the oldest first, until *is_stopped* says so."""
        first_formatted = len(turns) - FORMATTED_TURNS
        if first_formatted > 0:
            count = f"{len(turns):,}"
            self._display.say(
                self._renderer.dim(phrase("{n} earlier turns; Ctrl-C skips them", n=count))
            )
        for start in range(0, len(turns), TURNS_AT_ONCE):
            if is_stopped():
                return
            parts: list[RenderableType] = []
            for nth, turn in enumerate(turns[start : start + TURNS_AT_ONCE], start):
                parts += self._turn(turn, is_formatted=nth >= first_formatted)
            self._display.say(Group(*parts[1:]))

    def _turn(self, turn: Iterable[Event], *, is_formatted: bool) -> Iterator[RenderableType]:
        """Yield what is drawn of *turn*, blank lines between it: none in a row of calls."""
        was_call = False
        for is_call, part in self._parts(turn, is_formatted=is_formatted):
            if not (is_call and was_call):
                yield ""
            yield part
            was_call = is_call

    def _parts(  # noqa: C901 - one case for each event
        self, turn: Iterable[Event], *, is_formatted: bool
    ) -> Iterator[tuple[bool, RenderableType]]:
        """Yield whether it is a call, and how it is drawn, of all in *turn*."""
        number, thought, call = 0, "", ToolStarted("", "", {})
        helper = HelperLines(self._renderer, self._translator)
        for event in turn:
            match event:
                case TurnStarted():
                    number = event.turn
                    yield False, self._question(event)
                case ThinkingDelta():
                    thought = event.text
                case ThinkingFinished():
                    yield False, self._thought(event, thought)
                case TextDelta():
                    yield False, self._reply(event.text, number, is_formatted=is_formatted)
                case ThoughtKept():
                    first = clean(event.text).strip().partition("\n")[0]
                    line = phrase("Reusing the earlier conclusion: {text}", text=first)
                    yield False, self._renderer.dim(line)
                case ToolStarted():
                    call = event
                    helper = HelperLines(self._renderer, self._translator)
                case HelperEvent():
                    helper.add(event.event)
                case ToolFinished():
                    yield True, self._call(call, event, helper.rows)
                case TurnFinished():
                    yield False, self._end(event, number)

    def _question(self, event: TurnStarted) -> RenderableType:
        text, rest = _beginning(event.text)
        parts: list[RenderableType] = [mark_line("›", "cyan", text)]
        if rest:
            parts.append(self._rest(rest, event.turn))
        parts += [self._renderer.dim(picture_phrase(picture)) for picture in event.pictures]
        return Group(*parts)

    def _thought(self, event: ThinkingFinished, text: str) -> RenderableType:
        heading = phrase("Thought for {time}", time=duration(event.seconds))
        if text.strip():
            self._recent.add(RecentThought(text, heading))
        return self._renderer.dim(heading)

    def _reply(self, text: str, turn: int, *, is_formatted: bool) -> RenderableType:
        beginning, rest = _beginning(text)
        body = MarkdownText(beginning) if is_formatted else WrappedText(clean(beginning))
        return Group(body, self._rest(rest, turn)) if rest else body

    def _rest(self, count: int, turn: int) -> RenderableType:
        if count == 1:
            return self._renderer.dim(phrase("… 1 more line · /history {n} shows all", n=turn))
        left_out = phrase("… {count:,} more lines · /history {n} shows all", count=count, n=turn)
        return self._renderer.dim(left_out)

    def _call(
        self, call: ToolStarted, event: ToolFinished, steps: Sequence[RenderableType]
    ) -> RenderableType:
        self._recent.add(RecentCall(event.name, call.arguments, is_folded=True))
        self._recent.finish(event.card, event.state, steps=steps)
        head = self._renderer.head(
            event.name,
            call.arguments,
            mark=self._renderer.mark(event.card, event.state),
            seconds=event.seconds,
            card=event.card,
            state=event.state,
        )
        if call.is_revised:
            head.append(f" · {self._translator.render(phrase('edited by you'))}", "cyan")
        return head

    def _end(self, event: TurnFinished, turn: int) -> RenderableType:
        parts: list[RenderableType] = []
        lines = turn_end_lines(*(event, turn, self._translator, self._renderer), yuan=self._yuan)
        for line, gap in lines:
            parts += ["", line] if gap and parts else [line]
        return Group(*parts)


def _beginning(text: str) -> tuple[str, int]:
    """Return the first lines of *text*, and how many lines are left out in whole or in part."""
    lines = text.strip("\n").split("\n")
    shown = "\n".join(lines[:MAX_LINES])[:MAX_CHARACTERS]
    return shown, len(lines) - len(shown.split("\n")) + (len(shown) == MAX_CHARACTERS)
