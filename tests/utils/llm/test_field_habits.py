"""Habits that issues and manuals of servers tell of: each is met with the task done, or said."""

from __future__ import annotations

import json
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
    Respond,
    call,
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
    client_at,
    does_it,
    end_of,
    of,
    with_each,
    with_first,
)


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
        "does not accept the API key",
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
    "Azure's filter": (refusing(wrapped(FILTER, code="content_filter")), "model", "refuses this"),
    "DashScope's filter": (
        refusing(wrapped("Input data may contain inappropriate content.", code="x")),
        "model",
        "refuses this",
    ),
    "GLM's filter": (of({"content": "I"}, finish="sensitive"), "model", "refuses this"),
    "Gemini's filter": (
        of({"content": "I"}, finish="content_filter: PROHIBITED_CONTENT"),
        "model",
        "refuses this",
    ),
    "OpenAI's refusal": (
        of({"refusal": "I can't "}, {"refusal": "help with that."}, finish="stop"),
        "model",
        "refuses this: I can't help with that.",
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
        "there is no",
    ),
    "a page of a user interface in a stream": (lambda _: page("Chat"), "model", "there is no"),
    "a page of a proxy": (
        lambda _: page("502 Bad Gateway", "text/html"),
        "model",
        "is in trouble: 502 Bad Gateway",
    ),
    "a text in a stream": (
        lambda _: plain(b"upstream connect error"),
        "model",
        "is in trouble: upstream connect error",
    ),
    "a text as an event": (
        lambda _: plain(b"data: Internal Server Error\n\n"),
        "model",
        "is in trouble: Internal Server Error",
    ),
    "an event that is an error in words": (
        lambda _: plain(b"event: error\ndata: upstream request timeout\n\n"),
        "model",
        "is in trouble: upstream request timeout",
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
        "broke off",
    ),
    "a call that is never whole": (
        of({"content": "Now"}, finish="function_call_filter: MALFORMED_FUNCTION_CALL"),
        "model",
        "cannot be read",
    ),
    "an object nested without end": (
        lambda _: plain(b'data: {"choices": ' + b"[" * 60_000 + b"\n\n"),
        "model",
        "broke off",
    ),
}


@pytest.mark.parametrize("name", TOLD)
def test_what_went_wrong_is_told_in_fitting_words(tmp_path: Path, name: str) -> None:
    habit, code, words = TOLD[name]
    end, server = ending(tmp_path, habit)
    assert (end.why, end.error_code) == ("error", code)
    assert words in str(end.detail)
    assert len(server.chat_requests) <= 4, "nobody is asked for what cannot be"
