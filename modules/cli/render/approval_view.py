"""A question on the terminal screen: what is asked for to the letter, and the person's answer."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from functools import partial
from typing import Protocol

from rich.console import RenderableType

from core.cards import RunCard
from core.events import ApprovalAsked, Reply
from modules.cli.input.approval_input import PATTERN, Asker, Question, choices, wait_for_reply
from modules.cli.render.card_renderer import INSET, CardRenderer
from modules.cli.render.heading import cut
from modules.cli.render.live import LiveDisplay
from modules.cli.render.live_region import LiveRegion
from modules.translator import Translator
from utils.i18n import Phrase, phrase
from utils.text.clean import visible

DRAFT_ROWS = 40
"""Rows of what is asked for; a key shows the rest."""
ROWS_AROUND, LEAST_ROWS = 12, 6
"""Rows left to what stands around a program on the same screen, and those it has at the least."""
_KEPT = phrase("What you type waits for the next prompt; the question comes back when you pause.")


class Print(Protocol):
    """Prints for good what a screen shows."""

    def __call__(self, renderable: RenderableType, *, gap: bool = True) -> None: ...


class ApprovalView:
    """Asks by *asker*, and shows it on *stage*; without an *asker* nobody is asked: that is a no.

    `is_open` says whether the keyboard is for the answer right now.
    """

    def __init__(
        self,
        drawer: CardRenderer,
        below: LiveRegion,
        stage: LiveDisplay,
        words: Translator,
        asker: Asker | None,
        print_: Print,
    ) -> None:
        self._drawer = drawer
        self._below = below
        self._stage = stage
        self._words = words
        self._asker = asker
        self._print = print_
        self.is_open = False

    def ask(self, event: ApprovalAsked) -> Reply | None:
        """Show what is asked for, and wait for a yes or a no."""
        call = self._below.call
        arguments = call.arguments if call else {}
        self._print(self._drawer.head(event.name, arguments, mark=("?", "bold yellow")))
        is_cut = self._print_draft(event, self._draft_rows(event))
        self._print(self._drawer.inset(self._drawer.line(event.why, "yellow")), gap=False)
        if self._asker is None:
            return None
        question = Question(
            event,
            arguments,
            open=partial(self._open, choices(event, is_cut=is_cut)),
            close=self._close,
            wait=partial(self._open, [_KEPT]),
            show_all=partial(self._show_all, event) if is_cut else _show_nothing,
        )
        self.is_open = True
        reply = wait_for_reply(self._asker, question)
        self.is_open = False
        self._close()
        if reply and reply.yes:
            agreed = self._drawer.line(_agreement(event, reply), "dim")
            self._print(self._drawer.inset(agreed), gap=False)
        if call:
            call.began = time.monotonic()
        return reply

    def _print_draft(self, event: ApprovalAsked, rows: int) -> bool:
        """Print what is asked for in *rows* rows; return whether that cut it."""
        width = self._stage.console.width - INSET
        body, is_cut = self._drawer.draft(event.preview, rows, width=width)
        self._print(self._drawer.inset(body), gap=False)
        return is_cut

    def _show_all(self, event: ApprovalAsked) -> None:
        self._print_draft(event, sys.maxsize)

    def _draft_rows(self, event: ApprovalAsked) -> int:
        """Return in how many rows to show it; a program is on the screen together with the why."""
        if isinstance(event.preview, RunCard):
            room = self._stage.console.height - ROWS_AROUND
            return min(max(room, LEAST_ROWS), DRAFT_ROWS)
        return DRAFT_ROWS

    def _open(self, offered: Sequence[Phrase]) -> None:
        text = " · ".join(map(self._words.say, offered))
        if self._stage.is_live:
            self._below.question = text
            self._stage.draw()
        else:
            self._print(self._drawer.line(text, "bold"))

    def _close(self) -> None:
        self._below.question = ""
        self._stage.clear()


def _show_nothing() -> None:
    """All of it stands there."""


def _agreement(event: ApprovalAsked, reply: Reply) -> Phrase:
    """Return what a yes to *event* means from now on."""
    if reply.always:
        pattern = visible(reply.pattern or event.pattern)
        if not reply.pattern or reply.pattern == event.pattern:
            pattern = cut(pattern, PATTERN)
        return phrase("Allowed from now on: {pattern}", pattern=pattern)
    if reply.arguments is not None:
        return phrase("Allowed, as you changed it")
    return phrase("It goes on") if event.risk in ("loop", "loss") else phrase("Allowed")
