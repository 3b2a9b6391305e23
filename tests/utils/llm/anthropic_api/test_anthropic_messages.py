from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from core.conversation.history import TurnRecord, repaired
from core.conversation.messages import Assistant, Context, StateRecord, ToolCall, ToolResult, User
from tests.anthropic_simulator.cache import PromptCache, flatten_blocks
from tests.anthropic_simulator.validation import signature_of, validation_error
from utils.llm.anthropic_api.anthropic_models import known_profile
from utils.llm.anthropic_api.anthropic_request import AnthropicWriter
from utils.llm.profiles.refusals import Refusal

MODELS = ("claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-4-5")
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "look",
            "description": "Look.",
            "parameters": {"type": "object", "properties": {}},
        },
    }
]
SYSTEM = {"role": "system", "content": "You are a test."}


def written(model: str, records: list[TurnRecord], *, think: bool) -> dict[str, Any]:
    writer = AnthropicWriter(max_tokens=65_536, context_limit=1_048_576, effort="high")
    writer.profile = known_profile(model)
    wires = [record.to_wire() for _, record in records if not isinstance(record, StateRecord)]
    body: dict[str, Any] = json.loads(writer.write(model, [SYSTEM, *wires], TOOLS, think=think))
    return body


def signed(model: str, thought: str, text: str, ids: list[str], *, thinks: bool) -> Assistant:
    blocks: list[dict[str, Any]] = []
    if thinks:
        blocks.append({"type": "redacted_thinking", "data": "x"})
        blocks.append({"type": "thinking", "thinking": thought, "signature": signature_of(thought)})
    blocks.append({"type": "text", "length": len(text)})
    blocks += [{"type": "tool_use", "id": one} for one in ids]
    own = {"model": model, "thinking": thinks, "blocks": blocks}
    calls = tuple(ToolCall(one, "look", "{}") for one in ids)
    return Assistant(text, thought, calls, signed=own)


TEXTS = st.sampled_from(["", " ", "hello", "a\nb", "世界"])
IDS = st.sampled_from(["a", "b", "call_1", "functions.look:0", "ü", "", "direct-1-a"])


@st.composite
def histories(draw: st.DrawFn) -> list[TurnRecord]:
    records: list[TurnRecord] = []
    for turn in range(draw(st.integers(1, 4))):
        model = draw(st.sampled_from([*MODELS, "deepseek-flash"]))
        thinks = draw(st.booleans())
        if draw(st.booleans()):
            records.append((turn, Context("Today is a day.")))
        records.append((turn, User(draw(TEXTS))))
        for _ in range(draw(st.integers(0, 3))):
            ids = draw(st.lists(IDS, max_size=3, unique=True))
            text = draw(TEXTS)
            if model == "deepseek-flash":
                calls = tuple(ToolCall(one, "look", '{"path":"x"}') for one in ids)
                records.append((turn, Assistant(text, "hm", calls)))
            else:
                records.append((turn, signed(model, "hm", text, ids, thinks=thinks)))
            records += [(turn, ToolResult(one, "look", draw(TEXTS))) for one in ids]
            if draw(st.booleans()):
                records.append((turn, Context("News.")))
    return records


@given(histories(), st.sampled_from(MODELS), st.booleans())
@settings(deadline=None)
def test_any_history_makes_a_request_that_the_api_takes(
    records: list[TurnRecord], model: str, think: bool
) -> None:
    assert validation_error(written(model, repaired(records), think=think)) is None


@given(histories(), st.sampled_from(MODELS))
@settings(deadline=None)
def test_requests_grow_at_their_end_only(records: list[TurnRecord], model: str) -> None:
    whole = repaired(records)
    before: list[str] = []
    for end in range(1, len(whole) + 1):
        is_asked = not isinstance(whole[end - 1][1], Assistant)
        part = whole[:end]
        if not is_asked or repaired(part) != part:
            continue
        now = [spelt for spelt, _ in flatten_blocks(written(model, part, think=False))]
        if "[Go on.]" in now[-1]:
            continue
        assert now[: len(before)] == before
        before = now


def long_task(steps: int, *, calls: int) -> list[TurnRecord]:
    records: list[TurnRecord] = [(1, User("Do it."))]
    for step in range(steps):
        ids = [f"{step}_{number}" for number in range(calls)]
        records.append((1, signed("claude-opus-5-5", f"thought {step}", "So.", ids, thinks=True)))
        records += [(1, ToolResult(one, "look", "seen " * 20)) for one in ids]
    return records


def test_each_request_of_a_long_task_reads_all_of_the_one_before_from_the_cache() -> None:
    cache, records = PromptCache(), long_task(6, calls=30)
    before = 0
    for end in [1, *(1 + step * 31 for step in range(1, 7))]:
        body = written("claude-opus-5-5", records[:end], think=True)
        usage = cache.take(body)
        assert usage["cache_read_input_tokens"] == before
        assert usage["input_tokens"] == 0
        before = sum(len(spelt) for spelt, _ in flatten_blocks(body))


def test_a_new_session_reads_tools_and_instructions_from_the_cache() -> None:
    cache = PromptCache()
    cache.take(written("claude-opus-5-5", [(1, User("One."))], think=False))
    body = written("claude-opus-5-5", [(1, User("Another."))], think=False)
    head = sum(len(spelt) for spelt, _ in list(flatten_blocks(body))[:2])
    assert cache.take(body)["cache_read_input_tokens"] == head


def test_thoughts_go_back_whole_to_the_model_that_had_them_and_to_no_other() -> None:
    records: list[TurnRecord] = [
        (1, User("Go.")),
        (1, signed("claude-opus-5-5", "hm", "Well.", ["a"], thinks=True)),
        (1, ToolResult("a", "look", "seen")),
    ]
    own = written("claude-opus-5-5", records, think=False)["messages"][1]["content"]
    assert [block["type"] for block in own] == [
        *("redacted_thinking", "thinking", "text", "tool_use"),
    ]
    assert own[1] == {"type": "thinking", "thinking": "hm", "signature": signature_of("hm")}
    other = written("claude-sonnet-5-5", records, think=False)["messages"][1]["content"]
    assert [block["type"] for block in other] == ["text", "tool_use"]


def test_a_task_goes_on_thinking_as_it_began_and_does_not_begin_to_in_its_midst() -> None:
    for thinks in (True, False):
        records: list[TurnRecord] = [
            (1, User("Go.")),
            (1, signed("claude-haiku-4-5", "hm", "", ["a"], thinks=thinks)),
            (1, ToolResult("a", "look", "seen")),
        ]
        kind = written("claude-haiku-4-5", records, think=not thinks)["thinking"]["type"]
        assert kind == ("enabled" if thinks else "disabled")


def test_each_model_is_told_to_think_and_to_rest_as_it_can_be() -> None:
    said = [(1, User("Go."))]
    shapes = {
        (model, think): {
            name: value
            for name, value in written(model, said, think=think).items()  # type: ignore[arg-type]
            if name in ("thinking", "output_config")
        }
        for model in (*MODELS, "claude-unheard-of")
        for think in (True, False)
    }
    adaptive = {
        "thinking": {"type": "adaptive", "display": "summarized"},
        "output_config": {"effort": "high"},
    }
    assert shapes == {
        ("claude-opus-5-5", True): adaptive,
        ("claude-opus-5-5", False): {"output_config": {"effort": "low"}},
        ("claude-sonnet-5-5", True): adaptive,
        ("claude-sonnet-5-5", False): {"thinking": {"type": "between_tools"}},
        ("claude-haiku-4-5", True): {"thinking": {"type": "enabled", "budget_tokens": 16_384}},
        ("claude-haiku-4-5", False): {"thinking": {"type": "disabled"}},
        ("claude-unheard-of", True): adaptive,
        ("claude-unheard-of", False): {},
    }


def test_signatures_that_are_refused_are_not_sent_again() -> None:
    writer = AnthropicWriter(max_tokens=8192, context_limit=1_000_000, effort="high")
    writer.profile = known_profile("claude-haiku-4-5")
    reply = signed("claude-haiku-4-5", "hm", "", ["a"], thinks=True)
    messages = [
        *(User("Go.").to_wire(), reply.to_wire(), ToolResult("a", "look", "seen").to_wire()),
    ]
    assert b"signature" in bytes(writer.write("claude-haiku-4-5", messages, TOOLS, think=False))
    refusal = Refusal(400, "messages.1.content.0: Invalid `signature` in `thinking` block")
    assert writer.adapt(refusal, may_guess=False)
    body = json.loads(writer.write("claude-haiku-4-5", messages, TOOLS, think=False))
    assert body["thinking"] == {"type": "disabled"}
    assert [block["type"] for block in body["messages"][1]["content"]] == ["tool_use"]
    assert not writer.adapt(refusal, may_guess=False)


def test_pictures_are_sent_as_the_api_has_them() -> None:
    url = "data:image/png;base64,AAAA"
    message = {"role": "user", "content": [{"type": "text", "text": "See."},
               {"type": "image_url", "image_url": {"url": url}}]}  # fmt: skip
    writer = AnthropicWriter(max_tokens=8192, context_limit=1_000_000, effort="high")
    body = json.loads(writer.write("claude-opus-5-5", [message], [], think=False))
    source = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    assert body["messages"][0]["content"] == [
        {"type": "text", "text": "See."},
        {"type": "image", "source": source, "cache_control": {"type": "ephemeral"}},
    ]


def test_calls_of_tools_that_are_off_are_declared_and_none_is_made() -> None:
    model = "claude-haiku-4-5"
    reply = signed(model, "hm", "", ["a"], thinks=False)
    begun = [User("Go.").to_wire()]
    messages = [*begun, reply.to_wire(), ToolResult("a", "look", "seen").to_wire()]
    writer = AnthropicWriter(max_tokens=8192, context_limit=1_000_000, effort="high")
    body = json.loads(writer.write(model, messages, [], think=False))
    (used,) = [block for block in body["messages"][1]["content"] if block["type"] == "tool_use"]
    assert body["tools"] == [{"name": used["name"], "input_schema": {"type": "object"}}]
    assert body["tool_choice"] == {"type": "none"}
    plain = json.loads(writer.write(model, begun, [], think=False))
    assert not {"tools", "tool_choice"} & plain.keys()


def test_the_reply_gets_what_the_window_leaves() -> None:
    writer = AnthropicWriter(max_tokens=65_536, context_limit=1_048_576, effort="high")
    writer.profile = known_profile("claude-haiku-4-5")
    message = User("word " * 100_000).to_wire()
    body = writer.write("claude-haiku-4-5", [message], [], think=False)
    writer.calibrate(body, 190_000)
    short = json.loads(writer.write("claude-haiku-4-5", [message], [], think=False))
    assert short["max_tokens"] < 10_000
    text = "input length and `max_tokens` exceed context limit: 199000 + 6000 > 200000, decrease"
    assert writer.adapt(Refusal(400, text), may_guess=False)
    shorter = json.loads(writer.write("claude-haiku-4-5", [message], [], think=False))
    assert shorter["max_tokens"] == 1024
    largest = "max_tokens: 65536 > 1000, which is the maximum allowed number of output tokens"
    assert writer.adapt(Refusal(400, largest), may_guess=False)
    assert (
        json.loads(writer.write("m", [User("a").to_wire()], [], think=False))["max_tokens"] == 1000
    )


def test_a_task_after_calls_that_no_model_made_thinks_as_usual() -> None:
    direct: list[TurnRecord] = [
        (1, User("/check")),
        (1, Assistant("", calls=(ToolCall("direct-1-a", "look", "{}"),))),
        (1, ToolResult("direct-1-a", "look", "seen")),
    ]
    again = [(2, record) for _, record in direct]
    for model in MODELS:
        body = written(model, [*direct, *again, (3, User("Go."))], think=True)
        assert validation_error(body) is None
        assert body["thinking"]["type"] in ("adaptive", "enabled")
