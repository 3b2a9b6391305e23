"""The body of a chat-completions request, in bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from utils.completion import Wire

_TOKENS_PER_BYTE = 0.4
"""More than any ordinary text has, until the server has told what ours has."""

_MARGIN = 1.02
_MARGIN_TOKENS = 64
_LEAST_OUTPUT_TOKENS = 1024


class RequestWriter:
    """Writes requests; those that go on where the last one ended spell their new messages only.

    *max_tokens* limits the reply; less is asked for where prompt and reply would pass
    *context_limit* tokens. What differs between the calls of a session stands after the messages,
    so that each request begins with the bytes of the one before.
    """

    def __init__(self, *, max_tokens: int, context_limit: int, effort: str) -> None:
        self._max_tokens = max_tokens
        self._context_limit = context_limit
        self._effort = effort
        self._tokens_per_byte = _TOKENS_PER_BYTE
        self._spelt: tuple[list[Wire], bytes] = ([], b"")

    def another(self) -> RequestWriter:
        """Return a writer for another conversation, which has spelled nothing yet."""
        return RequestWriter(
            max_tokens=self._max_tokens, context_limit=self._context_limit, effort=self._effort
        )

    def write(
        self, model: str, messages: Sequence[Wire], tools: Sequence[Wire], *, think: bool
    ) -> bytes:
        head: dict[str, Any] = {"model": model}
        if tools:
            head["tools"] = tools
        start = _json(head)[:-1] + b',"messages":['
        body = start + self._spelled(messages) + b"],"
        tail: dict[str, Any] = {
            "thinking": {"type": "enabled" if think else "disabled"},
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if think:
            tail["reasoning_effort"] = self._effort
        tail["max_tokens"] = self._room(len(body) + len(_json(tail)))
        return body + _json(tail)[1:]

    def learn(self, body: bytes, prompt_tokens: int) -> None:
        """Take in what the server counted for *body*, to estimate the next one by."""
        if prompt_tokens:
            self._tokens_per_byte = prompt_tokens / len(body)

    def _room(self, request_bytes: int) -> int:
        """Return how many tokens the reply to a request of so many bytes may have."""
        prompt_tokens = int(request_bytes * self._tokens_per_byte * _MARGIN) + _MARGIN_TOKENS
        room = max(self._context_limit - prompt_tokens, _LEAST_OUTPUT_TOKENS)
        return min(self._max_tokens, room)

    def _spelled(self, messages: Sequence[Wire]) -> bytes:
        """Spell *messages*, separated by commas; only what is behind the known ones is new work."""
        known, text = self._spelt
        if known != messages[: len(known)]:
            known, text = [], b""
        new = [_message(message) for message in messages[len(known) :]]
        text = b",".join([text, *new] if known else new)
        self._spelt = list(messages), text  # at once: another thread may be writing as well
        return text


def _message(message: Wire) -> bytes:
    """Spell one message. No assistant message goes without `reasoning_content`, be it empty.

    The API answers 400 to one that does in a thinking call, and takes it in any other; always
    sending it, the bytes are the same in both.
    """
    if message["role"] == "assistant" and message.get("reasoning_content") is None:
        message = {**message, "reasoning_content": ""}
    return _json(message)


def _json(value: Any) -> bytes:
    """Spell *value*; half a surrogate pair, which no server would read, becomes `?`."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")
