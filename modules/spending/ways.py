"""The two ways of a task to think, weighed: which one costs less, by what tasks really cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from core.conversation.messages import Effort
from core.loop.thinking import Way
from modules.spending.past_tasks import PastTask
from utils.llm.prices import Price

MIN_MEASURED = 3
"""Tasks that went one way from which something can be said of the next."""
ASSUMED_FIRST_THOUGHT, ASSUMED_LOW_THOUGHT = 1_200, 500
"""Tokens of the thought at a first call, and of one with low effort, until they are measured."""
_ASSUMED_STEPS = 6
_ASSUMED_REPLY, _ASSUMED_ANSWER = 200, 600
"""Tokens of a reply, and of what tools answer, in each step of a task of which nothing is known."""
WAYS: Sequence[Way] = ("once", "low")


@dataclass(frozen=True, slots=True)
class WayCost:
    """US *dollars* off-peak that the next task may cost; *tasks* are those measured that say it.

    With none it is reckoned by the list of prices and by how much is usually thought.
    """

    dollars: float
    tasks: int


def weigh(
    tasks: Sequence[PastTask], price: Price, *, tokens: int, read: Mapping[Effort, int]
) -> Mapping[Way, WayCost]:
    """Return what the next task costs each way, with a conversation of so many *tokens*.

    *read* says how many of these the server has read with each effort. Of past *tasks* counts what
    they cost beside the conversation before them; that is added as long as it is now.
    """
    return {way: _cost(way, tasks, price, tokens, read) for way in WAYS}


def cheaper(costs: Mapping[Way, WayCost]) -> Way:
    """Return the way that costs less, "once" where both cost the same."""
    return "low" if costs["low"].dollars < costs["once"].dollars else "once"


def lost_tokens(way: Way, tokens: int, read: Mapping[Effort, int]) -> int:
    """Return how many of the first *tokens* of a conversation a task that goes *way* misses."""
    efforts: Mapping[Way, Sequence[Effort]] = {"": ("",), "once": ("usual", ""), "low": ("low",)}
    return sum(max(tokens - read.get(effort, 0), 0) for effort in efforts[way])


def _cost(
    way: Way, tasks: Sequence[PastTask], price: Price, tokens: int, read: Mapping[Effort, int]
) -> WayCost:
    measured = [task for task in tasks if task.way == way]
    is_measured = len(measured) >= MIN_MEASURED
    if not is_measured:
        others = [task for task in tasks if task.way not in (way, "")]
        known = others if len(others) >= MIN_MEASURED else [_unknown_task(price)]
        measured = [_as_if(way, task, price) for task in known]
    again = lost_tokens(way, tokens, read) * (price.miss - price.hit)
    costs = [
        max(_own_cost(task, price), 0.0) + task.steps * tokens * price.hit / 1_000_000
        for task in measured
    ]
    return WayCost(median(costs) + again / 1_000_000, len(measured) if is_measured else 0)


def _own_cost(task: PastTask, price: Price) -> float:
    """Return what *task* cost without the conversation that was there before it."""
    before = task.read_again * (price.miss - price.hit) + task.steps * task.tokens * price.hit
    return task.dollars - before / 1_000_000


def _as_if(way: Way, task: PastTask, price: Price) -> PastTask:
    """Return *task* as if it had gone *way*: with as much thought as that usually takes."""
    thought = ASSUMED_FIRST_THOUGHT if way == "once" else ASSUMED_LOW_THOUGHT * task.steps
    dollars = task.dollars + (thought - task.thought) * price.output / 1_000_000
    return PastTask(
        *(task.model, dollars, task.steps, task.tokens, way, thought, task.read_again),
    )


def _unknown_task(price: Price) -> PastTask:
    new = _ASSUMED_STEPS * (_ASSUMED_REPLY + _ASSUMED_ANSWER)
    dollars = new * price.miss + _ASSUMED_STEPS * _ASSUMED_REPLY * price.output
    return PastTask("", dollars / 1_000_000, _ASSUMED_STEPS, 0)
