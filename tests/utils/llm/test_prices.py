from datetime import UTC, datetime

import pytest

from utils.llm.prices import KNOWN_PRICES, Price, PriceList

FRIDAY, SATURDAY = 20, 21


@pytest.mark.parametrize(
    ("day", "hour", "factor"),
    [
        (FRIDAY, 0, 1),
        (FRIDAY, 1, 2),
        (FRIDAY, 3, 2),
        (FRIDAY, 4, 1),
        (FRIDAY, 5, 1),
        (FRIDAY, 6, 2),
        (FRIDAY, 9, 2),
        (FRIDAY, 10, 1),
        (SATURDAY, 2, 1),
    ],
)
def test_peak_hours_cost_double_on_workdays(day: int, hour: int, factor: int) -> None:
    moment = datetime(2026, 11, day, hour, 30, tzinfo=UTC).timestamp()
    cost = PriceList().cost(
        "deepseek-v4-pro", hit=1_000_000, miss=2_000_000, output=3_000_000, timestamp=moment
    )
    assert cost == pytest.approx(factor * (0.022 + 2 * 0.66 + 3 * 1.98))


def test_a_model_without_a_price_costs_nothing_and_says_so() -> None:
    prices = PriceList({"mine": Price(1, 2, 3)})
    assert prices.has_price("mine")
    assert not prices.has_price("deepseek-flash")
    assert prices.cost("deepseek-flash", hit=1, miss=1, output=1, timestamp=0) == 0.0


def test_the_old_names_of_flash_cost_what_flash_costs() -> None:
    assert KNOWN_PRICES["deepseek-v4-flash"] == KNOWN_PRICES["deepseek-flash"]


def test_claude_costs_the_same_at_all_hours_and_more_for_what_goes_into_the_cache() -> None:
    moment = datetime(2026, 11, FRIDAY, 2, 30, tzinfo=UTC).timestamp()
    cost = PriceList().cost(
        "claude-haiku-4-5-20251001",
        hit=1_000_000,
        miss=3_000_000,
        output=1_000_000,
        timestamp=moment,
        cache_write=2_000_000,
        cache_write_long=1_000_000,
    )
    assert cost == pytest.approx(0.1 + 1 + 1.25 + 2 + 5)


def test_a_long_prompt_costs_what_it_does_where_that_is_another_price() -> None:
    prices = PriceList()
    short = prices.cost("claude-haiku-5-5", hit=0, miss=100_000, output=0, timestamp=0)
    long = prices.cost("claude-haiku-5-5", hit=1, miss=100_000, output=0, timestamp=0)
    assert short == pytest.approx(0.01)
    assert long == pytest.approx(0.05, rel=1e-4)
