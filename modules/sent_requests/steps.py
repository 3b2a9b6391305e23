"""The steps of a session: what was sent in each, what the server counted, what was done between."""

from __future__ import annotations

import json
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from core.conversation.history import (
    MASKED,
    RESULTS_TRUNCATED,
    REWIND_UNDONE,
    REWOUND,
    SUMMARY,
    TurnRecord,
    usage_in,
)
from core.conversation.messages import Assistant, StateRecord, User
from modules.sent_requests.prompt_parts import (
    Origins,
    Part,
    asks_for_summary,
    parts_of,
    tool_names,
)
from modules.sent_requests.request_log import SentRequest
from utils.llm.completion import Usage

_REWRITES = {
    SUMMARY: "compaction",
    "left_out_before": "left_out",
    RESULTS_TRUNCATED: "results_cut",
    MASKED: "masked",
    REWOUND: "rewind",
    REWIND_UNDONE: "rewind",
}


@dataclass(frozen=True, slots=True)
class Step:
    """A model call: its last request, number *step* of the *turn*, *number* of what is kept.

    It was sent *tries* times, last at *when*, in seconds since the epoch. *usage* is what all of
    them were billed, None where that is not known. *mode* is how the model was told to think.
    *rewrite* is what was done before it to what had been sent, "" for nothing. One that
    *is_summary* was sent beside the conversation. *body* is kept where it was asked for.
    """

    number: int
    turn: int
    step: int
    tries: int
    when: float
    model: str
    mode: str
    tools: tuple[str, ...]
    parts: tuple[Part, ...]
    usage: Usage | None
    rewrite: str
    is_summary: bool = False
    body: Any = None

    @property
    def prompt_tokens(self) -> int:
        """The tokens of one request, 0 where nobody has counted them."""
        return self.usage.prompt_tokens // max(self.usage.requests, 1) if self.usage else 0

    @property
    def hit_tokens(self) -> int:
        """How many of them the server had from before; of several tries that is the mean."""
        return self.usage.cache_hit_tokens // max(self.usage.requests, 1) if self.usage else 0

    def with_parts(self, parts: Iterable[Part]) -> Step:
        return replace(self, parts=tuple(parts))


def read_steps(
    requests: Iterable[SentRequest], log: Sequence[TurnRecord], *, with_body: int = 0
) -> list[Step]:
    """Return the steps of a session by its *requests* and the *log* of its history.

    The one with the number *with_body*, and the one before it, keep their body.
    """
    origins, records = Origins(log), _Records(log)
    pool: dict[Part, Part] = {}  # requests have nearly all parts in common
    steps: list[Step] = []
    last, last_body = -1, None
    for number, (request, body, is_summary, tries) in enumerate(_last_tries(requests, origins), 1):
        key = request.turn, request.step
        parts = [pool.setdefault(part, part) for part in parts_of(body, origins)]
        usage, rewrite = records.usage(key, is_summary=is_summary), records.rewrites.get(key, "")
        step = Step(
            *(number, *key, tries, request.when, body["model"], _mode(body), tool_names(body)),
            *(tuple(parts), usage, "" if is_summary else rewrite, is_summary),
        )
        if number == with_body:
            step = replace(step, body=body)
            if last >= 0:
                steps[last] = replace(steps[last], body=last_body)
        if not is_summary:
            if last >= 0 and (steps[last].turn, steps[last].step) == key:  # sent anew, made shorter
                steps[last] = replace(steps[last], usage=None)
            last, last_body = number - 1, body
        steps.append(step)
    return steps


def step_before(steps: Sequence[Step], position: int) -> Step | None:
    """Return the step that the one at *position* goes on from, None where that stands alone."""
    if steps[position].is_summary:
        return None
    return next((step for step in reversed(steps[:position]) if not step.is_summary), None)


def _last_tries(
    requests: Iterable[SentRequest], origins: Origins
) -> Iterator[tuple[SentRequest, Any, bool, int]]:
    """Yield the last request of each step, its body, whether it sums up, and its tries."""
    told = (
        (one, body := json.loads(one.body), asks_for_summary(body, origins)) for one in requests
    )
    for _, tries in groupby(told, lambda one: (one[0].turn, one[0].step, one[2])):
        *others, (request, body, is_summary) = tries
        yield request, body, is_summary, len(others) + 1


def _mode(body: Any) -> str:
    """Return how a request has the model think: a server reads each otherwise, with its own cache.

    What limits the length of the reply is no part of that.
    """
    told = [body.get(name) for name in ("thinking", "reasoning_effort", "output_config")]
    return json.dumps(told, sort_keys=True)


class _Records:
    """What the *log* of a history says of each step, by its turn and its number in that."""

    def __init__(self, log: Sequence[TurnRecord]) -> None:
        self.rewrites: dict[tuple[int, int], str] = {}
        self._replies: dict[tuple[int, int], Usage | None] = {}
        self._others: dict[tuple[int, int], deque[Usage]] = defaultdict(deque)
        counts: Counter[int] = Counter()
        rewrite = ""
        for turn, record in log:
            key = turn, counts[turn] + 1
            match record:
                case User():
                    self.rewrites[key] = rewrite
                case Assistant(usage=usage):
                    self._replies[key], self.rewrites[key] = usage, rewrite
                    counts[turn] += 1
                    rewrite = ""
                case StateRecord(name):
                    rewrite = _REWRITES.get(name, rewrite)
                    if usage := usage_in(record):
                        self._others[key].append(usage)

    def usage(self, key: tuple[int, int], *, is_summary: bool) -> Usage | None:
        """Return what the next request of a step was billed, None where nobody knows.

        Of what came to no reply the records say only in which order it was.
        """
        if not is_summary and (usage := self._replies.get(key)):
            return usage
        others = self._others[key]
        return others.popleft() if others else None
