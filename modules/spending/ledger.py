"""The ledger: what was spent when, by every session and process of a data folder."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from utils.system.rotated_lines import append_line

KEPT_DAYS = 40
_DAY_BYTES = 100_000_000


@dataclass
class _DayFile:
    """What was read of the file of one day: up to *offset*, (time, US dollars) each."""

    offset: int = 0
    entries: list[tuple[float, float]] = field(default_factory=list)


class Ledger:
    """Lines of "time dollars" in the files of *folder*, one for each day of UTC.

    Times are seconds since the epoch. Any number of processes append to it and read it. Days older
    than `KEPT_DAYS` are deleted when a new one begins.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._days: dict[str, _DayFile] = {}
        self._lock = threading.Lock()

    def add(self, dollars: float, when: float) -> None:
        """Keep that *dollars* were spent. Raises `OSError`."""
        path = self._folder / _day_of(when)
        if not path.exists():
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._delete_before(when)
        append_line(path, f"{when:.3f} {dollars:.9f}".encode(), max_bytes=_DAY_BYTES)

    def sum_since(self, start: float, until: float) -> float:
        """Return the US dollars spent from *start* to *until*. Raises `OSError`."""
        with self._lock:
            return sum(
                dollars
                for name in _days_between(start, until)
                for when, dollars in self._read(name)
                if when >= start
            )

    def _read(self, name: str) -> list[tuple[float, float]]:
        """Return the entries of a day, reading what was added since the last time."""
        day = self._days.setdefault(name, _DayFile())
        try:
            with (self._folder / name).open("rb") as file:
                file.seek(day.offset)
                added = file.read()
        except FileNotFoundError:
            return []
        whole = added[: added.rfind(b"\n") + 1]
        day.offset += len(whole)
        day.entries += _entries(whole)
        return day.entries

    def _delete_before(self, when: float) -> None:
        oldest = _day_of(when - timedelta(days=KEPT_DAYS).total_seconds())
        for path in self._folder.iterdir():
            if path.name < oldest:
                path.unlink(missing_ok=True)


def _entries(lines: bytes) -> Iterator[tuple[float, float]]:
    """Yield the entries in whole *lines*; what a full disk left of one is passed over."""
    for line in lines.splitlines():
        when, _, dollars = line.partition(b" ")
        with suppress(ValueError):
            yield float(when), float(dollars)


def _day_of(when: float) -> str:
    return datetime.fromtimestamp(when, UTC).date().isoformat()


def _days_between(start: float, until: float) -> Iterator[str]:
    day = datetime.fromtimestamp(start, UTC).date()
    last = datetime.fromtimestamp(until, UTC).date()
    while day <= last:
        yield day.isoformat()
        day += timedelta(days=1)
