"""Linked work trees (`git worktree add`): what of the repository they share is theirs.

Branches, tags, the stash and the rest of the refs are everybody's. HEAD, the index and what is
under way are of one work tree: the main one's lie in the repository itself, those of the others in
its folder `worktrees`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from modules.files.git.common_dir import read_regular_file
from modules.files.git.git_guard import find_git_folders
from modules.files.git.state_names import is_state_file, may_hold_state, symbolic_target
from utils.i18n import UserError

_TREES = "worktrees"
_OF_MAIN_TREE = re.compile(r"(logs/)?refs/(bisect|rewritten|worktree)(/.*)?")
_REBASED = ("rebase-merge/head-name", "rebase-apply/head-name")
_IS_BARE = re.compile(rb"^\s*bare\s*=\s*true\s*$", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class LinkedTree:
    """The work tree *project* of the repository in the folder *common*, as *name* in there."""

    project: Path
    common: Path
    name: str

    def is_own(self, file: str) -> bool:
        """Return whether the file or ref *file*, a path in the repository, is this work tree's or
        everybody's; so are those of other work trees in the project.
        """
        top, _, rest = file.partition("/")
        if top == _TREES:
            name = rest.partition("/")[0]
            return name == self.name or self.is_inside(self.tree_of(name))
        if top == "logs":
            return rest.startswith("refs/") and _OF_MAIN_TREE.fullmatch(file) is None
        return top == "packed-refs" or (top == "refs" and _OF_MAIN_TREE.fullmatch(file) is None)

    def is_held(self, file: str, *, is_folder: bool) -> bool:
        """Return whether *file* is state of this work tree or of all, or may hold such."""
        if not is_folder:
            return is_state_file(file) and self.is_own(file)
        if not may_hold_state(file) or file.partition("/")[0] == "modules":
            return False
        return file in (_TREES, "logs") or self.is_own(f"{file}/")

    def tree_of(self, name: str) -> Path | None:
        """Return the work tree that the repository calls *name*, None if it names none."""
        named = read_regular_file(self.common / _TREES / name / "gitdir").strip()
        tree = Path(os.fsdecode(named))
        return tree.parent if named and tree.is_absolute() and ".." not in tree.parts else None

    def is_inside(self, tree: Path | None) -> bool:
        """Return whether *tree* lies in this one, not being this itself."""
        return tree is not None and self.project in tree.parents

    def branches_elsewhere(self) -> Iterator[str]:
        """Yield the refs that are checked out in work trees outside of this one, or rebased there;
        "" where there is none.
        """
        trees = [] if _IS_BARE.search(read_regular_file(self.common / "config")) else [""]
        with suppress(FileNotFoundError):
            names = sorted(os.listdir(self.common / _TREES))  # noqa: PTH208 - names only
            trees += [f"{_TREES}/{one}" for one in names if not self.is_own(f"{_TREES}/{one}")]
        for tree in trees:
            head = read_regular_file(self.common / tree / "HEAD").strip()
            yield symbolic_target(head) or ""
            for name in _REBASED:
                yield os.fsdecode(read_regular_file(self.common / tree / name).strip())


def linked_tree(project: Path) -> LinkedTree | None:
    """Return what *project* is linked to; None if it is no linked work tree of the usual kind.

    The repository has to name it in return, and neither may lie in the other.
    """
    try:
        project = project.resolve()
        folders = find_git_folders(project)
    except (OSError, RuntimeError, UserError):
        return None
    if folders is None or folders.git_dir.parent != folders.common_dir / _TREES:
        return None
    common = folders.common_dir
    if project in common.parents or common in project.parents:
        return None
    return LinkedTree(project, common, folders.git_dir.name)
