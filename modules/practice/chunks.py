"""Chunks of a streamed reply in DeepSeek's form: JSON, as server-sent events."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

_TOKEN_LIKE = re.compile(r"\s*[!-~]{1,12}|\s+|.", re.DOTALL)
END = b"data: [DONE]\n\n"


@dataclass(frozen=True)
class ChunkBuilder:
    """Makes the chunks of one reply; all bear the same *id*, *created* and *model*.

    *is_thinking* is whether the request was one with thinking, which shows in every delta.
    *has_usage* is whether it asked for `include_usage`.
    """

    id: str
    created: int
    model: str
    is_thinking: bool
    has_usage: bool = True
    fingerprint: str = field(default="aeb56401ca74e127821c4f9126dcb669")

    def opening(self) -> dict[str, Any]:
        delta: dict[str, Any] = {"role": "assistant", "content": ""}
        if self.is_thinking:
            delta |= {"content": None, "reasoning_content": ""}
        return self.chunk(delta)

    def thinking(self, text: str) -> Iterator[dict[str, Any]]:
        for piece in pieces(text):
            yield self.chunk({"content": None, "reasoning_content": piece})

    def text(self, text: str) -> Iterator[dict[str, Any]]:
        for piece in pieces(text):
            yield self.chunk(self._content(piece))

    def call(self, index: int, call_id: str, name: str, arguments: str) -> Iterator[dict[str, Any]]:
        function = {"name": name, "arguments": ""}
        yield self._call_delta(
            {"index": index, "id": call_id, "type": "function", "function": function}
        )
        for piece in pieces(arguments):
            yield self._call_delta({"index": index, "function": {"arguments": piece}})

    def closing(self, finish_reason: str, usage: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the last chunk; it bears the usage, as DeepSeek's does, unless that is None."""
        chunk = self.chunk(self._content(""), finish_reason)
        return chunk if usage is None else {**chunk, "usage": usage}

    def chunk(self, delta: Mapping[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return self.envelope([choice])

    def envelope(self, choices: list[dict[str, Any]]) -> dict[str, Any]:
        chunk: dict[str, Any] = {
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "system_fingerprint": self.fingerprint,
            "choices": choices,
        }
        return chunk | {"usage": None} if self.has_usage else chunk

    def _content(self, text: str) -> dict[str, Any]:
        return (
            {"content": text, "reasoning_content": None} if self.is_thinking else {"content": text}
        )

    def _call_delta(self, call: Mapping[str, Any]) -> dict[str, Any]:
        return self.chunk({"tool_calls": [call]})


def pieces(text: str) -> list[str]:
    """Cut *text* into pieces about as long as tokens."""
    return _TOKEN_LIKE.findall(text)


def event(chunk: Mapping[str, Any]) -> bytes:
    """Return *chunk* as one server-sent event, serialized as DeepSeek does it."""
    return (
        b"data: " + json.dumps(chunk, ensure_ascii=False, separators=(",", ":")).encode() + b"\n\n"
    )


def usage(*, prompt: int, hit: int, completion: int, reasoning: int | None) -> dict[str, Any]:
    """Return the usage object for so many tokens; *reasoning* is None without thinking."""
    usage_object: dict[str, Any] = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": hit},
    }
    if reasoning is not None:
        usage_object["completion_tokens_details"] = {"reasoning_tokens": reasoning}
    return usage_object | {"prompt_cache_hit_tokens": hit, "prompt_cache_miss_tokens": prompt - hit}
