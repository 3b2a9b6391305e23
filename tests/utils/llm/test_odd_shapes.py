"""Replies and refusals in odder shapes than those of `test_quirks`, each met with the task done."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.utils.llm.quirk_server import (
    ANSWER,
    ARGUMENTS,
    DONE,
    Answer,
    Body,
    ReceivedRequest,
    Respond,
    call,
    chunk,
    default_events,
    default_response,
    error_response,
    streamed_response,
)
from tests.utils.llm.test_quirks import HALF, calling, does_it, of, with_each, with_first

VALUES = json.loads(ARGUMENTS)
PLAIN_CALL = call()


def called(**fields: Any) -> Respond:
    return of({"tool_calls": [call(**fields)]})


def named(name: str) -> Respond:
    return of({"tool_calls": [call(function={"name": name, "arguments": ARGUMENTS})]})


def pieces(*parts: Body) -> Respond:
    return of(*({"tool_calls": [part]} for part in parts))


def part(arguments: str, **fields: Any) -> Body:
    return {"index": 0, "function": {"arguments": arguments}, **fields}


def answered(*contents: Any) -> Respond:
    """A server whose last reply is *contents*, and which means `ANSWER` by them."""

    def habit(asked: ReceivedRequest) -> Answer:
        if asked.is_first:
            return default_response(asked)
        deltas = [one if isinstance(one, dict) else {"content": one} for one in contents]
        return streamed_response([*map(chunk, deltas), chunk({}, "stop"), DONE])

    return habit


def with_event(change: Callable[[Body], None]) -> Respond:
    def changed(event: bytes) -> bytes:
        if event == DONE:
            return event
        value = json.loads(event[6:])
        change(value)
        return b"data: " + json.dumps(value).encode() + b"\n\n"

    return with_each(changed)


def with_delta(**fields: Any) -> Respond:
    def change(event: Body) -> None:
        event["choices"][0]["delta"] = {**fields, **event["choices"][0]["delta"]}

    return with_event(change)


def as_one_choice(event: Body) -> None:
    event["choices"] = event["choices"][0]


def twice(event: Body) -> None:
    event["choices"] += [{**choice, "index": 1} for choice in event["choices"]]


def as_bare_text(event: Body) -> None:
    choice = event["choices"][0]
    choice["delta"] = choice["delta"].get("content") or choice["delta"]


def beside_delta(event: Body) -> None:
    choice = event["choices"][0]
    choice["tool_calls"] = choice["delta"].pop("tool_calls", None)


NATIVE_PART = {"type": "tool_use", "id": "t1", "name": "create_file", "input": VALUES}
SHAPES: dict[str, Respond] = {
    "calls by number": of({"tool_calls": {"0": PLAIN_CALL}}),
    "calls beside the delta": with_event(beside_delta),
    "one call, singular": of({"tool_call": PLAIN_CALL}),
    "calls in camel case": of({"toolCalls": [PLAIN_CALL]}),
    "a call that is null": of({"tool_calls": [None]}, {"tool_calls": [PLAIN_CALL]}),
    "a call as a part of the content": of({"content": [NATIVE_PART]}),
    "a function_call of empty texts": with_delta(function_call={"name": "", "arguments": ""}),
    "an index that is null": called(index=None),
    "a number of its own for each piece": pieces(
        call(arguments=ARGUMENTS[:HALF]), part(ARGUMENTS[HALF:], index=1)
    ),
    "and the same id": pieces(
        call(arguments=ARGUMENTS[:HALF]), part(ARGUMENTS[HALF:], index=1, id="call_1")
    ),
    "the name in a later piece": pieces(
        part(ARGUMENTS[:HALF]),
        {"index": 0, "function": {"name": "create_file", "arguments": ARGUMENTS[HALF:]}},
    ),
    "empty arguments before": pieces(call(arguments="{}"), part(ARGUMENTS)),
    "null in words before": pieces(call(arguments="null"), part(ARGUMENTS)),
    "an empty call behind": of(
        calling(arguments=ARGUMENTS),
        {"tool_calls": [{"index": 1, "id": "", "function": {"name": "", "arguments": ""}}]},
    ),
    "arguments in a fence": called(arguments=f"```json\n{ARGUMENTS}\n```"),
    "arguments in a list": called(arguments=[VALUES]),
    "arguments in a list in words": called(arguments=json.dumps([VALUES])),
    "arguments behind their format": called(arguments=f"json\n{ARGUMENTS}"),
    "an end tag behind the arguments": called(arguments=f"{ARGUMENTS}\n</tool_call>"),
    "arguments in arguments": called(arguments={"arguments": VALUES}),
    "the call in its arguments": called(arguments={"name": "create_file", "parameters": VALUES}),
    "a name with parentheses": named("create_file()"),
    "a name with a number": named("functions.create_file:0"),
    "a name in quotes": named('"create_file"'),
    "a name with an end tag": named("create_file</function>"),
    "life told as data": with_first(b"data: ping\n\n", b"data: : keep-alive\n\n"),
    "data that must be an object": with_first(b"data: null\n\n", b"data: []\n\n", b'data: ""\n\n'),
    "DONE without brackets": lambda asked: streamed_response(
        [*default_events(asked)[:-1], b"data: DONE\n\n"]
    ),
    "an error that is none": with_event(lambda e: e.update(error={"code": 0, "message": ""})),
    "usage in a word": with_event(lambda event: event.update(usage="none")),
    "one choice instead of a list": with_event(as_one_choice),
    "two choices": with_event(twice),
    "a delta that is a text": with_event(as_bare_text),
    "text under its own name": answered({"text": ANSWER}),
    "text in a part of a part": answered([None, {"type": "text", "text": {"value": ANSWER}}]),
    "line breaks before the answer": answered("\n\n", ANSWER),
    "the model's end behind the answer": answered(f"{ANSWER}<|im_", "end|>"),
    "another end behind the answer": answered(f"{ANSWER}</s>"),
    "a thought whose begin was in the prompt": answered("I ponder.\n</th", "ink>\n\n", ANSWER),
    "a thought in square brackets": answered("[THI", "NK]Hm.[/TH", "INK]", ANSWER),
    "a thinking tag": answered("<thinking>Hm.</thinking>\n", ANSWER),
    "a thought tag": answered("<thought>Hm.</thought>", ANSWER),
    "a thought of Kimi": answered("◁think▷Hm.◁/think▷", ANSWER),
    "a thought of Seed": answered("<seed:think>Hm.</seed:think>", ANSWER),
    "a thought of gpt-oss": answered(
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assis",
        f"tant<|channel|>final<|message|>{ANSWER}",
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_reply_is_read_in_an_odd_shape(tmp_path: Path, name: str) -> None:
    does_it(tmp_path, SHAPES[name])


def is_unnamed(body: Body) -> bool:
    return any(one["role"] == "tool" and "name" not in one for one in body["messages"])


def says_both(body: Body) -> bool:
    return any("content" in one and "tool_calls" in one for one in body["messages"])


def has_tool_role(body: Body) -> bool:
    return any(one["role"] == "tool" for one in body["messages"])


Refused = tuple[Callable[[Body], bool], Any]
REFUSALS: dict[str, Refused] = {
    "an answer without a name": (is_unnamed, "messages[3]: 'name' is required for role tool"),
    "an answer without a name, by its place": (
        is_unnamed,
        {"detail": [{"loc": ["body", "messages", 3, "name"], "msg": "Field required"}]},
    ),
    "Gemini's words for it": (
        is_unnamed,
        "GenerateContentRequest.contents[3].parts[0].function_response.name: Name cannot be empty.",
    ),
    "content beside calls": (
        says_both,
        "Assistant message must have either content or tool_calls, but not both.",
    ),
    "so many tools": (
        lambda body: len(body.get("tools") or ()) > 9,
        "Invalid 'tools': array too long. Expected an array with maximum length 9.",
    ),
    "too many tools": (lambda body: "tools" in body, "Too many tools: at most 9 are allowed"),
    "no limit of output by any name": (
        lambda body: bool({"max_tokens", "max_completion_tokens"} & body.keys()),
        "max_tokens / max_completion_tokens are not supported",
    ),
    "roles listed in one text": (
        has_tool_role,
        "[{'loc': ('body', 'messages', 3, 'role'), 'msg': \"Input should be 'user' or "
        "'assistant'\"}]",
    ),
    "a role that is none of a list": (
        has_tool_role,
        "'tool' is not one of ['system', 'assistant', 'user'] - 'messages.3.role'",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_another_shape_is_found(tmp_path: Path, name: str) -> None:
    minds, message = REFUSALS[name]

    def habit(asked: ReceivedRequest) -> Answer:
        return error_response(message) if minds(asked.body) else default_response(asked)

    server = does_it(tmp_path, habit)
    assert len(server.chat_requests) > 2, "the refusal was met"


@pytest.mark.parametrize("status", [301, 302])
def test_a_request_that_was_moved_is_made_again_whole(tmp_path: Path, status: int) -> None:
    def habit(asked: ReceivedRequest) -> Answer:
        if asked.path.endswith("/") and asked.method == "POST":
            return default_response(asked)
        return Answer(status, headers={"Location": f"{asked.path}/"})

    does_it(tmp_path, habit)


@pytest.mark.parametrize("at", ["/v1/models", "/v1/chat", "/v1/v1", "/v1/completions"])
def test_an_address_with_too_much_behind_it_is_cut(tmp_path: Path, at: str) -> None:
    def habit(asked: ReceivedRequest) -> Answer:
        return default_response(asked) if asked.path == "/v1/chat/completions" else Answer(404)

    does_it(tmp_path, habit, at)


def test_a_server_that_calls_though_it_takes_no_tools_reads_the_answer_its_way(
    tmp_path: Path,
) -> None:
    """It goes by the role of the answer, and would call for ever where that came as text."""

    def habit(asked: ReceivedRequest) -> Answer:
        if "tools" in asked.body:
            return error_response("local does not support tools")
        if has_tool_role(asked.body):
            return streamed_response([chunk({"content": ANSWER}), chunk({}, "stop"), DONE])
        return streamed_response([chunk({"tool_calls": [PLAIN_CALL]}), chunk({}, "stop"), DONE])

    server = does_it(tmp_path, habit)
    assert len(server.chat_requests) == 3
