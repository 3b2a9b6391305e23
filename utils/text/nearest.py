"""Suggestions of the name that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from utils.i18n import Phrase, phrase


def nearest_name(given: str, names: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return the one of *names* that is most like what was *given*.

    None where all are less like it than *cutoff*, from 0 for anything to 1 for the same.
    """
    from difflib import get_close_matches  # for mistakes only

    return next(iter(get_close_matches(given, list(names), n=1, cutoff=cutoff)), None)


def with_suggestion(problem: Phrase, given: str, names: Iterable[str]) -> Phrase:
    """Return *problem*, with the one of *names* that is most like what was *given* behind it."""
    near = nearest_name(given, names)
    if near is None:
        return problem
    return phrase("{problem} Did you mean {near}?", problem=problem, near=near)


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
    nearest = nearest_name(given, siblings[:_MAX_NAMES])
    return [] if nearest is None else [nearest]
