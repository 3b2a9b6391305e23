"""The name that somebody probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from utils.phrases import Phrase, phrase


def nearest(problem: Phrase, said: str, names: Iterable[str]) -> Phrase:
    """Return *problem*, with the one of *names* that is most like what was *said* behind it."""
    near = get_close_matches(said, list(names), n=1)
    if not near:
        return problem
    return phrase("{problem} Did you mean {near}?", problem=problem, near=near[0])
