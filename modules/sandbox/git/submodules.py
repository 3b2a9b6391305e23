"""Submodules whose repositories lie in that of the project: which of them programs may change."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from modules.files.git.state_names import split_submodule
from modules.sandbox.git.alternates import Alternates

_MODULES = "modules"
_MAX_FOLDERS = 20_000  # that are searched
_MAX_SUBMODULES = 200
_EXTENSIONS = re.compile(rb"^\s*\[\s*extensions", re.IGNORECASE | re.MULTILINE)
_NOT_PLAIN = ("commondir", "reftable", "worktrees")


@dataclass(frozen=True, slots=True)
class Submodules:
    """Folders of their repositories in `.git`, each ending with `/`: *plain* ones, whose state is
    held as the project's own is, and *others*, which programs may only read.
    """

    plain: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


ALL_READ_ONLY = Submodules(others=(f"{_MODULES}/",))


def submodules_of(git: Path, alternates: Alternates) -> Submodules:
    """Return the submodules of the repository *git*, *alternates* judging what they have elsewhere.

    Raises `OSError`.
    """
    plain: list[str] = []
    others: list[str] = []
    pending = [_MODULES]
    for _ in range(_MAX_FOLDERS):
        if not pending:
            return Submodules(tuple(sorted(plain)), tuple(sorted(others)))
        if len(plain) + len(others) > _MAX_SUBMODULES:
            break
        parent = pending.pop()
        for folder in (f"{parent}/{name}" for name in _folders(git / parent)):
            if not (git / folder / "HEAD").is_file():
                pending.append(folder)
            elif _is_plain(git, f"{folder}/") and alternates.is_seen(git / folder):
                plain.append(f"{folder}/")
                pending.append(f"{folder}/{_MODULES}")
            else:
                others.append(f"{folder}/")
    return ALL_READ_ONLY


def _folders(folder: Path) -> list[str]:
    """Return the names of the folders in *folder*, no links to such; none where there is none."""
    if not folder.is_dir() or folder.is_symlink():
        return []
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]


def _is_plain(git: Path, name: str) -> bool:
    """Return whether the submodule *name* is of the usual kind, and its files are told by name."""
    if split_submodule(f"{name}HEAD") != (name, "HEAD"):
        return False
    if any(os.path.lexists(git / name / one) for one in _NOT_PLAIN):
        return False
    config = git / name / "config"
    is_file = config.is_file() and not config.is_symlink()
    return is_file and _EXTENSIONS.search(config.read_bytes()) is None
