"""The practice model's server is read by the client that reads DeepSeek's."""

from __future__ import annotations

import json
from typing import Any

import pytest

from modules.practice.practice_reply import PracticeCall, PracticeReply
from modules.practice.practice_server import serve
from tests.request_validation import recipe_error
from tests.utils.client_helpers import READ_FILE, USER, client_of, stream_once

REPLY = PracticeReply(
    "I look. 我看看。", "A thought.", (PracticeCall("read_file", {"path": "世界"}),)
)


@pytest.mark.parametrize("think", [True, False])
def test_a_practice_reply_arrives_whole(think: bool) -> None:
    requests: list[dict[str, Any]] = []

    def answer(request: dict[str, Any]) -> PracticeReply:
        requests.append(request)
        return REPLY

    with serve(answer) as url, client_of(url, key="") as client:
        done = stream_once(client, think=think).completion
        assert stream_once(client, think=think).completion.text == done.text
    assert (done.text, done.thinking) == (REPLY.text, REPLY.thinking if think else "")
    (call,) = done.calls
    assert (call.name, json.loads(call.arguments)) == ("read_file", {"path": "世界"})
    assert done.usage.prompt_tokens > 0
    assert requests[0]["messages"] == [USER]
    assert requests[0]["tools"] == [READ_FILE]
    assert [recipe_error(json.dumps(request).encode()) for request in requests] == [None, None]


def test_text_alone_ends_the_turn() -> None:
    with serve(lambda _: PracticeReply("Done.")) as url, client_of(url) as client:
        done = stream_once(client).completion
    assert (done.text, done.calls) == ("Done.", ())
