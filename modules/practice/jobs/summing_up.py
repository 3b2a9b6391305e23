"""Summing a conversation up without understanding it: what was asked, and what was called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_ASKED = "You sum up a conversation"
_LONGEST = 120  # characters of a line
_MOST = 40  # lines


def is_wanted(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the request is one for a digest."""
    return bool(messages) and str(messages[0].get("content") or "").startswith(_ASKED)


def digest(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return a plain list of what the person said and which tools were used for it."""
    lines = list(_lines(str(messages[-1].get("content") or "")))
    return "\n".join(lines[-_MOST:]) or "- Nothing was said."


def _lines(talk: str) -> Iterator[str]:
    for line in talk.splitlines():
        if line.startswith("Person: "):
            yield f"- asked: {line.removeprefix('Person: ')[:_LONGEST]}"
        elif line.startswith("Call "):
            yield f"- called {line.removeprefix('Call ')[:_LONGEST]}"
