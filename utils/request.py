"""The body of a chat-completions request, in bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from utils.completion import Wire
from utils.llm.server_profile import ServerProfile
from utils.llm.wire_messages import arranged, spelled

_TOKENS_PER_BYTE = 0.4
"""More than any ordinary text has, until the server has told what ours has."""

_MARGIN = 1.02
_MARGIN_TOKENS = 64
_LEAST_OUTPUT_TOKENS = 1024
_RARE_WORDS = frozenset({"default", "additionalProperties"})


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
        self._spelt: tuple[ServerProfile | None, list[Wire], bytes] = (None, [], b"")
        self._sent: list[Wire] = []
        self._ends: frozenset[int] = frozenset()
        """How long the requests of this conversation were, in messages."""
        self.profile = ServerProfile()

    def another(self) -> RequestWriter:
        """Return a writer for another conversation, which has spelled nothing yet."""
        return RequestWriter(
            max_tokens=self._max_tokens, context_limit=self._context_limit, effort=self._effort
        )

    def write(
        self, model: str, messages: Sequence[Wire], tools: Sequence[Wire], *, think: bool
    ) -> bytes:
        """Return the body of a request, in the shape of `profile`."""
        profile = self.profile
        head: dict[str, Any] = {"model": model}
        if tools:
            head["tools"] = [_plain(tool) for tool in tools] if profile.plain_schema else tools
            if profile.tool_choice != "unsaid":
                head["tool_choice"] = profile.tool_choice
        start = _json(head)[:-1] + b',"messages":['
        body = start + self._spelled(messages) + b"],"
        tail: dict[str, Any] = {}
        if profile.thinking:
            tail["thinking"] = {"type": "enabled" if think else "disabled"}
        tail["stream"] = profile.stream
        if profile.stream and profile.stream_options:
            tail["stream_options"] = {"include_usage": True}
        if think and profile.reasoning_effort:
            tail["reasoning_effort"] = self._effort
        if profile.output_limit != "none":
            tail[profile.output_limit] = self._room(len(body) + len(_json(tail)))
        return body + _json(tail)[1:]

    def learn(self, body: bytes, prompt_tokens: int) -> None:
        """Take in what the server counted for *body*, to estimate the next one by."""
        if prompt_tokens:
            self._tokens_per_byte = prompt_tokens / len(body)

    def _room(self, request_bytes: int) -> int:
        """Return how many tokens the reply to a request of so many bytes may have."""
        prompt_tokens = int(request_bytes * self._tokens_per_byte * _MARGIN) + _MARGIN_TOKENS
        window = min(self._context_limit, self.profile.window or self._context_limit)
        largest = min(self._max_tokens, self.profile.max_output or self._max_tokens)
        least = max(min(_LEAST_OUTPUT_TOKENS, window // 16), 1)
        return min(largest, max(window - prompt_tokens, least))

    def _spelled(self, messages: Sequence[Wire]) -> bytes:
        """Spell *messages*, separated by commas; only what is behind the known ones is new work."""
        profile = self.profile
        if self._sent != messages[: len(self._sent)]:
            self._ends = frozenset()
        ends = self._ends
        self._sent, self._ends = list(messages), ends | {len(messages)}
        messages = arranged(messages, profile, ends)
        learnt, known, text = self._spelt
        if learnt != profile or known != messages[: len(known)]:
            known, text = [], b""
        new = [_json(spelled(message, profile)) for message in messages[len(known) :]]
        text = b",".join([text, *new] if known else new)
        self._spelt = profile, list(messages), text  # at once: another thread may be writing too
        return text


def _plain(schema: Any) -> Any:
    """Return a declaration or schema without the words that not every server knows."""
    if isinstance(schema, list):
        return [_plain(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    known = {name: one for name, one in schema.items() if name not in _RARE_WORDS}
    return {
        name: {key: _plain(value) for key, value in one.items()}
        if name == "properties"
        else _plain(one)
        for name, one in known.items()
    }


def _json(value: Any) -> bytes:
    """Spell *value*; half a surrogate pair, which no server would read, becomes `?`."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")
