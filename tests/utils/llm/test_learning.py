"""A server is learnt: what it refuses is not sent again, to it and for that model."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.simulator import ErrorFrame, Refuse, Say, Simulator, Step
from tests.utils.llm.habit_server import DONE, Answer, Asked, chunk, habit_server, streamed, usual
from tests.utils.wire import USER, ask, client_of
from utils.llm.completion import ModelError
from utils.llm.prices import PriceList
from utils.llm.server_profile import CacheFigures, ProfilesInMemory, ServerProfile
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
        Simulator([(Say(" ".join(map(str, range(40_000)))), refusal), FINE]) as server,
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
        assert kept.find(server.url, "deepseek-flash", ServerProfile()) == ServerProfile(
            stream_options=False
        )
        assert kept.find(server.url, "deepseek-v4-pro", ServerProfile()) == ServerProfile()


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
        kept.keep(server.url, client.model, SEEING.changes)
        client.take_pictures_from(lambda _: b"bytes")
        first, second = ask(client, SHOWN), ask(client, SHOWN)
        contents = [body["messages"][-1]["content"] for body in bodies(server)]
        assert client.profile == ServerProfile()
    assert contents[0][1]["image_url"]["url"].startswith("data:image/png;base64,")
    note = "[picture a.png, PNG, 8×6, 99 B; this model does not see pictures]"
    assert contents[1:] == [f"What is it?\n{note}"] * 2
    (learnt,) = first.learnt
    assert "takes no pictures for this model" in str(learnt.what)
    assert first.done.text == second.done.text == "Fine."
    assert not first.retries
    assert not second.learnt


def test_a_refusal_without_a_picture_says_nothing_of_pictures() -> None:
    kept = ProfilesInMemory()
    script: list[Step] = [refuse("messages.1.content: Input should be a valid string"), FINE]
    with Simulator(script) as server, client_of(server, profiles=kept) as client:
        kept.keep(server.url, client.model, SEEING.changes)
        ask(client)
        assert client.profile.pictures


def test_a_picture_takes_little_of_the_window() -> None:
    kept = ProfilesInMemory()
    with (
        Simulator([FINE]) as server,
        client_of(server, profiles=kept, context_limit=100_000, max_tokens=90_000) as client,
    ):
        kept.keep(server.url, client.model, SEEING.changes)
        client.take_pictures_from(lambda _: bytes(1_000_000))
        ask(client, SHOWN)
        assert bodies(server)[0]["max_tokens"] == 90_000


def test_an_address_below_v1_is_remembered_and_is_no_news() -> None:
    kept = ProfilesInMemory()
    paths = []

    def habit(asked: Asked) -> Answer:
        paths.append(asked.path)
        return usual(asked) if asked.path.startswith("/v1/") else Answer(404, b"404 page not found")

    with habit_server(habit) as server:
        for _ in range(2):
            with client_of(server.url.removesuffix("/v1"), profiles=kept) as client:
                heard = ask(client)
                assert not heard.learnt
                assert not heard.retries
                assert client.profile.below_v1
        assert paths == ["/chat/completions", *["/v1/chat/completions"] * 2]
        with client_of(server.url.removesuffix("/v1"), profiles=kept) as client:
            client.forget_profile()
            ask(client)
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

    def habit(_: Asked) -> Answer:
        return streamed([chunk({"content": "Fine."}), chunk({}, "stop", usage=usage), DONE])

    with habit_server(habit) as server, client_of(server.url) as client:
        first = ask(client).done.usage
        assert (first.cache_hit_tokens, first.cache_miss_tokens) == (60, 40)
        assert client.profile.cache_figures == place
        client.set_profile({"cache_figures": "none"})
        second = ask(client).done.usage
        assert (second.cache_hit_tokens, second.cache_miss_tokens) == (0, 100)
