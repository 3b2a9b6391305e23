"""Habits that issues and manuals of servers tell of: each is met with the task done, or said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.utils.llm.quirk_server import (
    ANSWER,
    ARGUMENTS,
    DONE,
    Answer,
    Body,
    Respond,
    call,
    default_events,
    default_response,
    error_response,
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
    does_it,
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
