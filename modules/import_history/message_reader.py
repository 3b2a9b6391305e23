"""Reader of incomplete messages: roles, texts, calls and their arguments."""

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
    OldCall,
    OldMessage,
    OldReply,
    OldToolResult,
    OnRepair,
    Repair,
)
from utils.llm.calls.lenient_json import repair_object
from utils.llm.completion import RawCall
from utils.text.lines import replace_lone_surrogates

_ROLES = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant",
          "bot": "assistant", "model": "assistant", "tool": "tool", "function": "tool",
          "system": "system", "developer": "system"}  # fmt: skip
MAX_PYTHON_CHARS = 100_000
"""Characters of a Python literal that is read: the compiler takes hundreds of bytes for each."""
_THINK_TAG = re.compile(r"\s*<think>(.*?)</think>\s*", re.DOTALL)


@dataclass
class MessageReader:
    """Reads one message after the other; *on_repair* is called for each repair."""

    on_repair: OnRepair
    has_begun: bool = field(default=False, init=False)

    def entries(self, messages: Sequence[Any]) -> Iterator[Entry]:
        for number, message in enumerate(messages, 1):
            if not isinstance(message, dict):
                self.on_repair(Repair.NO_MESSAGE, number)
            elif entry := self._entry(message, number):
                self.has_begun = True
                yield entry

    def _entry(self, message: dict[str, Any], number: int) -> Entry | None:
        role = self._role(message, number)
        text, thinking = self._content(message, number)
        if names := _picture_names(message):  # of our own export, which refers to them only
            self.on_repair(Repair.PART, number)
            text = "\n".join(
                filter(
                    None, [text, *(f"[picture {picture_name} left out]" for picture_name in names)]
                )
            )
        if role == "assistant":
            return self._reply(message, text, thinking, number)
        if role == "tool":
            call_id = _first_text(message, "tool_call_id", "call_id", "id")
            return OldToolResult(number, call_id, _first_text(message, "name") or "", text)
        if not text.strip():
            self.on_repair(Repair.EMPTY, number)
            return None
        if role == "user":
            return OldMessage(number, User(text))
        if role == "system" and not self.has_begun:
            self.on_repair(Repair.SYSTEM, number)
            return None
        return OldMessage(number, Context(text))

    def _role(self, message: Mapping[str, Any], number: int) -> str:
        given_role = message.get("role")
        role = (
            _ROLES.get(str(given_role).strip().lower()) if given_role else _inferred_role(message)
        )
        if role is None:
            self.on_repair(Repair.UNKNOWN_ROLE, number)
            return ""
        if role != given_role:
            self.on_repair(Repair.ROLE, number)
        return role

    def _content(self, message: Mapping[str, Any], number: int) -> tuple[str, str]:
        """Return the text and the thinking in the content."""
        content = message.get("content")
        if content is None or isinstance(content, str):
            return replace_lone_surrogates(content or ""), ""
        self.on_repair(Repair.CONTENT, number)
        parts = content if isinstance(content, list) else [content]
        texts: list[str] = []
        thoughts: list[str] = []
        for part in parts:
            text, thinking = _text_and_thinking(part)
            if text is None and thinking is None:
                self.on_repair(Repair.PART, number)
                text = f"[{part.get('type') or 'part'} left out]"
            texts += [text] if text else []
            thoughts += [thinking] if thinking else []
        return replace_lone_surrogates("\n".join(texts)), replace_lone_surrogates(
            "\n".join(thoughts)
        )

    def _reply(
        self, message: Mapping[str, Any], text: str, thinking: str, number: int
    ) -> OldReply | None:
        reasoning = _first_text(message, "reasoning_content", "reasoning", "thinking") or ""
        thoughts = [replace_lone_surrogates(reasoning), thinking]
        if think_tag := _THINK_TAG.match(text):
            self.on_repair(Repair.THINKING, number)
            thoughts.append(think_tag[1].strip())
            text = text[think_tag.end() :]
        calls = [call for raw in _raw_calls(message) if (call := self._call(raw, number))]
        thinking = "\n".join(filter(None, dict.fromkeys(thoughts)))
        if not text.strip() and not calls and not thinking:
            self.on_repair(Repair.EMPTY, number)
            return None
        return OldReply(number, text, thinking, calls)

    def _call(self, raw: Any, number: int) -> OldCall | None:
        function = raw.get("function") if isinstance(raw, dict) else None
        if not isinstance(function, dict):
            function = raw
        if not isinstance(function, dict) or not function.keys() & {"name", "arguments"}:
            self.on_repair(Repair.CALL, number)
            return None
        if raw.get("type") != "function":
            self.on_repair(Repair.CALL_TYPE, number)
        name = _first_text(function, "name") or ""
        arguments = self._arguments(function, number)
        call_id = _first_text(raw, "id", "call_id", "tool_call_id")
        return OldCall(number, call_id, RawCall("", replace_lone_surrogates(name), arguments))

    def _arguments(self, function: Mapping[str, Any], number: int) -> str:
        """Return the arguments as the JSON text of an object, or as they are if they are none."""
        given = next((function[n] for n in ("arguments", "input", "args") if n in function), None)
        text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        if given is None or not text.strip():
            self.on_repair(Repair.ARGUMENTS, number)
            return "{}"
        text = replace_lone_surrogates(text)
        try:
            json_text = repair_object(text)
        except ValueError:
            converted = _python_object(text)
            self.on_repair(Repair.BROKEN if converted is None else Repair.ARGUMENTS, number)
            return text if converted is None else converted
        if json_text != given:
            self.on_repair(Repair.ARGUMENTS, number)
        return json_text


def _python_object(text: str) -> str | None:
    """Return what Python prints of a dict as the JSON of an object, None where *text* is no such.

    Only literals are read; nothing is run.
    """
    if not text.lstrip().startswith("{") or len(text) > MAX_PYTHON_CHARS:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a backslash too few
        try:
            value = ast.literal_eval(text.strip())
            json_text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return None
    return replace_lone_surrogates(json_text) if isinstance(value, dict) else None


def _inferred_role(message: Mapping[str, Any]) -> str | None:
    """Return the role of a message that says none."""
    if message.get("tool_call_id"):
        return "tool"
    return "assistant" if message.get("tool_calls") or message.get("function_call") else None


def _text_and_thinking(part: Any) -> tuple[str | None, str | None]:
    """Return the text and the thinking of one part of a content, None for both if it is none."""
    if not isinstance(part, dict):
        return part if isinstance(part, str) else json.dumps(part, ensure_ascii=False), None
    if thought := _first_text(part, "thinking", "reasoning"):
        return None, thought
    text = part.get("text")
    if isinstance(text, dict):  # {"text": {"value": …}}
        text = text.get("value")
    if isinstance(text, str):
        return text, None
    if part.get("type") in (None, "json", "object"):
        return json.dumps(part, ensure_ascii=False), None
    return None, None


def _picture_names(message: Mapping[str, Any]) -> list[str]:
    """Return the names of the pictures that a message refers to."""
    pictures = message.get("pictures")
    entries = (
        [picture for picture in pictures if isinstance(picture, dict)]
        if isinstance(pictures, list)
        else []
    )
    return [
        replace_lone_surrogates(name)
        for picture in entries
        if isinstance(name := picture.get("name"), str)
    ]


def _first_text(message: Mapping[str, Any], *names: str) -> str | None:
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
