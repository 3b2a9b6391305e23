"""What a model call costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

_SATURDAY = 5


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens off-peak: read from the cache, not cached, and written."""

    hit: float
    miss: float
    output: float


_FLASH = Price(hit=0.003, miss=0.15, output=0.60)
_PRO = Price(hit=0.022, miss=0.66, output=1.98)

KNOWN_PRICES: Mapping[str, Price] = MappingProxyType(
    {
        "deepseek-flash": _FLASH,
        "deepseek-v4-flash": _FLASH,
        "deepseek-v4-flash-vision-exp": _FLASH,
        "deepseek-v4-pro": _PRO,
    }
)
"""DeepSeek's prices by model, from https://api-docs.deepseek.com/quick_start/pricing on 2026-10-27.

The two `v4-flash` names are served and billed as flash.
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
        models = {
            name: Price(float(price["hit"]), float(price["miss"]), float(price["output"]))
            for name, price in settings.get("models", {}).items()
        }
        hours = [
            (int(start), int(end)) for start, end in settings.get("peak_hours", ((1, 4), (6, 10)))
        ]
        factor = float(settings.get("peak_factor", 2.0))
        return cls({**KNOWN_PRICES, **models}, factor, tuple(hours))

    def knows(self, model: str) -> bool:
        """Return whether *model* has a price; the cost of one that has none is given as 0."""
        return model in self.prices

    def cost(self, model: str, *, hit: int, miss: int, output: int, moment: float) -> float:
        """Return the US dollars for so many tokens at *moment* (seconds since 1970)."""
        price = self.prices.get(model)
        if price is None:
            return 0.0
        dollars = (hit * price.hit + miss * price.miss + output * price.output) / 1_000_000
        return dollars * self._factor(datetime.fromtimestamp(moment, UTC))

    def _factor(self, when: datetime) -> float:
        is_workday = when.weekday() < _SATURDAY
        is_peak = is_workday and any(start <= when.hour < end for start, end in self.peak_hours)
        return self.peak_factor if is_peak else 1.0
