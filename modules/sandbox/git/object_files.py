"""Files of the objects of a repository: which stay as they are, and which git makes of these."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator

from modules.sandbox.filesystem.held_folder import HeldFolder

_LOOSE_FOLDER, _LOOSE_FILE = re.compile(r"[0-9a-f]{2}"), re.compile(r"[0-9a-f]{38}([0-9a-f]{24})?")
_PACK = re.compile(r"pack-[0-9a-f]{40}([0-9a-f]{24})?\.(pack|idx|rev|mtimes|promisor|keep)")
_LFS_FILE = re.compile(r"[0-9a-f]{64}")
_DERIVED = re.compile(r"(pack-.*\.bitmap|multi-pack-index.*|commit-graph|graph-.*\.graph|.*-chain)")

Statuses = dict[str, os.stat_result]
"""By name, a path in the folder that all of them are in."""


def folders_in(project: HeldFolder, repository: str) -> Iterator[str]:
    """Yield the folders of *repository* that may hold what git never changes."""
    objects = f"{repository}/objects"
    yield f"{objects}/pack"
    for entry in project.entries(objects):
        if _LOOSE_FOLDER.fullmatch(entry.name):
            yield f"{objects}/{entry.name}"
    contents = f"{repository}/lfs/objects"
    for first in project.entries(contents):
        for second in project.entries(f"{contents}/{first.name}"):
            yield f"{contents}/{first.name}/{second.name}"


def lasting_files(project: HeldFolder, folders: Iterable[str]) -> Statuses:
    """Return the files in *folders* that git never changes, by name."""
    found: Statuses = {}
    for folder in folders:
        kind = _PACK if folder.endswith("/pack") else _LOOSE_FILE
        kind = _LFS_FILE if "/lfs/objects/" in folder else kind
        for name, status in project.statuses(folder):
            if kind.fullmatch(name) and stat.S_ISREG(status.st_mode):
                found[f"{folder}/{name}"] = status
    return found


def repository_of(name: str) -> str:
    """Return the repository that the file *name* is in."""
    above = name.rpartition("/objects/")[0]
    return above.removesuffix("/lfs") if _LFS_FILE.fullmatch(name.rpartition("/")[2]) else above


def derived_files(project: HeldFolder, repository: str) -> Statuses:
    """Return the files of *repository* that git makes of its objects, and reads in their place."""
    objects = f"{repository}/objects"
    folders = (f"{objects}/pack", f"{objects}/info", f"{objects}/info/commit-graphs")
    return {
        f"{folder}/{name}": status
        for folder in folders
        for name, status in project.statuses(folder)
        if _DERIVED.fullmatch(name)
    }


def clear_way(project: HeldFolder, name: str) -> None:
    """Make each folder above *name* one that can be written to, and take away what is none."""
    parts = name.split("/")
    for count in range(1, len(parts)):
        folder = "/".join(parts[:count])
        status = project.status(folder)
        if status and not stat.S_ISDIR(status.st_mode):
            project.remove(folder)
        elif status and status.st_mode & stat.S_IRWXU != stat.S_IRWXU:
            project.change_mode(folder, stat.S_IMODE(status.st_mode) | stat.S_IRWXU)
    if project.is_folder(name):
        project.remove(name)
