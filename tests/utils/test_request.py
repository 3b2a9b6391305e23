"""What a writer has spelled before never shows in what it writes."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from utils.request import RequestWriter

MESSAGE = st.builds(
    lambda role, content: {"role": role, "content": content},
    st.sampled_from(["user", "assistant"]),
    st.sampled_from(["", "a", "é"]),
)
MESSAGES = st.lists(MESSAGE, min_size=1, max_size=4)


def writer() -> RequestWriter:
    return RequestWriter(max_tokens=1000, context_limit=100_000, effort="high")


@given(st.lists(MESSAGES, min_size=1, max_size=6))
def test_each_request_is_the_one_that_a_new_writer_writes(
    requests: list[list[dict[str, Any]]],
) -> None:
    used = writer()
    for messages in requests:
        assert used.write("m", messages, [], think=False) == writer().write(
            "m", messages, [], think=False
        )


def test_a_list_that_grows_in_place_is_spelled_to_its_end() -> None:
    used, messages = writer(), [{"role": "user", "content": "one"}]
    used.write("m", messages, [], think=False)
    messages.append({"role": "assistant", "content": "two"})
    assert used.write("m", messages, [], think=False) == writer().write(
        "m", messages, [], think=False
    )
