"""A server is learnt: what it refuses is not sent again, to it and for that model."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.simulator import ErrorFrame, Refuse, Say, Simulator, Step
from tests.utils.wire import USER, ask, client_of
from utils.completion import ModelError
from utils.llm.server_profile import ProfilesInMemory, ServerProfile
from utils.prices import PriceList

FINE = Say("Fine.")
UNPRICED = PriceList({})
"""The prices of a server whose models are not DeepSeek's."""


def refuse(text: str, status: int = 400) -> Refuse:
    return Refuse(status, json.dumps({"error": {"message": text}}))


def bodies(server: Simulator) -> list[dict[str, Any]]:
    return [request.body for request in server.requests]


def test_a_refused_part_is_left_out_at_once_and_from_then_on() -> None:
    with Simulator([refuse("stream_options is not supported"), FINE, FINE]) as server:
        with client_of(server) as client:
            first, second = ask(client), ask(client)
        assert ["stream_options" in body for body in bodies(server)] == [True, False, False]
    assert first.done.text == second.done.text == "Fine."
    assert not first.retries
    (learnt,) = first.learnt
    assert "stream_options=no" in str(learnt.what)
    assert not second.learnt


def test_several_habits_are_told_in_one_line() -> None:
    script: list[Step] = [
        refuse("unknown parameter: thinking"),
        refuse("max_tokens must be <= 4096"),
        FINE,
    ]
    with Simulator(script) as server, client_of(server) as client:
        (learnt,) = ask(client).learnt
        assert client.profile == ServerProfile(thinking=False, max_output=4096)
    assert "thinking=no" in str(learnt.what)
    assert "max_output=4096" in str(learnt.what)


def test_what_did_not_help_is_not_kept() -> None:
    with (
        Simulator([refuse("Bad Request")] * 3) as server,
        client_of(server, prices=UNPRICED) as client,
    ):
        with pytest.raises(ModelError, match="Bad Request"):
            ask(client)
        assert len(server.requests) == 2
        assert client.profile == ServerProfile()


def test_what_came_before_a_refusal_in_the_stream_is_taken_back() -> None:
    refusal = ErrorFrame("stream_options is not supported", "invalid_request_error")
    with (
        Simulator([(Say("Well, " * 30_000), refusal), FINE]) as server,
        client_of(server) as client,
    ):
        heard = ask(client)
    assert heard.shown == heard.done.text == "Fine."
    assert [retry.seconds for retry in heard.retries] == [0.0]
    assert len(heard.learnt) == 1


def test_deepseeks_models_are_not_guessed_at() -> None:
    with Simulator([refuse("Bad Request"), FINE]) as server, client_of(server) as client:
        with pytest.raises(ModelError):
            ask(client)
        assert len(server.requests) == 1


def test_each_model_has_a_profile_of_its_own() -> None:
    kept = ProfilesInMemory()
    with Simulator([refuse("no stream_options"), FINE, FINE]) as server:
        with client_of(server, model="deepseek-flash", profiles=kept) as client:
            ask(client)
            client.model = "deepseek-v4-pro"
            ask(client)
        assert "stream_options" in bodies(server)[-1]
        assert kept.find(server.url, "deepseek-flash") == ServerProfile(stream_options=False)
        assert kept.find(server.url, "deepseek-v4-pro") == ServerProfile()


def test_a_window_that_is_learnt_leaves_room_for_the_prompt() -> None:
    text = "This model's maximum context length is 9000 tokens."
    with Simulator([refuse(text), FINE]) as server, client_of(server) as client:
        ask(client, USER)
        assert bodies(server)[-1]["max_tokens"] < 9000
        assert client.profile.window == 9000


def test_a_server_that_refuses_for_ever_is_given_up_on() -> None:
    refusals = [refuse(f"maximum context length is {size} tokens") for size in range(90000, 0, -1)]
    with Simulator(list(refusals[:200])) as server, client_of(server) as client:
        with pytest.raises(ModelError, match="window"):
            ask(client)
        assert len(server.requests) < 50
        assert client.profile == ServerProfile()
