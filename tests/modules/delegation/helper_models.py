"""A model that answers a session by one script and each of its helpers by another."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.conversation.messages import Wire
from tests.scripted_model import Item, ScriptedModel
from utils.llm.completion import Completion, Delta, Retry
from utils.waiting import Stop

PARENT = ""


class ModelOfHelpers(ScriptedModel):
    """*scripts* are the replies by the first word of a helper's task, `PARENT` for the session's
    own. *seen* has all requests by the same names."""

    def __init__(self, scripts: Mapping[str, list[list[Item]]]) -> None:
        super().__init__()
        self.scripts = {name: list(replies) for name, replies in scripts.items()}
        self.seen: dict[str, list[list[Wire]]] = {}
        self.lists: dict[str, list[Sequence[Wire]]] = {}
        self.names_asked: list[str] = []
        self._lock = threading.Lock()

    def for_other_conversation(self) -> ModelOfHelpers:
        other = ModelOfHelpers({})
        other.__dict__.update({**self.__dict__, "model": self.model})
        return other

    def stream(
        self,
        messages: Sequence[Wire],
        tools: Sequence[Wire],
        *,
        think: bool,  # noqa: ARG002
        stop: Stop,
        reply_tokens: int = 0,  # noqa: ARG002
        effort: str = "",  # noqa: ARG002
    ) -> Iterator[Delta | Retry | Completion]:
        with self._lock:
            name = _asked_of(messages)
            self.seen.setdefault(name, []).append(json.loads(json.dumps(list(messages))))
            self.lists.setdefault(name, []).append(list(tools))
            self.names_asked.append(self.model)
            reply = self.scripts[name].pop(0)
        yield from play(reply, stop)


def play(reply: list[Item], stop: Stop) -> Iterator[Any]:
    """Yield the items of *reply* as a model would."""
    scripted = ScriptedModel(reply)
    yield from scripted.stream([], [], think=False, stop=stop)


def _asked_of(messages: Sequence[Wire]) -> str:
    first = next(one["content"] for one in messages if one["role"] == "user")
    return first.removeprefix("Task: ").split()[0] if first.startswith("Task: ") else PARENT
