"""Queries to git about a folder."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from modules.files.git.isolated_git import IsolatedGit, isolated_git
from utils.i18n import UserError
from utils.system.child import TimedOut


def config_environment(config: Mapping[str, str]) -> dict[str, str]:
    """Return the environment that gives git *config*: there a name may hold any character."""
    numbered = {"GIT_CONFIG_COUNT": str(len(config))}
    for number, (name, value) in enumerate(config.items()):
        numbered[f"GIT_CONFIG_KEY_{number}"] = name
        numbered[f"GIT_CONFIG_VALUE_{number}"] = value
    return numbered


def find_work_tree(folder: Path) -> Path | None:
    """Return the folder of the repository that *folder* is in; None if it is in none."""
    for folder_above in (folder, *folder.parents):
        git = f"{folder_above}/.git"
        if os.path.isfile(git) or os.path.lexists(f"{git}/HEAD"):  # noqa: PTH113 - at each listing
            return folder_above
    return None


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
