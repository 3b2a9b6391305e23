"""The rules of a request, as DeepSeek's API checks them at its strictest, with its own words.

From the tables of its error texts; `test_validation.py` compares verdict and words with those of
DeepSeek's own validator.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from tests.simulator import errors
from tests.simulator.cache import is_thinking, render_prompt, tokens
from tests.simulator.shape import WrongShape, check_shape

MAX_OUTPUT_TOKENS = 393_216
_NAME = re.compile(r"[a-zA-Z0-9_-]+")
_RANGES: tuple[tuple[str, str, Callable[[float], bool]], ...] = (
    ("presence_penalty", "[-2, 2]", lambda x: -2 <= x <= 2),
    ("frequency_penalty", "[-2, 2]", lambda x: -2 <= x <= 2),
    ("temperature", "[0, 2]", lambda x: 0 <= x <= 2),
    ("top_p", "(0, 1.0]", lambda x: 0 < x <= 1),
)


def validation_error(
    body: Any, *, is_strict: bool = True, context_limit: int = 1_048_576
) -> str | None:
    """Return what the API would say against the request *body*, None if it takes it.

    Not *is_strict*: missing `reasoning_content` is let pass, as some models do.
    """
    try:
        check_shape(body)
    except WrongShape as wrong:
        return errors.WRONG_SHAPE.format(detail=wrong)
    return next(_problems(body, is_strict, context_limit), None)


def _problems(body: Mapping[str, Any], is_strict: bool, context_limit: int) -> Iterator[str]:
    """Yield what is wrong, in the order in which the API looks."""
    if body["model"] not in errors.MODELS:
        yield errors.unknown_model(body["model"])
    yield from _in_tool_names(body)
    if not body["messages"]:
        yield "Empty input messages"
    yield from _in_history(body["messages"])
    if is_strict and is_thinking(body) and _lacks_reasoning(body):
        yield errors.REASONING
    yield from _in_format(body)
    yield from _in_tools(body)
    yield from _in_choice(body)
    yield from _in_parameters(body)
    yield from _in_length(body, context_limit)


def _functions(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [tool["function"] for tool in body.get("tools") or ()]


def _in_tool_names(body: Mapping[str, Any]) -> Iterator[str]:
    for index, function in enumerate(_functions(body)):
        where = f"Invalid 'tools[{index}].function.name'"
        if not function["name"]:
            yield (
                f"{where}: empty string. Expected a string with minimum length 1, "
                "but got an empty string instead."
            )
        if not _NAME.fullmatch(function["name"]):
            yield (
                f"{where}: string does not match pattern. "
                "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
            )


def _in_tools(body: Mapping[str, Any]) -> Iterator[str]:
    functions = [] if body.get("tool_choice") == "none" else _functions(body)
    for function in functions:
        if function.get("parameters") is not None:
            yield from _in_schema(function["name"], function["parameters"])
    if len({function["name"] for function in functions}) < len(functions):
        yield "Tool names must be unique."


def _in_schema(name: str, schema: Any) -> Iterator[str]:
    where = f"Invalid schema for function '{name}'"
    if not isinstance(schema, dict):
        shown = json.dumps(schema, separators=(",", ":"))
        yield f'{where}: {shown} is not of types "boolean", "object"'
    elif schema.get("type") != "object":
        kind = json.dumps(schema.get("type"), separators=(",", ":"))
        yield f"{where}: schema must be a JSON Schema of 'type: \"object\"', got 'type: {kind}'."


def _in_history(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    position = 0
    while position < len(messages):
        message = messages[position]
        if message["role"] == "tool":
            yield (
                "Messages with role 'tool' must be a response to a preceding message with "
                "'tool_calls'"
            )
        if message["role"] == "assistant":
            yield from _in_assistant(message, position)
            ids = [call["id"] for call in message.get("tool_calls") or ()]
            answers = list(
                takewhile(lambda m: m["role"] == "tool", messages[position + 1 :][: len(ids)])
            )
            yield from _in_answers(ids, [a["tool_call_id"] for a in answers], position)
            position += len(answers)
        position += 1


def _in_assistant(message: Mapping[str, Any], position: int) -> Iterator[str]:
    calls = message.get("tool_calls")
    if calls == []:
        yield (
            f"Invalid 'messages[{position}].tool_calls': empty array. Expected an array with "
            "minimum length 1, but got an empty array instead."
        )
    if message.get("content") is None and not calls:
        yield "Invalid assistant message: content or tool_calls must be set"


def _in_answers(ids: Sequence[str], answered: Sequence[str], position: int) -> Iterator[str]:
    must = (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to "
        "each 'tool_call_id'"
    )
    for index, call_id in enumerate(ids):
        if call_id in ids[:index]:
            yield f"Duplicate value for 'tool_call_id' of {call_id} in message[{position}]"
    for index, call_id in enumerate(answered):
        if call_id not in ids:
            yield (f"{must}, The following tool_call_ids did not have response messages: {call_id}")
        if call_id in answered[:index]:
            where = position + 1 + index
            yield f"Duplicate value for 'tool_call_id' of {call_id} in message[{where}]"
    if len(answered) < len(ids):
        yield f"{must}. (insufficient tool messages following tool_calls message)"


def _in_format(body: Mapping[str, Any]) -> Iterator[str]:
    kind = (body.get("response_format") or {}).get("type")
    if kind == "json_object":
        said = json.dumps([message.get("content") for message in body["messages"]])
        if "json" not in said.lower():
            yield (
                "Prompt must contain the word 'json' in some form to use 'response_format' of "
                "type 'json_object'."
            )


def _in_choice(body: Mapping[str, Any]) -> Iterator[str]:
    names = [function["name"] for function in _functions(body)]
    choice = body.get("tool_choice")
    if not names or choice in (None, "none", "auto"):
        return
    if isinstance(choice, dict) and choice["function"]["name"] not in names:
        yield (
            f"Invalid value for 'tool_call': no function named '{choice['function']['name']}' was "
            "specified in the 'tools' parameter."
        )
    if is_thinking(body):
        yield "Thinking mode does not support this tool_choice"


def _in_parameters(body: Mapping[str, Any]) -> Iterator[str]:
    stop = body.get("stop")
    if isinstance(stop, list) and len(stop) > 16:
        yield f"Stop string array too long: {len(stop)}"
    if body.get("stream_options") is not None and not body.get("stream"):
        yield "stream_options should be set along with stream = true"
    if body.get("n") not in (None, 1):
        yield "Invalid n value (currently only n = 1 is supported)"
    for name, shown, fits in _RANGES:
        if body.get(name) is not None and not fits(body[name]):
            yield f"Invalid {name} value, the valid range of {name} is {shown}"
    yield from _in_logprobs(body)
    most = body.get("max_tokens")
    if most is not None and not 1 <= most <= MAX_OUTPUT_TOKENS:
        yield "Invalid max_tokens value, the valid range of max_tokens is [1, 393216]"
    user = body.get("user_id") or ""
    if len(user) > 512:
        yield (
            "Invalid 'user_id': string too long. Expected a string with maximum length 512, "
            f"but got a string with length {len(user)} instead"
        )


def _in_logprobs(body: Mapping[str, Any]) -> Iterator[str]:
    top = body.get("top_logprobs")
    if top is not None and not body.get("logprobs"):
        yield (
            "Invalid top_logprobs and logprobs value, logprobs must be set to true if "
            "top_logprobs is used."
        )
    if top is not None and top > 20:
        yield "Invalid top_logprobs value, the valid range of top_logprobs is [0, 20]."


def _lacks_reasoning(body: Mapping[str, Any]) -> bool:
    """Return whether an assistant message after the last user message lacks its reasoning.

    With tools on offer every one needs it, else only those that call some.
    """
    messages = body["messages"]
    users = [index for index, message in enumerate(messages) if message["role"] == "user"]
    tail = messages[users[-1] + 1 :] if users else messages
    return any(
        message["role"] == "assistant"
        and message.get("reasoning_content") is None
        and bool(body.get("tools") or message.get("tool_calls"))
        for message in tail
    )


def _in_length(body: Mapping[str, Any], context_limit: int) -> Iterator[str]:
    prompt = tokens(render_prompt(body))
    default = 65_536 if is_thinking(body) else 8_192
    output = body.get("max_tokens") or default
    if prompt + output > context_limit:
        yield errors.CONTEXT.format(
            limit=context_limit, total=prompt + output, prompt=prompt, output=output
        )
