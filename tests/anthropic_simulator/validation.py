"""Validation of requests, by the API's documentation."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

_KNOWN_FIELDS = {
    *("model", "max_tokens", "messages", "system", "tools", "stream", "thinking"),
    *("output_config", "tool_choice", "metadata"),
}
_BLOCKS = {
    "user": {"text", "image", "tool_result"},
    "assistant": {"text", "thinking", "redacted_thinking", "tool_use"},
}
_THOUGHT = ("thinking", "redacted_thinking")


def validation_error(body: Mapping[str, Any]) -> str | None:
    """Return what is wrong with a request, None if nothing is."""
    try:
        _check_head(body)
        _check_messages(body["messages"], _is_enabled(body))
        _check_marks(body)
    except AssertionError as error:
        return str(error).split("\n")[0] or "wrong"
    return None


def _is_enabled(body: Mapping[str, Any]) -> bool:
    """Return whether each step of the task has to begin with a thought."""
    return bool(body.get("thinking", {}).get("type") == "enabled")


def _check_head(body: Mapping[str, Any]) -> None:
    assert not body.keys() - _KNOWN_FIELDS, f"extra inputs: {body.keys() - _KNOWN_FIELDS}"
    assert body["max_tokens"] > 0, "max_tokens"
    thinking = body.get("thinking")
    if thinking:
        names = {
            "enabled": {"type", "budget_tokens", "display"},
            "adaptive": {"type", "display"},
            "disabled": {"type"},
            "between_tools": {"type"},
        }
        assert thinking.keys() <= names[thinking["type"]], "thinking: extra inputs"
    if thinking and thinking["type"] == "enabled":
        assert 1024 <= thinking["budget_tokens"] < body["max_tokens"], "budget_tokens"
    for tool in body.get("tools", ()):
        assert tool.keys() <= {"name", "description", "input_schema", "cache_control"}, "tool"
        assert tool["input_schema"]["type"] == "object", "input_schema"
    for block in body.get("system", ()):
        assert block["text"].strip(), "system: blank text"


def _check_messages(messages: Sequence[Mapping[str, Any]], is_thinking: bool) -> None:
    assert [m["role"] for m in messages[:1]] == ["user"], "the first message is the user's"
    assert messages[-1]["role"] == "user", "prefill is not supported"
    seen: set[str] = set()
    waiting: list[str] = []
    for number, message in enumerate(messages):
        role, blocks = message["role"], message["content"]
        assert role == ("user", "assistant")[number % 2], f"messages.{number}: roles alternate"
        assert blocks, f"messages.{number}: content is empty"
        for block in blocks:
            assert block["type"] in _BLOCKS[role], f"messages.{number}: {block['type']}"
            _check_block(block, number)
        if role == "user":
            answered = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
            assert sorted(answered) == sorted(waiting), f"messages.{number}: tool_result"
            kinds = [b["type"] == "tool_result" for b in blocks]
            assert kinds == sorted(kinds, reverse=True), "tool_result blocks come first"
        else:
            waiting = [b["id"] for b in blocks if b["type"] == "tool_use"]
            assert not seen & set(waiting), "tool_use ids must be unique"
            assert len(set(waiting)) == len(waiting), "tool_use ids must be unique"
            seen |= set(waiting)
            is_loop = all(_is_answer(m) for m in messages[number + 1 :: 2])
            if is_thinking and waiting and is_loop:
                assert blocks[0]["type"] in _THOUGHT, (
                    f"messages.{number}.content.0.type: Expected `thinking` or "
                    "`redacted_thinking`, but found `tool_use`."
                )


def _is_answer(message: Mapping[str, Any]) -> bool:
    return any(block["type"] == "tool_result" for block in message["content"])


def _check_block(block: Mapping[str, Any], number: int) -> None:
    match block["type"]:
        case "text":
            assert block["text"].strip(), "text content blocks must contain non-whitespace text"
        case "thinking":
            assert block.keys() == {"type", "thinking", "signature"}, "thinking"
            assert block["signature"] == signature_of(block["thinking"]), (
                f"messages.{number}: Invalid `signature` in `thinking` block"
            )
        case "redacted_thinking":
            assert block.keys() == {"type", "data"}, "redacted_thinking"
        case "tool_use":
            assert re.fullmatch(r"[a-zA-Z0-9_-]+", block["id"]), "id: String should match pattern"
            assert re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", block["name"]), "name"
            assert isinstance(block["input"], dict), "input: Input should be a dictionary"


def signature_of(thought: str) -> str:
    """Return the only signature that is good for *thought*."""
    return f"sig:{len(thought)}:{thought[::-1]}"


def _check_marks(body: Mapping[str, Any]) -> None:
    assert json.dumps(body).count('"cache_control"') <= 4, "a maximum of 4 blocks"
    for message in body["messages"]:
        for block in message["content"]:
            if "cache_control" in block:
                assert block["type"] not in _THOUGHT, "thinking blocks take no cache_control"
