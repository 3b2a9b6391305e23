"""What past tasks of a project cost, and what the next one may cost by them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from core.conversation.history import usage_in
from core.conversation.messages import Assistant, Effort, Record
from core.loop.thinking import Way
from utils.frozen import frozen
from utils.llm.completion import Usage
from utils.llm.prices import Tariff
from utils.system.rotated_lines import all_files, append_line
from utils.text.codec import from_plain, to_plain

MIN_TASKS = 5
"""Tasks of a model from which something can be said of the next."""
WAY_OF_FIRST: Mapping[Effort, Way] = {"": "", "usual": "once", "low": "low"}
"""How a task thinks, by its first call."""
_MAX_TASKS = 50
_MAX_BYTES = 50_000


@frozen
class PastTask:
    """A task that came to its end. *dollars* is what it would have cost off-peak; *tokens* is the
    size of its first request, and *steps* counts them all.

    *way* is how it thought, and *thought* how many tokens. *read_again* are the tokens of the
    conversation before it that the server read anew."""

    model: str
    dollars: float
    steps: int
    tokens: int
    way: str = ""
    thought: int = 0
    read_again: int = 0

    @classmethod
    def of(
        cls, records: Iterable[Record], model: str, factor: float, read_before: int
    ) -> PastTask | None:
        """Return the task of *model* that *records* are of, None where nothing was spent on it.

        Prices were *factor* times those off-peak; *read_before* tokens were read before it.
        """
        replies = [one for one in records if isinstance(one, Assistant) and one.usage]
        usages = [usage for record in records if (usage := usage_in(record))]
        if not usages:
            return None
        total = sum(usages, Usage())
        return cls(
            *(model, total.cost_usd / factor, total.requests, usages[0].prompt_tokens),
            way=WAY_OF_FIRST[replies[0].effort] if replies else "",
            thought=total.reasoning_tokens,
            read_again=_read_again([one.usage for one in replies if one.usage], read_before),
        )


def _read_again(usages: Iterable[Usage], read_before: int) -> int:
    """Return how many tokens of the first *read_before* each step has missed, all together.

    In a session that begins these are the tokens of the first request.
    """
    last, total = read_before, 0
    for usage in usages:
        prompt = usage.prompt_tokens // max(usage.requests, 1)
        missed = usage.cache_miss_tokens // max(usage.requests, 1)
        new = max(prompt - last, 0) if last else 0
        read_before = read_before or prompt
        total += min(max(missed - new, 0), read_before)
        last = prompt
    return total


@frozen
class Estimate:
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
        self._known: tuple[list[tuple[int, int]], list[PastTask]] = [], []

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
        tasks = self.of_model(model)
        if len(tasks) < MIN_TASKS:
            return Estimate(hit, miss, 0)
        costs = sorted(
            task.dollars * tariff.factor(now)
            + task.steps * (tokens - task.tokens) * tariff.price.hit * factor
            for task in tasks
        )
        low, high = _at(costs, 0.2), _at(costs, 0.8)
        return Estimate(max(low, hit), max(high, hit) + miss - hit, len(tasks))

    def of_model(self, model: str) -> list[PastTask]:
        """Return the newest tasks of *model*, the oldest first; from any thread.

        Raises `OSError`.
        """
        files = all_files(self._path)[:2]
        stamp = [_stamp(path) for path in files]
        read, tasks = self._known
        if read != stamp:
            tasks = list(self._read(files))
            self._known = stamp, tasks
        return [task for task in tasks if task.model == model][-_MAX_TASKS:]

    def _read(self, files: Sequence[Path]) -> Iterator[PastTask]:
        """Yield the tasks, the oldest first; a line that is none is passed over."""
        for path in reversed(files):
            try:
                lines = path.read_bytes().splitlines()
            except FileNotFoundError:
                continue
            for line in lines:
                try:
                    yield from_plain(PastTask, json.loads(line))
                except (ValueError, TypeError):
                    continue


def _stamp(path: Path) -> tuple[int, int]:
    """Return what is another after each addition to the file; zeros where there is none."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


def _at(costs: Sequence[float], share: float) -> float:
    return costs[round(share * (len(costs) - 1))]
