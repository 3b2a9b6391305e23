"""Amounts of money and times of day, as people say and read them."""

from __future__ import annotations

import math
from datetime import datetime

from modules.spending.past_tasks import Estimate
from utils.i18n import Phrase, Text, UserError, phrase
from utils.llm.prices import Tariff, in_money, plain_sum

MAX_DOLLARS = 1_000_000
_SMALL_DOLLARS = 0.01
_SMALL_CAP = 0.001


def estimate_phrase(estimate: Estimate, tariff: Tariff) -> Phrase:
    cost = range_of(estimate, tariff)
    if estimate.tasks:
        return phrase("Estimated cost of this task: {cost} (based on the last {n:,} tasks).",
                      n=estimate.tasks, cost=cost)  # fmt: skip
    return phrase("The first request alone costs {cost}.", cost=cost)


def range_of(estimate: Estimate, tariff: Tariff) -> Phrase:
    low, high, yuan = estimate.low, estimate.high, tariff.price.yuan
    dollars = phrase("${low} to ${high}", low=_about(low), high=_about(high))
    if not yuan:
        return dollars
    return phrase(
        "{dollars} (¥{low} to ¥{high})",
        dollars=dollars,
        low=_about(low * yuan),
        high=_about(high * yuan),
    )


def cap_of(dollars: float) -> Text:
    return f"${plain_sum(dollars)}" if dollars else phrase("no limit")


def _about(money: float) -> str:
    """Return *money* to two digits."""
    return plain_sum(float(f"{money:.2g}"))


def spent_of(dollars: float, cap: float) -> str:
    """Return *dollars* that were spent of *cap*: to the millionth where that is small."""
    return f"{dollars:.6f}" if cap < _SMALL_CAP else amount(dollars)


def amount(dollars: float) -> str:
    return f"{dollars:.4f}" if dollars < 1 else f"{dollars:.2f}"


def small_money(dollars: float, yuan: float) -> str:
    """Return *dollars* as `in_money` does, a small sum to the millionth."""
    if dollars >= _SMALL_DOLLARS:
        return in_money(dollars, yuan)
    return f"${dollars:.6f} (¥{dollars * yuan:.6f})" if yuan else f"${dollars:.6f}"


def parse_dollars(text: str) -> float:
    """Return the dollars that *text* says, 0 (no cap) for "off" too. Raises `UserError`."""
    if text == "off":
        return 0.0
    try:
        dollars = float(text.removeprefix("$"))
    except ValueError:
        raise UserError(how_to_say()) from None
    if not math.isfinite(dollars) or not 0 <= dollars <= MAX_DOLLARS:
        raise UserError(how_to_say())
    return dollars


def how_to_say() -> Phrase:
    return phrase("Usage, in US dollars: /budget 0.10, /budget day 2, or /budget off.")


def clock_time(when: float, now: float) -> str:
    """Return *when* as a time of the person's zone, with the day where that is another."""
    moment = datetime.fromtimestamp(when)
    is_today = moment.date() == datetime.fromtimestamp(now).date()
    return f"{moment:%H:%M}" if is_today else f"{moment:%Y-%m-%d %H:%M}"
