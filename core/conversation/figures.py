"""Figures of what was spent: tokens, cache hits and cost, by turn, session, day and model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from core.cards import TableCard
from utils.i18n import Phrase, phrase
from utils.llm.completion import Usage
from utils.llm.prices import in_money

By = Literal["turn", "session", "day", "model"]


@dataclass(frozen=True, slots=True)
class Spent:
    """What one model call of *session* took, *when* in seconds since the epoch.

    *is_copy* says that it was made in another session, of which this one is a fork.
    """

    session: str
    turn: int
    when: float
    model: str
    usage: Usage
    is_copy: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """All that was spent on *key*: the number of a turn, the id of a session, a day (2026-12-31 in
    the person's zone) or the name of a model."""

    key: str
    usage: Usage


def figures_by(by: By, spent: Iterable[Spent], session: str = "") -> list[Figure]:
    """Return the figures of *spent*, the oldest first; by turn those of *session* alone.

    What a fork has of another session counts in it, as in `/cost`, and once among days and models.
    """
    sums: defaultdict[str, Usage] = defaultdict(Usage)
    for one in spent:
        match by:
            case "turn" if one.session == session:
                sums[str(one.turn)] += one.usage
            case "session":
                sums[one.session] += one.usage
            case "day" if not one.is_copy:
                sums[datetime.fromtimestamp(one.when).date().isoformat()] += one.usage
            case "model" if not one.is_copy:
                sums[one.model] += one.usage
    figures = [Figure(key, usage) for key, usage in sums.items()]
    return sorted(figures, key=lambda one: one.key) if by == "day" else figures


def figures_card(
    by: By, figures: Sequence[Figure], labels: Mapping[str, str], yuan: float
) -> TableCard:
    """Return *figures* as a table; *labels* names those whose key says nothing to a person."""
    rows = [_cells(labels.get(one.key) or one.key, one.usage, yuan) for one in figures]
    total = sum((one.usage for one in figures), Usage())
    all_label = phrase("total")
    return TableCard(
        _TITLES[by],
        (*rows, (all_label, *_cells("", total, yuan)[1:])) if len(rows) > 1 else tuple(rows),
        (
            _COLUMNS[by],
            phrase("Requests"),
            phrase("Tokens in"),
            phrase("From cache"),
            phrase("Tokens out"),
            phrase("Cost"),
        ),
    )


def _cells(label: str, usage: Usage, yuan: float) -> tuple[str, ...]:
    hits = 100 * usage.cache_hit_tokens / usage.prompt_tokens if usage.prompt_tokens else 0
    return (
        label,
        f"{usage.requests:,}",
        f"{usage.prompt_tokens:,}",
        f"{hits:.0f} %",
        f"{usage.completion_tokens:,}",
        in_money(usage.cost_usd, yuan),
    )


_TITLES: dict[By, Phrase] = {
    "turn": phrase("Cost of the turns of this session"),
    "session": phrase("Cost of the sessions of this project"),
    "day": phrase("Cost of this project by day"),
    "model": phrase("Cost of this project by model"),
}
_COLUMNS: dict[By, Phrase] = {
    "turn": phrase("Turn"),
    "session": phrase("Session"),
    "day": phrase("Day"),
    "model": phrase("Model"),
}
