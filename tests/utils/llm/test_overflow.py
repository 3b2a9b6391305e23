"""A conversation that turns out too long for the model is made shorter once, and goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.events import Event, TurnFinished
from tests.assembly import assembled_terminal
from tests.utils.llm.quirk_server import (
    ANSWER,
    DONE,
    Answer,
    ReceivedRequest,
    Respond,
    call,
    chunk,
    error_response,
    quirk_server,
    streamed_response,
)
from tests.utils.llm.test_quirks import client_at

LONGEST = 12_000
"""Characters of messages that the server takes."""
FILE = "line of the file\n" * 230

DIALECTS: dict[str, int] = {
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 "
    "tokens. Please reduce the length of the messages.": 8192,
    "Input tokens exceed the configured limit of 8192 tokens. Your messages resulted in 9000 "
    "tokens.": 8192,
    "This model's maximum context length is 8192 tokens. However, you requested 0 output tokens "
    "and your prompt contains at least 8193 input tokens.": 8192,
    "The decoder prompt (length 9000) is longer than the maximum model length of 8192.": 8192,
    "request (9000 tokens) exceeds the available context size (8192 tokens), try to": 8192,
    "the request exceeds the available context size. try increasing the context size": 0,
    "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 8192 maximum "
    "context length": 8192,
    "Please reduce the length of the messages or completion.": 0,
    "The input token count (9000) exceeds the maximum number of tokens allowed (8192).": 8192,
    "This endpoint's maximum context length is 8192 tokens. However, you requested about 9000 "
    "tokens (8900 of text input, 100 in the output).": 8192,
    "prompt is too long: 9000 tokens > 8192 maximum": 8192,
    "This model's maximum prompt length is 8192 but the request contains 9000 tokens.": 8192,
    "The prompt is too long: 9000, model maximum context length: 8192": 8192,
    "Input is too long for requested model.": 0,
    "Your request exceeded model token limit: 8192": 8192,
    "The input (9000 tokens) is longer than the model's context length (8192 tokens).": 8192,
    "Your input exceeds the context window of this model.": 0,
    "Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded "
    "with context length of only 8192 tokens, which is not enough.": 8192,
}


def fill(root: Path) -> None:
    for number in range(30):
        (root / f"{number}.txt").write_text(f"{number}\n{FILE}")


def length(asked: ReceivedRequest) -> int:
    return sum(len(message["content"] or "") for message in asked.messages)


def reader(message: str, steps: int) -> Respond:
    """A server whose model reads a file *steps* times a task, and takes so much and no more."""

    def habit(asked: ReceivedRequest) -> Answer:
        if length(asked) > LONGEST:
            return error_response(message)
        if "tools" not in asked.body:
            return streamed_response(
                [chunk({"content": "They read files."}), chunk({}, "stop"), DONE]
            )
        roles = [one["role"] for one in asked.messages]
        since = roles[::-1].index("user")
        if roles[len(roles) - since :].count("assistant") == steps:
            return streamed_response([chunk({"content": ANSWER}), chunk({}, "stop"), DONE])
        function = {"name": "read_file", "arguments": json.dumps({"path": f"{asked.number}.txt"})}
        ours = call(id=f"call_{asked.number}", function=function)
        return streamed_response([chunk({"tool_calls": [ours]}), chunk({}, "tool_calls"), DONE])

    return habit


def end_of(events: list[Event]) -> TurnFinished:
    assert isinstance(events[-1], TurnFinished)
    return events[-1]


@pytest.mark.parametrize("message", DIALECTS)
def test_a_task_that_grows_too_long_goes_on_with_earlier_answers_cut(
    tmp_path: Path, message: str
) -> None:
    with quirk_server(reader(message, 4)) as server:
        client = client_at(server.url)
        with assembled_terminal(tmp_path, model=client) as told:
            fill(told.root)
            end = end_of(list(told.terminal.run_line("read it")))
            assert (end.why, end.detail) == ("done", None)
            assert client.profile.window == DIALECTS[message]
        client.close()
    assert [length(asked) > LONGEST for asked in server.chat_requests].count(True) == 1


def test_older_turns_are_summed_up_when_a_request_is_refused(tmp_path: Path) -> None:
    message = "the request exceeds the available context size"
    with quirk_server(reader(message, 1)) as server:
        client = client_at(server.url)
        with assembled_terminal(tmp_path, model=client, summary_prompt="Sum it up.") as told:
            fill(told.root)
            ends = [end_of(list(told.terminal.run_line("read it"))) for _ in range(5)]
            assert [end.why for end in ends] == ["done"] * 5
            kept = told.terminal.history.messages()
        client.close()
        with assembled_terminal(tmp_path) as again:
            again.terminal.resume()
            assert again.terminal.history.messages() == kept, (
                "a session that goes on sends the same"
            )
    assert any("tools" not in asked.body for asked in server.chat_requests), "it was summed up"


def test_what_is_too_long_for_all_that_ends_with_a_sentence(tmp_path: Path) -> None:
    def habit(asked: ReceivedRequest) -> Answer:
        if asked.is_first:
            return reader("", 4)(asked)
        return error_response("Your input exceeds the context window of this model.")

    with quirk_server(habit) as server:
        client = client_at(server.url)
        with assembled_terminal(tmp_path, model=client) as told:
            fill(told.root)
            end = end_of(list(told.terminal.run_line("read it")))
            assert end.why == "error"
            assert "no longer fits the model" in str(end.detail)
        client.close()
    assert len(server.chat_requests) == 2
