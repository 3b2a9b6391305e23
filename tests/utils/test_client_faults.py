"""Whatever goes wrong between us and the model: asked again where that may help, else told."""

from __future__ import annotations

import json
import socket

import pytest

from tests.simulator import (
    CallText,
    Cut,
    Drop,
    ErrorFrame,
    Finish,
    KeepAlive,
    Raw,
    Refuse,
    Say,
    Simulator,
    Stall,
    Step,
    Think,
    errors,
)
from tests.utils.client_helpers import USER, InstantStop, client_of, stream_from_script, stream_once
from utils.llm.completion import ModelError, Retry
from utils.waiting import Stop, Stopped

KEY = "sk-0123456789abcdef"
FINE = Say("Fine.")
PASSING: list[Step] = [
    Refuse(429),
    Refuse(500),
    Refuse(502, "<html><title>502 Bad Gateway</title></html>"),
    Refuse(503),
    Refuse(504, ""),
    Cut(),
    Cut(done=True),
    (Say("Half"), Cut()),
    (Say("Half"), Drop()),
    (Think("Hm"), Drop()),
    (Say("Half"), CallText("read_file", '{"path": "a'), Cut(done=True)),
    (Say("Half"), CallText("list_files", ""), Cut(done=True)),
    (CallText("read_file", '{"path": "a'), Finish("eos")),
    (CallText("read_file", '{"path": "a",'), Cut(done=True)),
    (Say("Half"), Raw(b"data: {broken\n\n")),
    (Say("Half"), Raw(b'data: {"choices": [{"delta": {"content": 1}}]}\n\n')),
    (Say("Half"), Raw(b'data: {"choices": [{"delta": {"tool_calls": [1]}}]}\n\n')),
    (Say("Half"), ErrorFrame()),
    (Say("Half"), ErrorFrame("Service is too busy", "service_unavailable_error")),
    (Say("Half"), ErrorFrame("Slow down", "rate_limit_error")),
    (Say("Half"), Finish("insufficient_system_resource")),
    (Say("Half"), Finish("error")),
    (Say("Half"), Finish("abort")),
]
EMPTY: list[Step] = [
    Say(""),
    Say(" \n"),
    (Think("All of it is in here."), Finish("stop")),
    Finish("tool_calls"),
]


@pytest.mark.parametrize("fault", PASSING, ids=repr)
def test_what_may_pass_is_asked_again(fault: Step) -> None:
    heard = stream_from_script(fault, FINE)
    assert heard.text == heard.completion.text == "Fine."
    assert [retry.attempt for retry in heard.retries] == [1]


@pytest.mark.parametrize(
    "sign", [b"data: [1]\n\n", b"data: \xff\n\n", b'data: {"usage": [1]}\n\n'], ids=repr
)
def test_what_says_nothing_beside_a_whole_reply_is_passed_over(sign: bytes) -> None:
    assert stream_from_script((Say("Fine."), Raw(sign))).completion.text == "Fine."


@pytest.mark.parametrize("fault", EMPTY, ids=repr)
@pytest.mark.parametrize("think", [True, False])
def test_an_empty_reply_is_asked_again(fault: Step, think: bool) -> None:
    heard = stream_from_script(fault, fault, FINE, think=think)
    assert [retry.seconds for retry in heard.retries] == [0.0, 0.0]
    assert heard.completion.text == "Fine."
    assert heard.completion.usage.requests == 3, "what was billed is counted"


def test_the_last_try_for_words_does_not_think() -> None:
    silent = (Think("Endless."), Finish("stop"))
    with Simulator([silent] * 3 + [FINE]) as server, client_of(server) as client:
        stream_once(client, think=True)
        assert [request.is_thinking for request in server.requests] == [True, True, True, False]


def test_empty_replies_have_an_end() -> None:
    with Simulator([Say("")] * 9) as server, client_of(server) as client:
        with pytest.raises(ModelError, match="empty reply") as caught:
            stream_once(client)
        assert len(server.requests) == 4
    assert caught.value.kind == "reply"
    assert caught.value.usage.requests == 4, "what was billed is counted"


def test_a_busy_server_is_given_up_in_the_end() -> None:
    stop = InstantStop()
    with Simulator([Refuse(503)] * 9) as server, client_of(server, retries=4) as client:
        with pytest.raises(ModelError, match="Service is too busy") as caught:
            stream_once(client, stop=stop)
        assert len(server.requests) == 5
    assert caught.value.kind == "server"
    for wait, least in zip(stop.waits, (0.5, 1.0, 2.0, 4.0), strict=True):
        assert least <= wait <= 1.5 * least


def test_the_server_may_say_how_long_to_wait() -> None:
    waits = [
        r.seconds
        for r in stream_from_script(Refuse(429, headers={"Retry-After": "7"}), FINE).retries
    ]
    assert waits == [7.0]
    waits = [
        r.seconds
        for r in stream_from_script(Refuse(503, headers={"Retry-After": "9999"}), FINE).retries
    ]
    assert waits == [60.0]
    (retry,) = stream_from_script(Refuse(503, headers={"Retry-After": "Wed, 21 Oct"}), FINE).retries
    assert 0.5 <= retry.seconds <= 0.75


REFUSALS = [
    (Refuse(401), "key", "rejected the API key …cdef"),
    (Refuse(401, errors.NO_KEY), "key", "Check DEEPSEEK_API_KEY."),
    (Refuse(402), "balance", "used up"),
    (Refuse(403, "Forbidden"), "key", "refused the request: Forbidden"),
    (Refuse(400, errors.body("Content Exists Risk")), "content", "refused this content"),
    (Refuse(400, errors.unknown_model("x")), "request", "deepseek-flash, deepseek-v4-pro"),
    (Refuse(404, errors.body("The model `x` does not exist")), "request", "does not serve"),
    (Refuse(400, errors.body("Bad\x1b[31m \x07luck")), "request", "HTTP 400): Bad [31m luck"),
    (Refuse(400, "Failed to parse the request"), "request", "Failed to parse"),
    (Refuse(404, ""), "request", "DEEPSEEK_BASE_URL"),
    (Refuse(405, ""), "request", "DEEPSEEK_BASE_URL"),
    (Refuse(307, ""), "request", "DEEPSEEK_BASE_URL"),
    (Refuse(415), "request", "HTTP 415"),
    (Refuse(422, '{"detail": "Invalid Parameters"}'), "request", "Invalid Parameters"),
    (Refuse(418, '["?"]'), "request", "418"),
    (Refuse(422, f'{{"detail": {"[" * 900}{"]" * 900}}}'), "request", "HTTP 422"),
    (Refuse(422, "[" * 900 + '"x"' + "]" * 900), "request", "HTTP 422"),
]


TOO_LONG = [Refuse(400, errors.body(errors.CONTEXT)), Refuse(413, "too large")]


@pytest.mark.parametrize("refusal", TOO_LONG, ids=lambda v: str(v)[:40])
def test_a_conversation_that_is_too_long_can_be_made_shorter(refusal: Refuse) -> None:
    said = {"role": "assistant", "content": "Fine.", "reasoning_content": ""}
    with Simulator([refusal, FINE]) as server, client_of(server) as client:
        with pytest.raises(ModelError, match="/compact, or /new") as caught:
            stream_once(client, USER, said, USER)
        assert len(server.requests) == 1
    assert caught.value.kind == "context"


@pytest.mark.parametrize("refusal", TOO_LONG, ids=lambda v: str(v)[:40])
def test_a_first_request_that_is_too_long_needs_another_window(refusal: Refuse) -> None:
    with Simulator([refusal, FINE]) as server, client_of(server) as client:
        with pytest.raises(ModelError, match="too small for Onefold's instructions") as caught:
            stream_once(client)
        assert len(server.requests) == 1
    assert caught.value.kind == "context"


@pytest.mark.parametrize("request_id", [True, False])
@pytest.mark.parametrize(("refusal", "kind", "words"), REFUSALS, ids=lambda v: str(v)[:40])
def test_a_refusal_tells_what_to_do(
    refusal: Refuse, kind: str, words: str, request_id: bool
) -> None:
    with Simulator([refusal, FINE], request_id=request_id) as server:
        url = f"{server.url}/v1"
        with client_of(url, key=KEY) as client, pytest.raises(ModelError) as caught:
            stream_once(client)
        assert len(server.requests) == 1
    assert caught.value.kind == kind
    assert words in str(caught.value)
    assert KEY not in str(caught.value)
    assert str(caught.value).isprintable()


def test_a_refusal_in_the_midst_of_the_stream_is_no_passing_thing() -> None:
    for message, kind in [
        ("Insufficient Balance", "balance"),
        ("Content Exists Risk", "content"),
        ("Nonsense", "request"),
    ]:
        step = (Say("Half"), ErrorFrame(message, "invalid_request_error"))
        with pytest.raises(ModelError) as caught:
            stream_from_script(step)
        assert caught.value.kind == kind
    with pytest.raises(ModelError, match="rejected the API key"):
        stream_from_script((Say("Half"), ErrorFrame("No.", "authentication_error")))


def test_filtered_content_is_told() -> None:
    with pytest.raises(ModelError) as caught:
        stream_from_script((Say("Half"), Finish("content_filter")))
    assert caught.value.kind == "content"


def test_a_missing_key_is_told() -> None:
    with (
        Simulator(is_validated=False, api_key=KEY) as server,
        client_of(server, key=" ") as client,
        pytest.raises(ModelError, match="needs an API key") as caught,
    ):
        stream_once(client)
    assert caught.value.kind == "key"


def test_the_servers_words_never_bring_the_key_back() -> None:
    with pytest.raises(ModelError) as caught:
        stream_from_script(Refuse(400, errors.body(f"No {KEY} here")), key=KEY)
    assert KEY not in str(caught.value)


def test_a_web_page_is_no_model() -> None:
    from http.server import BaseHTTPRequestHandler, HTTPServer
    from threading import Thread

    class Portal(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<html><title>Log in</title></html>")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    with HTTPServer(("127.0.0.1", 0), Portal) as server:
        Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        with client_of(url) as client, pytest.raises(ModelError, match="no chat-completions API"):
            stream_once(client)
        server.shutdown()


def test_a_server_that_does_not_stream_is_understood() -> None:
    message = {"role": "assistant", "content": "Hi.", "reasoning_content": "Hm."}
    body = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": None}
    heard = stream_from_script(Refuse(200, json.dumps(body)))
    assert (heard.text, heard.thinking, heard.completion.text) == ("Hi.", "Hm.", "Hi.")


def test_what_breaks_after_the_finish_reason_breaks_nothing() -> None:
    last = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
    assert stream_from_script((Say("Whole."), Raw(last), Drop())).completion.text == "Whole."
    assert (
        stream_from_script((Say("Whole."), Raw(last), Raw(b"data: [DO"), Cut())).completion.text
        == "Whole."
    )
    # Whoever is so slow that this is silence before it as well is asked again.
    always = Simulator(lambda _: (Say("Whole."), Raw(last), Stall()))
    with always as server, client_of(server, idle_seconds=0.2) as client:
        assert stream_once(client).completion.text == "Whole."


def test_silence_has_a_limit() -> None:
    for fault in (Stall(), (Say("Half"), Stall()), (KeepAlive(), Stall())):
        steps = iter([fault])
        silent_once = Simulator(lambda _, steps=steps: next(steps, FINE))  # type: ignore[misc]
        with silent_once as server, client_of(server, idle_seconds=0.2) as client:
            heard = stream_once(client)
        assert heard.completion.text == "Fine."
        assert str(heard.retries[0].reason).endswith("sent nothing for 0 seconds.")


def test_a_connection_that_breaks_before_the_first_byte_is_asked_again() -> None:
    assert len(stream_from_script(Drop(), FINE).retries) == 1


def test_nobody_there_is_told_soon() -> None:
    stop = InstantStop()
    with socket.socket() as nobody:  # who has the port, so that nobody else can
        nobody.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{nobody.getsockname()[1]}"
        told = pytest.raises(ModelError, match=f"Cannot reach {address} ")
        with client_of(f"http://{address}") as client, told as caught:
            stream_once(client, stop=stop)
    assert caught.value.kind == "network"
    assert len(stop.waits) == 2


def test_an_unknown_host_is_told() -> None:
    told = pytest.raises(ModelError, match="Cannot reach no-such-host.invalid ")
    with client_of("http://no-such-host.invalid", retries=0) as client, told:
        stream_once(client)


def test_a_retry_forgets_what_was_shown() -> None:
    with Simulator([(Say("Half"), Cut()), FINE]) as server, client_of(server) as client:
        items = list(client.stream([USER], [], think=False, stop=InstantStop()))
    retry = next(index for index, item in enumerate(items) if isinstance(item, Retry))
    assert retry > 0
    assert items[-1].text == "Fine."  # type: ignore[union-attr]


def test_a_stop_ends_the_wait_between_two_tries() -> None:
    stop = Stop()
    with Simulator([Refuse(503)]) as server, client_of(server) as client:
        stream = client.stream([USER], [], think=False, stop=stop)
        assert isinstance(next(stream), Retry)
        stop.set()
        with pytest.raises(Stopped):
            next(stream)
