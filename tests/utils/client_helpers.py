"""Helpers of the tests of the model client."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.simulator import Simulator, Step
from utils.api_client import ApiClient, Completion, Delta, ProfileLearned, Retry
from utils.llm.completion import StreamItem
from utils.waiting import Stop

USER = {"role": "user", "content": "Please."}
READ_FILE = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Read a file.",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
    },
}


class InstantStop(Stop):
    """A stop that waits for nothing, and remembers for how long it should have."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    def wait(self, seconds: float) -> bool:
        self.waits.append(seconds)
        return self.is_set()


@dataclass(frozen=True)
class StreamResult:
    """All that one `stream` yielded; *text* is the text on screen at its end."""

    text: str
    thinking: str
    retries: list[Retry]
    learned: list[ProfileLearned]
    completion: Completion


def collect_stream(items: Iterator[StreamItem]) -> StreamResult:
    text = thinking = ""
    retries = []
    learned = []
    for item in items:
        match item:
            case Delta():
                text += item.text
                thinking += item.thinking
            case Retry():
                text = thinking = ""
                retries.append(item)
            case ProfileLearned():
                learned.append(item)
            case Completion():
                assert next(items, None) is None, "nothing may come after the completion"
                return StreamResult(text, thinking, retries, learned, item)
    raise AssertionError("no completion came")


@contextmanager
def client_of(server: Simulator | str, **options: Any) -> Iterator[ApiClient]:
    url = server if isinstance(server, str) else server.url
    client = ApiClient(url, options.pop("key", "sk-0123456789abcdef"),
                       model=options.pop("model", "deepseek-flash"), **options)  # fmt: skip
    try:
        yield client
    finally:
        client.close()


def stream_once(
    client: ApiClient,
    *messages: dict[str, Any],
    tools: Sequence[dict[str, Any]] = (READ_FILE,),
    think: bool = False,
    stop: Stop | None = None,
) -> StreamResult:
    request_messages = messages or (USER,)
    return collect_stream(
        client.stream(request_messages, tools, think=think, stop=stop or InstantStop())
    )


def stream_from_script(*script: Step, think: bool = False, **options: Any) -> StreamResult:
    """Ask once a server that plays *script*; all of it must be used up."""
    with Simulator(script) as server, client_of(server, **options) as client:
        result = stream_once(client, think=think)
        assert server.is_finished
        return result
