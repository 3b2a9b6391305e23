"""Streams made by DeepSeek's own generator (`deepseek-recipe`) are read without loss."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from typing import Any

import pytest
from deepseek_recipe import (
    ChatCompletionRequest,
    InferenceChunk,
    InferenceFinishReason,
    PromptUsage,
    StreamProcessor,
)

from tests.request_validation import options
from tests.simulator import Call, Cut, Raw, Simulator, markup
from tests.simulator.server import wait_for
from tests.utils.client_helpers import READ_FILE, USER, client_of, stream_once
from utils.llm.completion import Completion

CALLS = (
    Call("read_file", path='a "quoted"\n世界 <b>.txt', start_line=3, end_line=None),
    Call("update_todos", todos=[{"title": "x", "status": "done"}], force=True, ratio=0.5),
    Call("list_files"),
)
OUTPUTS = [
    ("Hello. 你好 🙂", "", ()),
    ("Let me look.\n\n", "First I think… 想", CALLS),
    ("", "Only a call.", CALLS[:1]),
    ("", "", CALLS),
    ("A line\n```python\nprint('<x>')\n```\n", "", ()),
]


def golden(
    text: str, thinking: str, calls: tuple[Call, ...], *, is_thinking: bool, seed: int
) -> tuple[bytes, dict[str, Any]]:
    """Return the stream for a model that writes this, and the usage told in it."""
    request = {
        "model": "deepseek-flash",
        "messages": [USER],
        "tools": [READ_FILE],
        "stream": True,
        "stream_options": {"include_usage": True},
        "thinking": {"type": "enabled" if is_thinking else "disabled"},
    }
    converted = ChatCompletionRequest(request).convert(options())
    generator = ChatCompletionRequest.chunk_generator(converted, "an-id", "deepseek-flash")
    processor = StreamProcessor(generator, converted.parsing_options)
    written = f"{thinking}</think>{text}" if is_thinking else text
    written += f"\n\n{markup(*calls)}" if calls else ""
    usage = PromptUsage(prompt_tokens=364, prompt_cache_hit_tokens=256)
    inputs = [InferenceChunk.ready(prompt_usage=usage, system_fingerprint="aeb5")]
    inputs += [InferenceChunk.text(piece, 1) for piece in pieces(written, seed)]
    inputs.append(InferenceChunk.finish(InferenceFinishReason.Stop))
    chunks = [chunk for item in inputs for chunk in processor.push(item)]
    chunks += processor.finish() or []
    told = [json.loads(chunk.to_json()) for chunk in chunks]
    events = [f"data: {chunk.to_json()}\n\n" for chunk in chunks]
    return "".join([*events, "data: [DONE]\n\n"]).encode(), told[-1]["usage"]


def pieces(text: str, seed: int) -> list[str]:
    chance = random.Random(seed)
    cuts = sorted(chance.randint(0, len(text)) for _ in range(len(text) // 4))
    return [text[a:b] for a, b in pairwise([0, *cuts, len(text)]) if a < b]


def read(stream: bytes, *, think: bool) -> Completion:
    with Simulator([(Raw(stream), Cut())]) as server, client_of(server) as client:
        heard = stream_once(client, think=think)
        wait_for(lambda: server.is_finished)
    assert heard.retries == []
    assert (heard.text, heard.thinking) == (heard.completion.text, heard.completion.thinking)
    return heard.completion


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("is_thinking", [True, False])
@pytest.mark.parametrize(("text", "thinking", "calls"), OUTPUTS, ids=range(len(OUTPUTS)))
def test_nothing_is_lost(
    text: str, thinking: str, calls: tuple[Call, ...], is_thinking: bool, seed: int
) -> None:
    stream, usage = golden(text, thinking, calls, is_thinking=is_thinking, seed=seed)
    done = read(stream, think=is_thinking)
    assert done.text.strip() == text.strip()
    assert done.thinking == (thinking if is_thinking else "")
    assert [(call.name, json.loads(call.arguments)) for call in done.calls] == [
        (call.name, json.loads(call.arguments)) for call in calls
    ]
    assert len({call.id for call in done.calls}) == len(calls)
    assert done.usage.prompt_tokens == usage["prompt_tokens"] == 364
    assert (done.usage.cache_hit_tokens, done.usage.cache_miss_tokens) == (256, 108)
    assert done.usage.completion_tokens == usage["completion_tokens"]
