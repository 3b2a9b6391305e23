"""Habits from issues of gateways, local servers and providers: the task is done all the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.utils.llm.quirk_server import (
    ANSWER,
    ARGUMENTS,
    CONTENT,
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
from tests.utils.llm.test_field_habits import once, raw
from tests.utils.llm.test_odd_shapes import (
    VALUES,
    answered,
    called,
    named,
    part,
    pieces,
    with_delta,
    with_event,
)
from tests.utils.llm.test_quirks import (
    HALF,
    beyond,
    does_it,
    has,
    has_role,
    message_has,
    of,
    with_each,
    with_first,
    without_words,
)

Refused = tuple[Callable[[Body], bool], Any, int]


def follows(role: str, *before: str) -> Callable[[Body], bool]:
    """Whether a message of *role* stands right behind one of a role *before*."""

    def minds(body: Body) -> bool:
        roles = [message["role"] for message in body["messages"]]
        return any(
            two == role and one in before for one, two in zip(roles, roles[1:], strict=False)
        )

    return minds


ZOD = json.dumps(
    [
        {
            "code": "unrecognized_keys",
            "keys": ["thinking"],
            "path": [],
            "message": "Unrecognized key(s) in object: 'thinking'",
        }
    ],
    indent=2,
)
REFUSALS: dict[str, Refused] = {
    "xAI": (
        has("thinking"),
        {
            "code": "Client specified an invalid argument",
            "error": "Argument not supported on this model: thinking",
        },
        400,
    ),
    "LM Studio's list in words": (has("thinking"), {"error": ZOD}, 400),
    "LM Studio's content": (
        without_words("", None, "-"),
        {
            "error": "Error: 'messages' array must only contain objects with a 'content' field "
            "that is not empty"
        },
        400,
    ),
    "LiteLLM's parameters": (
        has("thinking"),
        {
            "error": {
                "message": "litellm.UnsupportedParamsError: openai does not support parameters: "
                "['thinking'], for model=x. To drop these, set `litellm.drop_params=True` or for "
                "proxy:\n\n`litellm_settings:\n drop_params: true`\n. \n If you want to use these "
                "params dynamically send allowed_openai_params=['thinking'] in your request.. "
                "Received Model Group=x\nAvailable Model Group Fallbacks=None",
                "type": "None",
                "param": None,
                "code": "400",
            }
        },
        400,
    ),
    "LiteLLM's provider": (
        has("stream_options"),
        {
            "error": {
                "message": "litellm.BadRequestError: OpenAIException - Error code: 400 - {'error': "
                "{'message': 'Unrecognized request argument supplied: stream_options', 'type': "
                "'invalid_request_error', 'param': None, 'code': None}}",
                "type": None,
                "param": None,
                "code": "400",
            }
        },
        400,
    ),
    "Groq's satisfied": (
        message_has("reasoning_content"),
        {
            "error": {
                "message": "'messages.2' : for 'role:assistant' the following must be satisfied"
                "[('messages.2' : property 'reasoning_content' is unsupported, did you mean "
                "'role'?)]",
                "type": "invalid_request_error",
            }
        },
        400,
    ),
    "Mistral's detail": (
        has("thinking"),
        {
            "object": "error",
            "message": {
                "detail": [
                    {
                        "type": "extra_forbidden",
                        "loc": ["body", "thinking"],
                        "msg": "Extra inputs are not permitted",
                        "input": {"type": "enabled"},
                    }
                ]
            },
            "type": "invalid_request_error",
            "param": None,
            "code": None,
        },
        422,
    ),
    "Fireworks' field": (
        has("thinking"),
        {
            "error": {
                "object": "error",
                "type": "invalid_request_error",
                "message": "Extra inputs are not permitted, field: 'thinking', value: "
                "{'type': 'enabled'}",
            }
        },
        400,
    ),
    "Fireworks' list": (
        lambda body: has("thinking")(body) or has("stream_options")(body),
        {
            "error": {
                "message": "2 request validation errors: Extra inputs are not permitted, field: "
                "'thinking', value: {'type': 'enabled'}; Extra inputs are not permitted, field: "
                "'stream_options', value: {'include_usage': True}"
            }
        },
        400,
    ),
    "NIM's tuple": (
        has("thinking"),
        {
            "error": "[{'type': 'extra_forbidden', 'loc': ('body', 'thinking'), 'msg': 'Extra "
            "inputs are not permitted', 'input': {'type': 'enabled'}}]"
        },
        422,
    ),
    "TGI's unknown field in a message": (
        message_has("reasoning_content"),
        "Failed to deserialize the JSON body into the target type: messages[2]: unknown field "
        "`reasoning_content`, expected one of `role`, `content`, `name`, `tool_calls` at line 1 "
        "column 4012",
        422,
    ),
    "Go's unknown field": (has("stream_options"), 'json: unknown field "stream_options"', 400),
    "Ollama's content": (
        without_words(None, "-"),
        {"error": {"message": "invalid message content type: <nil>", "type": "api_error"}},
        400,
    ),
    "Ollama's thinking": (
        has("thinking"),
        {"error": {"message": '"gemma3:4b" does not support thinking', "type": "api_error"}},
        400,
    ),
    "Moonshot's empty message": (
        without_words("", None, "-"),
        "Invalid request: message at position 2 with role 'assistant' must not be empty",
        400,
    ),
    "DashScope's empty calls": (
        lambda body: any(m.get("tool_calls") == [] for m in body["messages"]),
        "<400> InternalError.Algo.InvalidParameter: Empty tool_calls is not supported in message.",
        400,
    ),
    "DashScope's stream": (
        lambda body: not body.get("stream"),
        "This model only support stream mode, please enable the stream parameter to access the "
        "model. ",
        400,
    ),
    "DashScope's thinking": (
        has("thinking"),
        "<400> InternalError.Algo.InvalidParameter: The value of the thinking parameter is not "
        "supported by this model.",
        400,
    ),
    "SGLang's sum": (
        beyond(30_000),
        {
            "object": "error",
            "message": "Requested token count exceeds the model's maximum context length of 32768 "
            "tokens. You requested a total of 68300 tokens: 2764 tokens from the input messages "
            "and 65536 tokens for the completion. Please reduce the number of tokens in the input "
            "messages or the completion to fit within the limit.",
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        },
        400,
    ),
    "Together's sum": (
        beyond(30_000),
        {
            "id": "x",
            "error": {
                "message": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= "
                "32769. Given: 2774 `inputs` tokens and 65536 `max_new_tokens`",
                "type": "invalid_request_error",
                "param": "max_tokens",
                "code": None,
            },
        },
        422,
    ),
    "Anthropic's largest behind a gateway": (
        beyond(8192),
        "litellm.BadRequestError: AnthropicException - max_tokens: 65536 > 8192, which is the "
        "maximum allowed number of output tokens for claude-3-5-haiku",
        400,
    ),
    "Bedrock's largest": (
        beyond(10_000),
        "The maximum tokens you requested exceeds the model limit of 10000. Try again with a "
        "maximum tokens value that is lower than 10000.",
        400,
    ),
    "SambaNova's range": (
        beyond(4096),
        "max_tokens must be less than or equal to 4096",
        400,
    ),
    "Zhipu's range": (
        beyond(8192),
        {"error": {"code": "1210", "message": "max_tokens参数取值应在[1,8192]之间"}},
        400,
    ),
    "Novita's reason": (
        has("thinking"),
        {
            "code": 400,
            "reason": "INVALID_REQUEST_BODY",
            "message": "unsupported parameter: thinking",
            "metadata": {},
        },
        400,
    ),
    "Databricks' message in a message": (
        has("thinking"),
        {
            "error_code": "BAD_REQUEST",
            "message": json.dumps(
                {
                    "external_model_provider": "x",
                    "external_model_error": {"error": {"message": "thinking: Extra inputs"}},
                }
            ),
        },
        400,
    ),
    "DeepInfra's detail": (
        has("stream_options"),
        {"detail": {"error": "stream_options: extra fields not permitted"}},
        422,
    ),
    "Bedrock's roles": (
        lambda body: [m["role"] for m in body["messages"]].count("system") > 1
        or any(m["role"] == "system" for m in body["messages"][1:]),
        "A conversation must start with a user message. System messages must be at the beginning "
        "of the conversation. Try again with a conversation that starts with a user message.",
        400,
    ),
    "OpenRouter's choice": (
        has("tool_choice"),
        {
            "error": {
                "message": "No endpoints found that support the provided 'tool_choice' value. To "
                "learn more about provider routing, visit: https://openrouter.ai/docs",
                "code": 404,
            }
        },
        404,
    ),
    "OpenRouter's tools": (
        has("tools"),
        {
            "error": {
                "message": 'No endpoints found that support tool use. Try disabling "create_file". '
                "To learn more about provider routing, visit: https://openrouter.ai/docs",
                "code": 404,
            }
        },
        404,
    ),
    "llama.cpp without its switch": (
        has("tools"),
        {"error": {"code": 500, "message": "tools param requires --jinja flag", "type": "x"}},
        500,
    ),
    "llama.cpp's stream": (
        lambda body: bool(body.get("stream") and body.get("tools")),
        {"error": {"code": 500, "message": "Cannot use tools with stream", "type": "x"}},
        500,
    ),
    "Vertex's words": (
        has("thinking"),
        [
            {
                "error": {
                    "code": 400,
                    "message": "Unable to submit request because thinking is not supported by this "
                    "model. Learn more: https://cloud.google.com/vertex-ai",
                    "status": "INVALID_ARGUMENT",
                }
            }
        ],
        400,
    ),
    "o-models' system": (
        has_role("system"),
        "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
        400,
    ),
    "Mistral's order": (
        lambda body: follows("system", "user", "tool", "assistant")(body),
        {"object": "error", "message": "Expected last role User or Tool (or Assistant with prefix "
         "True) for serving but got system", "type": "invalid_request_error", "code": "3230"},
        400,
    ),
    "Azure's old version": (
        has("stream_options"),
        {"error": {"message": "Additional properties are not allowed ('stream_options' was "
         "unexpected)", "type": "invalid_request_error"}},
        400,
    ),
    "Perplexity's tools": (
        has("tools"),
        {"error": {"message": "Tool calling is not supported for this model", "type": "bad_request",
                   "code": 400}},
        400,
    ),
    "Cloudflare's oneOf": (
        without_words(None, "-"),
        {"errors": [{"message": "AiError: Bad input: Error: oneOf at '/' not met, 0 matches: "
         "required properties at '/' are 'prompt', Type mismatch of '/messages/2/content', "
         "'string' not in 'null'", "code": 5006}], "success": False, "result": {}, "messages": []},
        400,
    ),
    "Minimax's system": (
        lambda body: sum(m["role"] == "system" for m in body["messages"]) > 1,
        {"base_resp": {"status_code": 2013, "status_msg": "invalid params, chat content has "
                       "multiple system messages (2013)"}, "type": "error",
         "error": {"type": "bad_request_error", "message": "invalid params, invalid chat setting, "
                   "more than one system message (2013)"}},
        400,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_what_is_refused_is_sent_otherwise(tmp_path: Path, name: str) -> None:
    minds, message, status = REFUSALS[name]

    def habit(asked: ReceivedRequest) -> Answer:
        if minds(asked.body):
            return error_response(message, status)
        if asked.is_first and "tools" not in asked.body:
            text = f'```json\n{{"name": "create_file", "arguments": {ARGUMENTS}}}\n```'
            if "TOOL_REQUEST" in json.dumps(asked.messages):
                text = (
                    "<<<[TOOL_REQUEST]>>>\ntool_name:「始」create_file「末」,\n"
                    f"path:「始」made.txt「末」,\ncontent:「始」{CONTENT}「末」\n<<<[END_TOOL_REQUEST]>>>"
                )
            return streamed_response([chunk({"content": text}), chunk({}, "stop"), DONE])
        return default_response(asked)

    server = does_it(tmp_path, habit)
    assert not minds(server.chat_requests[-1].body)


OTHER = ARGUMENTS.replace("made", "other")
REPLIES: dict[str, Respond] = {
    "fields of SSE that nobody needs": with_each(
        lambda event: b"id: 7\nretry: 3000\nevent: message\n" + event
    ),
    "an empty list of calls": with_delta(tool_calls=[]),
    "a reason that is an object": with_event(
        lambda e: e["choices"][0].update(
            finish_reason=e["choices"][0]["finish_reason"]
            and {"type": "stop", "reason": e["choices"][0]["finish_reason"]}
        )
    ),
    "DONE twice, and usage behind": lambda asked: streamed_response(
        [*default_events(asked), raw({"choices": [], "usage": {"prompt_tokens": 3}}), DONE]
    ),
    "Magistral's parts": answered(
        [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}],
        [{"type": "text", "text": ANSWER}],
    ),
    "Magistral's parts, closed": answered(
        [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}], "closed": True},
         {"type": "text", "text": ANSWER}],
    ),
    "parts with references": answered(
        [{"type": "text", "text": "All "}, {"type": "reference", "reference_ids": [1]}],
        [{"type": "text", "text": "done."}],
    ),
    "output_text parts": answered([{"type": "output_text", "text": ANSWER, "annotations": []}]),
    "numbers in words": with_event(lambda e: e.update(created="1", usage={"prompt_tokens": "9"})),
    "usage below nothing": with_event(
        lambda e: e.update(usage={"prompt_tokens": -1, "completion_tokens": None})
    ),
    "a name twice in itself": named("create_filecreate_file"),
    "a name with a server before it": named("default.create_file"),
    "a name with its provider": named("mcp__onefold__create_file"),
    "another agent's name": of(
        {"tool_calls": [call(function={"name": "write_file", "arguments": json.dumps(
            {"file_path": "made.txt", "content": CONTENT})})]}
    ),
    "an editor's name": of(
        {"tool_calls": [call(function={"name": "str_replace_editor", "arguments": json.dumps(
            {"command": "create", "path": "made.txt", "file_text": CONTENT})})]}
    ),
    "arguments in capitals": called(arguments={"Path": "made.txt", "Content": CONTENT}),
    "arguments of Python": called(arguments=repr(VALUES)),
    "arguments with a comment": called(arguments=ARGUMENTS[:-1] + ", // the text\n}"),
    "arguments with a bracket too much": called(arguments=ARGUMENTS + "}"),
    "interleaved calls": pieces(
        call(arguments=ARGUMENTS[:HALF]),
        {"index": 1, "id": "call_2", "function": {"name": "create_file", "arguments": OTHER[:9]}},
        part(ARGUMENTS[HALF:]),
        part(OTHER[9:], index=1),
    ),
    "a call whose type is null": called(type=None),
    "a call of a custom type": called(type="tool"),
    "an id that is too much": called(id="call_" + "x" * 300),
    "an id with odd letters": called(id="functions.create_file:0#ü"),
    "a call without a name first": pieces(
        {"index": 0, "id": "c", "function": {"name": "", "arguments": ""}},
        {"index": 0, "function": {"name": "create_file", "arguments": ARGUMENTS}},
    ),
    "content beside calls": of({"content": "I make it.", "tool_calls": [call()]}),
    "a newline beside calls": of({"content": "\n\n"}, {"tool_calls": [call()]}),
    "calls before content": of({"tool_calls": [call()]}, {"content": " "}),
    "the tag of the call beside it": of({"content": "<tool_call>\n"}, {"tool_calls": [call()]}),
    "both ends of the tag": of(
        {"content": "<tool_call>"}, {"tool_calls": [call()]}, {"content": "</tool_call>"}
    ),
    "a role of its own": with_delta(role="model"),
    "a thought that is an object": with_delta(reasoning={"text": "Hm."}),
    "a thought that is a list": with_delta(reasoning_content=[{"type": "text", "text": "Hm."}]),
    "a thought under thoughts": with_delta(thinking="Hm.", thoughts="Ha."),
    "a thought in the message tag": answered("<|begin_of_box|>", ANSWER, "<|end_of_box|>"),
    "MiniMax's thought": answered("<think>\nHm.\n</think>\n\n\n", ANSWER, "[e~["),
    "Granite's thought": answered("<think>Hm.</think><response>", ANSWER, "</response>"),
    "a thought in bold": answered({"reasoning": "Hm.", "reasoning_details": [
        {"type": "reasoning.text", "text": "Hm."}]}, ANSWER),
    "harmony's final": answered("<|channel|>final<|message|>", ANSWER, "<|return|>"),
    "harmony's analysis and final": answered(
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>",
        ANSWER,
    ),
    "citations behind": lambda asked: streamed_response(
        [*default_events(asked)[:-1], raw({"citations": ["https://x"], "search_results": []}), DONE]
    ),
    "timings behind": lambda asked: streamed_response(
        [*default_events(asked)[:-1], raw({"choices": [], "timings": {"prompt_n": 3}}), DONE]
    ),
    "x_groq": with_first(raw({"id": "x", "choices": [], "x_groq": {"id": "req"}})),
    "an error that passes": once(
        streamed_response([raw({"error": {"message": "Overloaded", "code": 529}})])
    ),
    "Anthropic's overload": once(
        error_response({"type": "error", "error": {"type": "overloaded_error",
                        "message": "Overloaded"}}, 529)
    ),
    "a status of Cloudflare": once(Answer(524, b"error code: 524")),
    "a 408": once(error_response("Request timed out", 408)),
    "a 409": once(error_response("Conflict: model is being swapped", 409)),
    "a 425": once(error_response("Too early", 425)),
    "two whole objects in one call": called(arguments=ARGUMENTS + OTHER),
    "two whole objects by lines": called(arguments=ARGUMENTS + "\n" + OTHER),
    "two whole objects in pieces": pieces(
        call(arguments=ARGUMENTS[:HALF]), part(ARGUMENTS[HALF:] + OTHER[:4]), part(OTHER[4:])
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REPLIES)
def test_the_reply_is_read(tmp_path: Path, name: str) -> None:
    does_it(tmp_path, REPLIES[name])


def test_the_parallel_calls_that_a_gateway_joined_are_several(tmp_path: Path) -> None:
    does_it(tmp_path, called(arguments=ARGUMENTS + OTHER))
    assert (tmp_path / "project" / "other.txt").read_text() == CONTENT


CORRECTED = json.dumps({"path": "made.txt"})


@pytest.mark.parametrize(
    "joined",
    [CORRECTED + ARGUMENTS, ARGUMENTS + OTHER[:-3], ARGUMENTS + '{"query": "x"}', f"{OTHER}[1]"],
    ids=["a correction", "one that is cut", "one of another tool", "something else"],
)
def test_of_joined_objects_that_are_not_clear_nothing_runs(tmp_path: Path, joined: str) -> None:
    made: list[list[Path]] = []

    def habit(asked: ReceivedRequest) -> Answer:
        made.append([*(tmp_path / "project").glob("*.txt")])
        if asked.number == 1:
            delta = {"tool_calls": [call(arguments=joined)]}
            return streamed_response([chunk(delta), chunk({}, "tool_calls"), DONE])
        if asked.number == 2:
            return streamed_response(
                [chunk({"tool_calls": [call()]}), chunk({}, "tool_calls"), DONE]
            )
        return default_response(asked)

    does_it(tmp_path, habit)
    assert made[:2] == [[], []]
