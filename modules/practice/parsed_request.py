"""Parser of a chat-completions request: the message to answer, and the calls for it so far."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from core.conversation.messages import READ_PREFIX
from modules.practice.practice_reply import PracticeCall
from modules.practice.requests.steps import STOPPED_PREFIXES, StepAnswer

_CONTINUE_WORDS = frozenset({"go on", "continue", "carry on", "继续", "继续吧", "接着做"})
_FILE_TOOLS = frozenset(
    {"read_file", "create_file", "modify_file", "rename_file", "annotate_file", "focus_file"}
)


@dataclass(frozen=True, slots=True)
class AnsweredCall:
    """A call that was answered."""

    call: PracticeCall
    answer: StepAnswer


@dataclass(frozen=True, slots=True)
class ParsedRequest:
    """*message* is the person's, *answered_calls* what came after it, *file* what “it” means before
    it.

    *continue_count* counts how often the person has said to go (on) with it.
    """

    message: str
    answered_calls: tuple[AnsweredCall, ...]
    file: str
    continue_count: int

    @classmethod
    def parse(cls, messages: Sequence[dict[str, Any]]) -> ParsedRequest:
        """Find the last message of the person; "go on" stands for the one before it."""
        user_indexes = [n for n, message in enumerate(messages) if _is_from_person(message)]
        continue_count = 1
        while len(user_indexes) > 1 and _is_continue(messages[user_indexes[-1]]):
            user_indexes.pop()
            continue_count += 1
        if not user_indexes:
            return cls("", (), "", continue_count)
        answered_calls = tuple(_answered_calls(messages[user_indexes[-1] :]))
        if continue_count > 1:
            answered_calls = tuple(
                item for item in answered_calls if not item.answer.text.startswith(STOPPED_PREFIXES)
            )
        return cls(
            _text(messages[user_indexes[-1]]),
            answered_calls,
            _last_file(messages[: user_indexes[-1]]),
            continue_count,
        )


def _is_from_person(message: dict[str, Any]) -> bool:
    """Return whether *message* is the person's own, and not what was read for one."""
    return message["role"] == "user" and not _text(message).startswith(READ_PREFIX)


def _is_continue(message: dict[str, Any]) -> bool:
    return _text(message).strip().rstrip(".!。！").lower() in _CONTINUE_WORDS


def _text(message: dict[str, Any]) -> str:
    """Return the text of *message*; its content may also be a list of parts."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part.get("type") == "text")


def _answered_calls(messages: Sequence[dict[str, Any]]) -> Iterator[AnsweredCall]:
    answers = {m["tool_call_id"]: StepAnswer.of(_text(m)) for m in messages if m["role"] == "tool"}
    for message in messages:
        for call in message.get("tool_calls") or ():
            if call["id"] in answers:
                yield AnsweredCall(_call(call["function"]), answers[call["id"]])


def _call(function: dict[str, Any]) -> PracticeCall:
    try:
        arguments = json.loads(function["arguments"] or "{}")
    except ValueError:
        arguments = None
    return PracticeCall(function["name"], arguments if isinstance(arguments, dict) else {})


def _last_file(messages: Sequence[dict[str, Any]]) -> str:
    """Return the file that was last worked on, "" if none was."""
    for message in reversed(messages):
        for call in reversed(message.get("tool_calls") or ()):
            name, arguments = _call(call["function"])
            path = arguments.get("new_path") or arguments.get("path")
            if name in _FILE_TOOLS and isinstance(path, str):
                return path
    return ""
