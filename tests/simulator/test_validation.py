"""The simulator refuses what DeepSeek's own validator refuses, for the same reason, and no more."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest

from tests.request_validation import recipe_error
from tests.simulator.validation import validation_error

Body = dict[str, Any]
USER = {"role": "user", "content": "hi"}
SYSTEM = {"role": "system", "content": "Be brief."}
REMINDER = {"role": "latest_reminder", "content": "Soon."}
FAST = {"type": "disabled"}
NAMED = {"type": "function", "function": {"name": "b"}}


def called(call_id: str, name: str = "f", arguments: Any = "{}") -> Body:
    function = {"name": name, "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function}


def reply(*calls: Body, **more: Any) -> Body:
    said: Body = {"role": "assistant", "content": "", "reasoning_content": ""}
    return said | ({"tool_calls": list(calls)} if calls else {}) | more


def answer(call_id: str, content: Any = "r") -> Body:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def tool(name: str, **more: Any) -> Body:
    return {"type": "function", "function": {"name": name, **more}}


def without(message: Body, *names: str) -> Body:
    return {name: value for name, value in message.items() if name not in names}


A, B = called("a"), called("b")
BARE = without(reply(A), "reasoning_content")
BROKEN_TOOLS = [
    [{}],
    [tool("a b")],
    [tool("")],
    [tool("a"), tool("a")],
    [{"function": {"name": "a"}}],
    [{"type": "x", "function": {"name": "a"}}],
    [tool("a", description=3)],
    [tool("a", parameters={})],
    [tool("a", parameters={"type": "string"})],
    [tool("a", parameters=[])],
    [tool("a", parameters="x")],
]
HISTORIES: list[Any] = [
    [],
    [SYSTEM],
    [USER, reply(A), answer("a")],
    [USER, reply(A, B), answer("b"), answer("a"), reply()],
    [USER, reply(A), answer("a"), USER, reply(A), answer("a")],
    [USER, reply(called("")), answer("")],
    [USER, reply(called("a", arguments="{x")), answer("a", [{"type": "text", "text": "x"}])],
    [USER, answer("a")],
    [answer("a")],
    [USER, reply(A)],
    [USER, reply(A), USER],
    [USER, reply(A, B), answer("a")],
    [USER, reply(A, B), answer("a"), USER, answer("b")],
    [USER, reply(A), answer("z")],
    [USER, reply(A, B), answer("z")],
    [USER, reply(A, B), answer("a"), answer("z")],
    [USER, reply(A, B), answer("a"), answer("a")],
    [USER, reply(A), answer("a"), answer("a")],
    [USER, reply(A, A), answer("a"), answer("a")],
    [USER, without(reply(), "content")],
    [USER, reply(content=None)],
    [USER, {**reply(), "tool_calls": []}],
    [USER, {**reply(), "tool_calls": None}],
    [USER, BARE, answer("a")],
    [BARE, answer("a")],
    [USER, BARE, answer("a"), USER],
    [USER, BARE, answer("a"), SYSTEM],
    [USER, BARE, answer("a"), REMINDER],
    [USER, BARE, answer("z")],
    [USER, reply(A), answer("a"), reply(reasoning_content=None)],
    [USER, reply(reasoning_content=None)],
    [USER, reply(reasoning_content=3)],
    [USER, {"role": "developer", "content": "x"}],
    [{"role": "user", "content": None}],
    [{"role": "user"}],
    [{"role": "user", "content": [{"type": "text", "text": "json"}]}],
    [{"content": "x"}],
    ["x"],
    {},
    [USER, reply(A), answer("a", None)],
    [USER, reply(A), answer("a", {})],
    [USER, reply(A), {"role": "tool", "content": "x"}],
    [USER, reply(without(A, "id")), answer("a")],
    [USER, reply(without(A, "type")), answer("a")],
    [USER, reply(called("a", arguments={})), answer("a")],
    [USER, reply(called("a", arguments=None)), answer("a")],
    [USER, reply(called("a", name="a b")), answer("a")],
]
FIELDS: list[tuple[str, list[Any]]] = [
    ("messages", HISTORIES),
    ("tools", [None, [], [tool("a")], [tool("a"), tool("b")], *BROKEN_TOOLS]),
    ("tool_choice", [None, "none", "auto", "required", "any", NAMED]),
    ("thinking", [None, False, {}, {"type": "x"}, {"type": "adaptive"}, {"type": "enabled"}, FAST]),
    ("reasoning_effort", [None, "none", "high", "ultra", "x"]),
    ("temperature", [None, 0, 2, 3, "1", True]),
    ("top_p", [0, 1, 2]),
    ("frequency_penalty", [-2, 3]),
    ("presence_penalty", [2, -3]),
    ("max_tokens", [None, 1, 0, -1, 1.5, 393_216, 400_000]),
    ("n", [None, 1, 2]),
    ("seed", [1, "x"]),
    ("stop", ["a", ["a"] * 16, ["a"] * 17, [1]]),
    ("stream", [True, "x"]),
    ("stream_options", [None, {"include_usage": True}]),
    ("logprobs", [True]),
    ("top_logprobs", [2, 21]),
    ("response_format", [{"type": "text"}, {"type": "json_object"}, {"type": "x"}]),
    ("model", ["deepseek-v4-pro", "x", 3]),
    ("unheard_of", [1]),
]
ONE_BY_ONE = [(name, value) for name, values in FIELDS for value in values]


def request(**fields: Any) -> Body:
    return {"model": "deepseek-flash", "messages": [USER], **fields}


def reduced(said: str | None) -> str | None:
    """Return what is comparable: of a body that cannot be read, and of models, just that."""
    if said is None:
        return None
    if said.startswith(("invalid request body", "Failed to deserialize")):
        return "cannot be read"
    return "no such model" if said.startswith("The supported API model names") else said


def agree(body: Body) -> None:
    ours, theirs = validation_error(body), recipe_error(json.dumps(body).encode())
    assert reduced(ours) == reduced(theirs), body


@pytest.mark.parametrize(("name", "value"), ONE_BY_ONE)
@pytest.mark.parametrize("tools", [[], [tool("a")]], ids=["bare", "tools"])
def test_one_field_is_judged_as_by_deepseek(name: str, value: Any, tools: list[Body]) -> None:
    agree(request(tools=tools) | {name: value})
    agree(request(tools=tools, thinking=FAST) | {name: value})


@pytest.mark.parametrize("seed", range(10))
def test_mixed_requests_are_judged_as_by_deepseek(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(300):
        names = chance.sample([name for name, _ in FIELDS], chance.randint(1, 4))
        body = request(**{name: chance.choice(dict(FIELDS)[name]) for name in names})
        mutated = copy.deepcopy(body)
        shake(mutated["messages"], chance)
        agree(body)
        agree(mutated)


def shake(messages: Any, chance: random.Random) -> None:
    """Drop, repeat, swap or strip a message."""
    if not isinstance(messages, list) or not messages:
        return
    index = chance.randrange(len(messages))
    match chance.randint(0, 3):
        case 0:
            del messages[index]
        case 1:
            messages.insert(index, copy.deepcopy(chance.choice(messages)))
        case 2:
            chance.shuffle(messages)
        case _:
            if isinstance(messages[index], dict) and messages[index]:
                messages[index].pop(chance.choice(list(messages[index])))


def test_a_lenient_server_takes_missing_reasoning() -> None:
    body = request(messages=[USER, BARE, answer("a")])
    assert validation_error(body, is_strict=False) is None


def test_what_does_not_fit_is_refused_with_the_official_sentence() -> None:
    said = validation_error(request(max_tokens=100), context_limit=100) or ""
    assert said.startswith("This model's maximum context length is 100 tokens. However, you ")


def test_a_long_user_id_is_refused() -> None:
    said = validation_error(request(user_id="a" * 513)) or ""
    assert said.endswith("but got a string with length 513 instead")
