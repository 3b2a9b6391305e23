"""What past tasks of a project cost, and what the next one may cost by them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from utils.llm.prices import Tariff
from utils.system.rotated_lines import all_files, append_line
from utils.text.codec import from_plain, to_plain

MIN_TASKS = 5
"""Tasks of a model from which something can be said of the next."""
_MAX_TASKS = 50
_MAX_BYTES = 50_000


@dataclass(frozen=True, slots=True)
class PastTask:
    """A task that came to its end. *dollars* is what it would have cost off-peak; *tokens* is the
    size of its first request, and *steps* counts them all."""

    model: str
    dollars: float
    steps: int
    tokens: int


class Estimate(NamedTuple):
    """US dollars that the next task may cost, by so many past *tasks*.

    With none it is what its first request costs, read from the cache and not.
    """

    low: float
    high: float
    tasks: int


class PastTasks:
    """The tasks of a project, in the file *path*: the newest are kept."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, task: PastTask) -> None:
        """Keep *task*. Raises `OSError`."""
        append_line(self._path, json.dumps(to_plain(task)).encode(), max_bytes=_MAX_BYTES)

    def estimate(self, model: str, tokens: int, tariff: Tariff, now: float) -> Estimate:
        """Return what a task of *model* that begins *now* with *tokens* may cost.

        Each past task is taken as if it had begun with as long a conversation, which every step
        reads from the cache, and the first one perhaps not; a fifth of them are below the range and
        a fifth above it.
        """
        factor = tariff.factor(now) / 1_000_000
        hit, miss = tokens * tariff.price.hit * factor, tokens * tariff.price.miss * factor
        tasks = [task for task in self._read() if task.model == model][-_MAX_TASKS:]
        if len(tasks) < MIN_TASKS:
            return Estimate(hit, miss, 0)
        costs = sorted(
            task.dollars * tariff.factor(now)
            + task.steps * (tokens - task.tokens) * tariff.price.hit * factor
            for task in tasks
        )
        low, high = _at(costs, 0.2), _at(costs, 0.8)
        return Estimate(max(low, hit), max(high, hit) + miss - hit, len(tasks))

    def _read(self) -> Iterator[PastTask]:
        """Yield the tasks, the oldest first; a line that is none is passed over."""
        for path in reversed(all_files(self._path)[:2]):
            try:
                lines = path.read_bytes().splitlines()
            except FileNotFoundError:
                continue
            for line in lines:
                try:
                    yield from_plain(PastTask, json.loads(line))
                except (ValueError, TypeError):
                    continue


def _at(costs: Sequence[float], share: float) -> float:
    return costs[round(share * (len(costs) - 1))]
