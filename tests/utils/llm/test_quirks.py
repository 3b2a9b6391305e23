"""Servers of one habit each, as they are met in the world: the task is done all the same."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable, Sequence
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from core.conversation.messages import Assistant
from core.events import Retrying, TurnFinished
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.utils.llm.quirk_server import (
    ANSWER,
    ARGUMENTS,
    CONTENT,
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
    whole_reply,
)
from utils.api_client import ApiClient
from utils.llm.prices import PriceList

KEY = "sk-0123456789abcdef"
HALF = len(ARGUMENTS) // 2


def client_at(url: str, **options: Any) -> ApiClient:
    """A client of a server whose model nothing is known of; its name is for the judge."""
    return ApiClient(url, KEY, model="deepseek-flash", prices=PriceList({}), **options)


def end_of(told: AssembledTerminal) -> TurnFinished:
    """Do the one task of `quirk_server`; return how it ended."""
    found = list(told.terminal.run_line("make it"))
    assert isinstance(found[-1], TurnFinished)
    return found[-1]


def does_it(base: Path, habit: Respond, at: str = "/v1") -> QuirkServer:
    """Do the task at a server of *habit*, at the address *at*; it is done well."""
    with quirk_server(habit) as server:
        client = client_at(server.url.removesuffix("/v1") + at)
        with assembled_terminal(base, model=client, approval_mode="all") as told:
            end = end_of(told)
            assert (end.why, end.detail) == ("done", None)
            assert (told.root / "made.txt").read_text() == CONTENT
            replies = [r.text for _, r in told.terminal.history.records if isinstance(r, Assistant)]
            assert replies[-1] == ANSWER
        client.close()
    return server


# --- refusals ------------------------------------------------------------------------------------


def has(name: str) -> Callable[[Body], bool]:
    return lambda body: name in body


def message_has(name: str) -> Callable[[Body], bool]:
    return lambda body: any(name in message for message in body["messages"])


def has_role(*roles: str) -> Callable[[Body], bool]:
    return lambda body: any(message["role"] in roles for message in body["messages"])


def without_words(*values: Any) -> Callable[[Body], bool]:
    """Whether a reply in the request has one of *values* as its content ("-": none at all)."""
    return lambda body: any(
        message["role"] == "assistant" and message.get("content", "-") in values
        for message in body["messages"]
    )


def beyond(tokens: int) -> Callable[[Body], bool]:
    return lambda body: body.get("max_tokens", 0) > tokens


def repeats_a_role(body: Body) -> bool:
    roles = [message["role"] for message in body["messages"]]
    return any(one == two for one, two in zip(roles, roles[1:], strict=False))


Refused = tuple[Callable[[Body], bool], Any, int]
ALTERNATE = "Conversation roles must alternate user/assistant/user/assistant/..."
REFUSALS: dict[str, Refused] = {
    "Rust's words list what is known": (
        has("thinking"),
        "unknown field `thinking`, expected one of `messages`, `model`, `max_tokens`, `stream`, "
        "`stream_options`, `tools` at line 1 column 900",
        422,
    ),
    "a list of errors": (
        has("thinking"),
        [{"error": {"code": 400, "message": 'Unknown name "thinking": Cannot find field.'}}],
        400,
    ),
    "a message without an error": (
        has("stream_options"),
        {"message": "property 'body.stream_options' is unsupported", "code": "wrong_api_format"},
        400,
    ),
    "only param": (
        has("stream_options"),
        {"error": {"message": "Unsupported parameter", "param": "stream_options"}},
        400,
    ),
    "an error that is a string": (has("thinking"), {"error": "unknown parameter: thinking"}, 400),
    "an exception": (
        has("thinking"),
        "TypeError: create() got an unexpected keyword argument 'thinking'",
        500,
    ),
    "not implemented": (has("thinking"), "parameter thinking is not implemented", 501),
    "an error with status 200": (
        has("thinking"),
        {"object": "error", "message": "Unknown parameter thinking", "code": 400},
        200,
    ),
    "no streaming": (lambda body: bool(body["stream"]), "Streaming is not supported", 400),
    "no empty content": (without_words(""), "text content blocks must be non-empty", 400),
    "neither empty nor null": (
        without_words("", None),
        "messages.2.content: content must be a non-empty string",
        400,
    ),
    "always some content": (
        without_words("", None, "-"),
        "each message must have non-empty content",
        400,
    ),
    "a text parameter": (without_words(""), "it must have a text parameter.", 400),
    "no tool role in the template": (
        has_role("tool"),
        "Only user and assistant roles are supported!",
        500,
    ),
    "no tool role": (has_role("tool"), "Unknown role: tool", 400),
    "roles listed": (
        has_role("tool"),
        {
            "detail": [
                {
                    "type": "literal_error",
                    "loc": ["body", "messages", 3, "role"],
                    "msg": "Input should be 'system', 'user' or 'assistant'",
                    "input": "tool",
                }
            ]
        },
        422,
    ),
    "no tool_calls": (
        message_has("tool_calls"),
        {"detail": [{"loc": ["body", "messages", 2, "tool_calls"], "msg": "Extra inputs"}]},
        422,
    ),
    "developer instead of system": (
        has_role("system"),
        "Invalid role 'system'. Use 'developer' instead.",
        400,
    ),
    "roles that alternate without tools": (
        lambda body: repeats_a_role(body) or has_role("tool", "system")(body),
        ALTERNATE,
        500,
    ),
    "one system message": (
        lambda body: sum(message["role"] == "system" for message in body["messages"]) > 1,
        "Only one system message is allowed",
        400,
    ),
    "DashScope's range": (beyond(8192), "Range of max_tokens should be [1, 8192]", 400),
    "Gemini's range": (
        beyond(8192),
        "Unable to submit request because it has a maxOutputTokens value of 65536 but the "
        "supported range is from 1 (inclusive) to 8193 (exclusive).",
        400,
    ),
    "OpenAI's largest": (
        beyond(8192),
        "Invalid 'max_tokens': integer above maximum value. Expected a value <= 8192, but got "
        "65536 instead.",
        400,
    ),
    "an endpoint's output": (
        beyond(4096),
        "This endpoint's maximum output is 4,096 tokens (requested: 65536)",
        400,
    ),
    "the number of completion tokens": (
        beyond(8000),
        "The requested number of completion tokens 65536 exceeds 8000",
        400,
    ),
    "an output that is too large, unsaid": (beyond(2048), "max_tokens is too big", 400),
    "a deprecated name": (
        has("max_tokens"),
        "max_tokens is deprecated, use max_completion_tokens",
        400,
    ),
    "no defaults in schemas": (
        lambda body: '"default"' in json.dumps(body.get("tools")),
        "Invalid schema for function 'list_files': 'default' is not permitted.",
        400,
    ),
    "no parser of calls": (
        lambda body: body.get("tool_choice") != "none",
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        400,
    ),
    "a choice that has to be said": (
        lambda body: "tool_choice" not in body,
        "tool_choice is required when tools are given",
        400,
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_is_refused_is_asked_otherwise(tmp_path: Path, name: str) -> None:
    minds, message, status = REFUSALS[name]

    def habit(asked: ReceivedRequest) -> Answer:
        return error_response(message, status) if minds(asked.body) else default_response(asked)

    server = does_it(tmp_path, habit)
    assert len(server.chat_requests) > 2, "the refusal was met"
    assert not minds(server.chat_requests[-1].body)


def test_a_template_without_system_and_tools_is_told_all_as_a_talk_of_two(tmp_path: Path) -> None:
    def habit(asked: ReceivedRequest) -> Answer:
        roles = [message["role"] for message in asked.messages]
        if "system" in roles:
            return error_response("Jinja Exception: System role not supported", 500)
        if roles != ["user", "assistant", "user"][: len(roles)]:
            return error_response(f"Jinja Exception: {ALTERNATE}", 500)
        return default_response(asked)

    said = does_it(tmp_path, habit).chat_requests[-1].messages
    assert '<tool_call>\n{"name": "create_file", "arguments": {' in said[1]["content"]
    assert said[2]["content"].startswith("[Answer of create_file]\n")


def test_where_no_calls_are_read_they_come_as_text(tmp_path: Path) -> None:
    def habit(asked: ReceivedRequest) -> Answer:
        if asked.body.get("tool_choice") != "none":
            return error_response('"auto" tool choice requires --enable-auto-tool-choice')
        if not asked.is_first:
            return default_response(asked)
        text = f'<tool_call>\n{{"name": "create_file", "arguments": {ARGUMENTS}}}\n</tool_call>'
        return streamed_response([chunk({"content": text}), chunk({}, "stop"), DONE])

    does_it(tmp_path, habit)


# --- addresses -----------------------------------------------------------------------------------


@pytest.mark.parametrize("at", ["", "/", "/v1", "/v1/", "/v1/chat/completions"])
def test_an_address_is_found_however_much_of_it_was_said(tmp_path: Path, at: str) -> None:
    def habit(asked: ReceivedRequest) -> Answer:
        found = asked.path == "/v1/chat/completions"
        return default_response(asked) if found else Answer(404, b'{"detail":"Not Found"}')

    does_it(tmp_path, habit, at)


def test_an_api_version_stands_behind_every_address_and_the_key_is_the_servers_way(
    tmp_path: Path,
) -> None:
    def habit(asked: ReceivedRequest) -> Answer:
        fits = asked.path == "/openai/deployments/x/chat/completions?api-version=2024-10-21"
        is_known = asked.headers.get("api-key") == KEY
        return default_response(asked) if fits and is_known else Answer(401)

    does_it(tmp_path, habit, "/openai/deployments/x?api-version=2024-10-21")


@pytest.mark.parametrize("status", [307, 308])
def test_a_request_follows_where_it_is_sent(tmp_path: Path, status: int) -> None:
    def habit(asked: ReceivedRequest) -> Answer:
        if asked.path.endswith("/"):
            return default_response(asked)
        return Answer(status, headers={"Location": f"{asked.path}/"})

    does_it(tmp_path, habit)


@pytest.mark.parametrize("query", ["", "?api-version=1"])
def test_the_key_goes_to_no_other_server_than_its_own(tmp_path: Path, query: str) -> None:
    secrets = {"authorization", "api-key", "x-api-key"}
    with quirk_server(default_response) as other:

        def habit(asked: ReceivedRequest) -> Answer:
            return Answer(307, headers={"Location": f"{other.url}/chat/completions"})

        server = does_it(tmp_path, habit, f"/v1{query}")
    assert all(secrets & set(asked.headers) for asked in server.chat_requests)
    assert len(other.chat_requests) == len(server.chat_requests) == 2
    assert not any(secrets & set(asked.headers) for asked in other.chat_requests)
    assert not any(KEY in str(asked) for asked in other.chat_requests)


# --- pauses --------------------------------------------------------------------------------------


def pauses(habit: Respond, base: Path) -> Sequence[float]:
    """Return the seconds of each pause that is announced while the task is done."""
    with quirk_server(habit) as server:
        client = client_at(server.url)
        with assembled_terminal(base, model=client, approval_mode="all") as told:
            found = list(told.terminal.run_line("make it"))
            assert (told.root / "made.txt").exists()
        client.close()
    return [event.seconds for event in found if isinstance(event, Retrying)]


PAUSES: dict[str, Callable[[], Answer]] = {
    "milliseconds": lambda: error_response("Slow.", 429, **{"retry-after-ms": "20"}),
    "words": lambda: error_response("Rate limit reached. Please try again in 20ms.", 429),
    "a moment": lambda: error_response(
        "Slow.", 429, **{"Retry-After": formatdate(time.time() - 5, usegmt=True)}
    ),
}


@pytest.mark.parametrize("form", PAUSES)
def test_a_pause_is_understood_in_each_form(tmp_path: Path, form: str) -> None:
    def habit(asked: ReceivedRequest) -> Answer:
        return PAUSES[form]() if asked.number == 1 else default_response(asked)

    assert pauses(habit, tmp_path) == [0.0 if form == "a moment" else 0.02]


def test_a_model_that_is_loading_is_waited_for_longer_than_a_busy_one(tmp_path: Path) -> None:
    def habit(asked: ReceivedRequest) -> Answer:
        told = {"error": {"message": "Loading model", "type": "unavailable_error", "code": 503}}
        return (
            error_response(told, 503, **{"retry-after": "0"})
            if asked.number <= 9
            else default_response(asked)
        )

    assert pauses(habit, tmp_path) == [0.0] * 9


# --- replies -------------------------------------------------------------------------------------


def of(*deltas: Body, finish: str = "tool_calls") -> Respond:
    """A server whose first reply is *deltas*."""

    def habit(asked: ReceivedRequest) -> Answer:
        if not asked.is_first:
            return default_response(asked)
        return streamed_response([*map(chunk, deltas), chunk({}, finish), DONE])

    return habit


def with_each(change: Callable[[bytes], bytes]) -> Respond:
    return lambda asked: streamed_response([change(event) for event in default_events(asked)])


def with_first(*first: bytes) -> Respond:
    return lambda asked: streamed_response([*first, *default_events(asked)])


def typed(kind: str) -> Respond:
    """A server that answers in one piece and calls it *kind*."""
    return lambda asked: Answer(body=whole_reply(asked).body, headers={"Content-Type": kind})


def minding(error: bytes) -> Respond:
    """A server that minds `thinking` in a stream of status 200."""
    return lambda asked: (
        streamed_response([error]) if "thinking" in asked.body else default_response(asked)
    )


def calling(**function: Any) -> Body:
    return {"tool_calls": [call(function={"name": "create_file", **function})]}


REST = {"tool_calls": [{"index": 0, "function": {"arguments": ARGUMENTS[HALF:]}}]}
EVENT_STREAM = {"Content-Type": "text/event-stream"}
REPLIES: dict[str, Respond] = {
    "ends of lines CRLF": with_each(lambda event: event.replace(b"\n", b"\r\n")),
    "ends of lines CR": with_each(lambda event: event.replace(b"\n", b"\r")),
    "no blank lines": with_each(lambda event: event[:-1]),
    "no space behind data:": with_each(lambda event: event.replace(b"data: ", b"data:")),
    "a byte order mark": with_first(b"\xef\xbb\xbf"),
    "comments and empty events": with_first(
        b"\n\n", b": ping\n\n", b"data:\n\n", b"data: \n\nevent: message\nid: 1\nretry: 9\n"
    ),
    "byte by byte": lambda asked: Answer(
        pieces=[bytes([byte]) for byte in b"".join(default_events(asked))],
        headers=EVENT_STREAM,
        is_chunked=True,
    ),
    "gzip": lambda asked: Answer(
        pieces=[gzip.compress(b"".join(default_events(asked)))],
        headers={**EVENT_STREAM, "Content-Encoding": "gzip"},
    ),
    "HTTP/1.0": lambda asked: Answer(
        pieces=default_events(asked), headers=EVENT_STREAM, http="HTTP/1.0"
    ),
    "no [DONE]": lambda asked: streamed_response(default_events(asked)[:-1]),
    "[DONE] in quotes": lambda asked: streamed_response(
        [*default_events(asked)[:-1], b'data: "[DONE]"\n\n']
    ),
    "one object, called text": typed("text/plain"),
    "one object, called a stream": typed("text/event-stream"),
    "one object behind white space": lambda asked: Answer(
        pieces=[b"  ", b"\n", b" ", whole_reply(asked).body],
        headers={"Content-Type": "application/json"},
    ),
    "a stream called JSON": lambda asked: Answer(
        pieces=default_events(asked), headers={"Content-Type": "application/json"}
    ),
    "an object a line": lambda asked: Answer(
        pieces=[event[6:-1] for event in default_events(asked)[:-1]],
        headers={"Content-Type": "application/x-ndjson"},
    ),
    "an error in the stream": minding(
        b'data: {"error": {"message": "Unknown parameter: thinking", "code": 400}}\n\n'
    ),
    "an event that is an error": minding(
        b'event: error\ndata: {"message": "Unknown parameter: thinking", "code": 400}\n\n'
    ),
    "llama.cpp's error": minding(
        b'error: {"code": 400, "message": "Unknown parameter: thinking", "type": "x"}\n\n'
    ),
    "choices that are null": with_first(b'data: {"choices": null}\n\n'),
    "a delta that is null": with_first(b'data: {"choices": [{"index": 0, "delta": null}]}\n\n'),
    "usage in words": with_first(b'data: {"choices": [], "usage": {"prompt_tokens": "9"}}\n\n'),
    "thinking under other names": with_first(
        chunk({"thinking": "Hm."}),
        chunk({"reasoning": {"content": "Hm."}}),
        chunk({"content": "", "reasoning_details": [{"type": "reasoning.text", "text": "Hm."}]}),
    ),
    "content that is an object": lambda asked: (
        default_response(asked)
        if asked.is_first
        else streamed_response(
            [chunk({"content": {"type": "text", "text": ANSWER}}), chunk({}, "stop")]
        )
    ),
    "text beside the delta": lambda asked: (
        default_response(asked)
        if asked.is_first
        else streamed_response(
            [b'data: {"choices": [{"text": "All done.", "finish_reason": "stop"}]}\n\n']
        )
    ),
    "a message in place of the delta": lambda asked: streamed_response(
        [b"data: " + whole_reply(asked).body + b"\n\n", DONE]
    ),
    "arguments that grow": of(
        *({"tool_calls": [call(arguments=ARGUMENTS[:n])]} for n in (0, 9, 20, len(ARGUMENTS)))
    ),
    "arguments once more at the end": of(
        calling(arguments=ARGUMENTS[:HALF]), REST, calling(arguments=ARGUMENTS)
    ),
    "arguments under another name": of(calling(parameters=json.loads(ARGUMENTS))),
    "arguments that are null first": of(
        calling(arguments=None),
        {"tool_calls": [{"index": 0, "function": {"arguments": ARGUMENTS}}]},
    ),
    "a name in two pieces": of(
        {"tool_calls": [call(function={"name": "create", "arguments": ""})]},
        {"tool_calls": [{"index": 0, "function": {"name": "_file", "arguments": ARGUMENTS}}]},
    ),
    "one call instead of a list": of({"tool_calls": call()}),
    "an id that is a number": of({"tool_calls": [call(id=7)]}),
    "an index that is a text": of({"tool_calls": [call(index="0")]}),
    "a reason in capitals": of({"tool_calls": [call()]}, finish="TOOL_CALLS"),
    "a whole message after its pieces": lambda asked: streamed_response(
        [*default_events(asked)[:-2], b"data: " + whole_reply(asked).body + b"\n\n", DONE]
    ),
    "calls in the message at the end alone": lambda asked: streamed_response(
        [chunk({"content": ""}), b"data: " + whole_reply(asked).body + b"\n\n", DONE]
    ),
    "an id of its own for each piece": of(
        calling(arguments=ARGUMENTS[:HALF]),
        {"tool_calls": [{"index": 0, "id": "b", "function": {"arguments": ARGUMENTS[HALF:]}}]},
    ),
    "tokens of the model behind the name": of(
        {
            "tool_calls": [
                call(function={"name": "create_file<|channel|>commentary", "arguments": ARGUMENTS})
            ]
        },
    ),
    "a token of the model behind the arguments": of(calling(arguments=f"{ARGUMENTS}<|call|>")),
    "usage in every event, in halves and null": with_each(
        lambda event: event.replace(
            b'"choices"',
            b'"usage": {"prompt_tokens": 9.0, "completion_tokens": null}, "choices"',
            1,
        )
    ),
    "an event of several lines": lambda asked: streamed_response(
        [
            event.replace(b', "choices"', b'\ndata: , "choices"', 1)
            for event in default_events(asked)
        ]
    ),
    "a call without a function": of(
        {"tool_calls": [{"index": 0, "id": "c", "name": "create_file", "arguments": ARGUMENTS}]}
    ),
    "an index that begins at one": of({"tool_calls": [call(index=1)]}),
    "a role, a refusal and keys of its own": with_first(
        chunk({"role": "assistant", "content": None, "refusal": None, "annotations": [], "x": 1})
    ),
    "one object with the call of long ago": lambda asked: (
        default_response(asked)
        if not asked.is_first
        else Answer(
            body=json.dumps(
                {
                    "choices": [
                        {
                            "message": {
                                "content": None,
                                "function_call": {"name": "create_file", "arguments": ARGUMENTS},
                            },
                            "finish_reason": "function_call",
                        }
                    ]
                }
            ).encode(),
            headers={"Content-Type": "application/json"},
        )
    ),
    "the call of long ago": of(
        {"function_call": {"name": "create_file", "arguments": ARGUMENTS[:HALF]}},
        {"function_call": {"arguments": ARGUMENTS[HALF:]}},
        finish="function_call",
    ),
}


@pytest.mark.parametrize("name", REPLIES)
def test_a_reply_is_read_whatever_its_form(tmp_path: Path, name: str) -> None:
    does_it(tmp_path, REPLIES[name])


def test_calls_of_the_same_id_are_two(tmp_path: Path) -> None:
    second = call(arguments=ARGUMENTS.replace("made", "other"), index=1)
    does_it(tmp_path, of({"tool_calls": [call(), second]}))
    assert (tmp_path / "project" / "other.txt").read_text() == CONTENT


@pytest.mark.parametrize("last", ['{"path": "made.txt"', '"made.txt"}'])
def test_a_call_that_is_cut_never_runs_for_all_that(tmp_path: Path, last: str) -> None:
    """What looks like a repetition and is no whole object stays what it is: broken."""

    def habit(asked: ReceivedRequest) -> Answer:
        if asked.number > 1:
            return default_response(asked)
        start = calling(arguments='{"path"')
        return streamed_response([chunk(start), chunk(calling(arguments=last)), chunk({}, "eos")])

    does_it(tmp_path, habit)
