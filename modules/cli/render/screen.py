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

from core.events import (
    ApprovalAsked,
    CallDrafted,
    CommandAnswered,
    Event,
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
    Warned,
)
from modules.cli.input.approval_input import Asker
from modules.cli.render.approval_view import ApprovalView
from modules.cli.render.call_titles import CallTitles
from modules.cli.render.card_renderer import BRIEF, INSET, CardRenderer
from modules.cli.render.live import LiveDisplay
from modules.cli.render.live_region import PROGRAM_ROWS, LiveCall, LiveRegion
from modules.cli.render.markdown import Wrapped
from modules.cli.render.plain_cards import duration, given, usage_parts
from modules.cli.render.program_view import Given, Latest
from modules.cli.render.scrollback import Scrollback
from modules.translator import Translator
from utils.i18n import Phrase, phrase
from utils.i18n import Text as Said
from utils.system.streams import OutputLost
from utils.text.clean import clean, visible

FRAME_SECONDS = 0.033
BEAT_SECONDS = 0.1
PRACTICE = phrase("practice model, no AI")


class CliScreen:
    """Shows events on *console*; may be called from one thread at a time.

    Between `turn()`'s start and end a thread of its own keeps the live lines moving. Without an
    *asker* nobody is asked, and that is a no.
    """

    def __init__(
        self,
        console: Console,
        words: Translator,
        titles: CallTitles | None = None,
        *,
        asker: Asker | None = None,
        is_practice: Callable[[], bool] = lambda: False,
    ) -> None:
        self._words = words
        self._is_practice = is_practice
        self._drawer = CardRenderer(words, titles, has_key=asker is not None)
        self._programs = Latest()
        self._below = LiveRegion(words, self._drawer)
        self._stage = LiveDisplay(console, self._below)
        self._scroll = Scrollback(self._stage, self._below.blocks)
        self._lock = threading.RLock()
        self._drawn_at = 0.0
        self._turn = 0
        self._inquiry = ApprovalView(
            self._drawer, self._below, self._stage, words, asker, self._scroll.print
        )

    @property
    def is_asking(self) -> bool:
        """Whether the keyboard is for the answer to a question right now."""
        return self._inquiry.is_open

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Keep the live lines moving; they are gone when this ends, whatever happened."""
        if not self._stage.console.is_terminal:  # nothing was typed in between
            self._stage.mark_blank()
        else:
            self._stage.mark_written()
        over = threading.Event()
        beat = threading.Thread(target=self._beat, args=(over,), name="screen", daemon=True)
        if self._stage.is_live:
            beat.start()
        try:
            yield
        finally:
            over.set()
            if self._stage.is_live:
                beat.join()
            self._below.end()
            self._stage.clear()
            self._stage.write("", gap=False)

    def _beat(self, over: threading.Event) -> None:
        with suppress(OutputLost):  # the thread that shows events meets it as well
            while not over.wait(BEAT_SECONDS):
                with self._lock:
                    self._draw()

    @contextmanager
    def away(self) -> Iterator[None]:
        """Show no live lines until this ends; for a signal handler of the main thread."""
        with self._lock:
            with suppress(RuntimeError):  # it came in the middle of writing: let them stand
                self._stage.clear()
            yield

    def stopping(self) -> None:
        """Say that a stop was asked for; may be called from any thread."""
        with self._lock:
            self._below.notice = phrase("Stopping; Ctrl-C again leaves")

    def say(self, text: Said, style: str = "") -> None:
        """Print a sentence of the house's own."""
        with self._lock:
            self._scroll.flush()
            self._scroll.print(self._drawer.line(text, style))

    def typing(self, entries: Sequence[str]) -> None:
        """Show what waits, and what is being typed, while a turn runs; from any thread."""
        with self._lock:
            self._below.typed = entries
            self._draw()

    def beside(self, line: str, answer: CommandAnswered | None = None) -> None:
        """Show the command *line*, and its *answer*, in the midst of a turn; from any thread."""
        with self._lock:
            self._note("›", "cyan", line)
            if answer:
                self._answer(answer)

    def show_all(self) -> None:
        """Print whole the newest program that was cut, the next time the one before it, and so on.

        May be called from any thread, in a turn and between two.
        """
        with self._lock:
            program = self._programs.next(self._is_cut)
            if program is None:
                return
            head = self._drawer.head(program.name, program.arguments, mark=("▾", "dim"))
            body = self._drawer.program(program.text, program.language, sys.maxsize)
            self._scroll.print_card(head, self._drawer.inset(body))
            if self._below() is None:  # a prompt stands there, as at the end of a turn
                self._stage.write("", gap=False)

    def _is_cut(self, program: Given) -> bool:
        rows = PROGRAM_ROWS if self._below.call else BRIEF
        shown = self._drawer.program(program.text, program.language, rows)
        return shown.is_cut(self._stage.console.width - 1 - INSET)

    def recall(self, events: Iterable[Event]) -> None:
        """Show a turn of an earlier time, with what was asked for."""
        with self._lock:
            for event in events:
                if isinstance(event, TurnStarted):
                    self._note("›", "cyan", event.text)
                self._show(event)
            self._below.end()
            self._stage.clear()
            self._stage.write("", gap=False)

    def show(self, event: Event) -> Reply | None:
        """Draw *event*; return the person's reply if it asks for one and there is one."""
        with self._lock:
            return self._show(event)

    def _show(self, event: Event) -> Reply | None:  # noqa: C901 - one case for each event
        match event:
            case TurnStarted(turn=turn, pictures=pictures):
                self._turn = turn
                for picture in pictures:
                    self._scroll.print(self._dim(given(picture)))
                self._begin(phrase("Getting ready"))
                self._below.notice = ""
            case StepStarted():
                self._scroll.has_text = False
                self._begin(phrase("Waiting for the model"))
            case ThinkingDelta():
                self._below.think(event.text)
                self._begin(phrase("Thinking"))
            case ThinkingFinished():
                self._fold_thinking(event.seconds)
            case TextDelta():
                self._scroll.feed(event.text)
                self._begin(phrase("Writing"))
            case CallDrafted():
                self._drafted(event)
            case Retrying():
                self._retry(event)
            case StepFinished():
                self._scroll.flush()
                self._begin(phrase("Working"))
            case ThoughtKept():
                self._thought_kept(event.text)
            case Warned():
                self._note("!", "yellow", event.what)
            case Informed():
                self._scroll.print(self._dim(event.what))
            case ToolStarted():
                self._scroll.flush()
                self._programs.add(event.name, event.arguments)
                self._below.call = LiveCall(
                    event.name, event.arguments, is_revised=event.is_revised
                )
                self._draw_soon()
            case ToolOutput():
                self._take_output(event)
            case ToolFinished():
                self._finish_tool(event)
            case ApprovalAsked():
                return self._inquiry.ask(event)
            case CommandAnswered():
                self._answer(event)
            case TurnFinished():
                self._finish(event)
            case _:
                assert_never(event)
        return None

    # --- thinking --------------------------------------------------------------------------------

    def _fold_thinking(self, seconds: float) -> None:
        self._below.end_thinking()
        self._scroll.print(self._dim(phrase("Thought {time}", time=duration(seconds))))

    def _thought_kept(self, text: str) -> None:
        first = clean(text).strip().partition("\n")[0]
        kept = phrase("Carried on: {text}", text=first)
        self._scroll.print(Text(self._words.say(kept), "dim", no_wrap=True, overflow="ellipsis"))

    # --- calls -----------------------------------------------------------------------------------

    def _drafted(self, event: CallDrafted) -> None:
        name = visible(event.name)
        size = f"{event.characters:,}"
        self._begin(phrase("Preparing {name}, {size} characters", name=name, size=size))

    def _take_output(self, event: ToolOutput) -> None:
        if self._below.call:
            self._below.call.output.feed(event.text)
        self._draw_soon()

    def _finish_tool(self, event: ToolFinished) -> None:
        call, self._below.call = self._below.call, None
        arguments = call.arguments if call else {}
        head = self._drawer.head(
            event.name,
            arguments,
            mark=self._drawer.mark(event.card, event.state),
            seconds=event.seconds,
            card=event.card,
            state=event.state,
        )
        if call and call.is_revised:
            head.append(f" · {self._words.say(phrase('changed by you'))}", "cyan")
        command = str(arguments.get("command", "")).strip()
        body = self._drawer.result(event.card, event.state, head, command)
        self._scroll.print_card(head, body)

    # --- the rest --------------------------------------------------------------------------------

    def _retry(self, event: Retrying) -> None:
        self._scroll.drop()
        self._below.end_thinking()
        self._note("↻", "yellow", event.reason)
        if self._scroll.has_text:
            void = self._dim(phrase("What was shown of the reply no longer counts."))
            self._scroll.print(self._drawer.inset(void), gap=False)
            self._scroll.has_text = False
        attempt, seconds = event.attempt, duration(event.seconds)
        self._begin(phrase("Asking again in {time} (try {n})", time=seconds, n=attempt))

    def _answer(self, event: CommandAnswered) -> None:
        if event.effect == "clear" and self._stage.is_live:
            self._stage.console.clear()
            self._stage.mark_blank()
        if event.card:
            self._scroll.print(self._drawer.answer(event.card, ok=event.ok))

    def _finish(self, event: TurnFinished) -> None:
        self._scroll.flush()
        self._below.end()
        if event.why != "done":
            mark, style = ("✗", "red") if event.why == "error" else ("■", "yellow")
            broken = phrase("Broken off.") if event.why == "interrupted" else phrase("Stopped.")
            self._note(mark, style, event.detail or broken)
        if event.still_open:
            self._scroll.print(self._dim(event.still_open))
        number = phrase("turn {n}", n=self._turn)  # as /rewind, /fork and /undo want it
        parts = [number, *usage_parts(event.usage), duration(event.seconds)]
        if self._is_practice():
            parts.append(PRACTICE)
        self._scroll.print(self._dim(" · ".join(map(self._words.say, parts))))

    def _begin(self, doing: Phrase) -> None:
        self._below.begin(doing)
        self._draw_soon()

    def _note(self, mark: str, style: str, what: Said) -> None:
        line = Wrapped(f"{mark} ", style)
        line.append(clean(self._words.say(what)))
        self._scroll.print(line)

    def _dim(self, text: Said) -> Text:
        return self._drawer.line(text, "dim")

    def _draw_soon(self) -> None:
        """Draw the live lines unless that was done just now; the beat makes up for it."""
        if time.monotonic() - self._drawn_at >= FRAME_SECONDS:
            self._draw()

    def _draw(self) -> None:
        self._scroll.print_blocks()
        self._stage.draw()
        self._drawn_at = time.monotonic()
