"""The model client against DeepSeek's API: what it sends, and what it makes of the reply."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from tests.simulator import (
    Call,
    CallText,
    Delivery,
    Finish,
    KeepAlive,
    Part,
    Say,
    Simulator,
    Think,
)
from tests.utils.client_helpers import READ_FILE, USER, client_of, stream_from_script, stream_once
from utils.api_client import ApiClient, Delta, ModelError, RawCall
from utils.llm.http import response_body
from utils.llm.prices import Price, PriceList
from utils.waiting import Stop

CALL = Call("read_file", path="a 世界.txt")
EVERYTHING: tuple[Part, ...] = (Think("Let me 想 see. 🤔"), Say("I read “a”: 读 😀."), CALL, CALL)
MANNERS = [
    Delivery(),
    Delivery(usage="trailing"),
    Delivery(repeats_ids=True),
    Delivery(newline="\r\n"),
    Delivery(piece_bytes=1),
    Delivery(piece_bytes=7, newline="\r\n", usage="trailing"),
    Delivery(done=False),
]


@pytest.mark.parametrize("manner", MANNERS, ids=str)
@pytest.mark.parametrize("think", [True, False])
def test_a_reply_arrives_whole_however_it_is_sent(manner: Delivery, think: bool) -> None:
    heard = stream_from_script((KeepAlive(), manner, *EVERYTHING, KeepAlive()), think=think)
    thinking = "Let me 想 see. 🤔" if think else ""
    assert (heard.text, heard.thinking) == ("I read “a”: 读 😀.", thinking)
    assert (heard.completion.text, heard.completion.thinking) == (heard.text, heard.thinking)
    calls = [
        (call.name, json.loads(call.arguments), call.is_cut) for call in heard.completion.calls
    ]
    assert calls == [("read_file", {"path": "a 世界.txt"}, False)] * 2
    assert len({call.id for call in heard.completion.calls}) == 2
    assert heard.completion.usage.prompt_tokens > 0
    assert heard.completion.usage.requests == 1
    assert not heard.completion.is_cut
    assert heard.retries == []


def test_a_server_that_tells_no_usage_costs_nothing() -> None:
    usage = stream_from_script((Say("Hi."), Delivery(usage="none"))).completion.usage
    assert (usage.requests, usage.prompt_tokens, usage.cost_usd) == (1, 0, 0.0)


def test_the_pieces_tell_which_call_is_being_written() -> None:
    with Simulator([CALL]) as server, client_of(server) as client:
        deltas = [d for d in client.stream([USER], [], think=False, stop=Stop())
                  if isinstance(d, Delta)]  # fmt: skip
    assert {delta.call_name for delta in deltas} == {"read_file"}
    assert sum(delta.call_characters for delta in deltas) == len(CALL.arguments)


@pytest.mark.parametrize("think", [True, False])
def test_every_request_says_what_it_wants(think: bool) -> None:
    with Simulator([Say("Hi.")]) as server, client_of(server, max_tokens=1234) as client:
        stream_once(client, think=think)
        (request,) = server.requests
    expected = {
        "model": "deepseek-flash",
        "messages": [USER],
        "tools": [READ_FILE],
        "thinking": {"type": "enabled" if think else "disabled"},
        "max_tokens": 1234,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert request.body == expected | ({"reasoning_effort": "high"} if think else {})


def test_nothing_about_this_machine_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-secret")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-secret")
    with Simulator([Say("Hi.")]) as server, client_of(server, user_agent="onefold/1") as client:
        stream_once(client)
        headers = server.requests[0].headers
    assert headers["user-agent"] == "onefold/1"
    names = {"host", "accept-encoding", "content-length", "accept", "content-type", "user-agent"}
    assert headers.keys() == names | {"authorization"}


def test_no_tools_are_no_field() -> None:
    with Simulator([Say("Hi.")]) as server, client_of(server) as client:
        stream_once(client, tools=())
        assert "tools" not in server.requests[0].body


def test_a_thinking_request_never_lacks_reasoning() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}
    messages: list[dict[str, Any]] = [
        USER,
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "x"},
        {"role": "assistant", "content": "x", "reasoning_content": None},
    ]
    with Simulator([Say("Hi.")]) as server, client_of(server) as client:
        stream_once(client, *messages, think=True)
        sent = server.requests[0].messages
    assert [m["reasoning_content"] for m in sent if m["role"] == "assistant"] == ["", ""]
    assert "reasoning_content" not in messages[1]


def test_each_request_begins_with_the_bytes_of_the_one_before() -> None:
    messages: list[dict[str, Any]] = [USER]
    with Simulator([CALL] * 5) as server, client_of(server) as client:
        for number in range(5):
            done = stream_once(client, *messages, think=number == 0).completion
            call = done.calls[0]
            function = {"name": call.name, "arguments": call.arguments}
            wire = [{"id": call.id, "type": "function", "function": function}]
            messages += [
                {"role": "assistant", "content": done.text, "tool_calls": wire},
                {"role": "tool", "tool_call_id": call.id, "content": "x"},
            ]
        raw = [request.raw for request in server.requests]
    for earlier, later in zip(raw, raw[1:], strict=False):
        assert later.startswith(earlier[: earlier.index(b'],"thinking"')])


def test_an_edited_message_is_sent_as_it_is_now() -> None:
    message = {"role": "user", "content": "one"}
    with Simulator([Say("Hi.")] * 2) as server, client_of(server) as client:
        stream_once(client, message, USER)
        stream_once(client, {"role": "user", "content": "two"}, USER)
        assert [r.messages[0]["content"] for r in server.requests] == ["one", "two"]


def test_half_a_surrogate_pair_does_not_stop_a_request() -> None:
    with Simulator([Say("Hi.")]) as server, client_of(server) as client:
        stream_once(client, {"role": "user", "content": "file \udcff"})
        assert server.requests[0].last_user == "file ?"


def test_a_long_prompt_leaves_less_room_for_the_reply() -> None:
    long = {"role": "user", "content": "word " * 600}
    with Simulator([Say("Hi.")] * 2, context_limit=5000) as server:
        with client_of(server, context_limit=5000, max_tokens=4500) as client:
            stream_once(client, long)
            stream_once(client, long)
        first, second = (request.body["max_tokens"] for request in server.requests)
    assert first < second < 4500, "the second knows what the server counted"


def test_tokens_and_dollars_are_those_of_the_last_chunk() -> None:
    prices = PriceList({"deepseek-flash": Price(1.0, 10.0, 100.0)}, peak_factor=1.0)
    long = {"role": "user", "content": "x" * 8000}
    with Simulator([Say("a" * 400)] * 2) as server, client_of(server, prices=prices) as client:
        first, second = (
            stream_once(client, long).completion.usage,
            stream_once(client, long, USER).completion.usage,
        )
    assert first.cache_hit_tokens == 0
    assert second.cache_hit_tokens == 2048 - 128
    assert second.prompt_tokens == second.cache_hit_tokens + second.cache_miss_tokens
    assert second.completion_tokens == 100
    hit, miss = second.cache_hit_tokens, second.cache_miss_tokens
    assert second.cost_usd == pytest.approx((hit + 10 * miss + 100 * 100) / 1_000_000)


def test_thinking_tokens_are_told() -> None:
    assert (
        stream_from_script(
            (Think("a" * 40), Say("b")), think=True
        ).completion.usage.reasoning_tokens
        == 10
    )


def test_the_model_may_change_between_calls() -> None:
    with Simulator([Say("Hi.")] * 2) as server, client_of(server) as client:
        stream_once(client)
        client.model = "deepseek-v4-pro"
        stream_once(client)
        models = [request.body["model"] for request in server.requests]
    assert models == ["deepseek-flash", "deepseek-v4-pro"]


@pytest.mark.parametrize("arguments", ["", "{}", '{"a": {bad}', '{"a": 1, "a": 2}', "[]"])
def test_arguments_are_handed_on_as_they_came(arguments: str) -> None:
    call = stream_from_script(CallText("read_file", arguments)).completion.calls[0]
    assert (call.arguments, call.is_cut) == (arguments, False)


def test_a_call_is_a_call_whatever_the_finish_reason() -> None:
    assert stream_from_script((CALL, Finish("stop"))).completion.calls[0].name == "read_file"
    assert stream_from_script((Say("Hi."), Finish("tool_calls"))).completion.text == "Hi."


def test_the_output_limit_marks_what_it_cut() -> None:
    broken = CallText("read_file", '{"path": "a')
    done = stream_from_script((Say("x"), CALL, broken, Finish("length"))).completion
    assert done.is_cut
    assert [call.is_cut for call in done.calls] == [False, True]
    assert stream_from_script((CALL, Finish("length"))).completion.calls[0].is_cut
    silent = stream_from_script((Think("…"), Finish("length")), think=True).completion
    assert (silent.is_cut, silent.text, silent.thinking) == (True, "", "…")


@pytest.mark.parametrize("ids", [("", ""), ("same", "same"), ("", "b")])
def test_every_call_gets_an_id_of_its_own(ids: tuple[str, str]) -> None:
    step = tuple(CallText("read_file", "{}", id=call_id) for call_id in ids)
    calls = stream_from_script((*step,)).completion.calls
    assert len({call.id for call in calls}) == 2
    assert all(call.id for call in calls)
    assert [c.id for c, i in zip(calls, ids, strict=True) if i == "b"] in ([], ["b"])


def test_an_unknown_or_empty_tool_name_passes() -> None:
    calls = stream_from_script((Call("nonsense"), CallText("", "{}"))).completion.calls
    assert [call.name for call in calls] == ["nonsense", ""]


def test_connections_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_body, "_GRACE_SECONDS", 120.0)  # the simulator may be slow
    with Simulator([Say("Hi.")] * 5) as server, client_of(server) as client:
        for _ in range(5):
            stream_once(client)
        assert server.connections == 1


def test_a_kept_connection_that_the_server_closed_goes_unnoticed() -> None:
    with client_of("http://127.0.0.1:1") as client:
        pass
    with Simulator([Say("Hi.")] * 2) as server, client_of(server) as client:
        stream_once(client)
        server.close_connections()
        assert stream_once(client).retries == []
        assert server.connections == 2


def test_several_threads_may_ask_at_once() -> None:
    from concurrent.futures import ThreadPoolExecutor

    with Simulator(lambda received: Say(received.last_user)) as server, client_of(server) as client:

        def once(number: int) -> bool:
            return (
                stream_once(client, {"role": "user", "content": f"n{number}"}).text == f"n{number}"
            )

        with ThreadPoolExecutor(8) as threads:
            assert all(threads.map(once, range(40)))


@pytest.mark.parametrize("seed", range(3))
def test_any_cut_of_the_bytes_reads_the_same(seed: int) -> None:
    chance = random.Random(seed)
    whole = stream_from_script(EVERYTHING, think=True).completion
    for _ in range(5):
        manner = Delivery(piece_bytes=chance.randint(1, 400), newline=chance.choice(["\n", "\r\n"]))
        done = stream_from_script((manner, *EVERYTHING), think=True).completion
        assert (done.text, done.thinking) == (whole.text, whole.thinking)
        assert [c.arguments for c in done.calls] == [c.arguments for c in whole.calls]


def test_warming_up_sends_nothing() -> None:
    with Simulator() as server, client_of(server) as client:
        client.warm()
        client.warm()
        assert server.connections == 0


def test_a_key_that_cannot_be_sent_is_told() -> None:
    client = ApiClient("http://127.0.0.1:1", "sk-“quoted”", model="m")
    with pytest.raises(ModelError, match="invalid characters") as caught:
        stream_once(client)
    assert caught.value.kind == "key"


def test_recovered_and_streamed_calls_are_the_same_kind() -> None:
    assert isinstance(stream_from_script(CALL).completion.calls[0], RawCall)
