"""Reading messages that lack this or that: roles, texts, calls and their arguments."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.conversation.messages import Context, User
from modules.import_history.old_messages import (
    Entry,
    Note,
    OldAnswer,
    OldCall,
    OldReply,
    Repair,
    Said,
)
from utils.llm.calls.lenient_json import whole_object
from utils.llm.completion import RawCall
from utils.text.lines import without_halves

_ROLES = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant",
          "bot": "assistant", "model": "assistant", "tool": "tool", "function": "tool",
          "system": "system", "developer": "system"}  # fmt: skip
LARGEST_PYTHON = 100_000
"""Characters of a Python literal that is read: the compiler takes hundreds of bytes for each."""
_THOUGHT = re.compile(r"\s*<think>(.*?)</think>\s*", re.DOTALL)


@dataclass
class MessageReader:
    """Reads one message after the other; *note* hears of what had to be mended."""

    note: Note
    has_begun: bool = field(default=False, init=False)

    def entries(self, messages: Sequence[Any]) -> Iterator[Entry]:
        for number, message in enumerate(messages, 1):
            if not isinstance(message, dict):
                self.note(Repair.NO_MESSAGE, number)
            elif entry := self._entry(message, number):
                self.has_begun = True
                yield entry

    def _entry(self, message: dict[str, Any], number: int) -> Entry | None:
        role = self._role(message, number)
        text, thinking = self._content(message, number)
        if names := _pictures_in(message):  # of our own export, which refers to them only
            self.note(Repair.PART, number)
            text = "\n".join(filter(None, [text, *(f"[picture {one} left out]" for one in names)]))
        if role == "assistant":
            return self._reply(message, text, thinking, number)
        if role == "tool":
            call_id = _text_in(message, "tool_call_id", "call_id", "id")
            return OldAnswer(number, call_id, _text_in(message, "name") or "", text)
        if not text.strip():
            self.note(Repair.EMPTY, number)
            return None
        if role == "user":
            return Said(number, User(text))
        if role == "system" and not self.has_begun:
            self.note(Repair.SYSTEM, number)
            return None
        return Said(number, Context(text))

    def _role(self, message: Mapping[str, Any], number: int) -> str:
        said = message.get("role")
        role = _ROLES.get(str(said).strip().lower()) if said else _supposed_role(message)
        if role is None:
            self.note(Repair.UNKNOWN_ROLE, number)
            return ""
        if role != said:
            self.note(Repair.ROLE, number)
        return role

    def _content(self, message: Mapping[str, Any], number: int) -> tuple[str, str]:
        """Return the text and the thinking in the content."""
        content = message.get("content")
        if content is None or isinstance(content, str):
            return without_halves(content or ""), ""
        self.note(Repair.CONTENT, number)
        parts = content if isinstance(content, list) else [content]
        texts: list[str] = []
        thoughts: list[str] = []
        for part in parts:
            said, thought = _part(part)
            if said is None and thought is None:
                self.note(Repair.PART, number)
                said = f"[{part.get('type') or 'part'} left out]"
            texts += [said] if said else []
            thoughts += [thought] if thought else []
        return without_halves("\n".join(texts)), without_halves("\n".join(thoughts))

    def _reply(
        self, message: Mapping[str, Any], text: str, thinking: str, number: int
    ) -> OldReply | None:
        told = _text_in(message, "reasoning_content", "reasoning", "thinking") or ""
        thoughts = [without_halves(told), thinking]
        if found := _THOUGHT.match(text):
            self.note(Repair.THINKING, number)
            thoughts.append(found[1].strip())
            text = text[found.end() :]
        calls = [call for raw in _raw_calls(message) if (call := self._call(raw, number))]
        thinking = "\n".join(filter(None, dict.fromkeys(thoughts)))
        if not text.strip() and not calls and not thinking:
            self.note(Repair.EMPTY, number)
            return None
        return OldReply(number, text, thinking, calls)

    def _call(self, raw: Any, number: int) -> OldCall | None:
        function = raw.get("function") if isinstance(raw, dict) else None
        if not isinstance(function, dict):
            function = raw
        if not isinstance(function, dict) or not function.keys() & {"name", "arguments"}:
            self.note(Repair.CALL, number)
            return None
        if raw.get("type") != "function":
            self.note(Repair.CALL_TYPE, number)
        name = _text_in(function, "name") or ""
        arguments = self._arguments(function, number)
        call_id = _text_in(raw, "id", "call_id", "tool_call_id")
        return OldCall(number, call_id, RawCall("", without_halves(name), arguments))

    def _arguments(self, function: Mapping[str, Any], number: int) -> str:
        """Return the arguments as the JSON text of an object, or as they are if they are none."""
        said = next((function[n] for n in ("arguments", "input", "args") if n in function), None)
        text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
        if said is None or not text.strip():
            self.note(Repair.ARGUMENTS, number)
            return "{}"
        text = without_halves(text)
        try:
            whole = whole_object(text)
        except ValueError:
            python = _python_object(text)
            self.note(Repair.BROKEN if python is None else Repair.ARGUMENTS, number)
            return text if python is None else python
        if whole != said:
            self.note(Repair.ARGUMENTS, number)
        return whole


def _python_object(text: str) -> str | None:
    """Return what Python prints of a dict as the JSON of an object, None where *text* is no such.

    Only literals are read; nothing is run.
    """
    if not text.lstrip().startswith("{") or len(text) > LARGEST_PYTHON:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a backslash too few
        try:
            value = ast.literal_eval(text.strip())
            said = json.dumps(value, ensure_ascii=False, allow_nan=False)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return None
    return without_halves(said) if isinstance(value, dict) else None


def _supposed_role(message: Mapping[str, Any]) -> str | None:
    """Return the role of a message that says none."""
    if message.get("tool_call_id"):
        return "tool"
    return "assistant" if message.get("tool_calls") or message.get("function_call") else None


def _part(part: Any) -> tuple[str | None, str | None]:
    """Return the text and the thinking of one part of a content, None for both if it is none."""
    if not isinstance(part, dict):
        return part if isinstance(part, str) else json.dumps(part, ensure_ascii=False), None
    if thought := _text_in(part, "thinking", "reasoning"):
        return None, thought
    text = part.get("text")
    if isinstance(text, dict):  # {"text": {"value": …}}
        text = text.get("value")
    if isinstance(text, str):
        return text, None
    if part.get("type") in (None, "json", "object"):
        return json.dumps(part, ensure_ascii=False), None
    return None, None


def _pictures_in(message: Mapping[str, Any]) -> list[str]:
    """Return the names of the pictures that a message refers to."""
    shown = message.get("pictures")
    told = [one for one in shown if isinstance(one, dict)] if isinstance(shown, list) else []
    return [without_halves(name) for one in told if isinstance(name := one.get("name"), str)]


def _text_in(message: Mapping[str, Any], *names: str) -> str | None:
    """Return the first text under one of *names* that is not empty; numbers count as text."""
    for name in names:
        value = message.get(name)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return None


def _raw_calls(message: Mapping[str, Any]) -> list[Any]:
    calls = message.get("tool_calls") or []
    calls = calls if isinstance(calls, list) else [calls]
    legacy = message.get("function_call")
    return [*calls, legacy] if legacy else calls
