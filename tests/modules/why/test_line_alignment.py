"""The alignment of two texts keeps the most that can stay, however the two are made."""

from __future__ import annotations

import random

import pytest

from modules.checkpoints.line_origins.line_alignment import kept_lines
from tests.campaign import seeded
from tests.modules.why.shortest_edits import ShortestEdits


def kept_places(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    """Return where kept lines stand in both texts; they are the same lines, in one order."""
    found = [
        (start + n, new_start + n)
        for start, new_start, count in kept_lines(old, new)
        for n in range(count)
    ]
    assert all(old[place] == new[new_place] for place, new_place in found)
    for one, other in zip(found, found[1:], strict=False):
        assert one[0] < other[0]
        assert one[1] < other[1]
    return found


@seeded(20)
def test_the_most_is_kept_and_unique_lines_before_others(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(20):
        lines = [f"line {number}" for number in range(rng.randint(1, 30))]
        old = [rng.choice(lines) for _ in range(rng.randint(0, 25))]
        new = [*old] if rng.random() < 0.7 else rng.sample(old, len(old))
        for _ in range(rng.randint(0, 6)):
            at = rng.randint(0, len(new))
            new[at : at + rng.randint(0, 3)] = rng.choices(lines, k=rng.randint(0, 3))
        edits = ShortestEdits(old, new)
        assert sum(edits.worth(new[place]) for _, place in kept_places(old, new)) == edits.kept


def test_a_repeated_line_goes_with_what_stands_round_it() -> None:
    old = ["def a():", "    one", "    end", "def b():", "    two", "    end"]
    new = [*old[:3], "def c():", "    three", "    end", *old[3:]]
    assert kept_places(old, new) == [(0, 0), (1, 1), (2, 2), (3, 6), (4, 7), (5, 8)]
    assert kept_places(new, old) == [(0, 0), (1, 1), (2, 2), (6, 3), (7, 4), (8, 5)]


@pytest.mark.parametrize("kinds", [1, 7, 100_000])
def test_what_is_too_long_to_be_compared_line_by_line_is_aligned_all_the_same(kinds: int) -> None:
    rng = random.Random(kinds)
    old = [f"line {rng.randrange(kinds)}" for _ in range(1_500)]
    new = [line for line in old if rng.random() < 0.8]
    new[:0] = ["first"]
    new.append("last")
    assert len(kept_places(old, new)) >= 0.7 * len(old)
