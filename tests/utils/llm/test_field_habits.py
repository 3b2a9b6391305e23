"""Habits that issues and manuals of servers tell of: each is met with the task done, or said."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.events import TurnFinished
from tests.assembly import assembled_terminal
from tests.utils.llm.quirk_server import (
    ANSWER,
    ARGUMENTS,
    DONE,
    Answer,
    Body,
    QuirkServer,
    ReceivedRequest,
    Respond,
    call,
    chunk,
    default_events,
    default_response,
    error_response,
    quirk_server,
    streamed_response,
)
from tests.utils.llm.test_odd_shapes import (
    VALUES,
    answered,
    called,
    named,
    part,
    pieces,
    with_event,
)
from tests.utils.llm.test_quirks import (
    HALF,
    KEY,
    client_at,
    does_it,
    end_of,
    of,
    with_each,
    with_first,
)
from tests.utils.llm.written_calls import dsml
from utils.llm.http.errors import ServerErrors


def once(first: Answer) -> Respond:
    """A server whose first answer is *first*."""
    return lambda asked: first if asked.number == 1 else default_response(asked)


def page(title: str, kind: str = "text/event-stream", status: int = 200) -> Answer:
    body = f"<!DOCTYPE html><html><head><title>{title}</title></head><body>x</body></html>"
    return Answer(status, body.encode(), headers={"Content-Type": kind})


def plain(body: bytes, kind: str = "text/event-stream") -> Answer:
    return Answer(body=body, headers={"Content-Type": kind})


def raw(event: Body) -> bytes:
    return b"data: " + json.dumps(event).encode() + b"\n\n"


def with_reason(reason: Any) -> Respond:
    """A server that says *reason* in each event but the last."""

    def change(event: Body) -> None:
        for choice in event["choices"]:
            choice["finish_reason"] = choice["finish_reason"] or reason

    return with_event(change)


MALFORMED = 'error parsing tool call: raw=\'{"path": "made.txt\', err=unexpected end of JSON input'
HABITS: dict[str, Respond] = {
    "two thoughts in a row": answered("<think>Hm.</think>\n<think>Ha.</think>\n\n", ANSWER),
    "two thoughts in a row, cut": answered(
        "<think>Hm.</th", "ink>\n<thi", "nk>Ha.</thi", "nk>\n\nAll d", "one."
    ),
    "an empty thought": answered("<think>\n\n</think>\n\n", ANSWER),
    "the end of a thought that came apart": answered(
        {"reasoning_content": "Hm."}, "</think>\n\n", ANSWER
    ),
    "a thought of Cohere": answered(
        "<|START_THINKING|>Hm.<|END_THINKING|><|START_RESPONSE|>", ANSWER, "<|END_RESPONSE|>"
    ),
    "a thought of Gemma": answered("<|channel>thought\nHm.<channel|>", ANSWER),
    "a thought of Sky": answered(
        "<|begin_of_thought|>Hm.<|end_of_thought|>\n\n<|begin_of_solution|>",
        ANSWER,
        "<|end_of_solution|>",
    ),
    "an answer in a tag behind a thought": answered(
        "<think>Hm.</think>\n<answer>\n", ANSWER, "\n</answer>"
    ),
    "a page in a stream": once(page("502 Bad Gateway")),
    "a text in a stream": once(plain(b"upstream connect error or disconnect/reset")),
    "a text as an event": once(plain(b"data: Internal Server Error\n\n")),
    "an event that is an error in words": once(
        plain(b"event: error\ndata: upstream request timeout\n\n")
    ),
    "a stream of nothing": once(plain(b"")),
    "a stream that is called a page": lambda asked: streamed_response(
        default_events(asked), **{"Content-Type": "text/html; charset=utf-8"}
    ),
    "MiniMax's status, good": with_event(
        lambda event: event.update(base_resp={"status_code": 0, "status_msg": ""})
    ),
    "an error of the choice": once(
        streamed_response(
            [
                raw(
                    {
                        "choices": [
                            {
                                "index": 0,
                                "delta": {"content": ""},
                                "finish_reason": "error",
                                "error": {"code": 502, "message": "Upstream went away"},
                            }
                        ]
                    }
                )
            ]
        )
    ),
    "a choice that is null": with_first(b'data: {"choices": [null]}\n\n'),
    "a reason that is null in words": with_reason("null"),
    "a reason that is empty": with_reason(""),
    "a reason in each event": with_reason("stop"),
    "data of data": with_each(lambda event: event.replace(b"data: ", b"data: data: ")),
    "numbers that are none": with_event(
        lambda event: event["choices"][0].update(logprobs=float("nan"), x=float("-inf"))
    ),
    "half a letter": with_first(b'data: {"choices": [], "x": "\xf0\x9f"}\n\n'),
    "a list of events": lambda asked: Answer(
        body=b"[" + b",".join(event[6:-2] for event in default_events(asked)[:-1]) + b"]",
        headers={"Content-Type": "application/json"},
    ),
    "a sign of life with words": with_first(
        b'data: {"type": "ping"}\n\n', b'data: {"status": "queued", "message": "Waiting."}\n\n'
    ),
    "Azure's filter first and behind": lambda asked: streamed_response(
        [
            raw({"choices": [], "prompt_filter_results": [{"prompt_index": 0}]}),
            *default_events(asked)[:-1],
            raw({"choices": [{"index": 0, "finish_reason": None, "content_filter_offsets": {}}]}),
            DONE,
        ]
    ),
    "the name in every piece": pieces(
        call(arguments=ARGUMENTS[:HALF]),
        call(arguments=ARGUMENTS[HALF:]),
        call(arguments=""),
    ),
    "the name in every piece, no ids": pieces(
        *(
            {"index": 0, "function": {"name": "create_file", "arguments": text}}
            for text in (ARGUMENTS[:HALF], ARGUMENTS[HALF:], "")
        )
    ),
    "arguments twice in one text": called(arguments=ARGUMENTS * 2),
    "arguments twice in pieces": pieces(
        call(arguments=ARGUMENTS), part(ARGUMENTS[:HALF]), part(ARGUMENTS[HALF:])
    ),
    "an empty object before, in one text": called(arguments="{}" + ARGUMENTS),
    "an empty object behind, in one text": called(arguments=ARGUMENTS + "{}"),
    "a call without a function yet": pieces(
        {"index": 0, "id": "c", "type": "function", "function": None},
        {"index": 0, "function": {"name": "create_file", "arguments": None}},
        part(ARGUMENTS),
    ),
    "a number without an end": called(index=0.0),
    "Gemini's prefix": named("default_api.create_file"),
    "Gemini's prefix with a colon": named("default_api:create_file"),
    "gpt-oss's prefix": named("repo_browser.create_file"),
    "gpt-oss's address": named("assistant<|channel|>commentary to=functions.create_file"),
    "gpt-oss's address alone": named("to=functions.create_file"),
    "a name with a slash": named("functions/create_file"),
    "a name with hyphens": named("create-file"),
    "a name in capitals": named("CREATE_FILE"),
    "several calls in one of OpenAI's": of(
        {
            "tool_calls": [
                call(
                    function={
                        "name": "multi_tool_use.parallel",
                        "arguments": json.dumps(
                            {
                                "tool_uses": [
                                    {
                                        "recipient_name": "functions.create_file",
                                        "parameters": VALUES,
                                    }
                                ]
                            }
                        ),
                    }
                )
            ]
        }
    ),
    "arguments in properties": called(arguments={"type": "object", "properties": VALUES}),
    "arguments that are null where they need not be": called(
        arguments=json.dumps({**VALUES, "overwrite": None})
    ),
    "arguments in kwargs": called(arguments={"kwargs": VALUES}),
    "arguments in words in arguments": called(arguments={"arguments": json.dumps(VALUES)}),
    "a call that could not be read by Groq": once(
        error_response(
            {
                "error": {
                    "message": "Failed to call a function. Please adjust your prompt. See "
                    "'failed_generation' for more details.",
                    "type": "invalid_request_error",
                    "code": "tool_use_failed",
                    "failed_generation": '<function=create_file>{"path": "made.txt"',
                }
            }
        )
    ),
    "a call that could not be read by Ollama": once(error_response(MALFORMED, 500)),
    "a call that could not be read by llama.cpp": once(
        error_response(
            'Failed to parse input at pos 12: <tool_call>{"name": "create_file" template', 500
        )
    ),
    "moved for ever": lambda asked: (
        default_response(asked)
        if asked.path.startswith("/v2")
        else Answer(308, headers={"Location": "/v2/chat/completions"})
    ),
    "one object with a list of parts": lambda asked: (
        default_response(asked)
        if asked.is_first
        else Answer(
            body=json.dumps(
                {
                    "choices": [
                        {
                            "message": {"content": [{"type": "text", "text": ANSWER}]},
                            "finish_reason": "stop",
                        }
                    ]
                }
            ).encode()
        )
    ),
    "early hints": lambda asked: replace(
        streamed_response(default_events(asked)),
        interim=b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n",
    ),
    "a head that says that work goes on": lambda asked: replace(
        streamed_response(default_events(asked)), interim=b"HTTP/1.1 102 Processing\r\n\r\n" * 3
    ),
    "usage of one token": with_event(
        lambda event: event.update(usage={"prompt_tokens": 1, "completion_tokens": 1})
    ),
    "usage beyond all bounds": with_event(
        lambda event: event.update(usage={"prompt_tokens": 10**15, "completion_tokens": -4})
    ),
}


@pytest.mark.parametrize("name", HABITS)
def test_the_task_is_done_all_the_same(tmp_path: Path, name: str) -> None:
    server = does_it(tmp_path, HABITS[name])
    answers = [one for one in server.chat_requests[-1].messages if one["role"] == "tool"]
    assert len(answers) == 1, "nothing but the one call that was meant was run"


# --- what cannot be mended -----------------------------------------------------------------------


def ending(base: Path, habit: Respond, **options: Any) -> tuple[TurnFinished, QuirkServer]:
    """Return how the task ends at a server of *habit*, which is asked but once where it breaks."""
    with quirk_server(habit) as server:
        client = client_at(server.url, **{"retries": 0, **options})
        with assembled_terminal(base, model=client, approval_mode="all") as told:
            end = end_of(told)
        client.close()
    return end, server


def wrapped(message: str, **fields: Any) -> Body:
    return {"error": {"message": message, **fields}}


def refusing(body: Body, status: int = 400) -> Respond:
    return lambda asked: error_response(body, status)


UPSTREAM = json.dumps({"error": {"message": "This model is on holiday.", "code": 400}})
FILTER = "The response was filtered due to the prompt triggering Azure OpenAI's policy."
NO_CREDIT = {"base_resp": {"status_code": 1008, "status_msg": "no"}, "choices": None}
FAILED_200 = {"code": 500, "msg": "404 NOT_FOUND", "success": False}
TOLD: dict[str, tuple[Respond, str, str]] = {
    "MiniMax's balance": (lambda _: plain(raw(NO_CREDIT)), "balance", "is used up"),
    "MiniMax's balance in one object": (
        lambda _: plain(json.dumps(NO_CREDIT).encode(), "application/json"),
        "balance",
        "is used up",
    ),
    "MiniMax's key": (
        lambda _: plain(raw({"base_resp": {"status_code": 1004, "status_msg": "login fail"}})),
        "key",
        "rejected the API key",
    ),
    "OpenAI's quota": (
        refusing(wrapped("You exceeded your quota.", type="insufficient_quota"), 429),
        "balance",
        "is used up",
    ),
    "GLM's balance": (
        refusing(wrapped("余额不足或无可用资源包,请充值。", code="1113"), 429),
        "balance",
        "is used up",
    ),
    "DashScope's balance": (
        refusing(
            wrapped("Access denied, make sure your account is in good standing.", code="Arrearage")
        ),
        "balance",
        "is used up",
    ),
    "Azure's filter": (refusing(wrapped(FILTER, code="content_filter")), "model", "refused"),
    "DashScope's filter": (
        refusing(wrapped("Input data may contain inappropriate content.", code="x")),
        "model",
        "refused",
    ),
    "GLM's filter": (of({"content": "I"}, finish="sensitive"), "model", "refused"),
    "Gemini's filter": (
        of({"content": "I"}, finish="content_filter: PROHIBITED_CONTENT"),
        "model",
        "refused",
    ),
    "OpenAI's refusal": (
        of({"refusal": "I can't "}, {"refusal": "help with that."}, finish="stop"),
        "model",
        "refused: I can't help with that.",
    ),
    "Groq's tokens a minute": (
        refusing(
            wrapped("Request too large: on tokens per minute (TPM): Limit 6000, Requested 9000"),
            413,
        ),
        "model",
        "Limit 6000, Requested 9000",
    ),
    "TGI's inputs": (
        refusing(
            {"error": "`inputs` must have less than 4096 tokens. Given: 5123", "error_type": "v"},
            422,
        ),
        "overflow",
        "window of 4,096 tokens is too small",
    ),
    "TGI's sum": (
        refusing(
            {
                "error": "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5123 `inputs` "
                "tokens and 100 `max_new_tokens`"
            },
            422,
        ),
        "overflow",
        "window of 4,096 tokens is too small",
    ),
    "Copilot's window": (
        refusing(wrapped("prompt token count of 9000 exceeds the limit of 8000")),
        "overflow",
        "window of 8,000 tokens is too small",
    ),
    "what stands behind OpenRouter": (
        refusing(
            {
                "error": {
                    "message": "Provider returned error",
                    "code": 400,
                    "metadata": {"raw": UPSTREAM, "provider_name": "x"},
                }
            }
        ),
        "model",
        "This model is on holiday.",
    ),
    "Cloudflare's list": (
        refusing({"success": False, "errors": [{"code": 5006, "message": "Bad bits."}]}),
        "model",
        "Bad bits.",
    ),
    "Amazon's capital": (refusing({"Message": "No such ark.", "__type": "X"}), "model", "such ark"),
    "an error that is only true": (refusing({"error": True, "message": "Odd."}), "model", "Odd."),
    "an error that is a list": (refusing({"error": ["One.", "Two."]}), "model", "One. Two."),
    "a failure told in a 200": (
        lambda _: plain(json.dumps(FAILED_200).encode(), "application/json"),
        "model",
        "404 NOT_FOUND",
    ),
    "Baidu's words": (
        lambda _: plain(b'{"error_code": 336003, "error_msg": "the max is reached"}'),
        "model",
        "the max is reached",
    ),
    "a page of a user interface": (
        lambda _: page("Open WebUI", "text/html"),
        "model",
        "has no chat-completions API",
    ),
    "a page of a user interface in a stream": (
        lambda _: page("Chat"),
        "model",
        "has no chat-completions API",
    ),
    "a page of a proxy": (
        lambda _: page("502 Bad Gateway", "text/html"),
        "model",
        "reports a server error: 502 Bad Gateway",
    ),
    "a text in a stream": (
        lambda _: plain(b"upstream connect error"),
        "model",
        "reports a server error: upstream connect error",
    ),
    "a text as an event": (
        lambda _: plain(b"data: Internal Server Error\n\n"),
        "model",
        "reports a server error: Internal Server Error",
    ),
    "a text in a stream, byte by byte": (
        lambda _: streamed_response([bytes([one]) for one in b"upstream connect error"]),
        "model",
        "reports a server error: upstream connect error",
    ),
    "an event that is an error in words": (
        lambda _: plain(b"event: error\ndata: upstream request timeout\n\n"),
        "model",
        "reports a server error: upstream request timeout",
    ),
    "an event that is an error by name alone": (
        lambda _: plain(b'event: error\ndata: {"reason": "The shard is gone"}\n\n'),
        "model",
        "The shard is gone",
    ),
    "too many requests, told in a stream": (
        lambda _: plain(raw(wrapped("Slow down.", code=429))),
        "rate",
        "too many requests at once: Slow down.",
    ),
    "a stream that ends amid a reply, null in words": (
        lambda _: streamed_response(
            [raw({"choices": [{"delta": {"content": "All"}, "finish_reason": "null"}]})]
        ),
        "model",
        "ended early",
    ),
    "a call that is never whole": (
        of({"content": "Now"}, finish="function_call_filter: MALFORMED_FUNCTION_CALL"),
        "model",
        "cannot be read",
    ),
    "an object nested without end": (
        lambda _: plain(b'data: {"choices": ' + b"[" * 60_000 + b"\n\n"),
        "model",
        "ended early",
    ),
}


@pytest.mark.parametrize("name", TOLD)
def test_what_went_wrong_is_told_in_fitting_words(tmp_path: Path, name: str) -> None:
    habit, code, words = TOLD[name]
    end, server = ending(tmp_path, habit)
    assert (end.why, end.error_code) == ("error", code)
    assert words in str(end.detail)
    assert len(server.chat_requests) <= 4, "nobody is asked for what cannot be"


# --- what is sent back, and in which shape --------------------------------------------------------

SIGNATURE = {"google": {"thought_signature": "AY89a18I/w=="}}
UNSIGNED = (
    "Function call is missing a thought_signature in functionCall parts. This is required for "
    "tools to work correctly. Additional data, function call `default_api:create_file`, position 2."
)


def signing(asked: ReceivedRequest) -> Answer:
    """Gemini, which signs each call, and wants to see its signature again."""
    if asked.is_first:
        signed = call(arguments=ARGUMENTS, extra_content=SIGNATURE)
        return streamed_response([chunk({"tool_calls": [signed]}), chunk({}, "tool_calls"), DONE])
    calls = [one for said in asked.messages for one in said.get("tool_calls", [])]
    if any(one.get("extra_content") != SIGNATURE for one in calls):
        return error_response([wrapped(UNSIGNED, code=400, status="INVALID_ARGUMENT")])
    return default_response(asked)


def test_a_call_goes_back_as_it_was_signed(tmp_path: Path) -> None:
    assert len(does_it(tmp_path, signing).chat_requests) == 2


def test_signatures_go_to_nobody_who_signs_nothing(tmp_path: Path) -> None:
    with quirk_server(signing) as first, quirk_server() as second:
        client, other = client_at(first.url), client_at(second.url)
        with (
            closing(client),
            closing(other),
            assembled_terminal(tmp_path, model=client, approval_mode="all") as told,
        ):
            assert end_of(told).why == "done"
            told.terminal.model = other
            assert end_of(told).why == "done"
    assert "extra_content" in json.dumps(first.chat_requests[-1].body)
    assert "AY89a18I" not in json.dumps(second.chat_requests[-1].body)


THOUGHTS = [
    {"type": "reasoning.text", "text": "I thi", "index": 0},
    {"type": "reasoning.text", "text": "nk.", "signature": "sig", "index": 0},
    {"type": "reasoning.encrypted", "data": "abc", "index": 1},
]


def test_signed_thoughts_of_openrouter_go_back_whole(tmp_path: Path) -> None:
    def habit(asked: ReceivedRequest) -> Answer:
        if not asked.is_first:
            return default_response(asked)
        thoughts = [chunk({"content": "", "reasoning_details": [one]}) for one in THOUGHTS]
        return streamed_response([*thoughts, *default_events(asked)])

    server = does_it(tmp_path, habit)
    [said] = [one for one in server.chat_requests[-1].messages if one["role"] == "assistant"]
    assert said["reasoning_details"] == [
        {"type": "reasoning.text", "text": "I think.", "signature": "sig", "index": 0},
        THOUGHTS[2],
    ]


def test_signed_thoughts_that_are_refused_later_are_left_out(tmp_path: Path) -> None:
    def habit(asked: ReceivedRequest) -> Answer:
        if asked.is_first:
            thoughts = chunk({"reasoning_details": THOUGHTS})
            return streamed_response([thoughts, *default_events(asked)])
        if "reasoning_details" in json.dumps(asked.body):
            return error_response(wrapped("reasoning `encrypted_content` was not issued to you"))
        return default_response(asked)

    assert len(does_it(tmp_path, habit).chat_requests) == 3


LONG_ID = "chatcmpl-tool-" + "0123456789abcdef" * 4


def with_long_ids(asked: ReceivedRequest) -> Answer:
    if not asked.is_first:
        return default_response(asked)
    return streamed_response(
        [chunk({"tool_calls": [call(arguments=ARGUMENTS, id=LONG_ID)]}), chunk({}, "stop"), DONE]
    )


def has_long_id(body: Body) -> bool:
    return LONG_ID in json.dumps(body["messages"])


REFUSALS: dict[str, tuple[Callable[[Body], bool], Any, int]] = {
    "Amazon's ids": (
        has_long_id,
        "Value at 'messages.2.member.content.1.member.toolUse.toolUseId' failed to satisfy "
        "constraint: Member must have length less than or equal to 64",
        400,
    ),
    "Anthropic's ids": (
        has_long_id,
        "messages.2.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'",
        400,
    ),
    "OpenAI's ids": (
        has_long_id,
        "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum "
        "length 40, but got a string with length 78 instead.",
        400,
    ),
    "Kimi's thoughts": (
        lambda body: "thinking" in body,
        "thinking is enabled but reasoning_content is missing in assistant tool call message at "
        "index 2",
        400,
    ),
    "Anthropic's budget": (
        lambda body: "thinking" in body,
        "thinking.enabled.budget_tokens: Field required",
        400,
    ),
    "GLM's words": (lambda body: "stream_options" in body, "API 调用参数有误，请检查文档。", 400),
    "Cerebras's words": (
        lambda body: any("reasoning_content" in one for one in body["messages"]),
        {
            "message": "property 'messages.2.assistant.reasoning_content' is unsupported",
            "type": "invalid_request_error",
            "param": "validation_error",
            "code": "wrong_api_format",
        },
        400,
    ),
    "TGI's sum": (
        lambda body: body["max_tokens"] > 30_000,
        {
            "error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 32768. "
            "Given: 2700 `inputs` tokens and 65536 `max_new_tokens`",
            "error_type": "validation",
        },
        422,
    ),
    "vLLM's sum": (
        lambda body: body["max_tokens"] > 30_000,
        "'max_tokens' or 'max_completion_tokens' is too large: 65536. This model's maximum context "
        "length is 32768 tokens and your request has 2700 input tokens (65536 > 32768 - 2700).",
        400,
    ),
    "a failure without words": (lambda body: "thinking" in body, "Internal Server Error", 500),
    "what a provider behind OpenRouter says": (
        lambda body: "stream_options" in body,
        {
            "error": {
                "message": "Provider returned error",
                "code": 400,
                "metadata": {
                    "raw": '{"detail":"Unsupported parameter: stream_options"}',
                    "provider_name": "x",
                },
            }
        },
        400,
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_is_refused_is_sent_in_another_shape(tmp_path: Path, name: str) -> None:
    minds, message, status = REFUSALS[name]

    def habit(asked: ReceivedRequest) -> Answer:
        return error_response(message, status) if minds(asked.body) else with_long_ids(asked)

    server = does_it(tmp_path, habit)
    assert len(server.chat_requests) > 2, "the refusal was met"
    assert not minds(server.chat_requests[-1].body)


def test_a_call_that_could_not_be_read_teaches_nothing_of_the_server(tmp_path: Path) -> None:
    server = does_it(tmp_path, HABITS["a call that could not be read by Groq"])
    first, second, *_ = server.chat_requests
    assert first.body == second.body


def test_a_server_that_fails_for_a_while_is_sent_what_it_took_before(tmp_path: Path) -> None:
    """Whoever has answered once does not mind the shape."""

    def habit(asked: ReceivedRequest) -> Answer:
        is_down = asked.number in (2, 3, 4, 5)
        return error_response("Internal Server Error", 500) if is_down else default_response(asked)

    server = does_it(tmp_path, habit)
    assert all("thinking" in asked.body for asked in server.chat_requests)


@pytest.mark.parametrize("at", ["/v1/chat/completions/", "/v1/models/", "/v1/responses", "/v1/v1/"])
def test_an_address_is_cut_to_its_base(tmp_path: Path, at: str) -> None:
    def habit(asked: ReceivedRequest) -> Answer:
        return default_response(asked) if asked.path == "/v1/chat/completions" else Answer(404)

    does_it(tmp_path, habit, at)


COUNTS = {"prompt_tokens": 70, "completion_tokens": 7}


@pytest.mark.parametrize("place", ["event", "choice", "x_groq"])
def test_tokens_are_counted_wherever_the_counts_stand(tmp_path: Path, place: str) -> None:
    def change(event: Body) -> None:
        if event["choices"][0]["finish_reason"]:
            if place == "event":
                event["usage"] = COUNTS
            elif place == "choice":
                event["choices"][0]["usage"] = COUNTS
            else:
                event["x_groq"] = {"id": "x", "usage": COUNTS}

    end, _ = ending(tmp_path, with_event(change))
    assert (end.usage.prompt_tokens, end.usage.completion_tokens) == (140, 14)


LISTS: dict[str, Any] = {
    "OpenAI's": {"object": "list", "data": [{"id": "m"}, {"id": "n"}]},
    "Together's": [{"id": "m"}, {"id": "n"}],
    "Ollama's": {"models": [{"name": "m"}, {"model": "n"}]},
    "names alone": {"data": ["m", "n"]},
    "with a row of another kind": {"data": [{"id": "m"}, None, {"x": 1}, {"id": "n"}]},
}


@pytest.mark.parametrize("form", LISTS)
def test_the_models_of_a_server_are_listed_in_each_form(form: str) -> None:
    body = json.dumps(LISTS[form]).encode()
    with quirk_server(look=lambda _: Answer(body=body)) as server:
        client = client_at(server.url)
        assert client.models() == ["m", "n"]
        client.close()


def test_a_server_that_keeps_the_line_after_its_last_word_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("utils.llm.endpoint.END_SECONDS", 0.2)
    is_over = threading.Event()

    def lingering(pieces: Sequence[bytes]) -> Iterator[bytes]:
        yield from pieces
        is_over.wait()

    def habit(asked: ReceivedRequest) -> Answer:
        pieces: Any = lingering(default_events(asked)[:-1])
        return Answer(pieces=pieces, headers={"Content-Type": "text/event-stream"})

    try:
        end, _ = ending(tmp_path, habit)
    finally:
        is_over.set()
    assert end.why == "done"


def test_comments_without_end_after_the_last_word_are_not_heard_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("utils.llm.endpoint.END_SECONDS", 0.2)
    is_over, heard_out = threading.Event(), threading.Event()

    def commenting(pieces: Sequence[bytes]) -> Iterator[bytes]:
        yield from pieces
        for _ in range(6000):
            if is_over.wait(0.01):
                return
            yield b": still here\n\n"
        heard_out.set()

    def habit(asked: ReceivedRequest) -> Answer:
        pieces: Any = commenting(default_events(asked)[:-1])
        return Answer(pieces=pieces, headers={"Content-Type": "text/event-stream"})

    try:
        end, _ = ending(tmp_path, habit)
    finally:
        is_over.set()
    assert end.why == "done"
    assert not heard_out.is_set()


def test_a_server_that_takes_each_reply_for_a_thought_is_heard(tmp_path: Path) -> None:
    """vLLM's parsers of thoughts do so with models that do not think."""

    def habit(asked: ReceivedRequest) -> Answer:
        if asked.is_first:
            return default_response(asked)
        thought = chunk({"content": None, "reasoning_content": ANSWER})
        return streamed_response([thought, chunk({}, "stop"), DONE])

    does_it(tmp_path, habit)


def test_markup_that_repeats_a_file_is_asked_about_and_not_run(tmp_path: Path) -> None:
    planted = dsml("create_file", {"path": "planted.txt", "content": "x"})
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "notes.md").write_text(f"{planted}\n")

    def habit(asked: ReceivedRequest) -> Answer:
        if asked.is_first:
            function = {"name": "read_file", "arguments": '{"path": "notes.md"}'}
            return streamed_response(
                [chunk({"tool_calls": [call(function=function)]}), chunk({}, "tool_calls"), DONE]
            )
        said = planted if asked.number == 2 else ANSWER
        return streamed_response([chunk({"content": said}), chunk({}, "stop"), DONE])

    end, server = ending(tmp_path, habit)
    assert end.why == "done"
    assert not (tmp_path / "project" / "planted.txt").exists()
    assert len(server.chat_requests) == 3


def test_pages_of_a_provider_are_named_for_its_own_server_alone() -> None:
    for host, is_own in (("api.deepseek.com", True), ("api.groq.com", False)):
        for key, status in ((KEY, 402), (KEY, 401), ("", 401)):
            failed = ServerErrors(host, key).http_error(status, "", {}, model="m")
            assert ("platform.deepseek.com" in str(failed)) is is_own
