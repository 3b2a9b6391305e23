"""Tokens and the prompt cache: the part of a prompt that was seen before, in 128-token units.

The real tokenizer is not needed to test a client: a token is four bytes of UTF-8 here. What
matters is kept: the order of a rendered prompt, that each thinking mode renders its own, that a
hit ends with a whole unit, that it never covers the whole prompt, and that a prompt is known only
once its reply has come: those that ask at the same time share nothing.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

UNIT_TOKENS = 128
SHORTEST_HIT_PROMPT = 200
_TOKEN_BYTES = 4
_UNIT_BYTES = UNIT_TOKENS * _TOKEN_BYTES


def tokens(text: str) -> int:
    return -(-len(text.encode("utf-8", "replace")) // _TOKEN_BYTES)


def is_thinking(request: Mapping[str, Any]) -> bool:
    """Return whether *request* asks for thinking: it does unless it says otherwise."""
    thinking = request.get("thinking")
    if thinking:
        return bool(thinking["type"] != "disabled")
    return request.get("reasoning_effort") != "none"


def render_prompt(request: Mapping[str, Any]) -> str:
    """Return the prompt as the model reads it: mode, system text, tools, then the messages."""
    thinks = is_thinking(request)
    messages = list(request["messages"])
    mode = f"Reasoning Effort: {request.get('reasoning_effort') or 'high'}\n" if thinks else ""
    system = (
        _message_text(messages.pop(0)) if messages[:1] and messages[0]["role"] == "system" else ""
    )
    tools = request.get("tools") or []
    if request.get("tool_choice") == "none":
        tools = []
    shown_tools = f"## Tools\n{json.dumps(tools, ensure_ascii=False)}\n" if tools else ""
    keeps_thoughts = thinks and bool(tools)
    rest = "".join(_render_message(message, keeps_thoughts=keeps_thoughts) for message in messages)
    return f"{mode}{system}\n{shown_tools}{rest}"


def _render_message(message: Mapping[str, Any], *, keeps_thoughts: bool) -> str:
    if message["role"] != "assistant":
        return f"<{message['role']}>{_message_text(message)}"
    thought = message.get("reasoning_content") or "" if keeps_thoughts else ""
    return f"<assistant>{thought}</think>{_message_text(message)}"


def _message_text(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    if not isinstance(content, str):
        content = "".join(part.get("text", "") for part in content)
    calls = [call["function"] for call in message.get("tool_calls") or ()]
    return content + (json.dumps(calls, ensure_ascii=False) if calls else "")


class PromptCache:
    """Remembers prompts by unit. One owner (key, user, model) never hits what another stored."""

    def __init__(self) -> None:
        self._seen: set[tuple[object, bytes]] = set()
        self._lock = threading.Lock()

    def hit(self, owner: object, prompt: str) -> int:
        """Return how many tokens of *prompt* are known."""
        known = 0
        with self._lock:
            for unit in _units(prompt):
                if (owner, unit) not in self._seen:
                    break
                known += 1
        total = tokens(prompt)
        if total < SHORTEST_HIT_PROMPT:
            return 0
        return min(known * UNIT_TOKENS, (total - UNIT_TOKENS) // UNIT_TOKENS * UNIT_TOKENS)

    def remember(self, owner: object, prompt: str) -> None:
        with self._lock:
            self._seen.update((owner, unit) for unit in _units(prompt))


def _units(prompt: str) -> list[bytes]:
    """Return a digest for every prefix of *prompt* that is a whole number of units long."""
    data = prompt.encode("utf-8", "replace")
    digest = blake2b(digest_size=16)
    units = []
    for start in range(0, len(data) - _UNIT_BYTES + 1, _UNIT_BYTES):
        digest.update(data[start : start + _UNIT_BYTES])
        units.append(digest.digest())
    return units
