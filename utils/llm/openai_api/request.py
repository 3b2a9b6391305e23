"""The body of a chat-completions request, in bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from utils.llm.completion import Wire
from utils.llm.openai_api.wire_messages import arranged, spelled
from utils.llm.refusals import Refusal, learnt
from utils.llm.server_profile import ServerProfile
from utils.pictures import Picture, ReadPicture, no_picture

_TOKENS_PER_BYTE = 0.4
"""More than any ordinary text has, until the server has told what ours has."""

_MARGIN = 1.02
_MARGIN_TOKENS = 64
_LEAST_OUTPUT_TOKENS = 1024
_RARE_WORDS = frozenset({"default", "additionalProperties"})


class Body(bytes):
    """The bytes of a request; *picture_bytes* of them spell pictures, of *picture_tokens*."""

    picture_bytes = 0
    picture_tokens = 0

    @property
    def text_bytes(self) -> int:
        return len(self) - self.picture_bytes


@dataclass(frozen=True, slots=True)
class _Spelt:
    """The *messages* that were spelled last, as they were arranged for *profile*."""

    profile: ServerProfile | None = None
    messages: Sequence[Wire] = ()
    text: bytes = b""
    picture_bytes: int = 0
    picture_tokens: int = 0


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
        self._spelt = _Spelt()
        self._sent: tuple[list[Wire], frozenset[int]] = [], frozenset()
        """The messages of the last request, and how many those of its conversation had."""
        self.profile = ServerProfile()
        self.read_picture: ReadPicture = no_picture

    def another(self) -> RequestWriter:
        """Return a writer for another conversation, which has spelled nothing yet."""
        return RequestWriter(
            max_tokens=self._max_tokens, context_limit=self._context_limit, effort=self._effort
        )

    def write(
        self, model: str, messages: Sequence[Wire], tools: Sequence[Wire], *, think: bool
    ) -> Body:
        """Return the body of a request, in the shape of `profile`."""
        profile = self.profile
        head: dict[str, Any] = {"model": model}
        if tools:
            head["tools"] = [_plain(tool) for tool in tools] if profile.plain_schema else tools
            if profile.tool_choice != "unsaid":
                head["tool_choice"] = profile.tool_choice
        start = _json(head)[:-1] + b',"messages":['
        spelt = self._spelled(messages)
        body = start + spelt.text + b"],"
        tail: dict[str, Any] = {}
        if profile.thinking:
            tail["thinking"] = {"type": "enabled" if think else "disabled"}
        tail["stream"] = profile.stream
        if profile.stream and profile.stream_options:
            tail["stream_options"] = {"include_usage": True}
        if think and profile.reasoning_effort:
            tail["reasoning_effort"] = self._effort
        if profile.output_limit != "none":
            text_bytes = len(body) + len(_json(tail)) - spelt.picture_bytes
            tail[profile.output_limit] = self._room(text_bytes, spelt.picture_tokens)
        whole = Body(body + _json(tail)[1:])
        if spelt.picture_bytes:
            whole.picture_bytes = spelt.picture_bytes
            whole.picture_tokens = spelt.picture_tokens
        return whole

    def learn(self, body: Body, prompt_tokens: int) -> None:
        """Take in what the server counted for *body*, to estimate the next one by.

        A count that pictures make up most of says nothing of text.
        """
        if prompt_tokens > 2 * body.picture_tokens:
            self._tokens_per_byte = (prompt_tokens - body.picture_tokens) / body.text_bytes

    def mend(self, refusal: Refusal, *, may_guess: bool) -> bool:
        """Take in what *refusal* says; return whether the next request will be another one."""
        profile = learnt(self.profile, refusal, may_guess=may_guess)
        if profile is None:
            return False
        self.profile = profile
        return True

    def _room(self, text_bytes: int, picture_tokens: int) -> int:
        """Return how many tokens the reply to a request of so many bytes may have."""
        prompt_tokens = int(text_bytes * self._tokens_per_byte * _MARGIN) + _MARGIN_TOKENS
        prompt_tokens += picture_tokens
        window = min(self._context_limit, self.profile.window or self._context_limit)
        largest = min(self._max_tokens, self.profile.max_output or self._max_tokens)
        least = max(min(_LEAST_OUTPUT_TOKENS, window // 16), 1)
        return min(largest, max(window - prompt_tokens, least))

    def _spelled(self, messages: Sequence[Wire]) -> _Spelt:
        """Spell *messages*, separated by commas; only what is behind the known ones is new work."""
        profile = self.profile
        sent, ends = self._sent
        if sent != list(messages[: len(sent)]):
            ends = frozenset()
        self._sent = list(messages), ends | {len(messages)}
        messages = arranged(messages, profile, ends)
        before = self._spelt
        known = len(before.messages)
        if before.profile != profile or before.messages != messages[:known]:
            before, known = _Spelt(), 0
        new = [spelled(message, profile, self.read_picture) for message in messages[known:]]
        spelt = _Spelt(
            profile,
            list(messages),
            b",".join([before.text, *map(_json, new)] if known else map(_json, new)),
            before.picture_bytes + sum(map(_picture_bytes, new)),
            before.picture_tokens + sum(map(_picture_tokens, messages[known:])),
        )
        self._spelt = spelt  # at once: another thread may be writing too
        return spelt


def _parts(message: Wire) -> list[Wire]:
    content = message.get("content")
    return content if isinstance(content, list) else []


def _picture_bytes(message: Wire) -> int:
    """Return how many bytes of a message, as it is spelled, are pictures."""
    images = (part["image_url"] for part in _parts(message) if part["type"] == "image_url")
    return sum(len(image["url"]) for image in images)


def _picture_tokens(message: Wire) -> int:
    """Return about how many tokens the pictures of a message, as it is arranged, take."""
    pictures = (part["picture"] for part in _parts(message) if part["type"] == "picture")
    return sum(Picture(**picture).tokens for picture in pictures)


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
