"""A server that leaves out what does not fit, as Ollama does, is noticed by its counts."""

from __future__ import annotations

import pytest

from tests.utils.client_helpers import stream_once
from tests.utils.llm.quirk_server import (
    DONE,
    Answer,
    ReceivedRequest,
    chunk,
    quirk_server,
    streamed_response,
)
from tests.utils.llm.test_quirks import client_at
from utils.api_client import ApiClient
from utils.llm.completion import Wire
from utils.llm.profiles.silent_cut import SilentCut

WINDOW = 4096


def ollama(asked: ReceivedRequest) -> Answer:
    """Count as Ollama does: at most the window, whatever was sent."""
    tokens = min(WINDOW, len(str(asked.body)) // 4)
    usage = {"prompt_tokens": tokens, "completion_tokens": 3}
    return streamed_response([chunk({"content": "Fine."}), chunk({}, "stop", usage=usage), DONE])


def talk(turns: int, length: int) -> list[Wire]:
    return [
        {"role": role, "content": f"{turn} " + "word " * length}
        for turn in range(turns)
        for role in ("user", "assistant")
    ]


def told(client: ApiClient, turns: range, length: int) -> list[str]:
    return [
        str(learnt.message)
        for n in turns
        for learnt in stream_once(
            client, *talk(n, length), {"role": "user", "content": "go"}
        ).learned
    ]


def test_the_window_is_learnt_and_said_once() -> None:
    with quirk_server(ollama) as server:
        client = client_at(server.url)
        client.may_probe = False
        said = told(client, range(1, 14), 150)
        assert client.profile.window == WINDOW
        client.close()
    (sentence,) = said
    assert "its context window of about 4,096 tokens" in sentence
    assert "OLLAMA_CONTEXT_LENGTH=32768" in sentence


def test_an_honest_server_is_believed() -> None:
    def honest(asked: ReceivedRequest) -> Answer:
        usage = {"prompt_tokens": len(str(asked.body)) // 4, "completion_tokens": 3}
        return streamed_response(
            [chunk({"content": "Fine."}), chunk({}, "stop", usage=usage), DONE]
        )

    with quirk_server(honest) as server:
        client = client_at(server.url)
        client.may_probe = False
        assert told(client, range(1, 30), 150) == []
        assert client.profile.window == 0
        client.close()


@pytest.mark.parametrize(
    "counts",
    [
        [2500, 300, 280, 320, 290, 310, 300],  # only what its cache did not have
        [2500, 2500, 2900, 3300, 3700, 4100, 4500],  # odd once
        [0, 0, 0, 0, 0, 0, 0],
        [2500, 2600, 2700, 2800, 2900, 3000, 3100],
    ],
)
def test_other_ways_of_counting_are_no_cut(counts: list[int]) -> None:
    cut = SilentCut()
    assert [cut.window(10_000 + 800 * n, count) for n, count in enumerate(counts)] == [0] * 7


@pytest.mark.parametrize(
    "counts",
    [
        [2500, 3600, 4096, 4096, 4096, 4096],  # cut at the window
        [2500, 3900, 3600, 3800, 3700, 3850],  # whole messages left out
    ],
)
def test_a_cut_is_noticed_however_it_is_made(counts: list[int]) -> None:
    cut = SilentCut()
    found = [cut.window(10_000 + 4_400 * n, count) for n, count in enumerate(counts)]
    assert found[-1] == max(counts)


def test_a_conversation_that_was_summed_up_is_measured_anew() -> None:
    cut = SilentCut()
    sizes = [(30_000, 7000), (31_000, 7000), (8_000, 2000), (9_000, 2250), (10_000, 2500)]
    assert [cut.window(*one) for one in sizes] == [0] * 5
