"""Work trees of a repository: of which of them a run may change the state."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from modules.files.git.common_dir import read_regular_file
from modules.files.git.linked_tree import LinkedTree
from modules.files.git.state_changes import GitStateChange
from modules.sandbox.git.alternates import Alternates
from modules.sandbox.git.state_check import StateRefused
from modules.sandbox.git.submodules import (
    TREES,
    Submodules,
    folders_in,
    modules_of,
    read_only,
    submodules_in,
)
from utils.i18n import phrase
from utils.text.clean import visible


@dataclass(frozen=True, slots=True)
class WorkTrees:
    """The work trees of the repository *git* that a run in *project* sees.

    *linked* is what that itself is if the repository is another's.
    """

    project: Path
    git: Path
    linked: LinkedTree | None = None

    def check(self, stand_in: Path, changes: Iterable[GitStateChange]) -> None:
        """Refuse *changes* of work trees outside of the project, which the run could not see.

        *stand_in* has the state after them. Raises `StateRefused`.
        """
        elsewhere = frozenset(self.linked.branches_elsewhere()) if self.linked else frozenset()
        for change in changes:
            if change.name in elsewhere:
                why = phrase("{name} is checked out in another work tree", name=change.name)
                raise StateRefused(why)
            if change.name.startswith(f"{TREES}/"):
                self._check_tree(stand_in, change)
            elif self.linked and not self.linked.is_own(change.name):
                raise StateRefused(
                    phrase("{name} is of another work tree", name=visible(change.name))
                )

    def submodules(self, alternates: Alternates) -> Submodules:
        """Return the submodules of these work trees, *alternates* judging what they have elsewhere.

        Those of the main one are read-only if the repository is another's. Raises `OSError`.
        """
        found = submodules_in(self.git, self.roots(), alternates)
        if not self.linked:
            return found
        of_main = read_only(self.git, [modules_of("")]).others
        return replace(found, others=(*of_main, *found.others))

    def roots(self) -> list[str]:
        """Return the folders in the repository that have the submodules of these work trees."""
        own = [] if self.linked else [modules_of("")]
        return own + [modules_of(name) for name in self._names()]

    def all_read_only(self) -> Submodules:
        """Return the submodules as such that programs may only read."""
        own = self.linked.name if self.linked else ""
        return read_only(self.git, dict.fromkeys((modules_of(""), modules_of(own))))

    def _names(self) -> Iterator[str]:
        """Yield what the repository calls the linked work trees that a run sees, its own first."""
        own = self.linked.name if self.linked else None
        for name in sorted(folders_in(self.git / TREES), key=lambda name: (name != own, name)):
            tree = _named_tree(read_regular_file(self.git / TREES / name / "gitdir"))
            if name == own or (self._is_inside(tree) and not _is_elsewhere(tree.parent)):
                yield name

    def _is_inside(self, tree: Path) -> bool:
        """Return whether *tree*, the `.git` of a work tree, lies in the project."""
        is_path = tree.is_absolute() and ".." not in tree.parts and tree.name == ".git"
        return is_path and self.project in tree.parents

    def _check_tree(self, stand_in: Path, change: GitStateChange) -> None:
        _, name, inner = change.name.split("/", 2)
        if self.linked and name == self.linked.name:
            if inner in ("gitdir", "commondir") or (inner == "HEAD" and change.new is None):
                raise StateRefused(
                    phrase("{name} is not what git writes", name=visible(change.name))
                )
            return
        folder = f"{TREES}/{name}"
        if change.new is None and inner == "gitdir":
            named = change.old or b""
        else:
            named = (read_regular_file(stand_in / folder / "gitdir")
                     or read_regular_file(self.git / folder / "gitdir"))  # fmt: skip
        tree = _named_tree(named)
        is_changed = change.new is not None
        if not self._is_inside(tree) or (is_changed and _is_elsewhere(tree.parent)):
            outside = visible(str(tree.parent))
            raise StateRefused(phrase("{name} is not in the project", name=outside))
        if is_changed and inner == "commondir" and change.new != b"../..\n":
            raise StateRefused(phrase("{name} is not what git writes", name=visible(change.name)))


def _named_tree(content: bytes) -> Path:
    """Return the `.git` that the file `gitdir` *content* names; an empty path for what is none."""
    return Path("" if b"\0" in content else os.fsdecode(content.strip()))


def _is_elsewhere(tree: Path) -> bool:
    """Return whether a link is on the way to *tree*; such may lead in a circle, too."""
    return any(os.path.islink(path) for path in (tree, *tree.parents))  # noqa: PTH114 - never raises
