"""Parser of Anthropic's stream events, from their data to a whole `Completion`.

Events and blocks that are not known are skipped, as the API's rules ask for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from utils.llm.completion import Completion, Delta, RawCall, Usage
from utils.llm.http.reply_failures import (
    StreamError,
    broken_reply,
    empty_reply,
    refused_reply,
    too_many_calls,
)
from utils.llm.http.reply_limits import LimitExceeded, ReplyLimits
from utils.llm.openai_api.streamed_calls import repair_surrogates, with_ids
from utils.text.strict_json import is_json, read_json

_TRUNCATED_REASONS = ("max_tokens", "model_context_window_exceeded", "pause_turn")
_COMPLETE_REASONS = ("end_turn", "tool_use", "stop_sequence")


@dataclass
class _Block:
    """One block of a reply: *pieces* of its text or of a call's arguments, *signature* of thought.

    *data* is what came of it at its start.
    """

    kind: str
    data: Mapping[str, Any]
    pieces: list[str] = field(default_factory=list)
    signature: str = ""
    is_complete: bool = False

    @property
    def text(self) -> str:
        return repair_surrogates("".join(self.pieces))


class AnthropicStreamParser:
    """Collects the events of one stream. Raises `RequestFailed` for more than *max_calls* calls.

    *model* is the name that was asked for and *is_thinking* whether it was told to think.
    """

    def __init__(self, max_calls: int, *, model: str = "", is_thinking: bool = False) -> None:
        self._max_calls = max_calls
        self._asked_model = model
        self._is_thinking = is_thinking
        self._blocks: list[_Block] = []
        self._block_at: dict[Any, _Block | None] = {}
        self._signed_characters = 0
        self._new_text = ""
        self._new_thinking = ""
        self._new_call_name = ""
        self._new_call_characters = 0
        self._explanation = ""
        self.finish_reason = ""
        self.is_done = False
        self.usage: dict[str, Any] = {}
        self.model = ""

    @property
    def has_content(self) -> bool:
        """Whether a part of the reply may have been shown."""
        return any(block.pieces or block.kind == "tool_use" for block in self._blocks)

    def add(self, data: bytes) -> None:
        """Add one event. Raises `RequestFailed` for a broken one, `StreamError` for an error."""
        try:
            self._add_event(read_json(data.decode()))
        except (ValueError, TypeError, AttributeError, KeyError):  # no JSON, or of another shape
            raise broken_reply() from None

    def _add_event(self, event: dict[str, Any]) -> None:
        match event.get("type"):
            case "message_start":
                message = event["message"]
                self.model = str(message.get("model") or "")
                self._add_usage(message.get("usage"))
            case "content_block_start":
                self._begin_block(event.get("index"), event["content_block"])
            case "content_block_delta" | "content_block_stop":
                if block := self._block_at.get(event.get("index")):
                    self._continue_block(block, event)
            case "message_delta":
                self._add_usage(event.get("usage"))
                self._end_message(event.get("delta") or {})
            case "message_stop":
                self.is_done = True
            case "error":
                raise StreamError(event.get("error"))
            case "message":  # a server that does not stream
                self._add_unstreamed(event)

    def _continue_block(self, block: _Block, event: dict[str, Any]) -> None:
        if event["type"] == "content_block_stop":
            block.is_complete = True
        else:
            self._add_delta(block, event["delta"])

    def _add_unstreamed(self, message: dict[str, Any]) -> None:
        self.model = str(message.get("model") or "")
        self._add_usage(message.get("usage"))
        for number, block in enumerate(message["content"]):
            if new_block := self._begin_block(number, block):
                new_block.is_complete = True
        self._end_message(message)

    def _end_message(self, delta: Mapping[str, Any]) -> None:
        self.finish_reason = str(delta.get("stop_reason") or self.finish_reason)
        details = delta.get("stop_details")
        if isinstance(details, dict):
            self._explanation = str(details.get("explanation") or "")

    def _add_usage(self, usage: Any) -> None:
        """Add token counts, which are those of the whole reply so far each time."""
        if isinstance(usage, dict):
            self.usage |= {name: value for name, value in usage.items() if value is not None}

    def _begin_block(self, index: Any, data: dict[str, Any]) -> _Block | None:
        """Begin the block *data*; None for one of a kind that is not ours."""
        kind = data.get("type")
        self._block_at[index] = None
        if kind not in ("text", "thinking", "redacted_thinking", "tool_use"):
            return None
        if kind == "tool_use" and self._call_count == self._max_calls:
            raise too_many_calls(self._max_calls)
        block = _Block(kind, data)
        self._blocks.append(block)
        self._block_at[index] = block
        match kind:
            case "text":
                self._add_text(block, data.get("text") or "")
            case "thinking":
                self._add_thinking(block, data.get("thinking") or "")
                self._add_signature(block, data.get("signature") or "")
            case "redacted_thinking":
                self._add_signature(block, data["data"])
            case "tool_use":
                self._new_call_name = str(data["name"])
                if data.get("input"):
                    self._add_arguments(block, json.dumps(data["input"], ensure_ascii=False))
        return block

    @property
    def _call_count(self) -> int:
        return sum(block.kind == "tool_use" for block in self._blocks)

    def _add_delta(self, block: _Block, delta: dict[str, Any]) -> None:
        match block.kind, delta.get("type"):
            case "text", "text_delta":
                self._add_text(block, delta["text"])
            case "thinking", "thinking_delta":
                self._add_thinking(block, delta["thinking"])
            case "thinking", "signature_delta":
                self._add_signature(block, delta["signature"])
            case "tool_use", "input_json_delta":
                self._add_arguments(block, delta["partial_json"])

    def _add_text(self, block: _Block, text: str) -> None:
        block.pieces.append(text)
        self._new_text += text

    def _add_thinking(self, block: _Block, thinking: str) -> None:
        block.pieces.append(thinking)
        self._new_thinking += thinking

    def _add_signature(self, block: _Block, signature: str) -> None:
        block.signature += signature
        self._signed_characters += len(signature)
        if self._signed_characters > ReplyLimits().characters:
            raise LimitExceeded("size")

    def _add_arguments(self, block: _Block, arguments: str) -> None:
        block.pieces.append(arguments)
        self._new_call_name = str(block.data["name"])
        self._new_call_characters += len(arguments)

    def take_delta(self) -> Delta | None:
        """Return the content since the last call as one delta, None if there is nothing to show."""
        text, thinking = repair_surrogates(self._new_text), repair_surrogates(self._new_thinking)
        name, characters = self._new_call_name, self._new_call_characters
        self._new_text = self._new_thinking = self._new_call_name = ""
        self._new_call_characters = 0
        return Delta(text, thinking, name, characters) if text or thinking or name else None

    def close(self) -> Delta | None:
        """Return None: nothing is held back. Raises `RequestFailed` for a broken stream, a
        refusal."""
        if self.finish_reason == "refusal":
            raise refused_reply(self._explanation)
        is_ended = self.finish_reason in (*_COMPLETE_REASONS, *_TRUNCATED_REASONS) or (
            (self.is_done or bool(self.finish_reason)) and all(b.is_complete for b in self._blocks)
        )
        if not is_ended:
            raise broken_reply()
        return None

    def completion(self, usage: Usage) -> Completion:
        """Return the reply, closed before. Raises `RequestFailed` if nothing in it is of use."""
        is_cut = self.finish_reason in _TRUNCATED_REASONS
        text = "".join(block.text for block in self._blocks if block.kind == "text")
        thoughts = [block.text for block in self._blocks if block.kind == "thinking"]
        calls = with_ids([_call(b, is_cut) for b in self._blocks if b.kind == "tool_use"])
        if not text.strip() and not calls and not is_cut:
            raise empty_reply()
        thinking = "\n\n".join(filter(None, thoughts))
        return Completion(text, thinking, calls, usage, is_cut, self._provider_blocks(calls))

    def _provider_blocks(self, calls: tuple[RawCall, ...]) -> dict[str, Any]:
        """Return what has to be sent back of the reply, and the order of its blocks."""
        ids = iter(calls)
        blocks: list[dict[str, Any]] = []
        for block in self._blocks:
            match block.kind:
                case "thinking" if block.signature:
                    blocks.append(
                        {"type": "thinking", "thinking": "".join(block.pieces),
                         "signature": block.signature}
                    )  # fmt: skip
                case "redacted_thinking":
                    blocks.append({"type": "redacted_thinking", "data": block.signature})
                case "text":
                    blocks.append({"type": "text", "length": len(block.text)})
                case "tool_use":
                    blocks.append({"type": "tool_use", "id": next(ids).id})
        return {"model": self._asked_model, "thinking": self._is_thinking, "blocks": blocks}


def _call(block: _Block, is_cut: bool) -> RawCall:
    """Return the call in *block*; arguments that are none at all are those of a call without."""
    arguments = block.text
    is_part = is_cut and not (block.is_complete and (not arguments or is_json(arguments)))
    return RawCall(str(block.data["id"]), str(block.data["name"]), arguments, is_part)
