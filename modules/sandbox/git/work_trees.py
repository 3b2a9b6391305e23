"""Work trees of a repository: of which of them a run may change the state."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from modules.files.git.common_dir import read_regular_file
from modules.files.git.linked_tree import LinkedTree
from modules.files.git.state_changes import GitStateChange
from modules.sandbox.git.state_check import StateRefused
from modules.sandbox.git.submodules import Submodules
from utils.i18n import phrase
from utils.text.clean import visible

_TREES = "worktrees"


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
            if change.name.startswith(f"{_TREES}/"):
                self._check_tree(stand_in, change)
            elif self.linked and not self.linked.is_own(change.name):
                raise StateRefused(
                    phrase("{name} is of another work tree", name=visible(change.name))
                )

    def submodules(self) -> Submodules:
        """Return the submodules of a linked work tree: all of them are read-only."""
        assert self.linked is not None  # noqa: S101 - others have their own
        names = ("modules/", f"{_TREES}/{self.linked.name}/modules/")
        found = (name for name in names if (self.git / name).is_dir())
        return Submodules(others=tuple(found))

    def _check_tree(self, stand_in: Path, change: GitStateChange) -> None:
        _, name, inner = change.name.split("/", 2)
        if self.linked and name == self.linked.name:
            if inner in ("gitdir", "commondir") or (inner == "HEAD" and change.new is None):
                raise StateRefused(
                    phrase("{name} is not what git writes", name=visible(change.name))
                )
            return
        folder = f"{_TREES}/{name}"
        if change.new is None and inner == "gitdir":
            named = change.old or b""
        else:
            named = (read_regular_file(stand_in / folder / "gitdir")
                     or read_regular_file(self.git / folder / "gitdir"))  # fmt: skip
        tree = Path(os.fsdecode(named.strip()))
        inside = tree.is_absolute() and ".." not in tree.parts and self.project in tree.parents
        is_changed = change.new is not None
        if not inside or tree.name != ".git" or (is_changed and _is_elsewhere(tree.parent)):
            outside = visible(str(tree.parent))
            raise StateRefused(phrase("{name} is not in the project", name=outside))
        if is_changed and inner == "commondir" and change.new != b"../..\n":
            raise StateRefused(phrase("{name} is not what git writes", name=visible(change.name)))


def _is_elsewhere(tree: Path) -> bool:
    return tree.resolve() != tree
