"""A reply as it grows, from the data of stream events to a whole `Completion`.

What each field means, and what servers really send, is DeepSeek's chat-completions API with
thinking; where other servers are looser (no index, no id, `reasoning`), they are understood too.
"""

from __future__ import annotations

import json
import secrets
import string
from dataclasses import dataclass, field
from typing import Any

from utils.completion import Completion, Delta, RawCall, Usage
from utils.failures import (
    broken_reply,
    empty_reply,
    filtered_reply,
    leaked_markup,
    overloaded,
)
from utils.llm.text_calls import shows
from utils.markup import MarkupGuard, read_calls
from utils.strict_json import is_json, read_json

_ID_LETTERS = string.ascii_letters + string.digits
_WHOLE = ("stop", "tool_calls", "function_call", "length")


class ErrorInStream(Exception):
    """The server sent *error* instead of the rest of the reply."""

    def __init__(self, error: Any) -> None:
        super().__init__(str(error))
        self.error = error


@dataclass
class _Call:
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)


class Draft:
    """Collects the events of one stream."""

    def __init__(self) -> None:
        self._text = MarkupGuard()
        self._thinking = MarkupGuard()
        self._calls: list[_Call] = []
        self._call_at: dict[int, _Call] = {}
        self._new_text = ""
        self._new_thinking = ""
        self._new_call_name = ""
        self._new_call_characters = 0
        self.finish_reason = ""
        self.is_done = False
        self.usage: dict[str, Any] = {}
        self.model = ""

    def add(self, data: bytes) -> None:
        """Take in one event. Raises `Failed` for a broken one, `ErrorInStream` for an error."""
        if data == b"[DONE]":
            self.is_done = True
            return
        try:
            self._add_event(read_json(data.decode()))
        except (ValueError, TypeError, AttributeError):  # no JSON, or of another shape
            raise broken_reply() from None

    def _add_event(self, event: dict[str, Any]) -> None:
        if error := event.get("error"):
            raise ErrorInStream(error)
        self.model = str(event.get("model") or self.model)
        if usage := event.get("usage"):
            self.usage = dict(usage)
        for choice in event.get("choices") or ():
            self._add_delta(choice.get("delta") or choice.get("message") or {})
            self.finish_reason = choice.get("finish_reason") or self.finish_reason

    def _add_delta(self, delta: dict[str, Any]) -> None:
        if text := delta.get("content"):
            self._new_text += text
        if thinking := delta.get("reasoning_content") or delta.get("reasoning"):
            self._new_thinking += thinking
        for piece in delta.get("tool_calls") or ():
            self._add_call(piece)

    def _add_call(self, piece: dict[str, Any]) -> None:
        """Add to a call: its id and name are set (some gateways repeat them), not appended to."""
        call = self._call_of(piece)
        function = piece.get("function") or {}
        call.id = str(piece.get("id") or call.id)
        call.name = str(function.get("name") or call.name)
        arguments = function.get("arguments") or ""
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
        call.pieces.append(arguments)
        self._new_call_name = call.name
        self._new_call_characters += len(arguments)

    def _call_of(self, piece: dict[str, Any]) -> _Call:
        """Return the call that *piece* belongs to.

        Servers that number no calls, or all of them 0, tell a new one by its new id.
        """
        index = piece.get("index") or 0
        call = self._call_at.get(index)
        new_id = str(piece.get("id") or "")
        if call is None or (new_id and call.id and new_id != call.id):
            call = _Call()
            self._calls.append(call)
            self._call_at[index] = call
        return call

    def take(self) -> Delta | None:
        """Return what has come since the last time as one delta, None if nothing to show has."""
        thinking = self._thinking.feed(_mended(self._new_thinking)) if self._new_thinking else ""
        text = self._text.feed(_mended(self._new_text)) if self._new_text else ""
        name, characters = self._new_call_name, self._new_call_characters
        self._new_text = self._new_thinking = self._new_call_name = ""
        self._new_call_characters = 0
        return Delta(text, thinking, name, characters) if text or thinking or name else None

    def close(self) -> Delta | None:
        """Return what was still held back and may be shown. Raises `Failed` for a broken stream."""
        if self.finish_reason == "content_filter":
            raise filtered_reply()
        if self.finish_reason == "insufficient_system_resource":
            raise overloaded()
        if self.finish_reason not in _WHOLE:
            raise broken_reply()
        thinking, text = self._thinking.close(), self._text.close()
        if shows(self._text.text, self._text.markup.rpartition(">")[2]):
            text += self._text.release()
        return Delta(text, thinking) if text or thinking else None

    def completion(self, usage: Usage) -> Completion:
        """Return the reply, closed before. Raises `Failed` if there is nothing in it to use."""
        is_cut = self.finish_reason == "length"
        calls = self._whole_calls(is_cut) or self._recovered(is_cut)
        text = self._text.text
        if not text.strip() and not calls and not is_cut:
            raise empty_reply()
        return Completion(text, self._thinking.text, with_ids(calls), usage, is_cut)

    def _whole_calls(self, is_cut: bool) -> list[RawCall]:
        calls = []
        for call in self._calls:
            arguments = _mended("".join(call.pieces))
            cuts = is_cut and (call is self._calls[-1] or not is_json(arguments))
            calls.append(RawCall(call.id, call.name, arguments, cuts))
        return calls

    def _recovered(self, is_cut: bool) -> list[RawCall]:
        """Return the calls written as markup, in the text or, of a reply without one, in thought.

        A reply that the output limit cut off amid markup has none: the rest was asked for in vain.
        """
        if self._text.has_leaked and not is_cut:
            raise leaked_markup()
        markup = self._text.markup
        if not markup and not self._text.text.strip():
            markup = self._thinking.markup
        calls = read_calls(markup)
        if calls is None:
            if markup and not is_cut:
                raise leaked_markup()
            return []
        return [RawCall("", call.name, call.arguments) for call in calls]


def with_ids(calls: list[RawCall]) -> tuple[RawCall, ...]:
    """Give every call an id that no other has; those of the server are kept."""
    seen: set[str] = set()
    whole = []
    for number, call in enumerate(calls):
        call_id = call.id if call.id and call.id not in seen else _new_id(number)
        seen.add(call_id)
        whole.append(RawCall(call_id, call.name, call.arguments, call.is_cut))
    return tuple(whole)


def _new_id(number: int) -> str:
    """Return an id in DeepSeek's form."""
    return f"call_{number:02d}_" + "".join(secrets.choice(_ID_LETTERS) for _ in range(24))


def _mended(text: str) -> str:
    """Return *text* with halves of surrogate pairs put together, or replaced where alone."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
