"""Fitting of a request into the model's window: pure functions on sizes."""

from __future__ import annotations

from collections.abc import Sequence

COMPACT_ABOVE = 0.9
"""Part of the window that may be used before the oldest turns are left out."""
COMPACT_TO = 0.5
"""Part of the window that the turns kept then fill: far below `COMPACT_ABOVE`, for every change of
what is left out makes the whole prompt new to the provider's cache."""


def first_turn_kept(
    sizes: Sequence[tuple[int, int]],
    used: int,
    limit: int,
    *,
    compact_above: float = COMPACT_ABOVE,
    compact_to: float = COMPACT_TO,
) -> int | None:
    """Return the first turn to send when *used* tokens of *limit* are too many, or None.

    *sizes* is (turn, tokens) of each message, at least one. Turns stay whole, so that no call is
    parted from its answer, and the last turn always stays.
    """
    if used <= limit * compact_above:
        return None
    by_turn: dict[int, int] = {}
    for turn, tokens in sizes:
        by_turn[turn] = by_turn.get(turn, 0) + tokens
    turns = sorted(by_turn)
    # What was really used says how far the estimates are off.
    scale = max(1.0, used / max(1, sum(by_turn.values())))
    first, total = turns[-1], by_turn[turns[-1]]
    for turn in reversed(turns[:-1]):
        total += by_turn[turn]
        if total * scale > limit * compact_to:
            break
        first = turn
    return first if first > turns[0] else None
