"""What a writer has spelled before never shows in what it writes."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from utils.request import RequestWriter

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


def test_a_list_that_grows_in_place_is_spelled_to_its_end() -> None:
    used, messages = Writer(), [{"role": "user", "content": "one"}]
    used.body(messages)
    messages.append({"role": "user", "content": "two"})
    assert used.body(messages) == Writer().body(messages)
