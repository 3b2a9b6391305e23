"""The simulator writes what DeepSeek's own generator writes, and keeps to what was observed."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import sys
from contextlib import closing
from typing import Any

import pytest

from tests.simulator import (
    Call,
    Delivery,
    Drop,
    ErrorFrame,
    KeepAlive,
    ReceivedRequest,
    Refuse,
    Say,
    Simulator,
    Think,
)
from tests.simulator.cache import PromptCache
from tests.utils.test_golden_streams import golden

USER = {"role": "user", "content": "Please."}
KEY = "sk-0000"


def post(server: Simulator, body: Any, path: str = "/chat/completions", **headers: str) -> Any:
    """Return status, content type and body of the answer."""
    given = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    given.update({name.replace("_", "-"): value for name, value in headers.items()})
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=120)
    with closing(connection):
        connection.request("POST", path, data, {n: v for n, v in given.items() if v})
        reply = connection.getresponse()
        return reply.status, reply.getheader("Content-Type"), reply.read().decode()


def request(**more: Any) -> dict[str, Any]:
    return {"model": "deepseek-flash", "messages": [USER], **more}


def chunks(stream: str) -> list[dict[str, Any]]:
    assert stream.endswith("data: [DONE]\n\n")
    events = stream.removesuffix("data: [DONE]\n\n").split("\n\n")[:-1]
    return [json.loads(event.removeprefix("data: ")) for event in events]


def shape(chunk: dict[str, Any]) -> Any:
    """Return *chunk* with its keys in order, without what differs from reply to reply.

    The generator counts reasoning tokens only where it is fed token ids, which it is not here.
    """
    choice = chunk["choices"][0]
    delta: dict[str, Any] = {
        name: value if value is None or name in ("role", "tool_calls") else "…"
        for name, value in choice["delta"].items()
    }
    for call in delta.get("tool_calls", ()):
        call.update({"id": "…"} if "id" in call else {})
        call["function"]["arguments"] = "…"
    told = [name for name in chunk.get("usage") or () if name != "completion_tokens_details"]
    return list(chunk), list(choice), list(delta.items()), choice["finish_reason"], told


def folded(stream: str) -> list[Any]:
    """Return the shapes of the chunks, runs of the same one as one."""
    shapes = [json.dumps(shape(chunk)) for chunk in chunks(stream)]
    return [one for index, one in enumerate(shapes) if index == 0 or shapes[index - 1] != one]


@pytest.mark.parametrize("thinks", [True, False])
def test_a_stream_has_the_form_of_deepseeks_own(thinks: bool) -> None:
    call = Call("read_file", path="a")
    theirs, _ = golden("Let me look.", "Hm." if thinks else "", (call,), is_thinking=thinks, seed=1)
    body = request(
        stream=True,
        stream_options={"include_usage": True},
        thinking={"type": "enabled" if thinks else "disabled"},
    )
    with Simulator([(Think("Hm. Hm."), Say("Let me look."), call)]) as server:
        _, _, ours = post(server, body)
    assert folded(ours) == folded(theirs.decode())


def test_without_include_usage_only_the_last_chunk_has_the_key() -> None:
    with Simulator([Say("a b c")]) as server:
        told = chunks(post(server, request(stream=True))[2])
    assert ["usage" in chunk for chunk in told] == [False] * (len(told) - 1) + [True]


def test_usage_may_trail_in_a_chunk_of_its_own() -> None:
    with Simulator([(Say("a"), Delivery(usage="trailing"))]) as server:
        *_, finish, last = chunks(post(server, request(stream=True))[2])
    assert finish["choices"][0]["finish_reason"] == "stop"
    assert (last["choices"], last["usage"]["completion_tokens"]) == ([], 1)


def test_a_request_that_does_not_stream_is_answered_whole() -> None:
    with Simulator([(Think("Hm."), Say("Hi."), Call("read_file", path="a"))]) as server:
        status, kind, text = post(server, request())
    (choice,) = json.loads(text)["choices"]
    assert (status, kind, choice["finish_reason"]) == (200, "application/json", "tool_calls")
    message = choice["message"]
    assert (message["reasoning_content"], message["content"]) == ("Hm.", "Hi.")
    assert message["tool_calls"][0]["function"]["arguments"] == '{"path": "a"}'


def test_keys_are_checked_as_by_the_gateway() -> None:
    plain = (401, None, "Authentication Fails (governor)")
    with Simulator([Say("Hi.")], api_key=KEY, is_validated=False) as server:
        assert post(server, request(), Authorization="") == plain
        assert post(server, request(), Authorization=f"Basic {KEY}") == plain
        status, _, text = post(server, request(), Authorization="Bearer sk-wrong")
        assert post(server, request())[0] == 200
    assert status == 401
    assert json.loads(text)["error"] == {
        "message": "Authentication Fails, Your api key: ****rong is invalid",
        "type": "authentication_error",
        "param": None,
        "code": "invalid_request_error",
    }


def test_what_is_no_request_is_refused_and_uses_up_no_step() -> None:
    with Simulator([Say("Hi.")], is_validated=False, request_id=True) as server:
        assert post(server, request(), Content_Type="text/plain")[::2] == (
            415,
            "Expected request with `Content-Type: application/json`",
        )
        status, kind, text = post(server, b"{")
        assert (status, kind) == (400, None)
        assert text.startswith("Failed to parse the request body as JSON: ")
        status, kind, text = post(server, request(messages=[]))
        assert (status, kind) == (400, "application/octet-stream")
        assert json.loads(text)["error"]["message"].startswith("Empty input messages (request_id: ")
        assert post(server, request(), path="/v1/nothing") == (404, None, "")
        assert not server.is_finished
        assert post(server, request(), path="/v1/chat/completions")[0] == 200
        assert server.is_finished


def test_the_official_refusals() -> None:
    with Simulator([Refuse(status) for status in (402, 429, 500, 503)]) as server:
        told = [post(server, request()) for _ in range(4)]
    assert [(status, kind) for status, kind, _ in told] == [
        (402, "application/json"),
        (429, "application/json"),
        (500, "text/html"),
        (503, "application/json"),
    ]
    assert "Insufficient Balance" in told[0][2]


def test_a_script_at_its_end_says_so() -> None:
    with Simulator() as server:
        assert "no step left" in post(server, request())[2]


def test_a_script_may_be_a_function_of_the_request() -> None:
    with Simulator(lambda received: Say(received.last_user.upper())) as server:
        assert "PLEASE." in post(server, request())[2]


def test_an_invalid_request_fails_the_test_that_made_it() -> None:
    told = pytest.raises(AssertionError, match="request 1 is not valid: .*Empty input")
    with told, Simulator() as server:
        post(server, request(messages=[]))


def test_a_dropped_connection_is_reset() -> None:
    broken = pytest.raises((ConnectionError, http.client.IncompleteRead))
    with Simulator([(Say("a"), Drop())]) as server, broken:
        post(server, request(stream=True))


def test_comments_and_error_frames_are_put_where_they_stand() -> None:
    with Simulator([(KeepAlive(2), Say("a"), ErrorFrame("Oh.", "x"))]) as server:
        stream = post(server, request(stream=True))[2]
    assert stream.startswith(": keep-alive\n\n: keep-alive\n\ndata: ")
    assert stream.endswith(
        'data: {"error":{"message":"Oh.","type":"x","param":null,"code":null}}\n\n'
    )


def told_usage(server: Simulator, *messages: dict[str, Any], **more: Any) -> tuple[int, int]:
    usage = json.loads(post(server, request(messages=list(messages), **more))[2])["usage"]
    return usage["prompt_tokens"], usage["prompt_cache_hit_tokens"]


def test_the_cache_hits_whole_units_of_what_one_owner_sent_in_one_mode() -> None:
    long = {"role": "user", "content": "x" * 4000}
    new = {"role": "user", "content": "z" * 600}
    fast: dict[str, Any] = {"thinking": {"type": "disabled"}}
    with Simulator(lambda _: Say("Hi.")) as server:
        total, hit = told_usage(server, long, **fast)
        assert hit == 0
        again, hit = told_usage(server, long, new, **fast)
        assert again > total
        assert hit == 896
        assert told_usage(server, long, new)[1] == 0, "another mode"
        assert told_usage(server, long, user_id="b", **fast)[1] == 0, "another user"
        assert told_usage(server, long, model="deepseek-v4-pro", **fast)[1] == 0
        assert told_usage(server, USER, **fast)[1] == told_usage(server, USER, **fast)[1] == 0


def test_what_the_model_said_is_cached_too() -> None:
    words = "y" * 4000
    long = {"role": "user", "content": "z" * 600}
    with Simulator([Say(words), Say("Hi.")]) as server:
        fast = {"thinking": {"type": "disabled"}}
        told_usage(server, USER, **fast)
        _, hit = told_usage(server, USER, {"role": "assistant", "content": words}, long, **fast)
    assert hit >= 896


def test_a_change_at_the_head_misses_everything() -> None:
    cache = PromptCache()
    assert cache.hit("me", "a" * 4096) == 0
    assert cache.hit("me", "a" * 8192) == 0  # its reply has not come yet
    cache.remember("me", "a" * 4096)
    assert cache.hit("me", "a" * 8192) == 1024
    assert cache.hit("me", "b" + "a" * 8191) == 0


def test_it_can_be_started_by_hand() -> None:
    command = [sys.executable, "-m", "tests.simulator", "--port", "0", "--step", 'Say("One.")']
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr
            url = process.stderr.readline().split("=")[1].split()[0]
            connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=120)
            for _ in range(2):
                headers = {"Authorization": "Bearer x", "Content-Type": "application/json"}
                connection.request(
                    "POST", "/chat/completions", json.dumps(request()).encode(), headers
                )
                assert b"One." in connection.getresponse().read()
            connection.close()
        finally:
            process.terminate()


def test_a_request_that_was_cut_short_by_a_kill_was_never_made() -> None:
    with Simulator([Say("hello")]) as server:
        host, _, port = server.url.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), timeout=120) as connection:
            connection.sendall(b"POST /chat/completions HTTP/1.1\r\nContent-Length: 100\r\n\r\n{")
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(1) == b""
        assert post(server, request())[0] == 200
        assert len(server.requests) == 1


def test_a_request_is_there_with_its_body() -> None:
    """Whoever waits for a request may look at it at once."""
    seen: list[Any] = []

    class Noting(list[ReceivedRequest]):
        def append(self, received: ReceivedRequest) -> None:
            seen.append(received.body)
            super().append(received)

    with Simulator([Say("Yes.")]) as server:
        server.requests = Noting()
        post(server, request())
    assert seen == [request()]
