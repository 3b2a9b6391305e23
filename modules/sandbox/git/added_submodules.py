"""Submodules that a run added: their repositories, made apart of what it left, by us.

As of a new repository of the project, the settings are ours, there are no hooks, and each comes
into the folder `modules` whole. Of its config only the work tree, where it comes from and what
programs may change is kept.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from modules.files.git.common_dir import read_regular_file
from modules.files.git.isolated_git import IsolatedGit, isolated_repository
from modules.files.git.new_repository import make_repository
from modules.files.git.state_changes import GitStateChange, StateMoved, apply_changes
from modules.files.git.state_names import split_submodule
from modules.files.git_remotes.config_file import ConfigValues, config_values, write_config
from modules.files.git_remotes.program_settings import changed_settings
from modules.files.git_remotes.submodule_settings import is_plain_address
from modules.sandbox.filesystem.folder_removal import remove_scratch
from modules.sandbox.git.alternates import ALTERNATES
from modules.sandbox.git.new_repository import move_repository
from modules.sandbox.git.submodules import MAX_SUBMODULES, MODULES, Submodules, is_plain

_NOT_TAKEN = (ALTERNATES, "shallow", "config.worktree")
"""Files by which a repository is not whole in its folder, or has settings beside its config."""


@dataclass(frozen=True, slots=True)
class AddedSubmodule:
    """A submodule whose repository a run put into the folder *place*, which ends with `/`.

    *made* is the repository that is made of it, apart.
    """

    place: str
    made: Path

    def apply(self, changes: Sequence[GitStateChange]) -> None:
        """Make *changes* in the repository that is made. Raises as they do."""
        (self.made / "HEAD").unlink()
        apply_changes(self.made, changes)

    def put_in_place(self, git: Path) -> None:
        """Move it into the repository *git*, whole. Raises `StateMoved` where something is."""
        target = git / self.place
        parents = [git / parent for parent in Path(self.place).parents]
        if os.path.lexists(target) or any(map(os.path.islink, parents)):  # noqa: PTH114
            raise StateMoved(self.place)
        target.parent.mkdir(parents=True, exist_ok=True)
        move_repository(self.made, target)

    def take_away(self, git: Path) -> None:
        """Remove it from the repository *git*, into which it was put."""
        remove_scratch(git / self.place)


def places_added(names: Iterable[str], submodules: Submodules, roots: Sequence[str]) -> list[str]:
    """Return the folders in *roots* of which files are among *names* and that are none of
    *submodules*; none where all would be too many.

    Those that hold others come first. What git would make for none is left out: one in the folder
    of another that is not in its `modules`, or the other way round.
    """
    known = {*submodules.plain, *submodules.others}
    heads = (split_submodule(name) for name in names)
    places = {place for place, own in heads if own == "HEAD"} - known
    inside = tuple(f"{root}/" for root in roots)
    added = sorted(
        place
        for place in places
        if place.startswith(inside)
        and ".git" not in place.lower().split("/")
        and all(_is_apart(place, other) for other in places | known)
    )
    return added if len(known) + len(added) <= MAX_SUBMODULES else []


def _is_apart(place: str, other: str) -> bool:
    inner, outer = (place, other) if len(place) > len(other) else (other, place)
    rest = inner.removeprefix(outer)
    return place == other or rest == inner or rest.startswith(f"{MODULES}/")


def make_added(
    place: str, stand_in: Path, git: Path, tree: Path, scratch: Path
) -> AddedSubmodule | None:
    """Make in *scratch* the repository of the submodule that a run left at *place* in *stand_in*,
    empty yet; None for one that is not of the usual kind.

    It is to become one of the repository *git*; its work tree has to be in *tree*, that of the
    project. Raises `OSError`.
    """
    left = stand_in / place
    if any(os.path.lexists(left / name) for name in _NOT_TAKEN) or not is_plain(stand_in, place):
        return None
    make_repository(scratch)
    made = AddedSubmodule(place, scratch / ".git")
    inner = isolated_repository(made.made)
    config = scratch / "config"
    config.write_bytes(read_regular_file(left / "config"))
    if inner is None or not _take_settings(inner, config, git / place, tree):
        return None
    return made


def _take_settings(git: IsolatedGit, left: Path, place: Path, tree: Path) -> bool:
    """Give the repository of *git*, which is to be at *place*, what is kept of the config *left*.

    Returns whether that is a usual one.
    """
    config = git.folders.common_dir / "config"
    try:
        values = config_values(git, left)
    except OSError:
        return False  # git cannot read it
    work_tree, url = _one(values, "core.worktree"), _one(values, "remote.origin.url")
    if not _is_inside(tree, place, work_tree) or not (url == "" or is_plain_address(url)):
        return False
    settings = {"core.worktree": work_tree}
    if url:
        settings["remote.origin.url"] = url
        settings["remote.origin.fetch"] = "+refs/heads/*:refs/remotes/origin/*"
    write_config(git, config, settings)
    write_config(git, config, changed_settings(git, config, left)[0])
    return True


def _one(values: ConfigValues, key: str) -> str:
    found = values.get(key, ())
    return found[0] if len(found) == 1 else ""


def _is_inside(tree: Path, place: Path, work_tree: str) -> bool:
    """Return whether *work_tree*, as a repository at *place* names it, is a folder in *tree* that
    no link leads to, and none of a repository's own.
    """
    path = Path(os.path.normpath(place / work_tree))
    below = path.relative_to(tree).parts if work_tree and tree in path.parents else ()
    steps = (tree.joinpath(*below[:count]) for count in range(1, len(below) + 1))
    is_linked = any(map(os.path.islink, steps))  # noqa: PTH114 - never raises
    return bool(below) and ".git" not in map(str.lower, below) and not is_linked
