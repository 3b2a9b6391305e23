"""Stranger habits of gateways and home-made servers, each met with the task done."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable
from dataclasses import replace
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
from tests.utils.llm.test_field_habits import once, raw
from tests.utils.llm.test_odd_shapes import (
    VALUES,
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
    of,
    with_each,
    with_first,
)

Refused = tuple[Callable[[Body], bool], Any, int]
EVENTS = {"Content-Type": "text/event-stream"}


def encoded(encode: Callable[[bytes], bytes], name: str) -> Respond:
    """A server whose streams are *encode*d, called *name*."""
    return lambda asked: Answer(
        body=encode(b"".join(default_events(asked))), headers={**EVENTS, "Content-Encoding": name}
    )


def raw_deflate(data: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-15)
    return compressor.compress(data) + compressor.flush()


def by_headers(**headers: str) -> Respond:
    return lambda asked: streamed_response(
        default_events(asked), **{name.replace("_", "-"): value for name, value in headers.items()}
    )


def on_the_wire(change: Callable[[bytes], bytes]) -> Respond:
    """A server that sends its whole response by itself, head and all; then comes nothing more."""

    def habit(asked: ReceivedRequest) -> Answer:
        events = b"".join(default_events(asked))
        return Answer(interim=change(events), pieces=[b""], headers={})

    return habit


def wrapped(make: Callable[[Body], Any]) -> Respond:
    """A server that answers whole, and puts the response into something."""

    def habit(asked: ReceivedRequest) -> Answer:
        message: Body = (
            {"role": "assistant", "content": None, "tool_calls": [call()]}
            if asked.is_first
            else {"role": "assistant", "content": ANSWER}
        )
        finish = "tool_calls" if asked.is_first else "stop"
        whole = {"choices": [{"index": 0, "message": message, "finish_reason": finish}]}
        return Answer(
            body=json.dumps(make(whole)).encode(), headers={"Content-Type": "application/json"}
        )

    return habit


def without_the_rest(event: Body) -> None:
    del event["object"], event["model"]


def two_choices(asked: ReceivedRequest) -> Answer:
    """`n` is two for this server; the second choice comes first."""
    other = {"index": 1, "delta": {"content": "Something else."}, "finish_reason": None}
    return streamed_response([raw({"choices": [other]}), *default_events(asked)])


def in_utf8_pieces(asked: ReceivedRequest) -> Answer:
    data = b"".join(default_events(asked)).replace(b"\\u4f60", "你".encode())
    return Answer(
        pieces=[data[at : at + 7] for at in range(0, len(data), 7)], headers=EVENTS, is_chunked=True
    )


HABITS: dict[str, Respond] = {
    "deflate": encoded(zlib.compress, "deflate"),
    "deflate without a head": encoded(raw_deflate, "deflate"),
    "gzip that is none": lambda asked: streamed_response(
        default_events(asked), **{"Content-Encoding": "identity"}
    ),
    "utf-8 as an encoding": by_headers(Content_Encoding="utf-8"),
    "none as an encoding": by_headers(Content_Encoding="none"),
    "no content type": lambda asked: Answer(pieces=default_events(asked)),
    "a content type twice": by_headers(Content_Type="text/event-stream, application/json"),
    "an unknown charset": by_headers(Content_Type="text/event-stream; charset=x-unknown"),
    "HTTP/1.0 without any header": on_the_wire(lambda events: b"HTTP/1.0 200 OK\r\n\r\n" + events),
    "no reason phrase": on_the_wire(
        lambda events: b"HTTP/1.1 200\r\nConnection: close\r\n\r\n" + events
    ),
    "LF in the head": on_the_wire(
        lambda events: b"HTTP/1.1 200 OK\nContent-Type: text/event-stream\n\n" + events
    ),
    "chunks with extensions and a trailer": on_the_wire(
        lambda events: (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n"
            + b"%X;a=b\r\n" % len(events)
            + events
            + b"\r\n000\r\nX-Trailer: 1\r\n\r\n"
        )
    ),
    "a length too long": on_the_wire(
        lambda events: (
            b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (len(events) + 50) + events
        )
    ),
    "chunks without an end": on_the_wire(
        lambda events: (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n" % len(events)
            + events
            + b"\r\n"
        )
    ),
    "a folded header": on_the_wire(
        lambda events: b"HTTP/1.1 200 OK\r\nX-Long: a,\r\n  b\r\nConnection: close\r\n\r\n" + events
    ),
    "a header in UTF-8": on_the_wire(
        lambda events: "HTTP/1.1 200 OK\r\nX-Who: 你好\r\n\r\n".encode() + events
    ),
    "a header without a colon": on_the_wire(
        lambda events: (
            b"HTTP/1.1 200 OK\r\nX-Nothing\r\nContent-Type: text/event-stream\r\n\r\n" + events
        )
    ),
    "status 201": lambda asked: replace(default_response(asked), status=201),
    "status 202": lambda asked: replace(default_response(asked), status=202),
    "status 206": lambda asked: replace(default_response(asked), status=206),
    "an empty reply once": once(Answer(200)),
    "no content once": once(Answer(204)),
    "a redirect relative to the path": lambda asked: (
        default_response(asked)
        if "real" in asked.path
        else Answer(307, headers={"Location": "completions-real/chat/completions"})
    ),
    "a stream that ends in its first event": once(streamed_response([b'data: {"choi'])),
    "a call that ends halfway": once(
        streamed_response([chunk({"tool_calls": [call(arguments=ARGUMENTS[:HALF])]})])
    ),
    "split in letters": in_utf8_pieces,
    "keep-alive before and between": with_each(
        lambda event: b": OPENROUTER PROCESSING\n\n:\n\n" + event + b":keep-alive\n"
    ),
    "a comment of a megabyte": with_first(b":" + b" " * 1_000_000 + b"\n\n"),
    "spaces behind DONE": lambda asked: streamed_response(
        [*default_events(asked)[:-1], b"data:  [DONE]  \n\n"]
    ),
    "done in small letters": lambda asked: streamed_response(
        [*default_events(asked)[:-1], b"data: [done]\n\n"]
    ),
    "DONE in the last event": lambda asked: streamed_response(
        [*default_events(asked)[:-2], default_events(asked)[-2][:-1] + DONE]
    ),
    "DONE as an object": lambda asked: streamed_response(
        [*default_events(asked)[:-1], b'data: {"done": true}\n\n']
    ),
    "an event called done": lambda asked: streamed_response(
        [*default_events(asked)[:-1], b"event: done\ndata: {}\n\n"]
    ),
    "words behind DONE": lambda asked: streamed_response(
        [*default_events(asked), b"data: bye\n\n", b"bye"]
    ),
    "a prefix against JSON thieves": lambda asked: Answer(
        body=b")]}',\n" + b"".join(default_events(asked)), headers=EVENTS
    ),
    "the response in data": wrapped(lambda whole: {"code": 0, "msg": "ok", "data": whole}),
    "the response in result": wrapped(
        lambda whole: {"success": True, "errors": [], "result": whole}
    ),
    "the response in a list": wrapped(lambda whole: [whole]),
    "error is null": wrapped(lambda whole: {"error": None, **whole}),
    "error is false": wrapped(lambda whole: {"error": False, **whole}),
    "error is an empty list": wrapped(lambda whole: {"errors": [], "error": [], **whole}),
    "the second choice first": two_choices,
    "everything else is missing": with_event(without_the_rest),
    "different model and id each time": with_event(
        lambda e: e.update(model=str(id(e)), id=str(id(e)), created=-1)
    ),
    "empty texts everywhere": with_delta(content="", reasoning_content="", refusal="", role=""),
    "null everywhere": with_delta(role=None, reasoning=None, function_call=None, audio=None),
    "finish of calls without calls": lambda asked: (
        default_response(asked)
        if asked.is_first
        else streamed_response([chunk({"content": ANSWER}), chunk({}, "tool_calls"), DONE])
    ),
    "an empty list of calls at the end": lambda asked: (
        default_response(asked)
        if asked.is_first
        else streamed_response(
            [chunk({"content": ANSWER}), chunk({"tool_calls": []}, "tool_calls"), DONE]
        )
    ),
    "usage behind DONE": lambda asked: streamed_response(
        [*default_events(asked), raw({"choices": [], "usage": {"prompt_tokens": 3}})]
    ),
    "usage that is a list": with_event(lambda e: e.update(usage=[1, 2])),
    "usage of odd numbers": with_event(
        lambda e: e.update(
            usage={
                "prompt_tokens": 1e30,
                "completion_tokens": -4,
                "total_tokens": "x",
                "prompt_tokens_details": [],
                "completion_tokens_details": 7,
            }
        )
    ),
    "usage of nulls": with_event(
        lambda e: e.update(
            usage={
                "prompt_tokens": None,
                "prompt_tokens_details": None,
                "completion_tokens_details": {"reasoning_tokens": None},
            }
        )
    ),
    "usage true": with_event(lambda e: e.update(usage=True)),
    "the function as a text": called(
        function=json.dumps({"name": "create_file", "arguments": ARGUMENTS})
    ),
    "calls as a text": of({"tool_calls": json.dumps([call()])}),
    "a name with line ends": named("\ncreate_file\n"),
    "a name with spaces": named("create file"),
    "the name under tool_name": of(
        {"tool_calls": [{"id": "c", "tool_name": "create_file", "parameters": VALUES}]}
    ),
    "the name under tool": of({"tool_calls": [{"id": "c", "tool": "create_file", "args": VALUES}]}),
    "two calls of one id": of(
        {
            "tool_calls": [
                call(),
                call(index=1, arguments=json.dumps({"path": "two.txt", "content": "2"})),
            ]
        }
    ),
    "an index below nothing": called(index=-1),
    "an index far off": called(index=10**12),
    "an error that is told in words first": once(error_response("Try again", 503)),
    "a pause that is no number": once(error_response("Slow.", 429, **{"Retry-After": "soon"})),
    "a pause below nothing": once(error_response("Slow.", 429, **{"Retry-After": "-5"})),
    "a refusal that is gzip": lambda asked: (
        Answer(
            400,
            gzip.compress(b'{"error": {"message": "Unknown parameter: thinking"}}'),
            headers={"Content-Encoding": "gzip"},
        )
        if "thinking" in asked.body
        else default_response(asked)
    ),
    "the answer in a message at the end, too": lambda asked: (
        streamed_response(
            [
                *default_events(asked)[:-2],
                raw(
                    {
                        "choices": [
                            {
                                "index": 0,
                                "delta": {},
                                "message": {"role": "assistant", "content": ANSWER},
                                "finish_reason": "stop",
                            }
                        ]
                    }
                ),
                DONE,
            ]
        )
        if not asked.is_first
        else default_response(asked)
    ),
    "arguments in pieces as objects": pieces(
        call(arguments=None), part("", index=0), part(ARGUMENTS)
    ),
    "a call told twice under two ids": of(
        {"tool_calls": [call(id="a")]}, {"tool_calls": [call(id="a")]}
    ),
}


@pytest.mark.parametrize("name", HABITS)
def test_the_task_is_done(tmp_path: Path, name: str) -> None:
    does_it(tmp_path, HABITS[name])


REFUSALS: dict[str, Refused] = {
    "in plain text": (has("thinking"), b"Extra inputs are not permitted: thinking", 400),
    "in XML": (
        has("thinking"),
        b"<Error><Code>400</Code><Message>Unknown parameter: thinking</Message></Error>",
        400,
    ),
    "in HTML": (
        has("thinking"),
        b"<html><body><h1>Bad Request</h1><p>unexpected property &quot;thinking&quot;"
        b"</p></body></html>",
        400,
    ),
    "in Chinese": (has("thinking"), "不支持的参数：thinking", 400),
    "stream_options in Chinese": (has("stream_options"), "参数 stream_options 不被支持", 400),
    "max_tokens in Chinese": (beyond(8192), "max_tokens 参数超出范围，最大值为 8192", 400),
    "in escapes": (
        has("thinking"),
        b'{"error":{"message":"\\u53c2\\u6570 thinking \\u65e0\\u6548"}}',
        400,
    ),
    "of Joi": (
        has("thinking"),
        {"statusCode": 400, "error": "Bad Request", "message": '"thinking" is not allowed'},
        400,
    ),
    "of Go": (has("thinking"), {"error": 'json: unknown field "thinking"'}, 400),
    "of Jackson": (
        has("thinking"),
        'Unrecognized field "thinking" (class com.acme.ChatRequest), not marked as ignorable (3 '
        'known properties: "model", "messages", "stream_options")',
        400,
    ),
    "of .NET": (
        has("thinking"),
        {
            "type": "https://tools.ietf.org/html/rfc9110#section-15.5.1",
            "title": "One or more validation errors occurred.",
            "status": 400,
            "errors": {
                "$.thinking": [
                    "The JSON property 'thinking' could not be mapped to any .NET "
                    "member contained in type 'Chat'."
                ]
            },
        },
        400,
    ),
    "of Rails": (has("thinking"), {"errors": ["found unpermitted parameter: :thinking"]}, 422),
    "of Laravel": (
        beyond(4096),
        {
            "message": "The max tokens field must not be greater than 4096.",
            "errors": {"max_tokens": ["The max tokens field must not be greater than 4096."]},
        },
        422,
    ),
    "of Django": (has("stream_options"), {"stream_options": ["This field is not supported."]}, 400),
    "of fastify": (
        has("stream_options"),
        {
            "statusCode": 400,
            "code": "FST_ERR_VALIDATION",
            "error": "Bad Request",
            "message": "body must NOT have additional properties: stream_options",
        },
        400,
    ),
    "of ajv": (
        has("thinking"),
        [
            {
                "instancePath": "",
                "schemaPath": "#/additionalProperties",
                "keyword": "additionalProperties",
                "params": {"additionalProperty": "thinking"},
                "message": "must NOT have additional properties",
            }
        ],
        400,
    ),
    "of pydantic 1": (
        beyond(4096),
        {
            "detail": [
                {
                    "loc": ["body", "max_tokens"],
                    "msg": "ensure this value is less than or equal to 4096",
                    "type": "value_error.number.not_le",
                    "ctx": {"limit_value": 4096},
                }
            ]
        },
        422,
    ),
    "of TGI": (
        beyond(2048),
        "Input validation error: `max_new_tokens` must be <= 2048. Given: 65536",
        422,
    ),
    "of serde on null": (
        lambda body: any(m.get("content", "") is None for m in body["messages"]),
        "messages[2].content: invalid type: null, expected a string at line 1 column 400",
        422,
    ),
    "403 for a parameter": (
        has("stream_options"),
        "Parameter stream_options is not allowed for this model",
        403,
    ),
    "413 for the output": (beyond(8192), "Request too large: max_tokens must be at most 8192", 413),
    "404 for a parameter": (
        has("thinking"),
        "No endpoints found that support the parameter: thinking",
        404,
    ),
    "a text that is JSON, twice": (
        has("thinking"),
        {"error": json.dumps({"message": json.dumps({"detail": "Unknown parameter: thinking"})})},
        400,
    ),
    "Cloudflare": (
        has("thinking"),
        {
            "success": False,
            "errors": [
                {
                    "code": 5006,
                    "message": "Error: must match exactly one schema in oneOf: "
                    "thinking is not expected",
                }
            ],
            "result": {},
            "messages": [],
        },
        400,
    ),
    "200 with an error of words": (has("thinking"), {"error": "thinking: unknown parameter"}, 200),
    "200 with success false": (
        has("thinking"),
        {"success": False, "message": "unknown parameter thinking"},
        200,
    ),
    "200 with a code": (
        has("thinking"),
        {"code": 1210, "msg": "API 调用参数有误：thinking", "success": False},
        200,
    ),
    "no tool_choice": (has("tool_choice"), "tool_choice is not supported by this model", 400),
    "no system at all": (
        lambda body: any(m["role"] == "system" for m in body["messages"]),
        "messages.0.role: Input should be 'user' or 'assistant', system not supported",
        400,
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_is_understood(tmp_path: Path, name: str) -> None:
    minds, message, status = REFUSALS[name]

    def habit(asked: ReceivedRequest) -> Answer:
        if not minds(asked.body):
            return default_response(asked)
        if isinstance(message, bytes):
            return Answer(status, message, headers={"Content-Type": "text/plain"})
        return error_response(message, status)

    does_it(tmp_path, habit)
