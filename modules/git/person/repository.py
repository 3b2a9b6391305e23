"""The repository of the project, opened for the person: git as it is run for us, and why not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from modules.files.git.git_guard import repository_paths
from modules.files.git.git_runs import GitRuns
from modules.files.git.isolated_git import IsolatedGit, has_git, isolated_git
from modules.files.git.repository import find_work_tree
from utils.i18n import UserError, phrase
from utils.system.child import OnCancel, TimedOut

_BARE = ("HEAD", "objects", "refs")


@contextmanager
def repository(root: Path, until: OnCancel | None = None) -> Iterator[GitRuns]:
    """Yield git for the repository of the project *root*; *until* is `Stop.on_stop`.

    Raises `UserError` where there is none, or it cannot be let in.
    """
    git = _git(root, until)
    with TemporaryDirectory(prefix="onefold-git-") as scratch:
        yield GitRuns(git, Path(scratch))


def _git(root: Path, until: OnCancel | None) -> IsolatedGit:
    if not has_git():
        raise UserError(phrase("git is not installed. Install it to use it here."))
    try:
        git = isolated_git(root, until) if repository_paths(root) else None
    except (OSError, TimedOut) as error:
        raise UserError(phrase("Cannot read the git repository: {why}", why=str(error))) from None
    if git is None:
        raise _refusal(root)
    return git


def _refusal(root: Path) -> UserError:
    if (root / ".git").exists():
        return UserError(
            phrase("The .git here leads to another place, so git does not run in this folder.")
        )
    if all((root / name).exists() for name in _BARE):
        return UserError(
            phrase("This folder is a bare repository: it has no files to stage or to commit.")
        )
    if above := find_work_tree(root.resolve()):
        message = phrase(
            "The git repository is in {path}. Open that folder with Onefold.", path=str(above)
        )
        return UserError(message)
    return UserError(phrase("This folder is not a git repository. To make it one, run: git init"))
