"""Results as a session keeps them, and what follows from a rename."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.cards import ResultKind
from modules.files.fingerprints import Fingerprint
from utils.frozen import frozen
from utils.i18n import Text

Kind = ResultKind
Results = tuple["Result", ...]


@frozen
class Result:
    """The file *path* that the *turn* handed over as *kind*; *number* counts from 1 in a session.

    *facts* are what was found in it then, *file* what it is known again by, and *former_paths*
    where it was before, the newest first.
    """

    number: int
    path: str
    kind: Kind
    title: str
    turn: int
    facts: Text = ""
    is_by_person: bool = False
    former_paths: tuple[str, ...] = ()
    file: Fingerprint | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        """Where it is and was, the newest first."""
        return (self.path, *self.former_paths)

    def moved(self, new_path: str) -> Result:
        """Return it at *new_path*."""
        former = [path for path in self.paths if path != new_path]
        return replace(self, path=new_path, former_paths=tuple(former))


def with_result(results: Results, result: Result) -> Results:
    """Return *results* with *result*, in the place of the one of its file if there is one."""
    others = [one for one in results if one.path != result.path]
    known = next((one for one in results if one.path == result.path), None)
    if known is None:
        number = max((one.number for one in results), default=0) + 1
        return (*results, replace(result, number=number))
    again = replace(result, number=known.number, former_paths=known.former_paths)
    return tuple(sorted((*others, again), key=lambda one: one.number))


def after_rename(results: Results, path: str, new_path: str) -> Results:
    """Return *results* once the file or folder *path* is at *new_path*."""
    return tuple(
        one.moved(new_path + one.path[len(path) :])
        if one.path == path or one.path.startswith(f"{path}/")
        else one
        for one in results
    )


def find(results: Sequence[Result], number: int) -> Result | None:
    """Return the result *number*, None where there is none."""
    return next((one for one in results if one.number == number), None)
