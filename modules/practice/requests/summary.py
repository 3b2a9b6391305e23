"""Summary of a conversation without understanding it: the requests and the calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.conversation.compaction import CALL_PREFIX, PERSON_PREFIX
from modules.prompts import prompt

_MAX_LINE_LENGTH = 120  # characters of a line
_MAX_LINES = 40  # lines


def is_summary_request(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the request is one for a summary."""
    return bool(messages) and messages[0].get("content") == prompt("digest")


def summarize(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return a plain list of what the person said and which tools were used for it."""
    lines = list(_lines(str(messages[-1].get("content") or "")))
    return "\n".join(lines[-_MAX_LINES:]) or "- Nothing was said."


def _lines(conversation: str) -> Iterator[str]:
    for line in conversation.splitlines():
        if line.startswith(PERSON_PREFIX):
            yield f"- asked: {line.removeprefix(PERSON_PREFIX)[:_MAX_LINE_LENGTH]}"
        elif line.startswith(CALL_PREFIX):
            yield f"- called {line.removeprefix(CALL_PREFIX)[:_MAX_LINE_LENGTH]}"
