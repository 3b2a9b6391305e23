"""Queries to git about a folder."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from modules.files.git.isolated_git import IsolatedGit, isolated_git
from utils.i18n import Phrase, UserError, phrase
from utils.system.child import TimedOut
from utils.text.clean import visible


def config_environment(config: Mapping[str, str]) -> dict[str, str]:
    """Return the environment that gives git *config*: there a name may hold any character."""
    numbered = {"GIT_CONFIG_COUNT": str(len(config))}
    for number, (name, value) in enumerate(config.items()):
        numbered[f"GIT_CONFIG_KEY_{number}"] = name
        numbered[f"GIT_CONFIG_VALUE_{number}"] = value
    return numbered


REPOSITORY_ELSEWHERE = phrase(
    "This .git leads to another place: a repository that does not name this folder in return (by "
    "its core.worktree), so git is out of reach here."
)
"""Says why there is no git where a `.git` is only a claim: it could be on anybody's repository."""


def find_work_tree(folder: Path) -> Path | None:
    """Return the folder of the repository that *folder* is in; None if it is in none."""
    for folder_above in (folder, *folder.parents):
        git = f"{folder_above}/.git"
        if os.path.isfile(git) or os.path.lexists(f"{git}/HEAD"):  # noqa: PTH113 - at each listing
            return folder_above
    return None


def outer_repository(tree: Path) -> Phrase:
    """Say to the model why there is no git in a project in the work tree *tree* of a repository."""
    return phrase(
        "The project is a folder of the git repository in {path}, which is out of reach here. git "
        "works where Onefold is started in that folder; git init would make a second repository "
        "inside it.",
        path=visible(str(tree)),
    )


def git_output(
    arguments: Sequence[str], *, folder: Path, tree: Path, seconds: float
) -> list[str] | None:
    """Return the NUL-ended words that git prints in *folder* of the work tree *tree*.

    None when git is missing, slow or refuses, or where `.git` leads elsewhere. The person's own
    ignore file counts.
    """
    try:
        git = isolated_git(tree)
    except (OSError, UserError):
        return None
    return output_fields(git, arguments, folder, seconds) if git else None


def output_fields(
    git: IsolatedGit, arguments: Sequence[str], folder: Path, seconds: float
) -> list[str] | None:
    """Return the NUL-ended words that *git* prints in *folder*; None if it is slow or refuses."""
    try:
        answer = git.run(*arguments, folder=folder, seconds=seconds)
    except (OSError, TimedOut):
        return None
    return None if answer.code else os.fsdecode(answer.output).split("\0")[:-1]
