"""Events of a turn as updates of the protocol."""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, assert_never

from acp import (
    image_block,
    plan_entry,
    start_tool_call,
    text_block,
    update_agent_message_text,
    update_agent_thought_text,
    update_plan,
    update_tool_call,
    update_user_message,
    update_user_message_text,
)

from core.cards import TodoCard
from core.events import (
    ApprovalAsked,
    CallDrafted,
    CommandAnswered,
    Event,
    HelperEvent,
    Informed,
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
from core.tool_spec import ToolSpec
from modules.acp.updates.calls import (
    STATUS,
    content_of,
    fenced,
    kind_of,
    locations_of,
    markdown_of,
    text_content,
)
from modules.acp.updates.turn_end import end_text
from modules.cli.render.cards.call_titles import CallTitles
from modules.translator import Translator
from utils.i18n import Phrase, phrase
from utils.pictures import Picture, PictureGone, ReadPicture
from utils.text.clean import clean
from utils.text.sentences import ended_phrase

Update = Any
"""One of the update models of `acp.schema`."""
MAX_LIVE_OUTPUT = 20_000
"""Characters shown of the output of a call that still runs."""
_OUTPUT_SECONDS = 0.2
"""Seconds between two updates with the output of a call: each replaces the one before."""


@dataclass
class Updates:
    """Makes updates of events; *is_replay* is for a history that the client has not seen.

    The updates of a call bear the number of its turn: some servers count their calls anew in each.
    """

    root: Path
    specs: Mapping[str, ToolSpec]
    translator: Translator
    read_picture: ReadPicture
    is_replay: bool = False
    turn: int = 0
    _output: str = ""
    _shown_at: float = 0.0
    _titles: CallTitles = field(init=False)

    def __post_init__(self) -> None:
        self._titles = CallTitles(self.specs)

    def of(self, event: Event) -> Iterator[Update]:  # noqa: C901 - one case for each event
        """Yield what the client is to be shown of *event*."""
        match event:
            case TurnStarted():
                self.turn = event.turn
                if self.is_replay:
                    yield from self._user_message(event)
            case TextDelta(text):
                if text := clean(text):
                    yield update_agent_message_text(text)
            case ThinkingDelta(text):
                if text := clean(text):
                    yield update_agent_thought_text(text)
            case Retrying(reason):
                yield self.notice(phrase("{why} Restarting the reply.", why=ended_phrase(reason)))
            case Warned(what) | Informed(what) | Waiting(what):
                yield self.notice(what)
            case ToolStarted():
                yield from self._call_started(event)
            case ToolOutput():
                yield from self._output_update(event)
            case ToolFinished():
                yield from self._call_finished(event)
            case CommandAnswered():
                if event.card:
                    yield update_agent_message_text(markdown_of(event.card, self.translator))
            case TurnFinished():
                if event.still_open:
                    yield self.notice(event.still_open)
                # Live, an error is the answer to the prompt; a history has nothing else to say it.
                is_told = self.is_replay or event.why in ("step_limit", "budget")
                if event.detail and is_told:
                    yield self.notice(event.detail)
                if text := end_text(event, self.translator):
                    yield update_agent_message_text(text)
            case (
                StepStarted()
                | StepFinished()
                | ThinkingFinished()
                | ThoughtKept()
                | CallDrafted()
                | ApprovalAsked()
                | HelperEvent()
            ):
                pass
            case _:
                assert_never(event)

    def notice(self, what: Phrase) -> Update:
        """Return *what* as a paragraph of its own, so that it is not read as the model's words."""
        return update_agent_message_text(f"\n\n_{clean(self.translator.render(what))}_\n\n")

    def call_id(self, call_id: str) -> str:
        return f"{self.turn}.{call_id}"

    def title(self, name: str, arguments: Mapping[str, Any]) -> str:
        return clean(self.translator.render(self._titles.title(name, arguments)))

    # --- calls -----------------------------------------------------------------------------------

    def _call_started(self, event: ToolStarted) -> Iterator[Update]:
        spec = self.specs.get(event.name)
        self._output, self._shown_at = "", 0.0
        if _is_plan(spec):
            return
        call_id, title = self.call_id(event.call_id), self.title(event.name, event.arguments)
        show = partial(
            update_tool_call if event.is_revised and not self.is_replay else start_tool_call,
            call_id,
            title=title,
            kind=kind_of(spec),
            status="in_progress",
            raw_input=event.arguments,
        )
        yield show(locations=locations_of(spec, event.arguments, self.root))

    def _output_update(self, event: ToolOutput) -> Iterator[Update]:
        self._output = (self._output + event.text)[-MAX_LIVE_OUTPUT:]
        now = time.monotonic()
        if now - self._shown_at < _OUTPUT_SECONDS:
            return
        self._shown_at = now
        content = [text_content(fenced(clean(self._output)))]
        yield update_tool_call(self.call_id(event.call_id), content=content)

    def _call_finished(self, event: ToolFinished) -> Iterator[Update]:
        if isinstance(event.card, TodoCard):
            yield update_plan(
                plan_entry(clean(todo.title), status=todo.status) for todo in event.card.todos
            )
            return
        if _is_plan(self.specs.get(event.name)):
            return
        yield update_tool_call(
            self.call_id(event.call_id),
            status=STATUS[event.state],
            content=content_of(event.card, self.root, self.translator),
        )

    # --- history ---------------------------------------------------------------------------------

    def _user_message(self, event: TurnStarted) -> Iterator[Update]:
        if event.text:
            yield update_user_message_text(event.text)
        yield from self._pictures(event.pictures)

    def _pictures(self, pictures: Sequence[Picture]) -> Iterator[Update]:
        for picture in pictures:
            try:
                data = self.read_picture(picture.digest)
            except PictureGone:
                yield update_user_message(text_block(f"[{picture.description}]"))
                continue
            yield update_user_message(image_block(b64encode(data).decode(), picture.media_type))


def _is_plan(spec: ToolSpec | None) -> bool:
    """Return whether the calls of a tool are shown as the plan, and not as calls."""
    return spec is not None and spec.state == "todos"
