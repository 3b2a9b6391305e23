"""Finding the repository of a folder: git runs commands that are named there."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from utils.i18n import UserError, phrase

_READ_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_MAX_BYTES = 100_000  # bytes; the files read here are one line or a short list


@dataclass(frozen=True, slots=True)
class GitFolders:
    """GIT_DIR and GIT_COMMON_DIR, which other work trees share; else both are the same."""

    git_dir: Path
    common_dir: Path


def find_git_folders(tree: Path) -> GitFolders | None:
    """Return where the repository of the work tree *tree* lies.

    None if it has none, or if its `.git` leads to a place that does not name *tree* in return.
    Raises `UserError` for a `.git` that is a link.
    """
    tree = tree.resolve()
    paths, git = repository_paths(tree), tree / ".git"
    if not paths:
        return None
    if git.is_dir():
        return None if os.path.lexists(git / "commondir") else GitFolders(git, git)
    folder = gitdir_target(git)
    if folder is None or len(paths) < 2:
        return None
    if _worktree_points_back(folder, git):
        return GitFolders(folder, _common_folder(folder))
    return None if os.path.lexists(folder / "commondir") else GitFolders(folder, folder)


def repository_paths(project: Path) -> tuple[Path, ...]:
    """Return the paths of the repository of *project* to show read-only, `.git` itself first.

    Empty where there is no `.git`. A `.git` file (worktree, submodule) names a folder elsewhere;
    that is shown too, but only if it names the project in return: the file alone is only a claim.
    Raises `UserError` for a `.git` that is a link.
    """
    git = project / ".git"
    if git.is_symlink():
        raise UserError(
            phrase(
                "Programs cannot run in this project because its .git is a symbolic link; "
                "replace it by the folder itself or by a .git file (gitdir: …)."
            )
        )
    if git.is_dir():
        return (git,)
    if not git.is_file():
        return ()
    try:
        return _linked_repository(git, project)
    except (OSError, RuntimeError):  # what the file names cannot be looked at
        return (git,)


def _linked_repository(git: Path, project: Path) -> tuple[Path, ...]:
    folder = gitdir_target(git)
    if folder is None:
        return (git,)
    if project in folder.parents:
        return (git, folder)
    if _worktree_points_back(folder, git):
        common = _common_folder(folder)
        return (git, common) if common in folder.parents else (git, folder, common)
    return (git, folder) if _submodule_points_back(folder, project) else (git,)


def gitdir_target(git: Path) -> Path | None:
    """Return the folder that the .git file *git* names, None if it names none."""
    match = re.fullmatch(r"gitdir: ([^\n\0]+)\n?", _read(git))
    if match is None:
        return None
    folder = (git.parent / match[1]).resolve()
    return folder if folder.is_dir() else None


def _worktree_points_back(folder: Path, git: Path) -> bool:
    back = _read(folder / "gitdir").rstrip("\n")
    return bool(back) and (folder / back).resolve() == git and (folder / "HEAD").is_file()


def _common_folder(folder: Path) -> Path:
    named = _read(folder / "commondir").rstrip("\n")
    common = (folder / named).resolve() if named else folder
    return common if (common / "objects").is_dir() and (common / "HEAD").is_file() else folder


def _submodule_points_back(folder: Path, project: Path) -> bool:
    match = re.search(r"^\s*worktree = ([^\n\0]+)$", _read(folder / "config"), re.MULTILINE)
    return match is not None and (folder / match[1]).resolve() == project


def _read(path: Path) -> str:
    """Return the text of the plain file *path*, "" if it is none: a pipe would keep us waiting."""
    try:
        with open(os.open(path, _READ_FLAGS), encoding="utf-8", errors="surrogateescape") as file:  # noqa: PTH123
            return file.read(_MAX_BYTES) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else ""
    except OSError:
        return ""
