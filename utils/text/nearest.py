"""Suggestions of the name that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from utils.i18n import Phrase, phrase


def with_suggestion(problem: Phrase, given: str, names: Iterable[str]) -> Phrase:
    """Return *problem*, with the one of *names* that is most like what was *given* behind it."""
    suggestions = get_close_matches(given, list(names), n=1)
    if not suggestions:
        return problem
    return phrase("{problem} Did you mean {near}?", problem=problem, near=suggestions[0])


_MAX_NAMES = 2_000
"""Names that one is compared with letter by letter: a hundred thousand would take seconds."""
_MAX_PATHS = 3


def nearest_paths(given: str, files: Sequence[str]) -> Sequence[str]:
    """Return those of *files* that were probably meant by the path *given*, which is none of them.

    Those that are called the same but for their folder and capitals; else the one beside it that
    is called nearly the same.
    """
    folder, _, name = given.rpartition("/")
    same_named = [path for path in files if path.rpartition("/")[2].lower() == name.lower()]
    if same_named:
        return same_named[:_MAX_PATHS]
    siblings = [path for path in files if path.rpartition("/")[0] == folder]
    return get_close_matches(given, siblings[:_MAX_NAMES], n=1)
