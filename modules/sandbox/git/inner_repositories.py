"""Repositories in a project beside its own: all that git would take for one, and obey."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from modules.files.git.git_guard import gitdir_target
from modules.sandbox.run.file_changes import FolderState, is_bare_repository


def inner_repositories(project: Path, state: FolderState) -> frozenset[str]:
    """Return the paths in *project*, as *state* has it, of the repositories inside it.

    These are folders `.git`, what links and files of that name lead to, and bare ones.
    """
    found = {path for path in state.folders if path.endswith("/.git")}
    for path in state.files:
        if path.endswith("/.git"):
            found |= set(_target(project, path))
        elif path.endswith("/HEAD") and is_bare_repository(path, state):
            found.add(path.removesuffix("/HEAD"))
    own = {path for path in found if path.split("/")[0] == ".git"}
    return frozenset(found - own)


def _target(project: Path, path: str) -> Iterator[str]:
    """Yield the folder in *project* that the file or link *path* leads git to."""
    git = project / path
    folder = Path(os.path.realpath(git)) if git.is_symlink() else gitdir_target(git)
    if folder and folder.is_dir() and project in folder.parents:
        yield folder.relative_to(project).as_posix()
