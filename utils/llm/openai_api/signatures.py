"""What a server signs a reply with, and wants back with it: Gemini's calls, OpenRouter's thoughts.

A call without its signature is refused by Gemini 3 in every request from then on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from utils.llm.completion import RawCall, Wire

_CALLS = "extra_content"
_THOUGHTS = "reasoning_details"
_GROWING = ("text", "summary", "data")
"""Fields of a thought that come in pieces."""


def signatures(calls: Sequence[RawCall], details: Sequence[Any]) -> Mapping[str, Any] | None:
    """Return what a reply with *calls* was signed with, and with its *details*; None for nothing.

    Thoughts that nobody signed are left out: they are sent back as text.
    """
    signed: dict[str, Any] = {}
    if extras := {call.id: dict(call.extra) for call in calls if call.extra}:
        signed[_CALLS] = extras
    thoughts = _whole(details)
    if any(thought.get("signature") or thought.get("data") for thought in thoughts):
        signed[_THOUGHTS] = thoughts
    return signed or None


def signed_message(message: Wire, signed: Mapping[str, Any]) -> Wire:
    """Return the *message* of a reply with what it was *signed* with."""
    if extras := signed.get(_CALLS):
        calls = message.get("tool_calls") or ()
        signed_calls = [
            {**call, _CALLS: extras[call["id"]]} if call["id"] in extras else call for call in calls
        ]
        message = {**message, "tool_calls": signed_calls} if signed_calls else message
    return {**message, _THOUGHTS: signed[_THOUGHTS]} if signed.get(_THOUGHTS) else message


def _whole(details: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the thoughts whose pieces *details* are; those of one thought have its number."""
    thoughts: list[dict[str, Any]] = []
    for piece in details:
        if not isinstance(piece, dict):
            continue
        last = thoughts[-1] if thoughts else {}
        is_next = "index" in piece and _kind(piece) == _kind(last)
        if not is_next:
            thoughts.append(dict(piece))
            continue
        for name, value in piece.items():
            grows = name in _GROWING and isinstance(value, str) and last.get(name)
            if value is not None:
                last[name] = last[name] + value if grows else value
    return thoughts


def _kind(piece: Mapping[str, Any]) -> tuple[Any, Any]:
    return piece.get("type"), piece.get("index")
