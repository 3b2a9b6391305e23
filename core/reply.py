"""One reply of the model: streamed, put together, and recorded."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Generator, Iterator

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
from core.host import Host
from core.messages import Assistant, ToolCall
from core.tool_aliases import understood
from core.tools import Toolbox
from utils.completion import Completion, Delta, Learnt, ModelError, RawCall, Retry
from utils.phrases import phrase
from utils.strict_json import read_json
from utils.waiting import Stopped

_NO_NAME = re.compile(r"[^a-zA-Z0-9_-]+")


def read_reply(host: Host, think: bool) -> Generator[Event, Reply | None, tuple[Assistant, bool]]:
    """Stream one reply, record it and return it, and whether the output limit cut it off.

    A reply that was stopped is recorded as far as its text came; its calls are dropped.
    """
    draft = _Draft()
    stream = host.model.stream(host.request(), host.tools.wire, think=think, stop=host.stop)
    try:
        for item in stream:
            match item:
                case Completion():
                    yield from draft.close_thinking()
                    reply = draft.whole(item, host.tools)
                    host.record(reply)
                    return reply, item.is_cut
                case Retry(reason, attempt, seconds):
                    draft = _Draft()
                    yield Retrying(reason, attempt, seconds)
                case Learnt(what):
                    yield Informed(what)
                case Delta():
                    yield from draft.add(item)
    except Stopped:
        if draft.text or draft.thinking:
            host.record(Assistant(draft.text, draft.thinking, seconds=draft.seconds))
        raise
    raise ModelError("reply", phrase("The model's reply ended without an end."))


class _Draft:
    """A reply as far as it has come."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._began: float | None = None
        self.seconds = 0.0

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
        if delta.text:
            self._texts.append(delta.text)
            yield TextDelta(delta.text)
        if delta.call_name:
            yield CallDrafted(delta.call_name, delta.call_characters)

    def close_thinking(self) -> Iterator[Event]:
        if self._began is not None and not self.seconds:
            self.seconds = time.monotonic() - self._began
            yield ThinkingFinished(self.seconds)

    def whole(self, done: Completion, tools: Toolbox) -> Assistant:
        calls = tuple(_call(raw, tools) for raw in done.calls)
        return Assistant(done.text, done.thinking, calls, self.seconds, done.usage)


def _call(raw: RawCall, tools: Toolbox) -> ToolCall:
    """Return the call that is meant, its arguments as one JSON object, or marked as broken.

    Servers refuse a history with a name that no tool can have, in every request from then on.
    """
    name = _NO_NAME.sub("_", raw.name)[:64] or "unnamed"
    text = raw.arguments.strip()
    if text in ("", "null"):
        text = "{}"
    try:
        value = read_json(text)
        if isinstance(value, str):  # an object put in quotes once too often
            text, value = value, read_json(value)
    except ValueError:
        value = None
    if raw.is_cut or not isinstance(value, dict):
        return ToolCall(raw.id, name, "{}", broken=raw.arguments or " ")
    name_meant, arguments = understood(tools, raw.name, value)
    if arguments is not value:
        text = json.dumps(arguments, ensure_ascii=False)
    return ToolCall(raw.id, name_meant if name_meant != raw.name else name, text)
