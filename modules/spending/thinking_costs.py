"""What thinking costs in a session: what a switch has read anew, and which way is cheaper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from core.conversation.messages import Effort
from core.feature import SessionHandle
from core.loop.thinking import Mode, Way
from modules.spending.amounts import small_money
from modules.spending.lineages import Lineage, Lineages, read_at_all
from modules.spending.past_tasks import PastTasks
from modules.spending.ways import MIN_MEASURED, WAYS, WayCost, cheaper, lost_tokens, weigh
from utils.i18n import Phrase, Text, phrase
from utils.llm.prices import Tariff

_NOTABLE_TOKENS = 256
"""Servers keep whole blocks: fewer tokens may be read anew at any time."""
_WAY_LABELS: Mapping[Way, Phrase] = {
    "once": phrase("Think first, then fast"),
    "low": phrase("Low effort throughout"),
}
_LINEAGE_LABELS: Mapping[Effort, Phrase] = {
    "": phrase("Requests, fast"),
    "usual": phrase("Requests, thinking"),
    "low": phrase("Requests, low effort"),
}


class _Weighed(NamedTuple):
    """What both ways cost, at the prices of *tariff*."""

    tariff: Tariff
    costs: Mapping[Way, WayCost]


class ThinkingCosts:
    """The costs of a *session*, by *past_tasks* of its project and by prices; *clock* tells the
    hour."""

    def __init__(
        self, session: SessionHandle, past_tasks: PastTasks, clock: Callable[[], float]
    ) -> None:
        self._session = session
        self._past_tasks = past_tasks
        self._clock = clock
        self._lineages = Lineages()

    def cheaper_way(self) -> Way:
        """Return the way of the next task, "once" where there is no choice."""
        weighed = self._weigh()
        return cheaper(weighed.costs) if weighed else "once"

    def note(self, way: Way) -> Phrase | None:
        """Return what there is to say of the next task if that goes *way*."""
        loss, why = self._loss_note(way), self._way_note(way)
        return phrase("{loss} {why}", loss=loss, why=why) if loss and why else loss or why

    def rows(self, mode: Mode) -> Iterable[tuple[Phrase, Text]]:
        """Yield the rows of `/cost`: what went to each lineage, and what both ways cost."""
        lineages = self._lineages.of(self._session.history.log)
        tariff = self._session.model.tariff
        for effort, label in _LINEAGE_LABELS.items() if tariff and set(lineages) - {""} else ():
            if effort in lineages:
                yield label, _lineage_text(lineages[effort], tariff)
        if weighed := self._weigh():
            for way in WAYS:
                yield _WAY_LABELS[way], self._cost_text(weighed, way)
        if loss := self._loss_note("" if mode == "think" else self.cheaper_way()):
            yield phrase("Mode switch"), loss

    def _weigh(self) -> _Weighed | None:
        """Return what both ways cost now; None where nobody knows, or there is no choice."""
        model = self._session.model
        tariff, profile = model.tariff, model.profile
        can_choose = profile.thinking and profile.reasoning_effort and not profile.thinks_by
        if tariff is None or not can_choose:
            return None
        try:
            tasks = self._past_tasks.of_model(model.model)
        except OSError:  # what cannot be read is not known
            tasks = []
        tokens, _ = self._session.context_used
        costs = weigh(tasks, tariff.price, tokens=tokens, read=self._read())
        return _Weighed(tariff, costs)

    def _read(self) -> Mapping[Effort, int]:
        lineages = self._lineages.of(self._session.history.log)
        return {effort: lineage.read for effort, lineage in lineages.items()}

    def _loss_note(self, way: Way) -> Phrase | None:
        """Return what of the conversation is read anew by a task that goes *way*."""
        model = self._session.model
        tariff = model.tariff if model.profile.thinking else None  # else all requests are alike
        used, _ = self._session.context_used
        lineages = self._lineages.of(self._session.history.log)
        tokens = lost_tokens(way, min(used, read_at_all(lineages)), self._read())
        if tokens < _NOTABLE_TOKENS or tariff is None:
            return None
        price = tariff.price
        dollars = tokens * (price.miss - price.hit) / 1_000_000 * tariff.factor(self._clock())
        return phrase(
            "{n:,} tokens of this conversation are read again, uncached: {cost} more.",
            n=tokens,
            cost=small_money(dollars, price.yuan),
        )

    def _way_note(self, way: Way) -> Phrase | None:
        """Return why a task goes *way*, by what both cost."""
        if not way or not (weighed := self._weigh()):
            return None
        once, low = (self._cost_text(weighed, one) for one in WAYS)
        if way == "low":
            return phrase(
                "Low-effort thinking throughout is cheaper: {low}. Thinking first, then "
                "fast: {once}.",
                low=low,
                once=once,
            )
        return phrase(
            "Thinking first, then fast: {once}. Low effort throughout: {low}.",
            once=once,
            low=low,
        )

    def _cost_text(self, weighed: _Weighed, way: Way) -> Phrase:
        """Return what the next task costs that goes *way*, and how that is known."""
        cost, tariff = weighed.costs[way], weighed.tariff
        money = small_money(cost.dollars * tariff.factor(self._clock()), tariff.price.yuan)
        if cost.tasks:
            return phrase("about {cost} per task (last {n:,} tasks)", cost=money, n=cost.tasks)
        return phrase(
            "about {cost} per task (estimated; measured after {n:,} such tasks)",
            cost=money,
            n=MIN_MEASURED,
        )


def _lineage_text(lineage: Lineage, tariff: Tariff) -> Phrase:
    spent = lineage.spent
    return phrase(
        "{n:,}: input {input:,} ({hits:,} cached); {cost}",
        n=spent.requests,
        input=spent.prompt_tokens,
        hits=spent.cache_hit_tokens,
        cost=small_money(spent.cost_usd, tariff.price.yuan),
    )
