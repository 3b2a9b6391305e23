"""The body of a request to Anthropic's Messages API, in bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from utils.llm.anthropic_api.anthropic_messages import (
    Block,
    Conversation,
    set_cache_marks,
    to_conversation,
)
from utils.llm.completion import Wire
from utils.llm.openai_api.request import RequestBody
from utils.llm.openai_api.wire_messages import with_own_pictures
from utils.llm.profiles.refusals import Refusal
from utils.llm.profiles.server_profile import ServerProfile
from utils.pictures import Picture, ReadPicture, read_no_picture

_BUDGETS = {"low": 4_096, "high": 16_384, "max": 32_768}
"""Tokens of thought, for models that are told how many."""
_MIN_BUDGET = 1_024
_MIN_OUTPUT_TOKENS = 1_024
_TOKENS_PER_BYTE = 0.4
"""More than any ordinary text has, until the server has told what ours has."""
_SAFETY_FACTOR = 1.02
_SAFETY_TOKENS = 64


class AnthropicWriter:
    """Writes requests; each holds the messages of the one before and more behind them.

    *max_tokens* limits the reply; less is asked for where the model or its window has less.
    """

    def __init__(self, *, max_tokens: int, context_limit: int, effort: str) -> None:
        self._max_tokens = max_tokens
        self._context_limit = context_limit
        self._effort = effort
        self._tokens_per_byte = _TOKENS_PER_BYTE
        self._message_count = 0
        """Messages of the last request."""
        self._request_bytes = 1
        self._picture_tokens = 0
        self._signed_from = 0
        self.profile = ServerProfile()
        self.read_picture: ReadPicture = read_no_picture

    def for_other_conversation(self) -> AnthropicWriter:
        return AnthropicWriter(
            max_tokens=self._max_tokens, context_limit=self._context_limit, effort=self._effort
        )

    def write(
        self,
        model: str,
        messages: Sequence[Wire],
        tools: Sequence[Wire],
        *,
        think: bool,
        reply_tokens: int = 0,
        effort: str = "",
    ) -> RequestBody:
        """Return the body of a request.

        A task that was begun thinking goes on so, and one that was not does not begin to in its
        midst: the API has one way of thinking for each task, and its cache serves no other.
        """
        if len(messages) < self._signed_from:  # another conversation, or gone back in this one
            self._signed_from = 0
        self._message_count = len(messages)
        prepared = [with_own_pictures(m, self.profile, self.read_picture) for m in messages]
        request_messages = to_conversation(prepared, model, signed_from=self._signed_from)
        declared = [_tool_declaration(tool) for tool in tools]
        set_cache_marks(request_messages, declared)
        head: dict[str, Any] = {"model": model}
        if declared:
            head["tools"] = declared
        elif called := _called_names(messages):  # the API takes no calls of tools it was not told
            head["tools"] = [_undescribed(name) for name in called]
            head["tool_choice"] = {"type": "none"}
        if request_messages.system:
            head["system"] = request_messages.system
        body = {**head, "messages": request_messages.messages, "stream": True}
        pictures = [Picture(**picture) for m in messages for picture in m.get("pictures", ())]
        self._request_bytes = len(_to_json(body)) - _picture_bytes(request_messages.messages)
        self._picture_tokens = (
            sum(picture.tokens for picture in pictures) if self.profile.pictures else 0
        )
        most_tokens = self._max_output_tokens(self._request_bytes)
        limits = self._limit_fields(request_messages, think, most_tokens, effort or self._effort)
        may_reason = limits.get("thinking", {}).get("type", "disabled") != "disabled"
        if reply_tokens and not may_reason and self.profile.rests_by != "effort":
            limits["max_tokens"] = min(most_tokens, reply_tokens)
        request_body = RequestBody(_to_json(body | limits))
        request_body.picture_bytes = _picture_bytes(request_messages.messages)
        request_body.picture_tokens = self._picture_tokens
        return request_body

    def _limit_fields(
        self, request_messages: Conversation, think: bool, max_tokens: int, effort: str
    ) -> dict[str, Any]:
        """Return what the request says of thinking and of the length of the reply."""
        profile = self.profile
        is_thinking = (
            think if request_messages.has_thought is None else request_messages.has_thought
        )
        limits: dict[str, Any] = {"max_tokens": max_tokens}
        if not profile.thinking:
            return limits
        if not is_thinking:
            if profile.rests_by == "effort":
                limits["output_config"] = {"effort": "low"}
            elif profile.rests_by:
                limits["thinking"] = {"type": profile.rests_by}
            return limits
        if profile.thinks_by == "enabled":
            budget = min(_BUDGETS.get(effort, _MIN_BUDGET), max_tokens // 2)
            if budget >= _MIN_BUDGET:
                limits["thinking"] = {"type": "enabled", "budget_tokens": budget}
            return limits
        limits["thinking"] = {"type": "adaptive", "display": "summarized"}
        if profile.reasoning_effort:
            limits["output_config"] = {"effort": effort}
        return limits

    def calibrate(self, body: RequestBody, prompt_tokens: int) -> None:
        """Take in what the server counted for *body*, to estimate the next one by."""
        if prompt_tokens > 2 * body.picture_tokens:
            self._tokens_per_byte = (prompt_tokens - body.picture_tokens) / body.text_bytes

    def adapt(self, refusal: Refusal, *, may_guess: bool) -> bool:  # noqa: ARG002 - it names what it minds
        """Take in what *refusal* says; return whether the next request will be another one."""
        if refusal.status not in (400, 422):
            return False
        text = refusal.text
        if re.search(r"signature|thinking.{0,40}blocks?\b", text, re.IGNORECASE | re.DOTALL):
            before_mark, self._signed_from = self._signed_from, self._message_count
            return before_mark != self._signed_from
        if match := re.search(r"context limit: ([\d,]+) \+ [\d,]+ > ([\d,]+)", text):
            before = self._max_output_tokens(self._request_bytes)
            self._tokens_per_byte = _number(match[1]) / self._request_bytes
            self.profile = replace(self.profile, window=_number(match[2]))
            return self._max_output_tokens(self._request_bytes) < before
        profile = _adapted(self.profile, text)
        is_new = profile != self.profile
        self.profile = profile
        return is_new

    def _max_output_tokens(self, request_bytes: int) -> int:
        """Return how many tokens the reply to a request of so many bytes may have."""
        prompt_tokens = int(request_bytes * self._tokens_per_byte * _SAFETY_FACTOR) + _SAFETY_TOKENS
        prompt_tokens += self._picture_tokens
        window = min(self._context_limit, self.profile.window or self._context_limit)
        largest = min(self._max_tokens, self.profile.max_output or self._max_tokens)
        return min(largest, max(window - prompt_tokens, _MIN_OUTPUT_TOKENS))


def _adapted(profile: ServerProfile, text: str) -> ServerProfile:
    """Return what a refusal's *text* makes of *profile*; the same one where it teaches nothing."""
    if match := re.search(r"max_tokens: [\d,]+ > ([\d,]+)", text):
        return replace(profile, max_output=_number(match[1]))
    if "prompt is too long" in text:
        return profile
    if "effort" in text and "thinking.type" not in text:
        return replace(profile, reasoning_effort=False)
    if re.search(r"thinking\.type\.(disabled|between_tools)|\bbetween_tools\b", text):
        mode: Any = "between_tools" if "between_tools" in text else "effort"
        if profile.rests_by == mode:
            mode = "effort"
        return replace(profile, rests_by=mode)
    if re.search(r"thinking\.type\.enabled|thinking\.enabled", text):
        return replace(profile, thinks_by="adaptive")
    if re.search(r"adaptive", text):
        return replace(profile, thinks_by="enabled", reasoning_effort=False)
    if re.search(r"\bthinking\b", text):
        return replace(profile, thinking=False)
    return profile


def _picture_bytes(messages: Sequence[Wire]) -> int:
    """Return how many bytes of *messages* spell pictures."""
    blocks = [block for message in messages for block in message["content"]]
    inner = [part for block in blocks if isinstance(block.get("content"), list)
             for part in block["content"]]  # fmt: skip
    images = (block["source"] for block in [*blocks, *inner] if block["type"] == "image")
    return sum(len(source.get("data", "")) for source in images)


def _number(digits: str) -> int:
    return int(digits.replace(",", "")[:12] or 0)


def _tool_declaration(tool: Wire) -> Block:
    function = tool["function"]
    return {
        "name": function["name"],
        "description": function.get("description", ""),
        "input_schema": function["parameters"],
    }


def _called_names(messages: Sequence[Wire]) -> list[str]:
    """Return the names of the tools that *messages* call, in the order of their first calls."""
    calls = (call for message in messages for call in message.get("tool_calls") or ())
    return list(dict.fromkeys(call["function"]["name"] for call in calls))


def _undescribed(name: str) -> Block:
    """Return the declaration of a tool that is no longer on offer."""
    return {"name": name, "input_schema": {"type": "object"}}


def _to_json(value: Any) -> bytes:
    """Spell *value*; half a surrogate pair, which no server would read, becomes `?`."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")
