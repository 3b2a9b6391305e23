"""The folder for what git is given in the place of a repository's own: never in a project."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - TMPDIR may lie in the project
_excluded_projects: set[Path] = set()


def exclude_project(project: Path) -> None:
    """Make none in *project* from now on: programs write there, and undo would store it."""
    _excluded_projects.add(project.resolve())


def temporary_folder() -> Path:
    """Return the folder to make one in. Raises `OSError` where there is none."""
    for folder in map(Path, (*_FOLDERS, tempfile.gettempdir())):
        real = folder.resolve()
        if os.access(real, os.W_OK) and _excluded_projects.isdisjoint((real, *real.parents)):
            return folder
    raise OSError(errno.ENOENT, "no temporary folder outside of the project")
