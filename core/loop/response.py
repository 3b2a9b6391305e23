"""One reply of the model: streamed, put together, and recorded."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from core.conversation.messages import Assistant, ToolCall, Wire
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
from core.tool_aliases import understood
from core.tools import Toolbox, ToolError
from utils.i18n import phrase
from utils.llm.calls.call_guard import CallGuard
from utils.llm.completion import Completion, Delta, Learnt, ModelError, RawCall, Retry
from utils.llm.openai_api.stream_parser import with_ids
from utils.text.strict_json import read_json
from utils.waiting import Stopped

if TYPE_CHECKING:
    from utils.llm.calls.text_calls import Fit, Reading

_NO_NAME = re.compile(r"[^a-zA-Z0-9_-]+")


@dataclass(frozen=True, slots=True)
class ReplyRead:
    """One reply, recorded. *is_cut*: the output limit ended it; *is_unsure*: it holds as text what
    may be meant as a call; *is_repeating*: it said the same without end."""

    message: Assistant
    is_cut: bool
    is_unsure: bool
    is_repeating: bool


def read_reply(host: TurnContext, think: bool) -> Generator[Event, Reply | None, ReplyRead]:
    """Stream one reply, record it and return it.

    A reply that was stopped is recorded as far as its text came; its calls are dropped.
    """
    host.before_request()
    messages = host.request()
    host.requested(messages)
    draft = _ReplyDraft(host.tools, messages)
    stream = host.model.stream(messages, host.tools.wire, think=think, stop=host.stop)
    try:
        for item in stream:
            match item:
                case Completion():
                    yield from draft.close_thinking()
                    done = yield from draft.read_calls(item)
                    reply = draft.whole(done)
                    host.record(reply)
                    return ReplyRead(reply, item.is_cut, draft.is_unsure, item.is_repeating)
                case Retry(reason, attempt, seconds):
                    draft = _ReplyDraft(host.tools, messages)
                    yield Retrying(reason, attempt, seconds)
                case Learnt(what):
                    yield Informed(what)
                case Delta():
                    yield from draft.add(item)
    except Stopped:
        draft.let_go()
        if draft.text or draft.thinking:
            host.record(Assistant(draft.text, draft.thinking, seconds=draft.seconds))
        raise
    raise ModelError("reply", phrase("The model's reply ended without an end."))


class _ReplyDraft:
    """A reply to *messages* as far as it has come."""

    def __init__(self, tools: Toolbox, messages: Sequence[Wire] = ()) -> None:
        self._tools = tools
        self._messages = messages
        self._guard = CallGuard()
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._began: float | None = None
        self.seconds = 0.0
        self.is_unsure = False

    @property
    def text(self) -> str:
        return "".join(self._texts)

    @property
    def thinking(self) -> str:
        return "".join(self._thoughts)

    def add(self, delta: Delta) -> Iterator[Event]:
        if delta.thinking:
            if self._began is None:
                self._began = time.monotonic()
            self._thoughts.append(delta.thinking)
            yield ThinkingDelta(delta.thinking)
        if delta.text or delta.call_name:
            yield from self.close_thinking()
        if delta.text and (text := self._guard.feed(delta.text)):
            self._texts.append(text)
            yield TextDelta(text)
        if delta.call_name:
            yield CallDrafted(delta.call_name, delta.call_characters)

    def let_go(self) -> str:
        """Count what is still held back as text; return it."""
        held = self._guard.close()
        self._texts.append(held)
        return held

    def read_calls(self, done: Completion) -> Generator[Event, Any, Completion]:
        """Return *done* with the calls that it holds as text; what only looks so is shown."""
        if self._repeats_what_was_heard(done.calls):
            self.is_unsure = True
            repeated = "\n".join(f"{call.name} {call.arguments}" for call in done.calls)
            return replace(done, text=done.text or repeated, calls=())
        reading = None if done.is_cut else self._reading(done.text)
        if reading and done.calls and self._is_the_same(reading, done.calls):
            return replace(done, text=reading.said)
        if reading is None or done.calls or not reading.is_sure:
            self.is_unsure = reading is not None and not done.calls
            if held := self.let_go():
                yield TextDelta(held)
            return done
        for call in reading.calls:
            yield Informed(phrase("The model wrote its call of {name} as text.", name=call.name))
        calls = [RawCall("", call.name, json.dumps(call.arguments)) for call in reading.calls]
        return replace(done, text=reading.said, calls=with_ids(calls))

    def _reading(self, text: str) -> Reading | None:
        if not text.strip():
            return None
        from utils.llm.calls.text_calls import find_calls  # 20 ms: a request is out sooner

        return find_calls(text, partial(_fit, self._tools), self._heard())

    def _repeats_what_was_heard(self, calls: Sequence[RawCall]) -> bool:
        """Return whether *calls* were markup that somebody else had written: a file, the person."""
        if not any(call.is_recovered for call in calls):
            return False
        from utils.llm.calls.text_call_values import TextCall, is_copied

        meant = [tool_call(call, self._tools) for call in calls]
        return is_copied(
            [TextCall(call.name, json.loads(call.arguments)) for call in meant], self._heard()
        )

    def _heard(self) -> Iterator[str]:
        """Yield what the model read of others in this talk: the person, and the tools."""
        for message in self._messages:
            if message["role"] in ("tool", "user") and isinstance(message["content"], str):
                yield message["content"]

    def _is_the_same(self, reading: Reading, calls: Sequence[RawCall]) -> bool:
        """Return whether the text holds just the *calls* that came beside it."""
        written = [RawCall("", one.name, json.dumps(one.arguments)) for one in reading.calls]
        return [_meaning(one, self._tools) for one in written] == [
            _meaning(one, self._tools) for one in calls
        ]

    def close_thinking(self) -> Iterator[Event]:
        if self._began is not None and not self.seconds:
            self.seconds = time.monotonic() - self._began
            yield ThinkingFinished(self.seconds)

    def whole(self, done: Completion) -> Assistant:
        calls = tuple(tool_call(raw, self._tools) for raw in done.calls)
        signed = dict(done.signed) if done.signed else None
        return Assistant(done.text, done.thinking, calls, self.seconds, done.usage, signed)


def _meaning(raw: RawCall, tools: Toolbox) -> tuple[str, Any]:
    call = tool_call(raw, tools)
    return call.name, json.loads(call.arguments)


def _fit(tools: Toolbox, name: str, arguments: Mapping[str, Any]) -> Fit:
    """Return whether *name* is a tool, under whatever name, and takes *arguments*."""
    name, arguments = understood(tools, name, arguments)
    try:
        tool = tools.find(name)
    except ToolError:
        return "unknown"
    try:
        tool.checked(arguments)
    except ToolError:
        return "misfits"
    return "fits"


def tool_call(raw: RawCall, tools: Toolbox | None = None) -> ToolCall:
    """Return the call of *tools* that is meant, its arguments one JSON object, or marked as broken.

    Servers refuse a history with a name that no tool can have, in every request from then on.
    """
    name = _NO_NAME.sub("_", raw.name)[:64] or "unnamed"
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
    name_meant, arguments = understood(tools, raw.name, value)
    if arguments is not value:
        text = json.dumps(arguments, ensure_ascii=False)
    return ToolCall(raw.id, name_meant if name_meant != raw.name else name, text)
