"""Prices of model calls."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from utils.frozen import frozen

_SATURDAY = 5
_HOUR_SECONDS = 3600
_DATE = re.compile(r"-20\d{6}$")


@frozen
class Price:
    """US dollars for a million tokens off-peak: read from the cache, not read from it, and replied.

    *write* and *write_long* are for what goes into the cache, 0 where that costs no more than
    *miss*. *has_peak*: it is dearer at times. Of a prompt of more than *long_prompt* tokens, 0 for
    none, all costs *long_factor* times as much. *yuan* is what its maker's list in yuan asks for
    what is one dollar in this one, 0 where there is no such list.
    """

    hit: float
    miss: float
    output: float
    write: float = 0.0
    write_long: float = 0.0
    has_peak: bool = True
    long_prompt: int = 0
    long_factor: float = 1.0
    yuan: float = 0.0


_FLASH = Price(hit=0.003, miss=0.15, output=0.60, yuan=1 / 0.15)
_PRO = Price(hit=0.022, miss=0.66, output=1.98, yuan=4.5 / 0.66)


def _claude(
    miss: float, output: float, hit_factor: float, *, long_prompt: int = 0, long_factor: float = 1.0
) -> Price:
    """Return a price of Anthropic's: writing to the cache costs 1.25 and 2 times the input."""
    return Price(
        hit=miss * hit_factor,
        miss=miss,
        output=output,
        write=miss * 1.25,
        write_long=miss * 2,
        has_peak=False,
        long_prompt=long_prompt,
        long_factor=long_factor,
    )


_CLAUDE_PRICES = {
    "claude-fable-5-1": _claude(10, 50, 0.025),
    "claude-fable-5": _claude(10, 50, 0.1),
    "claude-opus-5-5": _claude(4, 20, 0.05),
    "claude-opus-5": _claude(5, 25, 0.1),
    "claude-opus-4-8": _claude(5, 25, 0.1),
    "claude-opus-4-7": _claude(5, 25, 0.1),
    "claude-opus-4-6": _claude(5, 25, 0.1),
    "claude-opus-4-5": _claude(5, 25, 0.1),
    "claude-sonnet-5-5": _claude(2, 10, 0.05),
    "claude-sonnet-5": _claude(2, 10, 0.1),
    "claude-sonnet-4-6": _claude(3, 15, 0.1),
    "claude-sonnet-4-5": _claude(3, 15, 0.1),
    "claude-haiku-5-5": _claude(0.1, 0.5, 0.1, long_prompt=100_000, long_factor=5),
    "claude-haiku-4-5": _claude(1, 5, 0.1),
}
"""Anthropic's prices, from https://platform.claude.com/docs/en/about-claude/pricing as others
quoted it on 2026-10-24 (the page itself was read in an older state, without the 5.5 models)."""

KNOWN_PRICES: Mapping[str, Price] = MappingProxyType(
    {
        "deepseek-flash": _FLASH,
        "deepseek-v4-flash": _FLASH,
        "deepseek-v4-flash-vision-exp": _FLASH,
        "deepseek-v4-pro": _PRO,
        **_CLAUDE_PRICES,
    }
)
"""Prices by model.

DeepSeek's are from https://api-docs.deepseek.com/quick_start/pricing on 2026-10-27; its two
`v4-flash` names are served and billed as flash. Its list in yuan (0.02, 1 and 4; 0.15, 4.5 and
13.5) asks as many times the dollars for each kind of token.
"""


@frozen
class Tariff:
    """The *price* of one model, and its dear hours; see `PriceList`."""

    price: Price
    peak_factor: float
    peak_hours: tuple[tuple[int, int], ...]

    def factor(self, timestamp: float) -> float:
        """Return how many times the off-peak price holds at *timestamp* (seconds since 1970)."""
        return self.peak_factor if self.is_peak(timestamp) else 1.0

    def is_peak(self, timestamp: float) -> bool:
        when = datetime.fromtimestamp(timestamp, UTC)
        is_workday = self.price.has_peak and when.weekday() < _SATURDAY
        return is_workday and any(start <= when.hour < end for start, end in self.peak_hours)

    def off_peak_from(self, timestamp: float) -> float:
        """Return when it is off-peak next: *timestamp* itself where it is then."""
        while self.is_peak(timestamp):
            timestamp += _HOUR_SECONDS - timestamp % _HOUR_SECONDS
        return timestamp


@frozen
class PriceList:
    """Prices by model name, and when they are higher.

    Within *peak_hours* (from, to; whole hours UTC, Monday to Friday) a token costs *peak_factor*
    times as much. Chinese public holidays are off-peak at DeepSeek; they are not known here, so a
    cost is at most too high.
    """

    prices: Mapping[str, Price] = field(default_factory=lambda: KNOWN_PRICES)
    peak_factor: float = 2.0
    peak_hours: tuple[tuple[int, int], ...] = ((1, 4), (6, 10))

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> PriceList:
        """Return the known prices with what the table *settings* says else (docs/settings.md).

        Raises `ValueError`, `TypeError` or `KeyError` for a table of another shape.
        """
        models = {name: _parse_price(price) for name, price in settings.get("models", {}).items()}
        hours = [
            (int(start), int(end)) for start, end in settings.get("peak_hours", ((1, 4), (6, 10)))
        ]
        factor = float(settings.get("peak_factor", 2.0))
        return cls({**KNOWN_PRICES, **models}, factor, tuple(hours))

    def has_price(self, model: str) -> bool:
        """Return whether *model* has a price; the cost of one that has none is given as 0."""
        return self._price(model) is not None

    def tariff(self, model: str) -> Tariff | None:
        """Return the price of *model* with its hours, None where it has none."""
        price = self._price(model)
        return Tariff(price, self.peak_factor, self.peak_hours) if price else None

    def cost(
        self,
        model: str,
        *,
        hit: int,
        miss: int,
        output: int,
        timestamp: float,
        cache_write: int = 0,
        cache_write_long: int = 0,
    ) -> float:
        """Return the US dollars for so many tokens at *timestamp* (seconds since 1970).

        *cache_write* of the *miss* tokens went into the cache, *cache_write_long* of these for
        longer.
        """
        price = self._price(model)
        if price is None:
            return 0.0
        dollars = hit * price.hit + (miss - cache_write) * price.miss + output * price.output
        dollars += (cache_write - cache_write_long) * (price.write or price.miss)
        dollars += cache_write_long * (price.write_long or price.miss)
        dollars /= 1_000_000
        if price.long_prompt and hit + miss > price.long_prompt:
            dollars *= price.long_factor
        return dollars * Tariff(price, self.peak_factor, self.peak_hours).factor(timestamp)

    def _price(self, model: str) -> Price | None:
        """Return the price of *model*, that of the same name without a date at its end included."""
        return self.prices.get(model) or self.prices.get(_DATE.sub("", model))


def plain_sum(money: float) -> str:
    """Return *money* as people write it: no digit more than it has, never with an exponent."""
    return f"{money:.8f}".rstrip("0").rstrip(".")


def in_money(dollars: float, yuan: float) -> str:
    """Return *dollars* as money, with what they are at so many *yuan* each; 0: dollars alone."""
    return f"${dollars:.4f} (¥{dollars * yuan:.4f})" if yuan else f"${dollars:.4f}"


def _parse_price(price: Mapping[str, Any]) -> Price:
    """Return the price in a table of the settings."""
    return Price(
        float(price["hit"]),
        float(price["miss"]),
        float(price["output"]),
        write=float(price.get("write", 0)),
        write_long=float(price.get("write_long", 0)),
        has_peak=bool(price.get("has_peak", True)),
        yuan=float(price.get("yuan", 0)),
    )
