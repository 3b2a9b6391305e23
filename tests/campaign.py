"""Tests that play at random: a few seeds of each in every run, twenty times as many in a campaign.

`python3 -m tests.campaign` runs these tests alone, with other seeds each time; it says how to have
the same ones again. Standard library only: it begins before the packages are there.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

TIMES = 20
FIRST = os.environ.get("CAMPAIGN_SEED", "")
"""The first seed of the campaign that is on; "" in an ordinary run."""
Test = Callable[..., Any]


def seeded(few: int) -> Callable[[Test], Test]:
    """Run a test with each *seed* of *few*, or of a campaign's."""
    import pytest

    first, count = (int(FIRST), few * TIMES) if FIRST else (0, few)

    def decorate(test: Test) -> Test:
        every = pytest.mark.parametrize("seed", range(first, first + count))
        marked: Test = pytest.mark.campaign(every(test))
        return marked

    return decorate


def examples(few: int) -> int:
    """Return how many examples Hypothesis makes up where *few* do in an ordinary run."""
    return few * TIMES if FIRST else few


def main() -> int:
    from tests.__main__ import main as run

    words = sys.argv[1:]
    if words[:1] == ["--seed"]:
        os.environ["CAMPAIGN_SEED"] = str(int(words[1]))
        words = words[2:]
    seed = os.environ.setdefault("CAMPAIGN_SEED", str(int(time.time())))
    sys.stderr.write(f"The same seeds again: python3 -m tests.campaign --seed {seed}\n")
    sys.argv[1:] = ["-m", "campaign", "--dist=load", f"--hypothesis-seed={seed}", *words]
    return run()


if __name__ == "__main__":
    sys.exit(main())
