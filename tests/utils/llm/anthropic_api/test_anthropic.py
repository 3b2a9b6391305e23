"""Anthropic's wire as it is spoken, over real sockets."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from core.conversation.messages import Assistant, ToolCall, ToolResult
from tests.anthropic_simulator import (
    AnthropicSimulator,
    ErrorResponse,
    Hang,
    Reply,
    block,
    call,
    reply,
    text,
    thinking,
)
from tests.anthropic_simulator.validation import signature_of
from tests.utils.client_helpers import READ_FILE, USER, InstantStop, StreamResult, collect_stream
from utils.api_client import ApiClient, ModelError
from utils.llm.account import ANTHROPIC_ACCOUNT
from utils.llm.anthropic_api.anthropic import AnthropicMessages
from utils.llm.anthropic_api.anthropic_stream_parser import AnthropicStreamParser
from utils.llm.completion import Delta, RawCall, Usage
from utils.llm.http.reply_limits import ReplyLimits
from utils.waiting import Stop, Stopped

ROOT = Path(__file__).parents[4]
MODEL = "claude-opus-5-5"
KEY = "sk-ant-0123456789"


@contextmanager
def client_of(server: AnthropicSimulator, **options: Any) -> Iterator[ApiClient]:
    api = AnthropicMessages(ANTHROPIC_ACCOUNT)
    model = options.pop("model", MODEL)
    client = ApiClient(server.url, options.pop("key", KEY), model=model, api=api, **options)
    try:
        yield client
    finally:
        client.close()


def ask(client: ApiClient, *messages: dict[str, Any], think: bool = False) -> StreamResult:
    return collect_stream(
        client.stream(messages or (USER,), [READ_FILE], think=think, stop=InstantStop())
    )


def hear(*script: Reply, think: bool = False, **options: Any) -> StreamResult:
    with AnthropicSimulator(script) as server, client_of(server, **options) as client:
        heard = ask(client, think=think)
        assert server.is_finished
        return heard


def failure(*script: Reply, **options: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        hear(*script, **options)
    return caught.value


def test_a_reply_with_thinking_and_parallel_calls_is_read_whole() -> None:
    heard = hear(
        reply(
            thinking("Let me see.", "c2lnbmVk", 0),
            block(1, {"type": "redacted_thinking", "data": "RW5jcnlwdGVk"}),
            text("I look. ", 2),
            call("toolu_1", "read_file", '{"path": "a.txt"}', 3),
            text("And there.", 4),
            call("toolu_2", "read_file", "", 5),
            stop="tool_use",
        ),
        think=True,
    )
    assert (heard.text, heard.thinking) == ("I look. And there.", "Let me see.")
    assert heard.completion.calls == (
        RawCall("toolu_1", "read_file", '{"path": "a.txt"}'),
        RawCall("toolu_2", "read_file", ""),
    )
    assert heard.completion.signed == {
        "model": MODEL,
        "thinking": True,
        "blocks": [
            {"type": "thinking", "thinking": "Let me see.", "signature": "c2lnbmVk"},
            {"type": "redacted_thinking", "data": "RW5jcnlwdGVk"},
            {"type": "text", "length": 8},
            {"type": "tool_use", "id": "toolu_1"},
            {"type": "text", "length": 10},
            {"type": "tool_use", "id": "toolu_2"},
        ],
    }


def test_blocks_that_come_interleaved_are_told_apart_by_their_index() -> None:
    one, other = call("a", "read_file", '{"path":"x"}', 0), call("b", "read_file", "{}", 1)
    mixed = [event for pair in zip(one, other, strict=True) for event in pair]
    heard = hear(reply(mixed, stop="tool_use"))
    assert [raw.arguments for raw in heard.completion.calls] == ['{"path":"x"}', "{}"]


def test_what_is_not_known_is_skipped() -> None:
    strange = block(0, {"type": "server_tool_use", "id": "s", "name": "web", "input": {}},
                    {"type": "input_json_delta", "partial_json": "{}"})  # fmt: skip
    cited = block(1, {"type": "text", "text": "", "citations": []},
                  {"type": "citations_delta", "citation": {"cited_text": "x"}},
                  {"type": "text_delta", "text": "Yes."},
                  {"type": "new_delta", "x": 1})  # fmt: skip
    news = {"type": "something_new", "delta": {"text": "no"}}
    assert hear(reply(strange, [news], cited)).completion.text == "Yes."


def test_a_reply_that_is_not_streamed_is_one_too() -> None:
    draft = AnthropicStreamParser(8, model=MODEL)
    use = {"type": "tool_use", "id": "a", "name": "read_file", "input": {"path": "ü"}}
    content = [{"type": "text", "text": "At once."}, use]
    whole = {"type": "message", "model": "m", "content": content, "stop_reason": "tool_use"}
    draft.add(json.dumps(whole | {"usage": {"input_tokens": 3}}).encode())
    assert draft.take_delta() == Delta("At once.", "", "read_file", 13)
    assert draft.close() is None
    assert draft.completion(Usage()).calls == (RawCall("a", "read_file", '{"path": "ü"}'),)
    assert (draft.usage, draft.finish_reason) == ({"input_tokens": 3}, "tool_use")


@pytest.mark.parametrize("stop", ["max_tokens", "model_context_window_exceeded", "pause_turn"])
def test_a_reply_that_a_limit_ended_is_cut_and_its_last_call_never_runs(stop: str) -> None:
    part = call("b", "read_file", '{"path": "a', 1)[:-1]
    heard = hear(reply(call("a", "read_file", "{}", 0), part, stop=stop))
    assert heard.completion.is_cut
    assert [raw.is_cut for raw in heard.completion.calls] == [False, True]


def test_a_stream_that_breaks_off_is_asked_for_again() -> None:
    broken = reply(text("Half"))[:-2]
    heard = hear(broken, [b"event: x\ndata: {no json\n\n"], reply(text("Whole.")))
    assert heard.completion.text == "Whole."
    assert len(heard.retries) == 2


def test_an_error_in_the_midst_of_a_stream_is_tried_again_if_it_may_pass() -> None:
    overloaded = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    heard = hear([*reply(text("Half"))[:4], overloaded], reply(text("Whole.")))
    assert heard.text == "Whole."
    assert "reports a server error: Overloaded" in str(heard.retries[0].reason)


def test_a_refusal_is_told_with_its_reason_and_not_asked_for_again() -> None:
    end = {"type": "message_delta", "usage": {"output_tokens": 1}, "delta": {
        "stop_reason": "refusal",
        "stop_details": {"type": "refusal", "explanation": "It is harmful."}}}  # fmt: skip
    error = failure([*reply(text("I"))[:-2], end, {"type": "message_stop"}])
    assert error.kind == "content"
    assert "It is harmful." in str(error)


@pytest.mark.parametrize(
    ("refuse", "kind", "words"),
    [
        (
            ErrorResponse(401, "authentication_error", "invalid x-api-key"),
            "key",
            "ANTHROPIC_API_KEY",
        ),
        (ErrorResponse(403, "permission_error", "Not for you."), "key", "Not for you."),
        (ErrorResponse(402, "billing_error", "Pay."), "balance", "is used up"),
        (
            ErrorResponse(
                400, "invalid_request_error", "Your credit balance is too low to access it."
            ),
            "balance",
            "is used up",
        ),
        (
            ErrorResponse(404, "not_found_error", "model: claude-x"),
            "request",
            "does not serve the model",
        ),
        (ErrorResponse(413, "request_too_large", "Too large."), "context", "too small"),
    ],
)
def test_a_refused_request_is_told_in_a_sentence_that_helps(
    refuse: ErrorResponse, kind: str, words: str
) -> None:
    error = failure(refuse)
    assert error.kind == kind
    assert words in str(error)
    assert KEY not in str(error)


@pytest.mark.parametrize("status", [429, 500, 529])
def test_a_busy_server_gets_the_pause_that_it_asks_for(status: int) -> None:
    busy = ErrorResponse(status, "overloaded_error", "Overloaded", {"retry-after": "7"})
    script: list[Any] = [busy, reply(text("Yes."))]
    with AnthropicSimulator(script) as server, client_of(server) as client:
        stop = InstantStop()
        collect_stream(client.stream([USER], [], think=False, stop=stop))
    assert stop.waits == [7.0]


def test_a_limit_that_is_used_up_is_waited_for_until_it_is_reset() -> None:
    reset = (datetime.now(UTC) + timedelta(seconds=40)).isoformat()
    headers = {
        "anthropic-ratelimit-requests-remaining": "3",
        "anthropic-ratelimit-requests-reset": "2199-01-01T00:00:00Z",
        "anthropic-ratelimit-input-tokens-remaining": "0",
        "anthropic-ratelimit-input-tokens-reset": reset,
    }
    busy = ErrorResponse(429, "rate_limit_error", "Slow down.", headers)
    script: list[Any] = [busy, reply(text("Yes."))]
    with AnthropicSimulator(script) as server, client_of(server) as client:
        stop = InstantStop()
        collect_stream(client.stream([USER], [], think=False, stop=stop))
    assert 0 < stop.waits[0] <= 40


def test_a_prompt_that_is_too_long_teaches_the_window_and_is_not_sent_again() -> None:
    words = "prompt is too long: 210000 tokens > 150000 maximum"
    long = ErrorResponse(400, "invalid_request_error", words)
    said = (USER, {"role": "assistant", "content": "Yes."}, USER)
    with AnthropicSimulator([long]) as server, client_of(server) as client:
        with pytest.raises(ModelError) as caught:
            ask(client, *said)
        assert caught.value.kind == "context"
        assert client.profile.window == 150_000


def test_what_a_model_does_not_take_is_left_out_from_then_on() -> None:
    no = ErrorResponse(400, "invalid_request_error",
                '"thinking.type.disabled" is not supported for this model. Use '
                '"thinking.type.adaptive" and "output_config.effort".')  # fmt: skip
    script: list[Any] = [no, reply(text("One.")), reply(text("Two."))]
    with (
        AnthropicSimulator(script) as server,
        client_of(server, model="claude-haiku-5-5") as client,
    ):
        heard = ask(client)
        ask(client)
    assert len(heard.learned) == 1
    assert [body.get("thinking") for body in server.bodies] == [{"type": "disabled"}, None, None]
    assert server.bodies[2]["output_config"] == {"effort": "low"}


def test_usage_is_counted_and_paid_for_as_the_server_says() -> None:
    begin = {"input_tokens": 1_000_000, "cache_read_input_tokens": 2_000_000,
             "cache_creation_input_tokens": 3_000_000, "output_tokens": 1}  # fmt: skip
    events = reply(text("Yes."))
    events[0] = {"type": "message_start", "message": {"model": "claude-sonnet-4-5-20250929",
        "usage": {**begin, "cache_creation": {"ephemeral_5m_input_tokens": 2_000_000,
                                              "ephemeral_1h_input_tokens": 10**6}}}}  # fmt: skip
    events[-2] = {"type": "message_delta", "delta": {"stop_reason": "end_turn"},
                  "usage": {"output_tokens": 4_000_000, "input_tokens": None,
                            "output_tokens_details": {"thinking_tokens": 5}}}  # fmt: skip
    usage = hear(events, model="claude-sonnet-4-5").completion.usage
    assert (usage.prompt_tokens, usage.cache_hit_tokens, usage.cache_miss_tokens) == (
        *(6_000_000, 2_000_000, 4_000_000),
    )
    assert (usage.completion_tokens, usage.reasoning_tokens) == (4_000_000, 5)
    assert usage.cost_usd == pytest.approx(1 * 3 + 2 * 0.3 + 2 * 3.75 + 1 * 6 + 4 * 15)


def test_each_step_of_a_task_hits_the_cache_and_has_its_thoughts_with_it() -> None:
    def step(number: int) -> Reply:
        thought = f"thought {number}"
        return reply(
            thinking(thought, signature_of(thought), 0),
            *(call(f"t{number}_{n}", "read_file", "{}", n) for n in range(1, 13)),
            stop="tool_use",
        )

    messages: list[dict[str, Any]] = [{"role": "system", "content": "Be good."}, USER]
    script = [step(0), step(1), step(2), reply(text("Done."))]
    with AnthropicSimulator(script) as server, client_of(server) as client:
        for number in range(4):
            done = ask(client, *messages, think=number == 0).completion
            calls = tuple(ToolCall(raw.id, raw.name, raw.arguments or "{}") for raw in done.calls)
            signed = dict(done.signed or {})
            messages.append(Assistant(done.text, done.thinking, calls, signed=signed).to_wire())
            messages += [ToolResult(one.id, one.name, "seen").to_wire() for one in calls]
    assert server.cache_hits[0] == 0
    assert all(
        hit > before for before, hit in zip(server.cache_hits, server.cache_hits[1:], strict=False)
    )
    assert all(body["thinking"]["type"] == "adaptive" for body in server.bodies)


def test_stop_closes_the_connection_at_once() -> None:
    stop = Stop()

    def stop_at_the_first_word(client: ApiClient) -> None:
        for _ in client.stream([USER], [], think=False, stop=stop):
            stop.set()

    slow = Hang(reply(text("Slow"))[:4])
    with AnthropicSimulator([slow]) as server, client_of(server) as client:
        with pytest.raises(Stopped):
            stop_at_the_first_word(client)
        assert server.client_disconnected.wait(30)


@pytest.mark.parametrize("kind", ["calls", "signature"])
def test_the_limits_of_a_reply_hold_here_too(kind: str) -> None:
    many = [event for n in range(4) for event in call(f"c{n}", "read_file", "{}", n)]
    vast = {"type": "content_block_delta", "index": 0,
            "delta": {"type": "signature_delta", "signature": "x" * 1_000_000}}  # fmt: skip
    begin = {"type": "content_block_start", "index": 0,
             "content_block": {"type": "thinking", "thinking": "", "signature": ""}}  # fmt: skip
    flood = many if kind == "calls" else [begin, *([vast] * 17)]
    limits = ReplyLimits(calls=3)
    error = failure(*[reply(flood)] * 4, limits=limits, retries=0)
    assert ("more than 3 calls" if kind == "calls" else "endless") in str(error)


def test_the_list_of_a_server_teaches_what_new_models_take() -> None:
    row = {
        "id": "claude-unheard-of-9",
        "max_input_tokens": 5_000_000,
        "max_tokens": 256_000,
        "capabilities": {
            "effort": {"supported": True},
            "thinking": {
                "supported": True,
                "types": {
                    "adaptive": {"supported": True},
                    "between_tools": {"supported": True},
                    "disabled": {"supported": False},
                    "enabled": {"supported": False},
                },
            },
        },
    }
    with (
        AnthropicSimulator(models=[row, {"id": MODEL, "max_tokens": 1}]) as server,
        client_of(server, model="claude-unheard-of-9") as client,
    ):
        assert list(client.models()) == ["claude-unheard-of-9", MODEL]
        profile = client.profile
    assert (profile.window, profile.max_output) == (5_000_000, 256_000)
    assert (profile.thinks_by, profile.rests_by) == ("adaptive", "between_tools")


def test_only_the_key_of_the_settings_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "not-for-this-server")
    with AnthropicSimulator([reply(text("Yes."))]) as server, client_of(server) as client:
        ask(client)
    sent = {name.lower(): value for name, value in server.headers[0].items()}
    assert sent["authorization"] == f"Bearer {KEY}"
    assert sent["x-api-key"] == KEY  # a server that is not Anthropic's may know only the older way


def test_without_its_package_the_one_command_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    error = failure()
    assert "-m pip install -r" in str(error)
    assert (ROOT / "requirements-extras.txt").is_file()


def test_the_package_is_loaded_for_nobody_else() -> None:
    code = (
        "import sys; import modules.assembly.start, modules.assembly.terminal;"
        "from utils.api_client import ApiClient;"
        "import utils.llm.providers; ApiClient('http://127.0.0.1:9', 'k', model='m').warm();"
        "ours = ('anthropic', 'utils.llm.anthropic_api.')\n"
        "print([n for n in sys.modules if n.startswith(ours)])"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert json.loads(said.stdout.replace("'", '"')) == []
