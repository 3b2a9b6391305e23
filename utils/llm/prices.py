"""Prices of model calls."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

_SATURDAY = 5
_DATE = re.compile(r"-20\d{6}$")


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens off-peak: read from the cache, not read from it, and replied.

    *write* and *write_long* are for what goes into the cache, 0 where that costs no more than
    *miss*. *has_peak*: it is dearer at times. Of a prompt of more than *long_prompt* tokens, 0 for
    none, all costs *long_factor* times as much.
    """

    hit: float
    miss: float
    output: float
    write: float = 0.0
    write_long: float = 0.0
    has_peak: bool = True
    long_prompt: int = 0
    long_factor: float = 1.0


_FLASH = Price(hit=0.003, miss=0.15, output=0.60)
_PRO = Price(hit=0.022, miss=0.66, output=1.98)


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
`v4-flash` names are served and billed as flash.
"""


@dataclass(frozen=True)
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
        if price.has_peak:
            dollars *= self._factor(datetime.fromtimestamp(timestamp, UTC))
        return dollars

    def _price(self, model: str) -> Price | None:
        """Return the price of *model*, that of the same name without a date at its end included."""
        return self.prices.get(model) or self.prices.get(_DATE.sub("", model))

    def _factor(self, when: datetime) -> float:
        is_workday = when.weekday() < _SATURDAY
        is_peak = is_workday and any(start <= when.hour < end for start, end in self.peak_hours)
        return self.peak_factor if is_peak else 1.0


def _parse_price(price: Mapping[str, Any]) -> Price:
    """Return the price in a table of the settings."""
    return Price(
        float(price["hit"]),
        float(price["miss"]),
        float(price["output"]),
        write=float(price.get("write", 0)),
        write_long=float(price.get("write_long", 0)),
        has_peak=bool(price.get("has_peak", True)),
    )
