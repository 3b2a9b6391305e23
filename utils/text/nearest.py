"""The name that somebody probably meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from utils.i18n import Phrase, phrase


def nearest(problem: Phrase, said: str, names: Iterable[str]) -> Phrase:
    """Return *problem*, with the one of *names* that is most like what was *said* behind it."""
    near = get_close_matches(said, list(names), n=1)
    if not near:
        return problem
    return phrase("{problem} Did you mean {near}?", problem=problem, near=near[0])


_MOST_NAMES = 2_000
"""Names that one is compared with letter by letter: a hundred thousand would take seconds."""
_MOST_PATHS = 3


def nearest_paths(said: str, files: Sequence[str]) -> Sequence[str]:
    """Return those of *files* that were probably meant by the path *said*, which is none of them.

    Those that are called the same but for their folder and capitals; else the one beside it that
    is called nearly the same.
    """
    folder, _, name = said.rpartition("/")
    same = [path for path in files if path.rpartition("/")[2].lower() == name.lower()]
    if same:
        return same[:_MOST_PATHS]
    beside = [path for path in files if path.rpartition("/")[0] == folder]
    return get_close_matches(said, beside[:_MOST_NAMES], n=1)
