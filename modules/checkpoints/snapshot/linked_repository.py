"""Repositories that a `.git` file names: the state in a shared one that is the work tree's own."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from modules.checkpoints.snapshot.entries import GIT, LINKED_GIT, Entry, join
from modules.checkpoints.snapshot.scanner import Scanner
from modules.checkpoints.store.object_store import DamagedObject, ObjectStore
from utils.i18n import UserError

if TYPE_CHECKING:
    from modules.files.git.linked_tree import LinkedTree

NotStored = list[tuple[str, str]]
MakeScanner = Callable[[int, Entry | None, "LinkedTree"], Scanner]


def scan_linked(
    objects: ObjectStore, project: Path, previous: Entry | None, make_scanner: MakeScanner
) -> tuple[Entry | None, NotStored]:
    """Return the entry of the repository that *project* is linked to, and what it does not hold.

    None if there is none, or it cannot be read. *previous* is the root of the last scan;
    *make_scanner* makes one of a descriptor and of what was known of the folder.
    """
    if not (project / GIT).is_file():
        return None, []
    from modules.files.git.linked_tree import linked_tree  # with git, for linked work trees only

    tree = linked_tree(project)
    if tree is None:
        return None, []
    try:
        repository = os.open(tree.common, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return None, []
    try:
        scanner = make_scanner(repository, _state_in(objects, previous), tree)
        state, status = scanner.run(), os.fstat(repository)
    except PermissionError:
        return None, []
    finally:
        os.close(repository)
    entry = Entry(stat.S_IFDIR, 0, 0, 0, status.st_ino, status.st_dev, state.content, "git")
    return entry, [(join(GIT, name), reason) for name, reason in scanner.not_stored]


def inner_repository(project: Path) -> tuple[int, int] | None:
    """Return the device and inode of the repository in *project* that its `.git` file names."""
    if not (project / GIT).is_file():
        return None
    from modules.files.git.git_guard import find_git_folders  # for such projects only

    with suppress(OSError, UserError):
        found = find_git_folders(project)
        if found and project.resolve() in found.common_dir.parents:
            status = found.common_dir.stat()
            return status.st_dev, status.st_ino
    return None


def _state_in(objects: ObjectStore, root: Entry | None) -> Entry | None:
    """Return the state that was held with the project folder *root*."""
    if root is None or not root.is_folder:
        return None
    try:
        repository = objects.entries_of(root).get(LINKED_GIT)
    except DamagedObject:
        return None
    return repository.git_state if repository else None
