"""One reply of the model: streamed, put together, and recorded."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from core.conversation.messages import Assistant, Effort, ToolCall, Wire
from core.events import (
    CallDrafted,
    Event,
    Informed,
    Reply,
    Retrying,
    TextDelta,
    ThinkingDelta,
    ThinkingFinished,
)
from core.loop.turn_context import TurnContext
from core.tool_aliases import resolve_call
from core.tools import Toolbox, ToolError
from utils.i18n import phrase
from utils.llm.calls.call_guard import CallGuard
from utils.llm.completion import Completion, Delta, ModelError, ProfileLearned, RawCall, Retry
from utils.llm.openai_api.streamed_calls import with_ids
from utils.text.strict_json import read_json
from utils.waiting import Stopped

if TYPE_CHECKING:
    from utils.llm.calls.text_calls import FoundCalls, ToolFit

_INVALID_IN_NAME = re.compile(r"[^a-zA-Z0-9_-]+")


@dataclass(frozen=True, slots=True)
class ReplyRead:
    """One reply, recorded. *is_cut*: the output limit ended it; *may_hold_call*: it holds as text
    what may be meant as a call; *is_repeating*: it said the same without end."""

    message: Assistant
    is_cut: bool
    may_hold_call: bool
    is_repeating: bool


def read_reply(
    context: TurnContext, effort: Effort, most_tokens: int = 0
) -> Generator[Event, Reply | None, ReplyRead]:
    """Stream one reply of at most *most_tokens* (0: as usual), thought over with *effort*.

    It is recorded; one that was stopped as far as its text came, and its calls are dropped.
    """
    context.before_request()
    messages = context.build_request()
    context.announce_request(messages)
    draft = _ReplyDraft(context.tools, messages)
    how: dict[str, Any] = {"reply_tokens": most_tokens} if most_tokens else {}
    if effort == "low":
        how["effort"] = effort
    stream = context.model.stream(
        messages, context.tools.wire, think=bool(effort), stop=context.stop, **how
    )
    try:
        for item in stream:
            match item:
                case Completion():
                    yield from draft.close_thinking()
                    completion = yield from draft.read_calls(item)
                    reply = replace(draft.to_message(completion), effort=effort)
                    context.record(reply)
                    if draft.failed_natively(reply, item) and (offer := context.native_failure()):
                        yield Informed(offer)
                    return ReplyRead(reply, item.is_cut, draft.may_hold_call, item.is_repeating)
                case Retry(reason, attempt, seconds):
                    draft = _ReplyDraft(context.tools, messages)
                    yield Retrying(reason, attempt, seconds)
                case ProfileLearned(message):
                    yield Informed(message)
                case Delta():
                    yield from draft.add(item)
    except Stopped:
        draft.release_held_text()
        if draft.text or draft.thinking:
            context.record(Assistant(draft.text, draft.thinking, seconds=draft.seconds))
        raise
    raise ModelError("reply", phrase("The model's reply ended without an end marker."))


class _ReplyDraft:
    """A reply to *messages* as far as it has come."""

    def __init__(self, tools: Toolbox, messages: Sequence[Wire] = ()) -> None:
        self._tools = tools
        self._messages = messages
        self._guard = CallGuard()
        self._text_parts: list[str] = []
        self._thinking_parts: list[str] = []
        self._began: float | None = None
        self.seconds = 0.0
        self.may_hold_call = False
        self._wrote_calls = False

    @property
    def text(self) -> str:
        return "".join(self._text_parts)

    @property
    def thinking(self) -> str:
        return "".join(self._thinking_parts)

    def add(self, delta: Delta) -> Iterator[Event]:
        if delta.thinking:
            if self._began is None:
                self._began = time.monotonic()
            self._thinking_parts.append(delta.thinking)
            yield ThinkingDelta(delta.thinking)
        if delta.text or delta.call_name:
            yield from self.close_thinking()
        if delta.text and (text := self._guard.feed(delta.text)):
            self._text_parts.append(text)
            yield TextDelta(text)
        if delta.call_name:
            yield CallDrafted(delta.call_name, delta.call_characters)

    def release_held_text(self) -> str:
        """Count what is still held back as text; return it."""
        held_text = self._guard.close()
        self._text_parts.append(held_text)
        return held_text

    def read_calls(self, completion: Completion) -> Generator[Event, Any, Completion]:
        """Return *completion* with the calls that it holds as text; what only looks so is shown."""
        if self._repeats_input(completion.calls):
            self.may_hold_call = True
            repeated = "\n".join(f"{call.name} {call.arguments}" for call in completion.calls)
            return replace(completion, text=completion.text or repeated, calls=())
        if completion.has_doubtful_calls:
            self.may_hold_call = True
            yield from self._show_held_text()
            return completion
        found = None if completion.is_cut else self._find_calls(completion.text)
        if found and completion.calls and self._holds_the_same_calls(found, completion.calls):
            return replace(completion, text=found.text)
        if found is None or completion.calls or not found.is_sure:
            self.may_hold_call = found is not None and not completion.calls
            yield from self._show_held_text()
            return completion
        self._wrote_calls = True
        for call in found.calls:
            yield Informed(phrase("The model wrote its call of {name} as text.", name=call.name))
        calls = [RawCall("", call.name, json.dumps(call.arguments)) for call in found.calls]
        return replace(completion, text=found.text, calls=with_ids(calls))

    def _show_held_text(self) -> Iterator[Event]:
        if held_text := self.release_held_text():
            yield TextDelta(held_text)

    def _find_calls(self, text: str) -> FoundCalls | None:
        if not text.strip():
            return None
        from utils.llm.calls.text_calls import find_calls  # 20 ms: a request is out sooner

        return find_calls(text, partial(_fit_of_call, self._tools), self._input_texts())

    def _repeats_input(self, calls: Sequence[RawCall]) -> bool:
        """Return whether *calls* were markup that somebody else had written: a file, the person."""
        if not any(call.is_recovered for call in calls):
            return False
        from utils.llm.calls.text_call_values import TextCall, is_quoted

        resolved = [to_tool_call(call, self._tools) for call in calls]
        return is_quoted(
            [TextCall(call.name, json.loads(call.arguments)) for call in resolved],
            self._input_texts(),
        )

    def _input_texts(self) -> Iterator[str]:
        """Yield what the model read of others in this conversation: the person, and the tools."""
        for message in self._messages:
            if message["role"] in ("tool", "user") and isinstance(message["content"], str):
                yield message["content"]

    def _holds_the_same_calls(self, found: FoundCalls, calls: Sequence[RawCall]) -> bool:
        """Return whether the text holds just the *calls* that came beside it."""
        written = [RawCall("", call.name, json.dumps(call.arguments)) for call in found.calls]
        return [_resolved(call, self._tools) for call in written] == [
            _resolved(call, self._tools) for call in calls
        ]

    def failed_natively(self, reply: Assistant, completion: Completion) -> bool:
        """Return whether *reply* calls otherwise than the server has it, or not as it has to."""
        is_malformed = not completion.is_cut and any(call.broken for call in reply.calls)
        return is_malformed or self.may_hold_call or self._wrote_calls

    def close_thinking(self) -> Iterator[Event]:
        if self._began is not None and not self.seconds:
            self.seconds = time.monotonic() - self._began
            yield ThinkingFinished(self.seconds)

    def to_message(self, completion: Completion) -> Assistant:
        calls = tuple(to_tool_call(raw, self._tools) for raw in completion.calls)
        signed = dict(completion.signed) if completion.signed else None
        return Assistant(
            completion.text, completion.thinking, calls, self.seconds, completion.usage, signed
        )


def _resolved(raw: RawCall, tools: Toolbox) -> tuple[str, Any]:
    call = to_tool_call(raw, tools)
    return call.name, json.loads(call.arguments)


def _fit_of_call(tools: Toolbox, name: str, arguments: Mapping[str, Any]) -> ToolFit:
    """Return whether *name* is a tool, under whatever name, and takes *arguments*."""
    name, arguments = resolve_call(tools, name, arguments)
    try:
        tool = tools.find(name)
    except ToolError:
        return "unknown"
    try:
        tool.validate(arguments)
    except ToolError:
        return "misfits"
    return "fits"


def to_tool_call(raw: RawCall, tools: Toolbox | None = None) -> ToolCall:
    """Return the call of *tools* that is meant, its arguments one JSON object, or marked as broken.

    Servers refuse a history with a name that no tool can have, in every request from then on.
    """
    name = _INVALID_IN_NAME.sub("_", raw.name)[:64] or "unnamed"
    text = raw.arguments.strip()
    if text in ("", "null", "None"):
        text = "{}"
    try:
        value = read_json(text)
        if isinstance(value, str):  # an object put in quotes once too often
            text, value = value, read_json(value)
    except ValueError:
        value = None
    if raw.is_cut or not isinstance(value, dict):
        return ToolCall(raw.id, name, "{}", broken=raw.arguments or " ")
    if tools is None:
        return ToolCall(raw.id, name, text)
    name_meant, arguments = resolve_call(tools, raw.name, value)
    if arguments is not value:
        text = json.dumps(arguments, ensure_ascii=False)
    return ToolCall(raw.id, name_meant if name_meant != raw.name else name, text)
