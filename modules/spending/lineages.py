"""Lineages of the provider's cache: what it has of a session for each effort of thinking."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.conversation.history import TurnRecord
from core.conversation.messages import Assistant, Effort, Record, StateRecord
from core.conversation.request_prefix import PREFIX_BREAK
from utils.llm.completion import Usage


@dataclass
class Lineage:
    """What was *spent* with one effort, and how many tokens from its beginning on the
    conversation was *read* with that."""

    spent: Usage = field(default_factory=Usage)
    read: int = 0


class Lineages:
    """The lineages of one session, by the log of its history; each look takes in what is new."""

    def __init__(self) -> None:
        self._log: Sequence[TurnRecord] = ()
        self._count = 0
        self._rewritten = 0
        self._by_effort: dict[Effort, Lineage] = {}
        self._lock = threading.Lock()

    def of(self, log: Sequence[TurnRecord]) -> Mapping[Effort, Lineage]:
        """Return those that there are, as *log* says, which only grows; from any thread."""
        with self._lock:
            if log is not self._log:
                self._log, self._count, self._rewritten, self._by_effort = log, 0, 0, {}
            while self._count < len(log):
                self._take_in(log[self._count][1])
                self._count += 1
            return {effort: Lineage(one.spent, one.read) for effort, one in self._by_effort.items()}

    def _take_in(self, record: Record) -> None:
        match record:
            case Assistant(usage=Usage() as usage) if usage.prompt_tokens:
                self._take_in_reply(record.effort, usage)
            case StateRecord("model"):
                self._forget_beyond(0)
            case StateRecord(name, value) if name == PREFIX_BREAK:
                self._rewritten = value["tokens"]

    def _take_in_reply(self, effort: Effort, usage: Usage) -> None:
        requests = max(usage.requests, 1)
        if self._rewritten:  # so many at the end of its prompt are no longer what was sent before
            self._forget_beyond(max(usage.prompt_tokens // requests - self._rewritten, 0))
            self._rewritten = 0
        lineage = self._by_effort.setdefault(effort, Lineage())
        lineage.spent += usage
        lineage.read = (usage.prompt_tokens + usage.completion_tokens) // requests

    def _forget_beyond(self, tokens: int) -> None:
        for lineage in self._by_effort.values():
            lineage.read = min(lineage.read, tokens)


def read_at_all(lineages: Mapping[Effort, Lineage]) -> int:
    """Return how many tokens of a conversation were read, with whatever effort."""
    return max((one.read for one in lineages.values()), default=0)


def read_with(lineages: Mapping[Effort, Lineage], effort: Effort) -> int:
    """Return how many of them were read with *effort*."""
    return lineages[effort].read if effort in lineages else 0
