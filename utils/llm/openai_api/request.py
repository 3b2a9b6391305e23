"""The body of a chat-completions request, in bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from utils.frozen import frozen
from utils.llm.completion import Wire
from utils.llm.openai_api.wire_messages import arrange_messages, serialize_message
from utils.llm.profiles.refusals import Refusal, adapted_profile
from utils.llm.profiles.server_profile import ServerProfile
from utils.pictures import Picture, ReadPicture, read_no_picture

_TOKENS_PER_BYTE = 0.4
"""More than any ordinary text has, until the server has told what ours has."""

_SAFETY_FACTOR = 1.02
_SAFETY_TOKENS = 64
_MIN_OUTPUT_TOKENS = 1024
LOW_THOUGHT_TOKENS = 500
"""Room for a thought with low effort beside a reply that is limited: the limit is of both."""
_MESSAGES_END = b"],"
_OPTIONAL_KEYWORDS = frozenset({"default", "additionalProperties"})


class RequestBody(bytes):
    """The bytes of a request; *picture_bytes* of them encode pictures, of *picture_tokens*."""

    picture_bytes = 0
    picture_tokens = 0

    @property
    def text_bytes(self) -> int:
        return len(self) - self.picture_bytes


@frozen
class _SerializedMessages:
    """The *messages* that were serialized last, as they were arranged for *profile*."""

    profile: ServerProfile | None = None
    messages: Sequence[Wire] = ()
    text: bytes = b""
    picture_bytes: int = 0
    picture_tokens: int = 0


@frozen
class _Head:
    """What stands before the messages: it is the same at every step, as a rule."""

    profile: ServerProfile
    model: str
    tools: Sequence[Wire]

    def fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"model": self.model}
        if self.tools:
            is_plain = self.profile.plain_schema
            fields["tools"] = (
                [_plain_schema(tool) for tool in self.tools] if is_plain else self.tools
            )
            if self.profile.tool_choice != "unsaid":
                fields["tool_choice"] = self.profile.tool_choice
        return fields


class RequestWriter:
    """Writes requests; one that continues the last one serializes its new messages only.

    *max_tokens* limits the reply; less is asked for where prompt and reply would pass
    *context_limit* tokens. What differs between the calls of a session stands after the messages,
    so that each request begins with the bytes of the one before.
    """

    def __init__(self, *, max_tokens: int, context_limit: int, effort: str) -> None:
        self._max_tokens = max_tokens
        self._context_limit = context_limit
        self._effort = effort
        self._tokens_per_byte = _TOKENS_PER_BYTE
        self._serialized = _SerializedMessages()
        self._head: tuple[_Head | None, bytes] = None, b""
        """What the last request began with, and that as it was serialized."""
        self._sent: tuple[list[Wire], frozenset[int]] = [], frozenset()
        """The messages of the last request, and how many those of its conversation had."""
        self.profile = ServerProfile()
        self.read_picture: ReadPicture = read_no_picture

    def for_other_conversation(self) -> RequestWriter:
        """Return a writer for another conversation, which has serialized nothing yet."""
        return RequestWriter(
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
        """Return the body of a request, in the shape of `profile`."""
        profile = self.profile
        head = self._serialize_head(_Head(profile, model, list(tools)))
        serialized = self._serialize(messages)
        body_length = len(head) + len(serialized.text) + len(_MESSAGES_END)
        tail: dict[str, Any] = {}
        if profile.thinking:
            tail["thinking"] = {"type": "enabled" if think else "disabled"}
        tail["stream"] = profile.stream
        if profile.stream and profile.stream_options:
            tail["stream_options"] = {"include_usage": True}
        if think and profile.reasoning_effort:
            tail["reasoning_effort"] = effort or self._effort
        if profile.output_limit != "none":
            text_bytes = body_length + len(_to_json(tail)) - serialized.picture_bytes
            most = self._max_output_tokens(text_bytes, serialized.picture_tokens)
            thought = LOW_THOUGHT_TOKENS if effort == "low" else 0
            if reply_tokens and (thought or not think) and profile.output_limit == "max_tokens":
                most = min(most, reply_tokens + thought * think)
            tail[profile.output_limit] = most
        parts = head, serialized.text, _MESSAGES_END, _to_json(tail)[1:]
        request_body = RequestBody(b"".join(parts))
        if serialized.picture_bytes:
            request_body.picture_bytes = serialized.picture_bytes
            request_body.picture_tokens = serialized.picture_tokens
        return request_body

    def calibrate(self, body: RequestBody, prompt_tokens: int) -> None:
        """Take in what the server counted for *body*, to estimate the next one by.

        A count that pictures make up most of says nothing of text.
        """
        if prompt_tokens > 2 * body.picture_tokens:
            self._tokens_per_byte = (prompt_tokens - body.picture_tokens) / body.text_bytes

    def adapt(self, refusal: Refusal, *, may_guess: bool) -> bool:
        """Take in what *refusal* says; return whether the next request will be another one."""
        profile = adapted_profile(self.profile, refusal, may_guess=may_guess)
        if profile is None:
            return False
        self.profile = profile
        return True

    def _max_output_tokens(self, text_bytes: int, picture_tokens: int) -> int:
        """Return how many tokens the reply to a request of so many bytes may have."""
        prompt_tokens = int(text_bytes * self._tokens_per_byte * _SAFETY_FACTOR) + _SAFETY_TOKENS
        prompt_tokens += picture_tokens
        window = min(self._context_limit, self.profile.window or self._context_limit)
        maximum = min(self._max_tokens, self.profile.max_output or self._max_tokens)
        minimum = max(min(_MIN_OUTPUT_TOKENS, window // 16), 1)
        return min(maximum, max(window - prompt_tokens, minimum))

    def _serialize_head(self, head: _Head) -> bytes:
        """Return the body as far as to its messages; the tools are spelled once, not each step."""
        known, text = self._head
        if known != head:
            text = _to_json(head.fields())[:-1] + b',"messages":['
            self._head = head, text
        return text

    def _serialize(self, messages: Sequence[Wire]) -> _SerializedMessages:
        """Serialize *messages*, separated by commas; only those behind the known ones are new."""
        profile = self.profile
        sent, ends = self._sent
        if sent != list(messages[: len(sent)]):
            ends = frozenset()
        self._sent = list(messages), ends | {len(messages)}
        messages = arrange_messages(messages, profile, ends)
        before = self._serialized
        known_count = len(before.messages)
        if before.profile != profile or before.messages != messages[:known_count]:
            before, known_count = _SerializedMessages(), 0
        new = [
            serialize_message(message, profile, self.read_picture)
            for message in messages[known_count:]
        ]
        serialized = _SerializedMessages(
            profile,
            list(messages),
            b",".join([before.text, *map(_to_json, new)] if known_count else map(_to_json, new)),
            before.picture_bytes + sum(map(_picture_bytes, new)),
            before.picture_tokens + sum(map(_picture_tokens, messages[known_count:])),
        )
        self._serialized = serialized  # at once: another thread may be writing too
        return serialized


def _content_parts(message: Wire) -> list[Wire]:
    content = message.get("content")
    return content if isinstance(content, list) else []


def _picture_bytes(message: Wire) -> int:
    """Return how many bytes of a message, as it is serialized, are pictures."""
    images = (part["image_url"] for part in _content_parts(message) if part["type"] == "image_url")
    return sum(len(image["url"]) for image in images)


def _picture_tokens(message: Wire) -> int:
    """Return about how many tokens the pictures of a message, as it is arranged, take."""
    pictures = (part["picture"] for part in _content_parts(message) if part["type"] == "picture")
    return sum(Picture(**picture).tokens for picture in pictures)


def _plain_schema(schema: Any) -> Any:
    """Return a declaration or schema without the words that not every server knows."""
    if isinstance(schema, list):
        return [_plain_schema(subschema) for subschema in schema]
    if not isinstance(schema, dict):
        return schema
    common = {
        name: subschema for name, subschema in schema.items() if name not in _OPTIONAL_KEYWORDS
    }
    return {
        name: {key: _plain_schema(value) for key, value in subschema.items()}
        if name == "properties"
        else _plain_schema(subschema)
        for name, subschema in common.items()
    }


def _to_json(value: Any) -> bytes:
    """Spell *value*; half a surrogate pair, which no server would read, becomes `?`."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")
