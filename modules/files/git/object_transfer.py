"""Bringing objects of one repository to another that it was once a copy of."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from modules.files.git.isolated_git import IsolatedGit, isolated_git
from utils.i18n import UserError
from utils.system.child import ChildResult, TimedOut

_EVERYTHING = ("--all", "--reflog", "--indexed-objects")
"""What a repository names: refs with HEAD, what those were, and what is staged."""


def bring_objects(source: Path, target: Path) -> bool:
    """Give the repository of *target* what that of *source* names, and it has not.

    No ref is changed. Git checks each object. Return whether it did so: it may be missing.
    """
    try:
        there, here = isolated_git(source), isolated_git(target)
        if there is None or here is None:
            return False
        known = b"".join(b"%b\n" % one for one in _shared(here, there))
        pack = _run(there, "pack-objects", *_EVERYTHING, "-q", "--stdout", stdin=b"--not\n" + known)
        _run(here, "unpack-objects", "-q", stdin=pack.output)
    except (OSError, UserError, TimedOut):
        return False
    return True


def _shared(here: IsolatedGit, there: IsolatedGit) -> Iterable[bytes]:
    """Return the objects that the refs *here* name, as far as they are *there* too."""
    named = _run(here, "for-each-ref", "--format=%(objectname)").output
    told = _run(there, "cat-file", "--batch-check=%(objectname)", stdin=named).output
    return [line for line in told.splitlines() if b" " not in line]  # else: "… missing"


def _run(git: IsolatedGit, *arguments: str, stdin: bytes = b"") -> ChildResult:
    """Run *git*. Raises `OSError` where it refuses; `TimedOut`."""
    answer = git.run(*arguments, stdin=stdin)
    if answer.code:
        raise OSError(answer.errors.decode(errors="replace"))
    return answer
