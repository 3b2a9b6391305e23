"""New repository of a project that had none: made apart of what a run of `git init` left, by us.

Its settings are ours, it has no hooks, and it comes into the project whole.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from modules.files.git.isolated_git import IsolatedGit
from modules.files.git.new_repository import make_repository
from modules.files.git.state_changes import StateMoved
from modules.files.git.state_names import is_ref_name
from modules.sandbox.filesystem.folder_removal import remove_scratch
from modules.sandbox.filesystem.mount_points import MountPoints, is_empty_folder
from modules.sandbox.git.state_check import StateRefused
from utils.i18n import phrase

_PREFIX = ".git.new-"


def make_skeleton(git: Path) -> None:
    """Make *git* an empty repository, whatever is there."""
    if os.path.lexists(git):
        remove_scratch(git)
    make_repository(git.parent)


def init_settings(git: IsolatedGit) -> str:
    """Return the setting by which `git init` names the first branch as the person has it."""
    branch = git.common_dir.config.default_branch
    return f"[init]\n\tdefaultBranch = {branch}\n" if is_ref_name(f"refs/heads/{branch}") else ""


def put_in_place(new: Path, git: Path, mount_points: MountPoints) -> None:
    """Move the repository *new* to *git*, where nothing is, all of it or nothing.

    Raises `StateRefused` while another program runs in the project, which sees no repository,
    `StateMoved` if somebody else has made one meanwhile, and `OSError`.
    """
    try:
        with mount_points.unused():
            if is_empty_folder(git):
                git.rmdir()
            if os.path.lexists(git):
                raise StateMoved(git.name)
            move_repository(new, git)
    except BlockingIOError:
        raise StateRefused(
            phrase(
                "another program runs in the folder, a background job for one; git init works once "
                "that has ended"
            )
        ) from None


def move_repository(new: Path, git: Path) -> None:
    """Move the repository *new* to *git*, whole, from another file system too."""
    if new.stat().st_dev == git.parent.stat().st_dev:
        new.rename(git)
        return
    with tempfile.TemporaryDirectory(prefix=_PREFIX, dir=git.parent) as scratch:
        copied = shutil.copytree(new, Path(scratch, "git"), symlinks=True)
        copied.rename(git)
