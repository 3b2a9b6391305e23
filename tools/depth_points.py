"""Learn `modules/depth/points.tsv` from the labelled lines: `python -m tools.depth_points`.

Each sign of a line gives points to each depth; they are found by regression (a softmax over the
sums, with AdaGrad steps), and what is small is left away, so that the table can be read. The same
lines always give the same table.
"""

from __future__ import annotations

import math
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from core.loop.depth import Depth
from modules.depth.line_signs import signs_of
from modules.depth.word_points import DEPTHS, known_signs
from tests.modules.depth.all_lines import lines_to_learn

TABLE = Path(__file__).parents[1] / "modules" / "depth" / "points.tsv"
ROUNDS = 16
LEAST_LINES = 2
"""Lines that a sign has to be in."""
STEP, DECAY, SPARSITY = 0.15, 6e-6, 5e-6
LEAST_POINTS = 2
"""Tenths below which points are left away."""

Weights = defaultdict[str, list[float]]
Line = tuple[str, Depth, float]


def learn(lines: Sequence[Line]) -> dict[str, list[int]]:
    """Return the points of each sign in tenths, learned from *lines* with depth and weight."""
    signs = [signs_of(line) for line, _, _ in lines]
    seen = Counter(sign for one in signs for sign in one)
    known = {sign for sign, times in seen.items() if times >= LEAST_LINES}
    rows = [
        ([sign for sign in known_signs(one, known) if sign in known or sign[0] == "("], at, weight)
        for one, (_, depth, weight) in zip(signs, lines, strict=True)
        for at in (DEPTHS.index(depth),)
    ]
    weights: Weights = defaultdict(lambda: [0.0] * len(DEPTHS))
    steps: Weights = defaultdict(lambda: [1e-2] * len(DEPTHS))
    order = random.Random(16)  # noqa: S311 - of the lines, the same each time
    for _ in range(ROUNDS):
        order.shuffle(rows)
        for one, at, weight in rows:
            _step(weights, steps, one, at, weight)
        _shrink(weights, steps, len(rows))
    table = {sign: [round(10 * w) for w in some] for sign, some in weights.items()}
    kept = {
        sign: [p if abs(p) >= LEAST_POINTS else 0 for p in some] for sign, some in table.items()
    }
    return {sign: some for sign, some in kept.items() if any(some)}


def _step(weights: Weights, steps: Weights, signs: list[str], at: int, weight: float) -> None:
    vectors = [weights[sign] for sign in signs]
    sums = [sum(column) for column in zip(*vectors, strict=True)]
    top = max(sums)
    powers = [math.exp(one - top) for one in sums]
    total = sum(powers)
    slopes = [(power / total - (number == at)) * weight for number, power in enumerate(powers)]
    for sign, vector in zip(signs, vectors, strict=True):
        squares = steps[sign]
        for number, slope in enumerate(slopes):
            squares[number] += slope * slope
            vector[number] -= STEP * slope / math.sqrt(squares[number])


def _shrink(weights: Weights, steps: Weights, lines: int) -> None:
    for sign, vector in weights.items():
        for number, one in enumerate(vector):
            rate = STEP * lines / math.sqrt(steps[sign][number])
            less = max(abs(one) / (1 + DECAY * rate) - SPARSITY * rate, 0.0)
            vector[number] = math.copysign(less, one)


def written(table: dict[str, list[int]]) -> str:
    """Return *table* as it is kept: sorted, so that a change of it can be read."""
    head = "\t".join(("sign", *DEPTHS))
    rows = ("\t".join((sign, *map(str, points))) for sign, points in sorted(table.items()))
    return "\n".join((head, *rows)) + "\n"


def main() -> None:
    """Learn the table and write it."""
    lines = lines_to_learn()
    text = written(learn(lines))
    TABLE.write_text(text, encoding="utf-8")
    sys.stdout.write(f"{len(lines)} lines, {text.count(chr(10)) - 1} signs\n")


if __name__ == "__main__":
    main()
