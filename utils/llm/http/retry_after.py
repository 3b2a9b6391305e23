"""Reading for how long a server wants us to wait, however it says so."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime


def seconds_asked(headers: Mapping[str, str], message: str = "") -> float | None:
    """Return how long a server wants us to wait, None if it does not say.

    It says so by a header, by the moment at which one of its limits that are used up (Anthropic's
    headers) is not so any more, or in the words of its *message*.
    """
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        with suppress(ValueError):
            return max(0.0, float(headers.get(name, "")) * scale)
    if date := headers.get("retry-after"):
        from email.utils import parsedate_to_datetime  # ten modules, for few servers

        with suppress(ValueError):  # neither seconds nor a date
            return max(0.0, parsedate_to_datetime(date).timestamp() - time.time())
    if waits := list(_rate_limit_waits(headers)):
        return max(waits)
    asked = re.search(r"(?:try again|retry) (?:in|after) ([\dhms. ]*\d(?:ms|s|m|h)?)", message)
    return _spoken(asked[1]) if asked else None


def _rate_limit_waits(headers: Mapping[str, str]) -> Iterator[float]:
    for name, value in headers.items():
        limit = name.lower().removesuffix("-remaining")
        if limit == name.lower() or "ratelimit" not in limit or value.strip() != "0":
            continue
        with suppress(ValueError, TypeError):
            reset = datetime.fromisoformat(headers.get(f"{limit}-reset", ""))
            yield max(0.0, (reset - datetime.now(UTC)).total_seconds())


_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001, "": 1.0}


def _spoken(duration: str) -> float | None:
    """Return the seconds of a *duration* such as "1m2.5s", "20ms" or "7"."""
    parts = re.findall(r"(\d+(?:\.\d+)?) ?(ms|h|m|s|)", duration)
    return sum(float(number) * _UNITS[unit] for number, unit in parts) if parts else None
