"""Submodules whose repositories lie in that of the project: which of them programs may change.

Those of the main work tree lie in its folder `modules`, those of a linked one in the folder of that
name in its own: each tree has a repository of its own of the same submodule.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from modules.files.git.state_names import split_submodule, tree_of_submodule
from modules.sandbox.git.alternates import Alternates

_Stamp = TypeVar("_Stamp")

MODULES = "modules"
TREES = "worktrees"
_MAX_FOLDERS = 20_000  # that are searched
MAX_SUBMODULES = 200
_EXTENSIONS = re.compile(rb"^\s*\[\s*extensions", re.IGNORECASE | re.MULTILINE)
_NOT_PLAIN = ("commondir", "reftable", TREES)


@dataclass(frozen=True, slots=True)
class Submodules:
    """Folders of their repositories in `.git`, each ending with `/`: *plain* ones, whose state is
    held as the project's own is, and *others*, which programs may only read.
    """

    plain: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    def roots(self) -> Iterator[str]:
        """Yield the folders that hold *plain* ones, no other of them being in one of these."""
        names = {tree_of_submodule(name) for name in self.plain}
        yield from (modules_of(name) for name in sorted(names))


def modules_of(tree: str) -> str:
    """Return the folder of the submodules of the linked work tree *tree*, "" being the main one."""
    return f"{TREES}/{tree}/{MODULES}" if tree else MODULES


def read_only(git: Path, roots: Iterable[str]) -> Submodules:
    """Return all submodules of *git* in the folders *roots* as such that programs may only read."""
    return Submodules(others=tuple(f"{root}/" for root in roots if _is_folder(git / root)))


def submodules_in(git: Path, roots: Sequence[str], alternates: Alternates) -> Submodules:
    """Return the submodules of the repository *git* in its folders *roots*, *alternates* judging
    what they have elsewhere.

    Where they become too many all of that folder are read-only; earlier ones come first. Raises
    `OSError`.
    """
    plain: list[str] = []
    others: list[str] = []
    for root in roots:
        left = MAX_SUBMODULES - len(plain) - len(others)
        found = _submodules_below(git, root, alternates, left) or read_only(git, [root])
        plain += found.plain
        others += found.others
    return Submodules(tuple(sorted(plain)), tuple(sorted(others)))


def _submodules_below(
    git: Path, root: str, alternates: Alternates, maximum: int
) -> Submodules | None:
    """Return those in the folder *root*; None if they are more than *maximum*, or too deep."""
    plain: list[str] = []
    others: list[str] = []
    pending = [root]
    for _ in range(_MAX_FOLDERS):
        if len(plain) + len(others) > maximum:
            break
        if not pending:
            return Submodules(tuple(plain), tuple(others))
        parent = pending.pop()
        for folder in (f"{parent}/{name}" for name in folders_in(git / parent)):
            if not (git / folder / "HEAD").is_file():
                pending.append(folder)
            elif is_plain(git, f"{folder}/") and alternates.is_seen(git / folder):
                plain.append(f"{folder}/")
                pending.append(f"{folder}/{MODULES}")
            else:
                others.append(f"{folder}/")
    return None


def with_submodules_of_removed_trees(
    before: Mapping[str, _Stamp], after: Mapping[str, _Stamp], places: Iterable[str]
) -> dict[str, _Stamp]:
    """Return the files *after* a run, those of submodules in *places* being as *before* it where
    it has removed their linked work tree.

    `git worktree remove --force` deletes the repositories of these, which no undo could bring back;
    ours stay for it, till the person's git prunes what is left of the tree.
    """
    trees = {tree for place in places if (tree := tree_of_submodule(place))}
    gone = {tree for tree in trees if f"{TREES}/{tree}/gitdir" not in after}

    def is_of_gone(name: str) -> bool:
        return bool(gone) and tree_of_submodule(split_submodule(name)[0]) in gone

    kept = {name: stamp for name, stamp in before.items() if is_of_gone(name)}
    return {name: stamp for name, stamp in after.items() if not is_of_gone(name)} | kept


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)  # noqa: PTH112, PTH114 - never raise


def folders_in(folder: Path) -> list[str]:
    """Return the names of the folders in *folder*, no links to such; none where there is none."""
    if not _is_folder(folder):
        return []
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]


def is_plain(git: Path, name: str) -> bool:
    """Return whether the submodule in the folder *name* of the repository *git* is of the usual
    kind, and its files are told by name.
    """
    if split_submodule(f"{name}HEAD") != (name, "HEAD"):
        return False
    if any(os.path.lexists(git / name / one) for one in _NOT_PLAIN):
        return False
    config = git / name / "config"
    is_file = config.is_file() and not config.is_symlink()
    return is_file and _EXTENSIONS.search(config.read_bytes()) is None
