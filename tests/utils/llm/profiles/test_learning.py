"""A server is learnt: what it refuses is not sent again, to it and for that model."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.simulator import ErrorFrame, Refuse, Say, Simulator, Step
from tests.utils.client_helpers import USER, client_of, stream_once
from tests.utils.llm.quirk_server import (
    DONE,
    Answer,
    ReceivedRequest,
    chunk,
    default_response,
    quirk_server,
    streamed_response,
)
from utils.llm.completion import ModelError
from utils.llm.prices import PriceList
from utils.llm.profiles.server_profile import CacheFigures, ProfilesInMemory, ServerProfile
from utils.pictures import Picture
from utils.text.codec import to_plain

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
            first, second = stream_once(client), stream_once(client)
        assert ["stream_options" in body for body in bodies(server)] == [True, False, False]
    assert first.completion.text == second.completion.text == "Fine."
    assert not first.retries
    (learnt,) = first.learned
    assert "stream_options=no" in str(learnt.message)
    assert not second.learned


def test_several_habits_are_told_in_one_line() -> None:
    script: list[Step] = [
        refuse("unknown parameter: thinking"),
        refuse("max_tokens must be <= 4096"),
        FINE,
    ]
    with Simulator(script) as server, client_of(server) as client:
        (learnt,) = stream_once(client).learned
        assert client.profile == ServerProfile(thinking=False, max_output=4096)
    assert "thinking=no" in str(learnt.message)
    assert "max_output=4096" in str(learnt.message)


def test_what_did_not_help_is_not_kept() -> None:
    with (
        Simulator([refuse("Bad Request")] * 3) as server,
        client_of(server, prices=UNPRICED) as client,
    ):
        with pytest.raises(ModelError, match="Bad Request"):
            stream_once(client)
        assert len(server.requests) == 2
        assert client.profile == ServerProfile()


def test_what_came_before_a_refusal_in_the_stream_is_taken_back() -> None:
    refusal = ErrorFrame("stream_options is not supported", "invalid_request_error")
    with (
        Simulator([(Say(" ".join(map(str, range(40_000)))), refusal), FINE]) as server,
        client_of(server) as client,
    ):
        heard = stream_once(client)
    assert heard.text == heard.completion.text == "Fine."
    assert [retry.seconds for retry in heard.retries] == [0.0]
    assert len(heard.learned) == 1


def test_deepseeks_models_are_not_guessed_at() -> None:
    with Simulator([refuse("Bad Request"), FINE]) as server, client_of(server) as client:
        with pytest.raises(ModelError):
            stream_once(client)
        assert len(server.requests) == 1


def test_each_model_has_a_profile_of_its_own() -> None:
    kept = ProfilesInMemory()
    with Simulator([refuse("no stream_options"), FINE, FINE]) as server:
        with client_of(server, model="deepseek-flash", profiles=kept) as client:
            stream_once(client)
            client.model = "deepseek-v4-pro"
            stream_once(client)
        assert "stream_options" in bodies(server)[-1]
        assert kept.find(server.url, "deepseek-flash", ServerProfile()) == ServerProfile(
            stream_options=False
        )
        assert kept.find(server.url, "deepseek-v4-pro", ServerProfile()) == ServerProfile()


def test_a_window_that_is_learnt_leaves_room_for_the_prompt() -> None:
    text = "This model's maximum context length is 9000 tokens."
    with Simulator([refuse(text), FINE]) as server, client_of(server) as client:
        stream_once(client, USER)
        assert bodies(server)[-1]["max_tokens"] < 9000
        assert client.profile.window == 9000


def test_a_server_that_refuses_for_ever_is_given_up_on() -> None:
    refusals = [refuse(f"maximum context length is {size} tokens") for size in range(90000, 0, -1)]
    with Simulator(list(refusals[:200])) as server, client_of(server) as client:
        with pytest.raises(ModelError, match="window"):
            stream_once(client)
        assert len(server.requests) < 50
        assert client.profile == ServerProfile()


SEEING = ServerProfile(pictures=True)
PICTURE = Picture("0" * 64, "a.png", "PNG", 8, 6, 99, "image/png")
SHOWN = {"role": "user", "content": "What is it?", "pictures": [to_plain(PICTURE)]}
NO_PICTURES = {
    "Invalid content type. image_url is only supported by certain models.": 400,
    "messages[1]: unknown variant `image_url`, expected `text`": 400,
    "At most 0 image(s) may be provided in one request.": 400,
    "glm-tiny is not a multimodal model": 400,
    "image input is not supported - hint: you may need to provide the mmproj": 500,
    "No endpoints found that support image input": 404,
    "messages.1.content: Input should be a valid string": 422,
    "'messages.1.content' must be a string": 400,
}


@pytest.mark.parametrize(("text", "status"), NO_PICTURES.items())
def test_a_server_that_takes_no_pictures_is_told_of_them(text: str, status: int) -> None:
    kept = ProfilesInMemory()
    with (
        Simulator([refuse(text, status), FINE, FINE]) as server,
        client_of(server, profiles=kept) as client,
    ):
        kept.save(server.url, client.model, SEEING.changes)
        client.set_picture_reader(lambda _: b"bytes")
        first, second = stream_once(client, SHOWN), stream_once(client, SHOWN)
        contents = [body["messages"][-1]["content"] for body in bodies(server)]
        assert client.profile == ServerProfile()
    assert contents[0][1]["image_url"]["url"].startswith("data:image/png;base64,")
    note = "[picture a.png, PNG, 8×6, 99 B; this model does not see pictures]"
    assert contents[1:] == [f"What is it?\n{note}"] * 2
    (learnt,) = first.learned
    assert "does not accept pictures for this model" in str(learnt.message)
    assert first.completion.text == second.completion.text == "Fine."
    assert not first.retries
    assert not second.learned


def test_a_refusal_without_a_picture_says_nothing_of_pictures() -> None:
    kept = ProfilesInMemory()
    script: list[Step] = [refuse("messages.1.content: Input should be a valid string"), FINE]
    with Simulator(script) as server, client_of(server, profiles=kept) as client:
        kept.save(server.url, client.model, SEEING.changes)
        stream_once(client)
        assert client.profile.pictures


def test_a_picture_takes_little_of_the_window() -> None:
    kept = ProfilesInMemory()
    with (
        Simulator([FINE]) as server,
        client_of(server, profiles=kept, context_limit=100_000, max_tokens=90_000) as client,
    ):
        kept.save(server.url, client.model, SEEING.changes)
        client.set_picture_reader(lambda _: bytes(1_000_000))
        stream_once(client, SHOWN)
        assert bodies(server)[0]["max_tokens"] == 90_000


def test_an_address_below_v1_is_remembered_and_is_no_news() -> None:
    kept = ProfilesInMemory()
    paths = []

    def habit(asked: ReceivedRequest) -> Answer:
        paths.append(asked.path)
        return (
            default_response(asked)
            if asked.path.startswith("/v1/")
            else Answer(404, b"404 page not found")
        )

    with quirk_server(habit) as server:
        for _ in range(2):
            with client_of(server.url.removesuffix("/v1"), profiles=kept) as client:
                heard = stream_once(client)
                assert not heard.learned
                assert not heard.retries
                assert client.profile.below_v1
        assert paths == ["/chat/completions", *["/v1/chat/completions"] * 2]
        with client_of(server.url.removesuffix("/v1"), profiles=kept) as client:
            client.forget_profile()
            stream_once(client)
        assert paths[3:] == paths[:2]


CACHED: dict[CacheFigures, dict[str, Any]] = {
    "prompt_cache_hit_tokens": {"prompt_cache_hit_tokens": 60, "prompt_cache_miss_tokens": 40},
    "prompt_tokens_details": {"prompt_tokens_details": {"cached_tokens": 60}},
    "cached_tokens": {"cached_tokens": 60},
    "cache_read_input_tokens": {"cache_read_input_tokens": 60},
}


@pytest.mark.parametrize(("place", "figures"), CACHED.items())
def test_cached_tokens_are_found_wherever_a_server_counts_them(
    place: CacheFigures, figures: dict[str, Any]
) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 5, **figures}

    def habit(_: ReceivedRequest) -> Answer:
        return streamed_response(
            [chunk({"content": "Fine."}), chunk({}, "stop", usage=usage), DONE]
        )

    with quirk_server(habit) as server, client_of(server.url) as client:
        first = stream_once(client).completion.usage
        assert (first.cache_hit_tokens, first.cache_miss_tokens) == (60, 40)
        assert client.profile.cache_figures == place
        client.set_profile({"cache_figures": "none"})
        second = stream_once(client).completion.usage
        assert (second.cache_hit_tokens, second.cache_miss_tokens) == (0, 100)
