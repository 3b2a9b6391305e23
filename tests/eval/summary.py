"""What the results come to, for each agent."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.eval.tasks import Attempt

_Z = 1.96


@dataclass(frozen=True)
class Summary:
    """Summary of *agent*: *passed* of *judged* tasks, *first* of them at the first try.

    *ended_badly* counts attempts that were out of time or ended with another exit code than 0.
    *seconds*, *requests*, *tokens* and *cost* are sums; None where one attempt did not tell.
    """

    agent: str
    tasks: int
    judged: int
    passed: int
    first: int
    ended_badly: int
    seconds: float
    requests: int
    tokens: int | None
    cost: float | None

    @property
    def rate(self) -> float | None:
        return self.passed / self.judged if self.judged else None

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of Wilson (1927) that holds the rate with 95 %."""
        if not self.judged:
            return 0.0, 1.0
        rate, n = self.passed / self.judged, self.judged
        middle = rate + _Z**2 / (2 * n)
        half = _Z * math.sqrt(rate * (1 - rate) / n + _Z**2 / (4 * n * n))
        return max(0.0, (middle - half) / (1 + _Z**2 / n)), min(
            1.0, (middle + half) / (1 + _Z**2 / n)
        )


def summarize(attempts: Sequence[Attempt]) -> list[Summary]:
    """Return a summary for each agent, in the order in which they began."""
    names = dict.fromkeys(one.agent for one in attempts)
    return [_of_agent(name, [one for one in attempts if one.agent == name]) for name in names]


def _of_agent(agent: str, attempts: Sequence[Attempt]) -> Summary:
    last = last_attempts(attempts)
    tokens, costs = [one.tokens for one in attempts], [one.cost for one in attempts]
    passed = [one for one in last.values() if one.state == "passed"]
    return Summary(
        agent,
        len(last),
        sum(one.state != "unjudged" for one in last.values()),
        len(passed),
        sum(one.number == 1 for one in passed),
        sum(one.ending != "exit code 0" for one in attempts),
        sum(one.seconds for one in attempts),
        sum(one.requests for one in attempts),
        None if None in tokens else sum(filter(None, tokens)),
        None if None in costs else sum(filter(None, costs)),
    )


def last_attempts(attempts: Iterable[Attempt]) -> dict[str, Attempt]:
    """Return an agent's last attempt at each task, by the task."""
    return {one.task: one for one in sorted(attempts, key=lambda one: (one.task, one.number))}


COLUMNS = (
    "agent",
    "passed",
    "95 %",
    "first try",
    "ended badly",
    "requests",
    "tokens",
    "cost",
    "s/task",
)


def rows(summaries: Iterable[Summary]) -> list[tuple[str, ...]]:
    """Return the cells of the table of results, under `COLUMNS`."""
    return [_cells(one) for one in summaries]


def _cells(one: Summary) -> tuple[str, ...]:
    low, high = (round(100 * end) for end in one.interval)
    rate = "–" if one.rate is None else f" ({one.rate:.0%})"
    return (
        one.agent,
        f"{one.passed} of {one.judged}{rate}" if one.judged else "not judged",
        f"{low}–{high}" if one.judged else "–",
        str(one.first) if one.judged else "–",
        str(one.ended_badly),
        str(one.requests),
        "unknown" if one.tokens is None else f"{one.tokens:,}",
        "unknown" if one.cost is None else f"${one.cost:.4f}",
        f"{one.seconds / max(1, one.tasks):.1f}",
    )


def table(summaries: Iterable[Summary]) -> str:
    """Return the results as a table in Markdown, aligned for a terminal."""
    lines = [COLUMNS, *rows(summaries)]
    widths = [max(len(line[n]) for line in lines) for n in range(len(COLUMNS))]
    cells = [
        [text.ljust(width) for text, width in zip(line, widths, strict=True)] for line in lines
    ]
    cells.insert(1, ["-" * width for width in widths])
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)
