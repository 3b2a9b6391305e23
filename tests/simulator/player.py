"""Plays the parts of one step as a stream, in DeepSeek's order and spelling."""

from __future__ import annotations

import json
import secrets
import string
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, assert_never

from modules.practice.chunks import END, ChunkBuilder, event, usage
from tests.simulator.cache import is_thinking, tokens
from tests.simulator.errors import MODELS
from tests.simulator.script import (
    CallText,
    Cut,
    Delivery,
    Drop,
    ErrorFrame,
    Finish,
    KeepAlive,
    Part,
    Pause,
    Raw,
    Refuse,
    Say,
    Stall,
    Think,
)

_FINGERPRINTS = dict(
    zip(
        MODELS,
        ("aeb56401ca74e127821c4f9126dcb669", "a307abda487cd1b463329ccb945ce396"),
        strict=True,
    )
)
_LETTERS = string.ascii_letters + string.digits


class ConnectionDropped(Exception):
    """The script breaks the connection here."""


class _StreamEnded(Exception):
    """The script ends the stream here."""


class Player:
    """Sends one reply by *write*, which takes the bytes of a chunk; *stall* is silent for long.

    *on_said* is called when all was said, before who reads it can know that.
    `message` and `usage` tell afterwards what was said.
    """

    def __init__(
        self,
        request: Mapping[str, Any],
        parts: Sequence[Part],
        prompt_tokens: int,
        hit_tokens: int,
        write: Callable[[bytes], None],
        stall: Callable[[], None],
        on_said: Callable[[], None],
    ) -> None:
        self.message, self.usage = _message_and_usage(request, parts, prompt_tokens, hit_tokens)
        self._parts = parts
        self._write = write
        self._stall = stall
        self._on_said = on_said
        self._delivery = next((part for part in parts if isinstance(part, Delivery)), Delivery())
        self._is_thinking = is_thinking(request)
        self._calls = iter(self.message.get("tool_calls") or ())
        options = request.get("stream_options") or {}
        self._chunks = ChunkBuilder(
            id=str(uuid.uuid4()),
            created=int(time.time()),
            model=request["model"],
            is_thinking=self._is_thinking,
            has_usage=bool(options.get("include_usage")),
            fingerprint=_FINGERPRINTS[request["model"]],
        )

    def play(self) -> None:
        """Send it all. Raises `ConnectionDropped` where the script breaks the connection."""
        try:
            for data in self._stream():
                self._send(data)
        except _StreamEnded:
            return

    def _stream(self) -> Iterator[bytes]:
        is_open = False
        for part in self._parts:
            if not is_open and isinstance(part, Say | Think | CallText):
                yield event(self._chunks.opening())
                is_open = True
            yield from self._play_part(part)
        if not is_open:
            yield event(self._chunks.opening())
        yield from self._closing()

    def _play_part(self, part: Part) -> Iterator[bytes]:
        match part:
            case Say() | Think() | CallText():
                yield from map(event, self._chunks_of(part))
            case KeepAlive():
                yield b": keep-alive\n\n" * part.count
            case Raw():
                yield part.data
            case Pause():
                time.sleep(part.seconds)
            case Stall():
                self._stall()
            case Drop():
                raise ConnectionDropped
            case Cut() | ErrorFrame():
                yield _end_of_stream(part)
                raise _StreamEnded
            case Finish() | Delivery():
                return
            case Refuse():
                raise ValueError("Refuse must be the only part of its step")
            case _:
                assert_never(part)

    def _chunks_of(self, part: Say | Think | CallText) -> Iterator[dict[str, Any]]:
        match part:
            case Say():
                return self._chunks.text(part.text)
            case Think():
                return self._chunks.thinking(part.text if self._is_thinking else "")
            case CallText():
                return self._call()

    def _call(self) -> Iterator[dict[str, Any]]:
        call = next(self._calls)
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        for chunk in self._chunks.call(call["index"], call["id"], name, arguments):
            if self._delivery.repeats_ids:
                piece = chunk["choices"][0]["delta"]["tool_calls"][0]
                piece |= {"id": call["id"], "type": "function"}
                piece["function"]["name"] = name
            yield chunk

    def _closing(self) -> Iterator[bytes]:
        self._on_said()
        final_usage = self.usage if self._delivery.usage == "last" else None
        yield event(self._chunks.closing(_finish(self._parts), final_usage))
        if self._delivery.usage == "trailing":
            yield event({**self._chunks.envelope([]), "usage": self.usage})
        if self._delivery.done:
            yield END

    def _send(self, data: bytes) -> None:
        data = data.replace(b"\n", self._delivery.newline.encode())
        step = self._delivery.piece_bytes or len(data) or 1
        for start in range(0, len(data), step):
            self._write(data[start : start + step])


def _end_of_stream(part: Cut | ErrorFrame) -> bytes:
    if isinstance(part, Cut):
        return END if part.done else b""
    error = {"message": part.message, "type": part.type, "param": None, "code": None}
    return event({"error": error})


def whole_reply(
    request: Mapping[str, Any], parts: Sequence[Part], prompt_tokens: int, hit_tokens: int
) -> dict[str, Any]:
    """Return the reply to a request that does not stream."""
    message, usage_object = _message_and_usage(request, parts, prompt_tokens, hit_tokens)
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(parts)}
    return {
        "id": str(uuid.uuid4()),
        "object": "chat.completion",
        "created": int(time.time()),
        "model": request["model"],
        "choices": [choice],
        "usage": usage_object,
        "system_fingerprint": _FINGERPRINTS[request["model"]],
    }


def _finish(parts: Sequence[Part]) -> str:
    for part in parts:
        if isinstance(part, Finish):
            return part.reason
    return "tool_calls" if any(isinstance(part, CallText) for part in parts) else "stop"


def _message_and_usage(
    request: Mapping[str, Any], parts: Sequence[Part], prompt_tokens: int, hit_tokens: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the whole message that *parts* say, and its usage."""
    thinks = is_thinking(request)
    thinking = "".join(part.text for part in parts if isinstance(part, Think)) if thinks else ""
    text = "".join(part.text for part in parts if isinstance(part, Say))
    calls = [
        {
            "index": index,
            "id": _new_id(index) if call.id is None else call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for index, call in enumerate(part for part in parts if isinstance(part, CallText))
    ]
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if thinks:
        message["reasoning_content"] = thinking
    if calls:
        message["tool_calls"] = calls
    completion = tokens(text) + (tokens(json.dumps(calls)) if calls else 0)
    reasoning = tokens(thinking)
    usage_object = usage(
        prompt=prompt_tokens,
        hit=hit_tokens,
        completion=completion + reasoning,
        reasoning=reasoning if thinks else None,
    )
    return message, usage_object


def _new_id(index: int) -> str:
    return f"call_{index:02d}_" + "".join(secrets.choice(_LETTERS) for _ in range(24))
