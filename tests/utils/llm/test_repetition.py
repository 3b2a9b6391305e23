"""A reply that says the same again and again is ended; one that is merely long is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.conversation.messages import Assistant
from core.events import TurnFinished, Warned
from core.loop.nudges import ENDLESS
from tests.assembly import assembled_terminal
from tests.utils.client_helpers import stream_once
from tests.utils.llm.quirk_server import (
    DONE,
    Answer,
    ReceivedRequest,
    call,
    chunk,
    quirk_server,
    streamed_response,
)
from tests.utils.llm.test_quirks import client_at
from utils.api_client import ApiClient
from utils.llm.repetition import TEXT_CHARACTERS, Repetition

LINE = "I will check the file again.\n"
BLOCKS = [LINE, "a", " \n", "one two three four five, " * 30, "再看一遍。"]


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("piece", [1, 7, 1000])
def test_a_block_that_repeats_is_found_however_it_comes(block: str, piece: int) -> None:
    text = "Let me see.\n" + block * (2 * TEXT_CHARACTERS // len(block))
    watch = Repetition(TEXT_CHARACTERS)
    for start in range(0, len(text), piece):
        watch.feed(text[start : start + piece])
    assert watch.block
    short = watch.shortened(text)
    assert text.startswith(short)
    assert len(short) < 2000


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"| {n} | {n * n} |\n" for n in range(2000)),
        LINE * 200,
        "".join(f"def f{n}():\n    return {n}\n\n\n" for n in range(1000)),
        "word " * 1500 + "end." + "word " * 1500,
    ],
)
def test_what_is_merely_long_passes(text: str) -> None:
    watch = Repetition(TEXT_CHARACTERS)
    for start in range(0, len(text), 100):
        watch.feed(text[start : start + 100])
    assert not watch.block
    assert watch.shortened(text) == text


def small_model_at(url: str) -> ApiClient:
    client = client_at(url)
    client.set_profile({"window": 32_768})
    return client


def test_a_model_with_a_large_window_may_say_the_same_as_often_as_it_likes() -> None:
    text = LINE * 5000

    def habit(_: ReceivedRequest) -> Answer:
        return streamed_response([chunk({"content": text}), chunk({}, "stop"), DONE])

    with quirk_server(habit) as server:
        client = client_at(server.url)
        assert stream_once(client).completion.text == text
        client.close()


def endless(asked: ReceivedRequest) -> Answer:
    return streamed_response([chunk({"content": LINE}) for _ in range(5000)])  # and no end of it


@pytest.mark.parametrize("name", ["content", "reasoning_content"])
def test_an_endless_reply_is_ended_by_us(name: str) -> None:
    def habit(_: ReceivedRequest) -> Answer:
        return streamed_response([chunk({name: LINE}) for _ in range(100_000)])

    with quirk_server(habit) as server:
        client = small_model_at(server.url)
        done = stream_once(client).completion
        assert done.is_repeating
        assert done.is_cut
        assert len(done.text or done.thinking) < 200
        assert len(server.chat_requests) == 1
        client.close()


def test_a_call_that_is_written_without_end_does_not_run(tmp_path: Path) -> None:
    def habit(asked: ReceivedRequest) -> Answer:
        if not asked.is_first:
            return streamed_response(
                [chunk({"content": "It was too long."}), chunk({}, "stop"), DONE]
            )
        start = json.dumps({"path": "a.txt", "content": ""})[:-2]
        more = chunk({"tool_calls": [{"index": 0, "function": {"arguments": "0, "}}]})
        return streamed_response([chunk({"tool_calls": [call(start)]}), *[more] * 50_000])

    with quirk_server(habit) as server:
        client = small_model_at(server.url)
        with assembled_terminal(tmp_path, model=client, approval_mode="all") as told:
            events = list(told.terminal.run_line("make it"))
            assert isinstance(events[-1], TurnFinished)
            assert events[-1].why == "done"
            assert not (told.root / "a.txt").exists()
        client.close()


def test_the_model_is_told_once_and_the_task_ends_where_it_goes_on(tmp_path: Path) -> None:
    with quirk_server(endless) as server:
        client = small_model_at(server.url)
        with assembled_terminal(tmp_path, model=client) as told:
            events = list(told.terminal.run_line("make it"))
            records = [record for _, record in told.terminal.history.records]
        client.close()
    assert isinstance(events[-1], TurnFinished)
    assert events[-1].why == "error"
    assert "keeps repeating itself" in str(events[-1].detail)
    assert sum(isinstance(event, Warned) for event in events) == 1
    assert server.chat_requests[1].messages[-1]["content"].endswith(ENDLESS)
    assert all(len(one.text) < 200 for one in records if isinstance(one, Assistant))
