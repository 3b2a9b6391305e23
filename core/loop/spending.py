"""What a step costs, seen to before it is made: caps, dear hours, and what is said of them."""

from __future__ import annotations

from collections.abc import Generator

from core.events import Event, Informed, Reply, Waiting
from core.loop.thinking import Way
from core.loop.turn_context import TurnContext
from utils.i18n import Phrase
from utils.waiting import Stopped

_POLL_SECONDS = 1.0
"""Between two looks at the clock, which a machine that slept has set forward."""


def before_step(
    context: TurnContext, step: int, way: Way
) -> Generator[Event, Reply | None, Phrase | None]:
    """Return why the model may not be asked, None where it may; wait for the time when it may.

    Before the first step the person is told what the task may cost, and what it costs that it
    goes another *way* than the last one. Raises `Stopped`.
    """
    if refusal := context.over_budget_reason():
        return refusal
    costs = context.features.costs
    for notice in costs.notices(way) if step == 1 else ():
        yield Informed(notice)
    if not (delay := costs.delay()):
        return None
    yield Waiting(*delay)
    while costs.delay():
        if context.stop.wait(_POLL_SECONDS):
            raise Stopped
    return context.over_budget_reason()
