"""What a writer has spelled before never shows in what it writes."""

from __future__ import annotations

import json
import sys
import threading
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from utils.llm.openai_api.request import RequestWriter
from utils.llm.profiles.server_profile import ServerProfile

Messages = list[dict[str, Any]]
MESSAGE = st.builds(
    lambda content: {"role": "user", "content": content}, st.sampled_from(["", "a", "é"])
)
MESSAGES = st.lists(MESSAGE, min_size=1, max_size=4)


class Writer(RequestWriter):
    def __init__(self) -> None:
        super().__init__(max_tokens=1000, context_limit=100_000, effort="high")

    def body(self, messages: Messages) -> bytes:
        return self.write("deepseek-flash", messages, [], think=False)


@given(st.lists(MESSAGES, min_size=1, max_size=6))
def test_each_request_is_the_one_that_a_new_writer_writes(requests: list[Messages]) -> None:
    used = Writer()
    for messages in requests:
        assert used.body(messages) == Writer().body(messages)


def test_the_effort_of_a_call_stands_behind_what_all_calls_share() -> None:
    messages: Messages = [{"role": "user", "content": "one"}]
    usual, low = (
        Writer().write("deepseek-flash", messages, [], think=True, effort=effort)
        for effort in ("", "low")
    )
    assert json.loads(usual) == json.loads(low) | {"reasoning_effort": "high"}
    assert json.loads(low)["reasoning_effort"] == "low"
    start = usual.index(b'"reasoning_effort"')
    assert usual[:start] == low[:start]
    fast = Writer().write("deepseek-flash", messages, [], think=False, effort="low")
    assert fast == Writer().body(messages)


def test_a_list_that_grows_in_place_is_spelled_to_its_end() -> None:
    used, messages = Writer(), [{"role": "user", "content": "one"}]
    used.body(messages)
    messages.append({"role": "user", "content": "two"})
    assert used.body(messages) == Writer().body(messages)


def test_conversations_in_several_threads_stay_apart() -> None:
    shared = Writer()
    mixed: list[bytes] = []

    def talk(name: str) -> None:
        messages: Messages = []
        for number in range(400):
            messages = [*messages[-30:], {"role": "user", "content": f"{name}{number}"}]
            body = shared.body(messages)
            if json.loads(body)["messages"] != messages:
                mixed.append(body)

    threads = [threading.Thread(target=talk, args=(name,)) for name in "ab"]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert not mixed


def test_what_comes_after_a_request_without_a_reply_changes_nothing_that_was_sent() -> None:
    writer = RequestWriter(max_tokens=1000, context_limit=100_000, effort="high")
    writer.profile = ServerProfile(alternating=True)
    talk = [{"role": "system", "content": "You."}, {"role": "user", "content": "Go."}]
    bodies = []
    for text in ("And?", "Now?", "Well?"):
        bodies.append(writer.write("m", talk, [], think=False).partition(b"],")[0])
        note = {"role": "system", "content": f"{text} news"}
        talk = [*talk, note, {"role": "user", "content": text}]
    for before, after in pairwise(bodies):
        assert after.startswith(before)
