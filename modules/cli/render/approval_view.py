"""A question on the terminal screen: what is asked for to the letter, and the person's answer."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

from rich.console import RenderableType

from core.cards import RunCard, TextCard
from core.events import ApprovalAsked, Reply
from core.loop.tool_calls import numbered
from modules.cli.input.approval_input import (
    MAX_PATTERN_CELLS,
    ApprovalQuestion,
    Approver,
    choices,
    wait_for_reply,
)
from modules.cli.render.cards.card_renderer import INDENT, CardRenderer
from modules.cli.render.cards.heading import elide_middle
from modules.cli.render.live import LiveDisplay
from modules.cli.render.live_region import LiveRegion
from modules.translator import Translator
from utils.i18n import Phrase, phrase
from utils.text.clean import visible

DRAFT_ROWS = 40
"""Rows of what is asked for; a key shows the rest."""
ROWS_AROUND, MIN_ROWS = 12, 6
"""Rows left to what stands around a program on the same screen, and those it has at the least."""
_TYPING_NOTICE = phrase(
    "Your typing is kept for the next prompt; the question returns when you pause."
)


class Printer(Protocol):
    """Prints for good what a screen shows."""

    def __call__(self, renderable: RenderableType, *, gap: bool = True) -> None: ...


class ApprovalView:
    """Asks by *approver*, shown on *display*; without an *approver* nobody is asked: that is a no.

    `is_open` says whether the keyboard is for the answer right now.
    """

    def __init__(
        self,
        renderer: CardRenderer,
        live_region: LiveRegion,
        display: LiveDisplay,
        translator: Translator,
        approver: Approver | None,
        print_: Printer,
    ) -> None:
        self._renderer = renderer
        self._live_region = live_region
        self._display = display
        self._translator = translator
        self._approver = approver
        self._print = print_
        self.is_open = False

    def ask(self, event: ApprovalAsked) -> Reply | None:
        """Show what is asked for, and wait for a yes or a no."""
        call = self._live_region.call
        arguments = call.arguments if call else {}
        if event.arguments is not None:
            arguments = event.arguments
        subject = {} if event.risk == "question" else arguments  # the question comes in full
        self._print(self._renderer.head(event.name, subject, mark=("?", "bold yellow")))
        is_cut = self._print_question(event)
        if self._approver is None:
            return None
        question = ApprovalQuestion(
            event,
            arguments,
            show=partial(
                self._show_choices,
                choices(event, is_cut=is_cut, show_key=self._renderer.show_key()),
            ),
            hide=self._hide_choices,
            show_waiting=partial(self._show_choices, [_TYPING_NOTICE]),
            show_all=partial(self._show_all, event) if is_cut else _show_nothing,
        )
        self.is_open = True
        reply = self._as_chosen(event, wait_for_reply(self._approver, question))
        self.is_open = False
        self._hide_choices()
        if reply and reply.yes and event.risk != "question":
            confirmation = self._renderer.line(_agreement(event, reply), "dim")
            self._print(self._renderer.indented(confirmation), gap=False)
        if call:
            call.started_at = time.monotonic()
        return reply

    def _as_chosen(self, event: ApprovalAsked, reply: Reply | None) -> Reply | None:
        """Return *reply* with the choice that its words are in the language of the screen."""
        shown = {self._translator.render(one).casefold(): str(one) for one in event.choices}
        chosen = shown.get(reply.text.strip().casefold()) if reply else None
        return replace(reply, text=chosen) if reply and chosen else reply

    def _print_question(self, event: ApprovalAsked) -> bool:
        """Print what is asked for and why, or a question and its choices; return whether cut."""
        why = self._renderer.indented(self._renderer.line(event.why, "yellow"))
        if event.risk == "question":
            self._print(why, gap=False)
        is_cut = self._print_draft(event, self._draft_rows(event))
        if event.risk == "question" and not isinstance(event.preview, TextCard):
            offered = self._renderer.line(numbered(event.choices), "")
            self._print(self._renderer.indented(offered), gap=False)
        if event.risk != "question":
            self._print(why, gap=False)
        return is_cut

    def _print_draft(self, event: ApprovalAsked, rows: int) -> bool:
        """Print what is asked for in *rows* rows; return whether that cut it."""
        width = self._display.console.width - INDENT
        body, is_cut = self._renderer.draft(event.preview, rows, width=width)
        self._print(self._renderer.indented(body), gap=False)
        return is_cut

    def _show_all(self, event: ApprovalAsked) -> None:
        self._print_draft(event, sys.maxsize)

    def _draft_rows(self, event: ApprovalAsked) -> int:
        """Return in how many rows to show it; a program is on the screen together with the why."""
        if isinstance(event.preview, RunCard):
            rows_left = self._display.console.height - ROWS_AROUND
            return min(max(rows_left, MIN_ROWS), DRAFT_ROWS)
        return DRAFT_ROWS

    def _show_choices(self, offered: Sequence[Phrase]) -> None:
        text = " · ".join(map(self._translator.render, offered))
        if self._display.is_live:
            self._live_region.question = text
            self._display.draw()
        else:
            self._print(self._renderer.line(text, "bold"))

    def _hide_choices(self) -> None:
        self._live_region.question = ""
        self._display.clear()


def _show_nothing() -> None:
    """All of it stands there."""


def _agreement(event: ApprovalAsked, reply: Reply) -> Phrase:
    """Return what a yes to *event* means from now on."""
    if reply.always:
        pattern = visible(reply.pattern or event.pattern)
        if not reply.pattern or reply.pattern == event.pattern:
            pattern = elide_middle(pattern, MAX_PATTERN_CELLS)
        return phrase("Allowed from now on: {pattern}", pattern=pattern)
    if reply.lasts:
        pattern = elide_middle(visible(event.pattern), MAX_PATTERN_CELLS)
        return phrase("Allowed in this project until /approve forget: {pattern}", pattern=pattern)
    if reply.arguments is not None:
        return phrase("Allowed with your changes")
    goes_on = event.risk in ("loop", "loss", "protected")
    return phrase("Continuing") if goes_on else phrase("Allowed")
