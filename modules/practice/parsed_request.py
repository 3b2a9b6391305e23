"""What a chat-completions request tells: the message to answer, and what was done for it so far."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from modules.practice.jobs.steps import STOPPED, StepAnswer
from modules.practice.practice_reply import PracticeCall

_GO_ON = frozenset({"go on", "continue", "carry on", "继续", "继续吧", "接着做"})
_OF_A_FILE = frozenset(
    {"read_file", "create_file", "modify_file", "rename_file", "annotate_file", "focus_file"}
)


@dataclass(frozen=True, slots=True)
class DoneCall:
    """A call that was answered."""

    call: PracticeCall
    answer: StepAnswer


@dataclass(frozen=True, slots=True)
class ParsedRequest:
    """*message* is the person's, *done* what came after it, *file* what “it” means before it.

    *goes* counts how often the person has said to go (on) with it.
    """

    message: str
    done: tuple[DoneCall, ...]
    file: str
    goes: int

    @classmethod
    def of(cls, messages: Sequence[dict[str, Any]]) -> ParsedRequest:
        """Find the last message of the person; "go on" stands for the one before it."""
        said = [n for n, message in enumerate(messages) if message["role"] == "user"]
        goes = 1
        while len(said) > 1 and _is_go_on(messages[said[-1]]):
            said.pop()
            goes += 1
        if not said:
            return cls("", (), "", goes)
        done = tuple(_done(messages[said[-1] :]))
        if goes > 1:
            done = tuple(item for item in done if not item.answer.text.startswith(STOPPED))
        return cls(_text(messages[said[-1]]), done, _last_file(messages[: said[-1]]), goes)


def _is_go_on(message: dict[str, Any]) -> bool:
    return _text(message).strip().rstrip(".!。！").lower() in _GO_ON


def _text(message: dict[str, Any]) -> str:
    """Return the text of *message*; its content may also be a list of parts."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part.get("type") == "text")


def _done(messages: Sequence[dict[str, Any]]) -> Iterator[DoneCall]:
    answers = {m["tool_call_id"]: StepAnswer.of(_text(m)) for m in messages if m["role"] == "tool"}
    for message in messages:
        for call in message.get("tool_calls") or ():
            if call["id"] in answers:
                yield DoneCall(_call(call["function"]), answers[call["id"]])


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
            if name in _OF_A_FILE and isinstance(path, str):
                return path
    return ""
