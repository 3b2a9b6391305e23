"""The caps and hours of a session: asked before each step, told of all that is spent."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import takewhile
from typing import TYPE_CHECKING, Literal

from core.cards import Card, TableCard, TextCard
from core.conversation.history import usage_in
from core.conversation.messages import Assistant
from core.conversation.transcript import is_turn_end
from core.feature import Feature, SessionHandle, command
from core.hooks import BindsToSession, FinishesTurns, LimitsSpending, ProvidesWarnings
from modules.spending.amounts import (
    amount,
    cap_of,
    clock_time,
    estimate_phrase,
    how_to_say,
    parse_dollars,
    range_of,
    spent_of,
)
from modules.spending.ledger import Ledger
from modules.spending.past_tasks import Estimate, PastTask, PastTasks
from utils.i18n import Phrase, Text, UserError, phrase
from utils.llm.completion import Usage
from utils.llm.prices import Tariff, plain_sum

if TYPE_CHECKING:
    from core.conversation.messages import Record

NOTABLE_DOLLARS = 0.02
"""What a task may cost at least for a word about it before it begins."""

When = Literal["now", "off-peak"]


class Spending(Feature, BindsToSession, LimitsSpending, FinishesTurns, ProvidesWarnings):
    """Keeps caps of so many US dollars for a task and for a day, 0 being none.

    A day is one of the person's zone; what counts is all that *ledger* knows of it.
    """

    _session: SessionHandle

    def __init__(
        self,
        ledger: Ledger,
        past_tasks: PastTasks,
        *,
        task_budget: float = 0.0,
        daily_budget: float = 0.0,
        when: When = "now",
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._ledger = ledger
        self._past_tasks = past_tasks
        self._task_budget = task_budget
        self._daily_budget = daily_budget
        self._when = when
        self.clock = clock
        self._unkept = 0.0
        self._has_failed = False
        self._warnings: list[Phrase] = []
        self._told_of_model = ""

    def bind(self, session_handle: SessionHandle) -> None:
        self._session = session_handle

    def limit_task(self, dollars: float) -> None:
        """Have a task cost *dollars* at most, 0 for as much as it takes."""
        self._task_budget = dollars

    def limit_day(self, dollars: float) -> None:
        """Have a day cost *dollars* at most, 0 for as much as it takes."""
        self._daily_budget = dollars

    def run_at(self, when: When) -> None:
        """Run at any time, or in the cheap hours, as *when* says."""
        self._when = when

    @command(
        "/budget [USD|off|day USD|day off]",
        "Show or change the cost limit of a task and of a day.",
        is_concurrent=True,
        option="--budget",
        shows_alone=True,
    )
    def budget(self, argument: str) -> Card:
        words = argument.split()
        is_day = words[:1] == ["day"]
        if said := words[is_day:]:
            dollars = parse_dollars(" ".join(said))
            if is_day:
                self._daily_budget = dollars
            else:
                self._task_budget = dollars
        elif is_day:
            raise UserError(how_to_say())
        return TableCard(
            phrase("Budget"),
            (
                (phrase("Per task"), cap_of(self._task_budget)),
                (phrase("Per day"), cap_of(self._daily_budget)),
                (phrase("Today"), self._today()),
            ),
        )

    @command(
        "/when [off-peak|now]",
        "Run only in the model's cheap hours, or at any time.",
        is_concurrent=True,
        option="--when",
        shows_alone=True,
    )
    def when(self, argument: str) -> Card:
        match argument:
            case "off-peak" | "now":
                self._when = argument
            case "":
                pass
            case _:
                raise UserError(phrase("Usage: /when off-peak or /when now."))
        tariff = self._session.model.tariff
        hours: Text = self._hours(tariff) if tariff and tariff.price.has_peak else ""
        if self._when == "off-peak":
            return TextCard(phrase("Running only in the model's cheap hours."), hours)
        return TextCard(phrase("Running at any time."), hours)

    # --- what is spent ---------------------------------------------------------------------------

    def on_spent(self, usage: Usage) -> None:
        if not usage.cost_usd:
            return
        try:
            self._ledger.add(usage.cost_usd, self.clock())
        except OSError as error:
            self._note_failure(error, usage.cost_usd)

    def on_turn_finished(self) -> None:
        """Keep what a task cost that came to its end, for the estimates of later ones."""
        tariff, records = self._session.model.tariff, self._records_of_task()
        if tariff is None or any(map(is_turn_end, records)):
            return
        task = PastTask.of(
            records,
            self._session.model.model,
            tariff.factor(self.clock()),
            self._read_before(),
        )
        if task is None:
            return
        try:
            self._past_tasks.add(task)
        except OSError as error:
            self._note_failure(error)

    def _read_before(self) -> int:
        """Return how many tokens the conversation had before the task, as the server counted."""
        history = self._session.history
        replies = (
            record.usage
            for turn, record in reversed(history.log)
            if turn < history.turn and isinstance(record, Assistant) and record.usage
        )
        last = next(replies, Usage())
        return (last.prompt_tokens + last.completion_tokens) // max(last.requests, 1)

    def _records_of_task(self) -> list[Record]:
        history = self._session.history
        newest = takewhile(lambda one: one[0] == history.turn, reversed(history.log))
        return [record for _, record in newest][::-1]

    def _note_failure(self, error: OSError, unkept: float = 0.0) -> None:
        """Count what could not be kept for this session alone, and say so once."""
        if not self._has_failed:
            why = error.strerror or str(error)
            self._warnings.append(
                phrase("Cannot save task costs for other sessions: {why}.", why=why)
            )
        self._has_failed = True
        self._unkept += unkept

    # --- caps ------------------------------------------------------------------------------------

    def spending_refusal(self) -> Phrase | None:
        if self._task_budget and (spent := self._spent_on_task()) >= self._task_budget:
            return phrase(
                "Budget reached: the task has cost ${spent} of ${budget}. Send “go on” to "
                "spend as much again; /budget {more} raises the limit.",
                spent=spent_of(spent, self._task_budget),
                budget=plain_sum(self._task_budget),
                more=plain_sum(2 * self._task_budget),
            )
        if self._daily_budget and (spent := self._spent_today()) >= self._daily_budget:
            return phrase(
                "Daily budget reached: ${spent} of ${budget} spent today. Continue tomorrow; "
                "/budget day {more} raises the limit.",
                spent=spent_of(spent, self._daily_budget),
                budget=plain_sum(self._daily_budget),
                more=plain_sum(2 * self._daily_budget),
            )
        return None

    def _spent_on_task(self) -> float:
        usages = (usage_in(record) for record in self._records_of_task())
        return sum(usage.cost_usd for usage in usages if usage)

    def _spent_today(self) -> float:
        now = self.clock()
        midnight = datetime.fromtimestamp(now).replace(hour=0, minute=0, second=0, microsecond=0)
        try:
            return self._ledger.sum_since(midnight.timestamp(), now) + self._unkept
        except OSError as error:
            self._note_failure(error)
            return self._unkept

    def warnings(self) -> Sequence[Phrase]:
        """Return what could not be kept, and once that no cap can be, for want of a price."""
        pending, self._warnings = self._warnings, []
        model = self._session.model
        has_cap = self._task_budget or self._daily_budget
        # The practice model, which no session keeps, costs nothing.
        if has_cap and model.choice and not model.tariff and self._told_of_model != model.model:
            self._told_of_model = model.model
            pending.append(
                phrase(
                    "Budgets do not work with {model}: no price is set for it (prices.models "
                    "in config.toml).",
                    model=model.model,
                )
            )
        return pending

    # --- before a task ---------------------------------------------------------------------------

    def spending_delay(self) -> tuple[Phrase, float] | None:
        tariff = self._session.model.tariff
        if self._when == "now" or tariff is None:
            return None
        now = self.clock()
        until = tariff.off_peak_from(now)
        if until <= now:
            return None
        why = phrase("Waiting for cheap hours (from {time})", time=clock_time(until, now))
        return why, until

    def spending_notice(self) -> Phrase | None:
        tariff = self._session.model.tariff
        estimate = self._estimate(tariff) if tariff else None
        if tariff is None or estimate is None:
            return None
        caps = [cap for cap in (self._task_budget, self._left_today()) if cap is not None and cap]
        is_above_cap = any(estimate.high > cap for cap in caps)
        if estimate.high < NOTABLE_DOLLARS and not (is_above_cap and estimate.tasks):
            return None
        notice = estimate_phrase(estimate, tariff)
        if is_above_cap:
            notice = phrase("{what} This may exceed the budget.", what=notice)
        now = self.clock()
        if self._when == "now" and tariff.is_peak(now):
            notice = phrase(
                "{what} Peak hours until {time}, {n} times the price; “/when off-peak” waits "
                "for cheap hours.",
                what=notice,
                time=clock_time(tariff.off_peak_from(now), now),
                n=f"{tariff.peak_factor:g}",
            )
        return notice

    def _left_today(self) -> float | None:
        return self._daily_budget - self._spent_today() if self._daily_budget else None

    def _estimate(self, tariff: Tariff) -> Estimate | None:
        tokens, _ = self._session.context_used
        try:
            return self._past_tasks.estimate(
                self._session.model.model, tokens, tariff, self._start_of_task(tariff)
            )
        except OSError:  # what cannot be read is not known
            return None

    def _start_of_task(self, tariff: Tariff) -> float:
        now = self.clock()
        return tariff.off_peak_from(now) if self._when == "off-peak" else now

    # --- what /cost and /status say --------------------------------------------------------------

    def cost_rows(self) -> Iterable[tuple[Phrase, Text]]:
        yield phrase("Today"), self._today()
        if self._task_budget:
            yield phrase("Task budget"), cap_of(self._task_budget)
        tariff = self._session.model.tariff
        if tariff is None:
            return
        if tariff.price.has_peak:
            yield phrase("Hours"), self._hours(tariff)
        estimate = self._estimate(tariff)
        if estimate and estimate.tasks:
            yield phrase("Next task"), range_of(estimate, tariff)

    def _today(self) -> Phrase:
        spent = amount(self._spent_today())
        if not self._daily_budget:
            return phrase("${spent} in all projects", spent=spent)
        return phrase(
            "${spent} in all projects, of ${budget}",
            spent=spent,
            budget=plain_sum(self._daily_budget),
        )

    def _hours(self, tariff: Tariff) -> Phrase:
        now = self.clock()
        if not tariff.is_peak(now):
            return phrase("cheap now")
        time_left = clock_time(tariff.off_peak_from(now), now)
        return phrase(
            "peak hours until {time}, {n} times the price",
            time=time_left,
            n=f"{tariff.peak_factor:g}",
        )
