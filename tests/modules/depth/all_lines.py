"""All labelled lines: what `tools/depth_points.py` learns the points of words from."""

from __future__ import annotations

import re
from pathlib import Path
from typing import cast

from core.loop.depth import Depth
from modules.depth.courtesies import SENTENCES
from tests.modules.depth.first_tries import FIRST_TRIES, TASKS_LIKE_SMALL_TALK
from tests.modules.depth.fresh_lines import MIXED, SHORT, VARIED
from tests.modules.depth.labelled_lines import HELD_OUT, LATER, TUNING
from tests.modules.depth.lines_anew import ANEW, TASKS_LIKE_COURTESIES
from tests.modules.depth.lines_of_november import LINES, LINES_AFTER
from tests.modules.depth.things_in_talk import TASKS_IN_WORDS_OF_TALK
from tests.modules.depth.unheard_lines import TASKS_BESIDE_COURTESIES, UNHEARD
from tests.modules.depth.unseen_lines import UNSEEN, UNSEEN_LATER

FOLDER = Path(__file__).parent
LIKE_SAYINGS = "tasks_like_sayings.txt"
GROUPS = (
    *(TUNING, HELD_OUT, LATER, MIXED, SHORT, VARIED, UNHEARD, UNSEEN, UNSEEN_LATER, ANEW),
    *(LINES, LINES_AFTER, *FIRST_TRIES.values()),
)
TASKS = (
    *(*TASKS_LIKE_SMALL_TALK, *TASKS_LIKE_COURTESIES, *TASKS_BESIDE_COURTESIES),
    *TASKS_IN_WORDS_OF_TALK,
)
_BETWEEN = re.compile(SENTENCES)
_HALF, _FULL, _MORE = 0.5, 1.0, 4.0


def labelled(path: Path) -> list[tuple[str, Depth]]:
    """Return the lines of a file of `depth | line` with their depths."""
    rows = (row.split(" | ", 1) for row in path.read_text(encoding="utf-8").splitlines())
    return [(line, cast(Depth, depth)) for depth, line in rows]


def lines_to_learn() -> list[tuple[str, Depth, float]]:
    """Return each line with its depth and how much it counts: a task that looks like talk most."""
    blind, taught = FOLDER / "blind_lines", FOLDER / "taught_lines"
    sure = [
        (one, cast(Depth, d), _FULL)
        for group in GROUPS
        for d, some in group.items()
        for one in some
    ]
    sets = [path for path in sorted(blind.glob("*.txt")) if path.name != LIKE_SAYINGS]
    for path in (*sets, taught / "english.txt", taught / "chinese.txt"):
        sure += [(one, depth, _FULL) for one, depth in labelled(path)]
    like_sayings = (blind / LIKE_SAYINGS).read_text(encoding="utf-8").splitlines()
    sure += [(one, "standard", _MORE) for one in (*TASKS, *like_sayings)]
    sure += [(one, depth, _MORE) for one, depth in labelled(taught / "orders.txt")]
    sayings = [(one, depth, _HALF) for one, depth in labelled(taught / "sayings.txt")]
    known = {one.casefold() for one, _, _ in (*sure, *sayings)}
    clauses = (
        c.strip() for one, d, _ in sure if d == "social" for c in _BETWEEN.split(one.casefold())
    )
    parts = dict.fromkeys(c for c in clauses if c and c not in known)
    return [*sure, *sayings, *((one, "social", _HALF) for one in parts)]
