"""What a helper does, in the terminal: one line while it works, all of it for who unfolds it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from rich.console import RenderableType

from core.events import (
    HelperStep,
    Informed,
    Retrying,
    StepFinished,
    StepStarted,
    TextDelta,
    ToolFinished,
    ToolStarted,
    Waiting,
    Warned,
)
from modules.cli.render.cards.card_renderer import CardRenderer
from modules.cli.render.markdown import WrappedText
from modules.cli.render.turn_end import mark_line
from modules.translator import Translator
from utils.i18n import Text, phrase
from utils.text.clean import clean, visible


class HelperLines:
    """The steps of one helper as they come; `rows` are those that are over."""

    def __init__(self, renderer: CardRenderer, translator: Translator) -> None:
        self._renderer = renderer
        self._translator = translator
        self._step = 0
        self._doing: Text = phrase("Waiting for the model")
        self._calls: dict[str, Mapping[str, Any]] = {}
        self._said = ""
        self.rows: list[RenderableType] = []

    def __str__(self) -> str:
        """What it does now, in one line."""
        step = phrase("step {n}", n=self._step)
        doing = visible(clean(self._translator.render(self._doing)))
        return f"{clean(self._translator.render(step))} · {doing}"

    def add(self, event: HelperStep) -> None:
        match event:
            case StepStarted():
                self._step, self._doing = event.step, phrase("Waiting for the model")
            case Retrying():
                self._doing = event.reason
            case Waiting():
                self._doing = event.why
            case StepFinished():
                self._doing = phrase("Working")
            case TextDelta():
                self._said = event.text
            case Warned() | Informed():
                line = self._translator.render(event.what)
                self.rows.append(mark_line("!" if isinstance(event, Warned) else "·", "dim", line))
            case ToolStarted():
                self._calls[event.call_id] = event.arguments
                self._keep_words()
                self._doing = self._renderer.title(event.name, event.arguments)
            case ToolFinished():
                self.rows.append(self._finished(event))
                self._doing = phrase("Working")
            case _:
                assert_never(event)

    def _keep_words(self) -> None:
        """Keep what it said before it went on; its last words stand below the call already."""
        if text := clean(self._said).strip("\n"):
            self.rows.append(WrappedText(text, "dim"))
        self._said = ""

    def _finished(self, event: ToolFinished) -> RenderableType:
        return self._renderer.head(
            event.name,
            self._calls.pop(event.call_id, {}),
            mark=self._renderer.mark(event.card, event.state),
            seconds=event.seconds,
            card=event.card,
            state=event.state,
        )
