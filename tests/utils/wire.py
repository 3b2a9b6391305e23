"""What the tests of the model client share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.simulator import Simulator, Step
from utils.api_client import ApiClient, Completion, Delta, Learnt, Retry
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


class Hasty(Stop):
    """A stop that waits for nothing, and remembers for how long it should have."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    def wait(self, seconds: float) -> bool:
        self.waits.append(seconds)
        return self.is_set()


@dataclass(frozen=True)
class Heard:
    """All that one `stream` yielded; *shown* is the text on screen at its end."""

    shown: str
    thought: str
    retries: list[Retry]
    learnt: list[Learnt]
    done: Completion


def gather(items: Iterator[StreamItem]) -> Heard:
    shown = thought = ""
    retries = []
    learnt = []
    for item in items:
        match item:
            case Delta():
                shown += item.text
                thought += item.thinking
            case Retry():
                shown = thought = ""
                retries.append(item)
            case Learnt():
                learnt.append(item)
            case Completion():
                assert next(items, None) is None, "nothing may come after the completion"
                return Heard(shown, thought, retries, learnt, item)
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


def ask(
    client: ApiClient,
    *messages: dict[str, Any],
    tools: Sequence[dict[str, Any]] = (READ_FILE,),
    think: bool = False,
    stop: Stop | None = None,
) -> Heard:
    said = messages or (USER,)
    return gather(client.stream(said, tools, think=think, stop=stop or Hasty()))


def hear(*script: Step, think: bool = False, **options: Any) -> Heard:
    """Ask once a server that plays *script*; all of it must be used up."""
    with Simulator(script) as server, client_of(server, **options) as client:
        heard = ask(client, think=think)
        assert server.is_finished
        return heard
