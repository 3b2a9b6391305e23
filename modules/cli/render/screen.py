"""The terminal screen: draws every event of a turn, and asks where a person must be asked."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import assert_never

from rich.console import Console
from rich.text import Text

from core.cards import Card, DiffCard, LinksCard
from core.commands import Commands
from core.events import (
    ApprovalAsked,
    CallDrafted,
    CommandAnswered,
    Event,
    HelperEvent,
    Informed,
    Reply,
    Retrying,
    StepFinished,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ThinkingFinished,
    ThoughtKept,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    Waiting,
    Warned,
)
from core.feature import name_of
from modules.cli.input.approval_input import Approver
from modules.cli.render.approval_view import ApprovalView
from modules.cli.render.cards.call_titles import CallTitles
from modules.cli.render.cards.card_renderer import CardRenderer
from modules.cli.render.cards.helper_lines import HelperLines
from modules.cli.render.cards.plain_cards import duration, picture_phrase
from modules.cli.render.live import LiveDisplay
from modules.cli.render.live_region import LiveCall, LiveRegion
from modules.cli.render.recent import RecentCall, RecentItems, RecentThought
from modules.cli.render.scrollback import Scrollback
from modules.cli.render.turn_end import mark_line, turn_end_lines
from modules.cli.screen_settings import ScreenSettings
from modules.translator import Translator
from utils.i18n import Phrase, phrase
from utils.i18n import Text as Said
from utils.system.streams import OutputLost
from utils.text.clean import clean, visible

FRAME_SECONDS = 0.033
REFRESH_SECONDS = 0.1
PRACTICE = phrase("practice model, no AI")


class CliScreen:
    """Shows events on *console*; may be called from one thread at a time.

    Between `turn()`'s start and end a thread of its own keeps the live lines moving. Without an
    *approver* nobody is asked, and that is a no.
    """

    def __init__(
        self,
        console: Console,
        translator: Translator,
        titles: CallTitles | None = None,
        *,
        approver: Approver | None = None,
        has_show_all_key: bool | None = None,
        is_practice: Callable[[], bool] = lambda: False,
        yuan: Callable[[], float] = lambda: 0.0,
        settings: ScreenSettings | None = None,
    ) -> None:
        """Unless *has_show_all_key* is said there is one where there is an *approver*.

        *yuan* is what a dollar of a turn's cost is in yuan, 0 for a cost in dollars alone."""
        self._translator = translator
        self._is_practice = is_practice
        self._yuan = yuan
        self._settings = settings = settings or ScreenSettings()
        has_key = approver is not None if has_show_all_key is None else has_show_all_key
        self._renderer = CardRenderer(
            *(translator, titles),
            has_show_all_key=has_key,
            show_key=lambda: settings.typed_keys.show_output_name,
        )
        self._live_region = LiveRegion(translator, self._renderer)
        self._display = LiveDisplay(console, self._live_region)
        self._recent = RecentItems(self._renderer, self._display.rows)
        self._thought: list[str] = []
        self._scrollback = Scrollback(self._display, self._live_region.blocks)
        self._lock = threading.RLock()
        self._drawn_at = 0.0
        self._turn = 0
        self._approval_view = ApprovalView(
            self._renderer,
            self._live_region,
            self._display,
            translator,
            approver,
            self._scrollback.print,
        )

    @property
    def is_asking(self) -> bool:
        """Whether the keyboard is for the answer to a question right now."""
        return self._approval_view.is_open

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Keep the live lines moving; they are gone when this ends, whatever happened."""
        if not self._display.console.is_terminal:  # nothing was typed in between
            self._display.mark_blank()
        else:
            self._display.mark_written()
        finished = threading.Event()
        refresher = threading.Thread(
            target=self._refresh_until, args=(finished,), name="screen", daemon=True
        )
        if self._display.is_live:
            refresher.start()
        try:
            yield
        finally:
            finished.set()
            if self._display.is_live:
                refresher.join()
            self._live_region.end()
            self._display.clear()
            self._display.write("", gap=False)

    def _refresh_until(self, finished: threading.Event) -> None:
        with suppress(OutputLost):  # the thread that shows events meets it as well
            while not finished.wait(REFRESH_SECONDS):
                with self._lock:
                    self._draw()

    @contextmanager
    def without_live_lines(self) -> Iterator[None]:
        """Show no live lines until this ends; for a signal handler of the main thread."""
        with self._lock:
            with suppress(RuntimeError):  # it came in the middle of writing: let them stand
                self._display.clear()
            yield

    def show_stopping(self) -> None:
        """Say that a stop was asked for; may be called from any thread."""
        with self._lock:
            self._live_region.notice = phrase("Stopping. Press Ctrl-C again to quit")

    def say(self, text: Said, style: str = "") -> None:
        """Print a sentence of Onefold's own."""
        with self._lock:
            self._scrollback.flush()
            self._scrollback.print(self._renderer.line(text, style))

    def send(self, sequence: str) -> None:
        """Send the terminal *sequence*, which shows nothing and moves no cursor."""
        with self._lock:
            self._display.console.file.write(sequence)
            self._display.console.file.flush()

    def show_typed(self, entries: Sequence[str]) -> None:
        """Show what waits, and what is being typed, while a turn runs; from any thread."""
        with self._lock:
            self._live_region.typed = entries
            self._draw()

    def show_meanwhile(self, line: str, answer: CommandAnswered | None = None) -> None:
        """Show the command *line*, and its *answer*, in the midst of a turn; from any thread."""
        with self._lock:
            self._print_mark("›", "cyan", line)
            if answer:
                self._answer(answer)

    def show_all(self) -> None:
        """Print whole the newest card or thought that was cut, the next time the one before it.

        May be called from any thread, in a turn and between two.
        """
        with self._lock:
            if (parts := self._recent.next(sys.maxsize)) is None:
                return
            self._scrollback.print_card(*parts)
            if self._live_region() is None:  # a prompt stands there, as at the end of a turn
                self._display.write("", gap=False)

    def show_diffs(
        self, cards: Sequence[DiffCard], whole: Callable[[], Sequence[DiffCard]]
    ) -> None:
        """Show *cards*: printed where they fit the window, else on the whole screen until left.

        *whole* returns them with the lines between their hunks.
        """
        from modules.cli.render.cards.diff_lines import diff_view, fits

        lines = diff_view(cards, self._translator)
        with self._lock:
            if not fits(lines, self._display.rows, self._display.console.height):
                from modules.cli.input.viewer import Viewer

                Viewer(
                    *(phrase("Changes"), lines, self._display.rows),
                    *(self._translator, self._settings.colors),
                    lambda: diff_view(whole(), self._translator, is_whole=True),
                ).show()
                return
        with self.turn():
            for card in cards:
                self._scrollback.print(self._renderer.answer(card, ok=True))

    def show_earlier(
        self, turns: Sequence[Sequence[Event]], is_stopped: Callable[[], bool]
    ) -> None:
        """Show *turns* of an earlier time folded, until *is_stopped* says so."""
        from modules.cli.render.past_turns import PastTurns  # for a session that goes on

        past = PastTurns(
            self._display, self._renderer, self._translator, self._recent, self._yuan()
        )
        with self._lock:
            past.draw(turns, is_stopped)

    def replay(self, events: Iterable[Event]) -> None:
        """Show a turn of an earlier time, with what was asked for."""
        with self._lock:
            for event in events:
                if isinstance(event, TurnStarted):
                    self._print_mark("›", "cyan", event.text)
                self._show(event)
            self._live_region.end()
            self._display.clear()
            self._display.write("", gap=False)

    def show(self, event: Event) -> Reply | None:
        """Draw *event*; return the person's reply if it asks for one and there is one."""
        with self._lock:
            return self._show(event)

    def _show(self, event: Event) -> Reply | None:  # noqa: C901 - one case for each event
        match event:
            case TurnStarted():
                self._on_turn_started(event)
            case StepStarted():
                self._thought.clear()
                self._scrollback.has_text = False
                self._set_activity(phrase("Waiting for the model"))
            case ThinkingDelta():
                self._live_region.think(event.text)
                self._thought.append(event.text)
                self._set_activity(phrase("Thinking"))
            case ThinkingFinished():
                self._end_thinking(event.seconds)
            case TextDelta():
                self._scrollback.feed(event.text)
                self._set_activity(phrase("Writing"))
            case CallDrafted():
                self._on_call_drafted(event)
            case Retrying():
                self._on_retrying(event)
            case Waiting():
                self._on_waiting(event)
            case StepFinished():
                self._scrollback.flush()
                self._set_activity(phrase("Working"))
            case ThoughtKept():
                self._print_conclusion(event.text)
            case Warned():
                self._print_mark("!", "yellow", event.what)
            case Informed():
                self._scrollback.print(self._dim(event.what))
            case ToolStarted():
                self._on_tool_started(event)
            case ToolOutput():
                self._on_output(event)
            case HelperEvent():
                self._on_helper_event(event)
            case ToolFinished():
                self._on_tool_finished(event)
            case ApprovalAsked():
                return self._approval_view.ask(event)
            case CommandAnswered():
                self._answer(event)
            case TurnFinished():
                self._on_turn_finished(event)
            case _:
                assert_never(event)
        return None

    def _on_turn_started(self, event: TurnStarted) -> None:
        self._turn = event.turn
        self._scrollback.sources.clear()
        for picture in event.pictures:
            self._scrollback.print(self._dim(picture_phrase(picture)))
        self._set_activity(phrase("Getting ready"))
        self._live_region.notice = ""

    # --- thinking --------------------------------------------------------------------------------

    def _end_thinking(self, seconds: float) -> None:
        self._live_region.end_thinking()
        heading = phrase("Thought for {time}", time=duration(seconds))
        self._scrollback.print(self._dim(heading))
        text, self._thought = "".join(self._thought), []
        if text.strip():
            self._recent.add(RecentThought(text, heading))

    def _print_conclusion(self, text: str) -> None:
        first = clean(text).strip().partition("\n")[0]
        line = phrase("Reusing the earlier conclusion: {text}", text=first)
        self._scrollback.print(
            Text(self._translator.render(line), "dim", no_wrap=True, overflow="ellipsis")
        )

    # --- calls -----------------------------------------------------------------------------------

    def _on_tool_started(self, event: ToolStarted) -> None:
        self._scrollback.flush()
        self._recent.add(RecentCall(event.name, event.arguments, call_id=event.call_id))
        self._live_region.calls[event.call_id] = LiveCall(
            event.name, event.arguments, is_revised=event.is_revised, tier=event.tier
        )
        self._draw_soon()

    def _on_call_drafted(self, event: CallDrafted) -> None:
        name = visible(event.name)
        size = event.characters
        self._set_activity(phrase("Preparing {name}, {size:,} characters", name=name, size=size))

    def _on_output(self, event: ToolOutput) -> None:
        if call := self._live_region.calls.get(event.call_id):
            call.output.feed(event.text)
        self._draw_soon()

    def _on_helper_event(self, event: HelperEvent) -> None:
        if call := self._live_region.calls.get(event.parent):
            call.helper = call.helper or HelperLines(self._renderer, self._translator)
            call.helper.add(event.event)
        self._draw_soon()

    def _on_tool_finished(self, event: ToolFinished) -> None:
        call = self._live_region.calls.pop(event.call_id, None)
        steps = call.helper.rows if call and call.helper else ()
        self._recent.finish(event.card, event.state, event.call_id, steps)
        if isinstance(event.card, LinksCard):
            self._scrollback.sources |= {
                one.n: visible(one.url) for one in event.card.links if one.n
            }
        arguments = call.arguments if call else {}
        head = self._renderer.head(
            event.name,
            arguments,
            mark=self._renderer.mark(event.card, event.state),
            seconds=event.seconds,
            card=event.card,
            state=event.state,
        )
        if call and call.is_revised:
            head.append(f" · {self._translator.render(phrase('edited by you'))}", "cyan")
        command = str(arguments.get("command", "")).strip()
        body = self._renderer.result(event.card, event.state, head, command)
        self._scrollback.print_card(head, body)

    # --- the rest --------------------------------------------------------------------------------

    def _on_retrying(self, event: Retrying) -> None:
        self._scrollback.discard()
        self._thought.clear()
        self._live_region.end_thinking()
        self._print_mark("↻", "yellow", event.reason)
        if self._scrollback.has_text:
            notice = self._dim(phrase("The reply shown so far was discarded."))
            self._scrollback.print(self._renderer.indented(notice), gap=False)
            self._scrollback.has_text = False
        attempt, seconds = event.attempt, duration(event.seconds)
        self._set_activity(phrase("Retrying in {time} (attempt {n})", time=seconds, n=attempt))

    def _on_waiting(self, event: Waiting) -> None:
        if not self._display.is_live:  # nothing would be seen of it
            self._print_mark("…", "yellow", event.why)
        self._live_region.wait(event.why, event.until)
        self._draw_soon()

    def _answer(self, event: CommandAnswered) -> None:
        is_cleared = event.effect == "clear" or event.command == name_of(Commands.clear)
        if is_cleared and event.ok and self._display.is_live:
            self._display.console.clear()
            self._display.mark_blank()
        if card := self._keys_card() if event.effect == "keys" else event.card:
            self._scrollback.print(self._renderer.answer(card, ok=event.ok))

    def _on_turn_finished(self, event: TurnFinished) -> None:
        self._scrollback.flush()
        self._live_region.end()
        remarks = [PRACTICE] if self._is_practice() else []
        for line, gap in turn_end_lines(
            *(event, self._turn, self._translator, self._renderer),
            yuan=self._yuan(),
            remarks=remarks,
        ):
            self._scrollback.print(line, gap=gap)

    def _set_activity(self, activity: Phrase) -> None:
        self._live_region.begin(activity)
        self._draw_soon()

    def _print_mark(self, mark: str, style: str, message: Said) -> None:
        self._scrollback.print(mark_line(mark, style, self._translator.render(message)))

    def _dim(self, text: Said) -> Text:
        return self._renderer.line(text, "dim")

    def _draw_soon(self) -> None:
        """Draw the live lines unless that was done just now; the beat makes up for it."""
        if time.monotonic() - self._drawn_at >= FRAME_SECONDS:
            self._draw()

    def _draw(self) -> None:
        self._scrollback.print_blocks()
        self._display.draw()
        self._drawn_at = time.monotonic()

    def _keys_card(self) -> Card:
        from modules.cli.render.keys import keys_card  # hardly ever needed

        return keys_card(self._settings.shortcuts)
